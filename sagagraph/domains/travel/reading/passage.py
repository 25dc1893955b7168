"""A text of which some parts have been understood already."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from sagagraph.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.travel.reading.partial import Question

MOST_CHARACTERS: Final = 4000
LEAD: Final = 60
"""How far back a word can be that says what the next one means."""

Meaning = TypeVar("Meaning")

_PLAIN: Final = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—−", "-"),
        **dict.fromkeys("’‘`", "'"),
        **dict.fromkeys("“”", '"'),
        **dict.fromkeys("⇒➔➜➝⟶►", "→"),
    }
)


@dataclass(frozen=True)
class Passage:
    """What has been understood is blanked, so that nobody reads it twice; places in the text stay where they are."""

    text: str

    @classmethod
    def of(cls, text: str) -> Passage:
        """
        Raises:
            InvalidInputError: it is far too long for a wish.
        """
        if len(text) > MOST_CHARACTERS:
            raise InvalidInputError(f"is longer than {MOST_CHARACTERS} characters", field="text")
        plain = unicodedata.normalize("NFC", text).translate(_PLAIN)
        arrows = re.sub(r"-+>|=+>|>", "→", plain)
        return cls(re.sub(r"\s+", " ", arrows).strip())

    def without(self, start: int, end: int) -> Passage:
        return Passage(f"{self.text[:start]}{' ' * (end - start)}{self.text[end:]}")

    def matches(self, words: re.Pattern[str]) -> Iterator[re.Match[str]]:
        return words.finditer(self.text)

    def has(self, words: re.Pattern[str]) -> bool:
        return words.search(self.text) is not None

    def lead(self, words: re.Pattern[str], place: int) -> re.Match[str] | None:
        """What stands right before `place`. `words` has to end in `$`."""
        return words.search(self.text, max(0, place - LEAD), place)

    def trail(self, words: re.Pattern[str], place: int) -> re.Match[str] | None:
        """What stands right after `place`."""
        return words.match(self.text, place)


@dataclass(frozen=True)
class Understood(Generic[Meaning]):
    """What an extractor made of a passage, and what it leaves to the others."""

    meaning: Meaning
    rest: Passage
    doubts: tuple[Question, ...] = ()


def pattern(regex: str) -> re.Pattern[str]:
    """Case does not matter in what people write."""
    return re.compile(regex, re.IGNORECASE)

"""Passage: a text in which readers tag values and slots take what they understand; the rest was not understood.

A tag stands for a value and is written with characters that no text has, so that patterns see `from {place} for {span}` where
people wrote `from Boston for three nights`. Readers tag small things first (numbers, then `{n} nights`); slots are patterns over
words and tags. Two spaces mark where something was taken.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from sagagraph.errors import InvalidInputError
from sagagraph.language.forms import VALUE, Forms, tag_of
from sagagraph.language.utterance.shorthand import in_full

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

MOST_CHARACTERS: Final = 4000
LEAD: Final = 60
"""How far back words can be that say what the next one means."""
_T = TypeVar("_T")

_FIRST_VALUE: Final = 0xF0000
_TAG: Final = re.compile(f"\ue0ff[\ue000-\ue019]+({VALUE})")
_PLAIN: Final = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—−", "-"),
        **dict.fromkeys("’‘`", "'"),
        **dict.fromkeys("“”", '"'),
        **dict.fromkeys("⇒➔➜➝⟶►", "→"),
    }
)
_SAYS: Final = Forms(__file__, "passage")
_PRIVATE: Final = re.compile("[\ue000-\uf8ff\U000f0000-\U000ffffd]")
_CLAUSE: Final = re.compile(r"[,;!?()\[\]{}→\"]|[.:](?!\d)|\s{2,}|\b(?:and|but|with)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_]{3,}(?:'[^\W\d_]+)?|\d+(?:[.,:]\d+)*[^\W_]*")


@dataclass(frozen=True, slots=True)
class Found:
    """Match of a form."""

    passage: Passage
    match: re.Match[str]

    @property
    def start(self) -> int:
        return self.match.start()

    @property
    def end(self) -> int:
        return self.match.end()

    @property
    def said(self) -> str:
        """Return the match as it was written."""
        return self.passage.said(self.match[0]).strip()

    @property
    def denial(self) -> str:
        """Return the words right before it that deny it (`not on Sundays`, `avoid changing planes`); empty if there are none."""
        denied = self.led_by(_SAYS.denial)
        return denied[0] if denied else ""

    def __getitem__(self, name: str) -> str:
        """Return the words of a group, in lower case; empty if it has none."""
        words = self.match[name] if name in self.match.re.groupindex else None
        return self.passage.said(words or "").strip().lower()

    def get(self, name: str, kind: type[_T]) -> _T | None:
        """Return the value of a tag; None if the group has none."""
        character = self.match[name] if name in self.match.re.groupindex else None
        value = self.passage.value(character) if character else None
        return value if isinstance(value, kind) else None

    def values(self, kind: type[_T], group: str = "") -> list[_T]:
        """Return all values of this kind, in order."""
        return self.passage.values(kind, self.match[group] or "" if group else self.match[0])

    def led_by(self, words: re.Pattern[str]) -> re.Match[str] | None:
        """Match what stands right before; `words` must end in `$`."""
        return words.search(self.match.string, max(0, self.start - LEAD), self.start)

    def followed_by(self, words: re.Pattern[str]) -> re.Match[str] | None:
        return words.match(self.match.string, self.end)


class Passage:
    """A working copy of a text: `tag` and `take` change it."""

    def __init__(self, text: str, known: Passage | None = None) -> None:
        """Make a passage. `text` may contain tags of `known`."""
        self.text = text
        self._values: list[object] = known._values if known else []
        self._said: list[str] = known._said if known else []

    @classmethod
    def of(cls, text: str, *, most: int = MOST_CHARACTERS) -> Passage:
        """Make a passage.

        Raises:
            InvalidInputError: the text is far too long.
        """
        if len(text) > most:
            raise InvalidInputError(f"is longer than {most} characters", field="text")
        plain = _PRIVATE.sub(" ", unicodedata.normalize("NFC", text)).translate(_PLAIN)
        return cls(re.sub(r"\s+", " ", re.sub(r"-+>|=+>|>", "→", in_full(plain))).strip())

    def find(self, words: re.Pattern[str]) -> list[Found]:
        return [Found(self, match) for match in words.finditer(self.text)]

    def first(self, words: re.Pattern[str]) -> Found | None:
        match = words.search(self.text)
        return Found(self, match) if match else None

    def whole(self, words: re.Pattern[str]) -> Found | None:
        """Match the whole passage against this form."""
        match = words.fullmatch(self.text.strip())
        return Found(self, match) if match else None

    def has(self, words: re.Pattern[str]) -> bool:
        return words.search(self.text) is not None

    def take(self, words: re.Pattern[str], when: Callable[[Found], bool] | None = None) -> list[Found]:
        """Take everything of this form: it is understood, and nobody reads it again."""
        found: list[Found] = []

        def taken(match: re.Match[str]) -> str:
            each = Found(self, match)
            if when is not None and not when(each):
                return match[0]
            found.append(each)
            return "  "

        self.text = re.sub(" {3,}", "  ", words.sub(taken, self.text))
        return found

    def tag(self, kind: str, words: re.Pattern[str], meaning: Callable[[Found], object | None], group: str | int = 0) -> None:
        """Replace what has this form, or a group of it, by a tag; anything without a meaning (None) stays as it is."""

        def tagged(match: re.Match[str]) -> str:
            value = meaning(Found(self, match)) if match[group] else None
            if value is None:
                return match[0]
            before, after = match.string[match.start() : match.start(group)], match.string[match.end(group) : match.end()]
            return before + self._tag(kind, value, self.said(match[group])) + after

        self.text = words.sub(tagged, self.text)

    def tag_spans(self, kind: str, spans: Iterable[tuple[int, int, object]]) -> None:
        """Tag spans of `text` in the same way, in order."""
        pieces, at = [], 0
        for start, end, value in spans:
            pieces += [self.text[at:start], self._tag(kind, value, self.said(self.text[start:end]))]
            at = end
        self.text = "".join([*pieces, self.text[at:]])

    def _tag(self, kind: str, value: object, said: str) -> str:
        self._values.append(value)
        self._said.append(said)
        return tag_of(kind) + chr(_FIRST_VALUE + len(self._values) - 1)

    def value(self, character: str) -> object:
        return self._values[ord(character) - _FIRST_VALUE]

    def values(self, kind: type[_T], text: str | None = None) -> list[_T]:
        """Return all values of this kind that are still there, in order."""
        tags = _TAG.finditer(self.text if text is None else text)
        return [value for tag in tags if isinstance(value := self.value(tag[1]), kind)]

    def said(self, text: str | None = None) -> str:
        """Return a part of the passage as it was written."""
        part = self.text if text is None else text
        return _TAG.sub(lambda tag: self._said[ord(tag[1]) - _FIRST_VALUE], part)

    def unread(self, meaningless: Container[str], most: int = 5) -> tuple[str, ...]:
        """Return the clauses in which something meaningful is left, each as it was written."""
        named = []
        for clause in _CLAUSE.split(self.said()):
            words = [word for word in _WORD.finditer(clause) if word[0].casefold() not in meaningless]
            if words:
                named.append(" ".join(clause[words[0].start() : words[-1].end()].split()))
        return tuple(dict.fromkeys(named))[:most]

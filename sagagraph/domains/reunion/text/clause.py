"""Clause: a part of a sentence, what it is about, and the roles of its words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sagagraph.domains.reunion.text.values import Seats, Spot, When, Who
from sagagraph.language.clock import Lasting
from sagagraph.language.forms import Forms
from sagagraph.language.passage import Found, Passage

SAYS: Final = Forms(__file__, "clauses")
ROLES: Final = Forms(__file__, "roles")
_SUBJECTS: Final = ("somebody", "everybody", "group", "hosting", "own", "person", "event", "it", "pronoun", "thing")
_DENIED: Final = ("no_drive", "alone", "watched", "not_before", "at_most", "remember")
"""Roles of which a denial is a part."""


class Clause:
    """A clause. `kind` and `subject`: what it is about. `joint`: the word that joins it to the one before.

    `is_led`: words that only announce it are left out of its passage.
    """

    def __init__(self, words: str, known: Passage, joint: str = "") -> None:
        self.joint = joint
        self.passage = Passage(SAYS.lead.sub("", words.strip(), count=1), known)
        self.is_led = len(self.passage.text) < len(words.strip())
        begun = next(self._subjects(), None)
        self.kind: str = begun[0] if begun else ""
        self.subject: Found | None = begun[1] if begun else None
        self.roles = frozenset(name for name in ROLES if self.passage.has(ROLES[name]))
        self.when = self.passage.values(When)

    def _subjects(self) -> Iterator[tuple[str, Found]]:
        text = self.passage.text
        opening = SAYS.opening.match(text)
        for kind in _SUBJECTS:
            match = SAYS[kind].match(text, opening.end() if opening else 0)
            if match:
                yield kind, Found(self.passage, match)

    @property
    def said(self) -> str:
        return self.passage.said().strip(" ,.")

    @property
    def is_clear(self) -> bool:
        """Tell whether nothing in it is denied or said twice that cannot be."""
        text = self.passage.text
        for name in _DENIED:
            text = ROLES[name].sub(" ", text)
        return not ROLES["not"].search(text) and len({each.how for each in self.when}) == len(self.when)

    @property
    def is_only_named(self) -> bool:
        """Tell whether it only says whom the next clause is about."""
        text = self.passage.text.strip()
        is_named = self.kind == "person" and self.subject is not None and self.subject.end == len(text)
        return is_named or any(SAYS[each].fullmatch(text) for each in ("noun", "filler"))

    @property
    def minutes(self) -> int | None:
        return next((round(each.minutes) for each in self.passage.values(Lasting)), None)

    @property
    def seats(self) -> int | None:
        return next((each.count for each in self.passage.values(Seats)), None)

    @property
    def others(self) -> tuple[str, ...]:
        """Return whom it names beside its subject."""
        end = self.subject.end if self.subject and self.kind == "person" else 0
        text = SAYS.owner.sub(" ", self.passage.text[end:])
        return tuple(name for each in self.passage.values(Who, text) for name in each.names)

    def said_as(self, hole: str) -> str | None:
        """Return the words of what is fetched or made."""
        found = self.passage.first(SAYS[hole])
        return next((found[name] for name in ("thing", "chore", "doing") if found[name]), None) if found else None

    def at(self, *how: str) -> When | None:
        """Return the time that was said with the first of these words."""
        return next((each for word in how for each in self.when if each.how == word), None)

    def spot(self, *how: str) -> str | None:
        said = self.passage.values(Spot)
        return next((each.name for word in how for each in reversed(said) if each.how == word), None)

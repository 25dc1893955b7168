"""Clauses: the values that a part of a sentence holds, apart from the words that say what it is about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sagagraph.domains.reunion.text.facts import TELLER, Fact
from sagagraph.language.clock import AFTERNOON_UP_TO, DAY, Clock, Lasting, on_the_clock, tag_clock, tag_clock_digits
from sagagraph.language.forms import Forms
from sagagraph.language.numbers import Number, tag_numbers
from sagagraph.language.passage import Found, Passage

_SAYS: Final = Forms(__file__, "clauses")
_ADJUNCTS: Final = Forms(__file__, "adjuncts")


@dataclass(frozen=True, slots=True)
class When:
    """A time: `minutes` since midnight. `how`: the word before it, `at` if there is none."""

    how: str
    minutes: int


def tagged(sentence: str) -> Passage:
    """Tag times of day as `when`, and durations as `lasting`."""
    passage = Passage.of(on_the_clock(sentence))
    tag_clock_digits(passage)
    tag_numbers(passage)
    tag_clock(passage)
    passage.tag("when", _SAYS.time, lambda found: _when(found, found.get("time", Clock)))
    passage.tag("when", _SAYS.bare_hour, _at_an_hour)
    return passage


def _at_an_hour(found: Found) -> When | None:
    number = found.get("n", Number)
    return None if number is None or number.count is None else _when(found, Clock(number.count, is_exact=False))


def _when(found: Found, clock: Clock | None) -> When | None:
    if clock is None:
        return None
    is_bare = not _SAYS.of_the_morning.search(found.said)
    hour = clock.hour + 12 if is_bare and 1 <= clock.hour <= AFTERNOON_UP_TO else clock.hour
    minutes = hour * 60 + clock.minute
    how = found["how"] or "at"
    is_last_midnight = minutes == DAY and how not in _UP_TO
    return When(how, 0 if is_last_midnight else minutes) if minutes <= DAY else None


_UP_TO: Final = ("by", "before", "until", "till")
_ABOUT: Final = ("at", "around", "about")


def bared(part: Passage) -> tuple[Passage, dict[str, str], tuple[When, ...]]:
    """Return the clause without what may stand anywhere in it: its adjuncts, each by its kind, and its times of day."""
    plain = Passage(_SAYS.when.sub(" ", re.sub(r"\s+", " ", part.text)), part)
    found: dict[str, str] = {}
    for kind in _ADJUNCTS:
        match = _ADJUNCTS[kind].search(re.sub(r"\s+", " ", plain.text))
        if match:
            found[kind] = match.groupdict().get(kind) or match[0]
            plain.text = f"{match.string[: match.start()]} {match.string[match.end() :]}"
    plain.text = re.sub(r"\s+", " ", plain.text).strip(" ,")
    return plain, found, tuple(part.values(When))


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause. `people`: whom it is about. `last`: what was said before it. `adjuncts`: as they were written, by their kinds."""

    found: Found
    when: tuple[When, ...]
    people: tuple[str, ...]
    last: Fact | None
    adjuncts: Mapping[str, str] = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    """People of whom somebody has spoken before."""

    def said(self, hole: str) -> str | None:
        """Return the words of a hole or an adjunct as they were written; None if nothing was said."""
        words = self.found.match.groupdict().get(hole) or self.adjuncts.get(hole)
        return self.found.passage.said(words).strip() if words else None

    def words(self, hole: str) -> str:
        return self.said(hole) or ""

    def names(self, hole: str) -> tuple[str, ...]:
        return names_in(self.words(hole))

    @property
    def place(self) -> str | None:
        return self._owned(self.said("at") or self.said("home") or self.said("place"))

    @property
    def origin(self) -> str | None:
        """Return the place from which somebody comes, or something is fetched."""
        return self._owned(self.said("from"))

    def _owned(self, place: str | None) -> str | None:
        """Return `Ann's house` for `her house`."""
        own = _SAYS.own.fullmatch(place) if place and self.people else None
        return f"{self.people[0]}'s {own['what']}" if own else place

    @property
    def number(self) -> int | None:
        said = self.found.get("seats", Number) or self.found.get("n", Number)
        return said.count if said else None

    @property
    def minutes(self) -> int | None:
        said = [*self.found.values(Lasting), *self.found.passage.values(Lasting, self.adjuncts.get("for", ""))]
        return round(said[0].minutes) if said else None

    @property
    def since(self) -> int | None:
        return self.at("from", "at", "after", "since", "around", "about", *_UP_TO)

    @property
    def by(self) -> int | None:
        return self.at(*_UP_TO, *_ABOUT)

    @property
    def opens(self) -> int | None:
        return self.at("after", "from")

    @property
    def closes(self) -> int | None:
        return self.at(*_UP_TO)

    def at(self, *how: str) -> int | None:
        """Return the time that was said with the first of these words."""
        return next((each.minutes for word in how for each in self.when if each.how == word), None)


def names_in(text: str) -> tuple[str, ...]:
    """Return names: `Alex and my mother` are Alex and Mother, `my sister Emily` is Emily."""
    return tuple(map(_name, _SAYS.name.findall(text)))


def leading_name(text: str) -> tuple[str, ...]:
    found = _SAYS.name.match(text)
    return (_name(found[0]),) if found else ()


def _name(said: str) -> str:
    *of_whom, name = re.sub(r"(?<=\w)[ -]in[ -]law\b", "-in-law", said).split()
    is_described = bool(of_whom) and of_whom[0].lower() in ("my", "our", "his", "her", "their", "the")
    if not is_described:
        return TELLER if said == "I" else said[0].upper() + said[1:] if said.isalpha() else said
    return name.capitalize() if len(of_whom) == 1 or name.islower() else name

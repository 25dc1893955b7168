"""Clauses: what a part of a sentence says, and the slots that it can fill."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sagagraph.domains.reunion.text.facts import Fact
from sagagraph.language.clock import AFTERNOON_UP_TO, Clock, Lasting, on_the_clock, tag_clock, tag_clock_digits
from sagagraph.language.forms import Forms
from sagagraph.language.numbers import Number, tag_numbers
from sagagraph.language.passage import Found, Passage

_SAYS: Final = Forms(__file__, "clauses")
_ADJUNCTS: Final = Forms(__file__, "adjuncts")
TELLER: Final = "Me"
"""Whoever tells of the day, in the plan: `I` in sentences."""
HERE: Final = "here"
"""Where all meet."""


@dataclass(frozen=True, slots=True)
class When:
    """A time: `minutes` since midnight. `how`: the word before it, `at` if there is none."""

    how: str
    minutes: int


@dataclass(frozen=True, slots=True)
class Amount:
    """How long a road or a task takes, or how far it is."""

    minutes: float | None
    km: float | None = None


def tagged(sentence: str) -> Passage:
    """Tag times of day as `when`, and durations and distances as `amount`."""
    passage = Passage.of(on_the_clock(sentence))
    tag_clock_digits(passage)
    tag_numbers(passage)
    tag_clock(passage)
    passage.tag("when", _SAYS.time, lambda found: _when(found, found.get("time", Clock)))
    passage.tag("when", _SAYS.bare_hour, _at_an_hour)
    passage.tag("amount", _SAYS.amount, _amount)
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
    is_last_midnight = minutes == 24 * 60 and how not in ("by", "before", "until", "till")
    return When(how, 0 if is_last_midnight else minutes) if minutes <= 24 * 60 else None


def _amount(found: Found) -> Amount:
    lasting = found.get("lasting", Lasting)
    if lasting:
        return Amount(lasting.minutes)
    numbers = (found.get(name, Number) for name in ("km", "speed"))
    km, speed = (float(each.value) if each and each.value is not None else None for each in numbers)
    return Amount(km / speed * 60 if km and speed else None, km)


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
    """A clause. `people`: the people it mentions so far; `name`: the one who is meant now. `last`: what was said before it.
    `adjuncts`: as they were written, by their kinds.
    """

    found: Found
    when: tuple[When, ...]
    people: tuple[str, ...]
    last: Fact | None
    adjuncts: Mapping[str, str] = field(default_factory=dict)
    name: str = ""

    def said(self, hole: str) -> str | None:
        """Return the words of a hole or an adjunct as they were written."""
        words = self.found.match.groupdict().get(hole) or self.adjuncts.get(hole)
        return self.found.passage.said(words).strip() if words else None

    def words(self, hole: str) -> str:
        """Return the same, empty if nothing was said."""
        return self.said(hole) or ""

    @property
    def place(self) -> str | None:
        """Return the place: `her house` is its owner's."""
        return self._owned(self.said("at") or self.said("home") or self.said("place"))

    @property
    def origin(self) -> str | None:
        """Return the place from which somebody comes, or something is fetched."""
        return self._owned(self.said("from"))

    def _owned(self, place: str | None) -> str | None:
        own = _SAYS.own.fullmatch(place) if place and self.name else None
        if own is None:
            return place
        owner = self.people[0] if own["theirs"] and self.name in self.people else self.name
        return f"{owner}'s {'house' if _SAYS.house.fullmatch(own['what']) else own['what']}"

    @property
    def whom(self) -> tuple[str, ...]:
        return names_in(self.words("whom"))

    @property
    def number(self) -> int | None:
        said = self.found.get("seats", Number) or self.found.get("n", Number)
        return said.count if said else None

    @property
    def amount(self) -> Amount | None:
        said = self.found.passage.values(Amount, self.adjuncts.get("for", ""))
        return next(iter([*self.found.values(Amount), *said]), None)

    @property
    def minutes(self) -> int | None:
        return round(self.amount.minutes) if self.amount and self.amount.minutes is not None else None

    @property
    def since(self) -> int | None:
        return self.at("from", "at", "after", "since", "around", "about", "until", "till", "by", "before")

    @property
    def by(self) -> int | None:
        return self.at("by", "before", "until", "till", "at", "around", "about")

    def at(self, *how: str) -> int | None:
        """Return the time that was said with the first of these words."""
        return next((each.minutes for word in how for each in self.when if each.how == word), None)


def names_in(text: str) -> tuple[str, ...]:
    """Return names: `Alex and my mother` are Alex and Mother, `my sister Emily` is Emily."""
    return tuple(map(_name, _SAYS.name.findall(text)))


def leading_name(text: str) -> tuple[str, str]:
    """Return whom a text begins with, if anybody, and the rest of it."""
    found = _SAYS.name.match(text)
    return (_name(found[0]), text[found.end() :].strip()) if found else ("", text)


def without_names(text: str) -> str:
    return _SAYS.name.sub(" ", text)


def _name(said: str) -> str:
    said = re.sub(r"(?<=\w)[ -]in[ -]law\b", "-in-law", said)
    *of_whom, name = said.split()
    is_described = bool(of_whom) and of_whom[0].lower() in ("my", "our", "his", "her", "their", "the")
    if not is_described:
        return TELLER if said == "I" else said[0].upper() + said[1:] if said.isalpha() else said
    return name.capitalize() if len(of_whom) == 1 or name.islower() else name


def car_of(name: str) -> str:
    return "my car" if name == TELLER else f"{name}'s car"

"""Slots: the phrases of `forms.ini`, and the facts that each states of the people, things and ways of a reunion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from sagagraph.domains.reunion.text.clauses import Clause
from sagagraph.domains.reunion.text.facts import EVERYBODY, HERE, RENTAL, Fact, car, car_of, goal, person, road, task
from sagagraph.language.forms import Forms, as_form, form

Reader = Callable[[Clause], Iterable[Fact]]
_SAYS: Final = Forms(__file__, "reader")
_HOURS: Final = 24
_ANYWHERE: Final = frozenset({"day", "way"})
"""Adjuncts that change nothing."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A form and what `read` makes of it; an empty result means that nothing known here was said."""

    form: re.Pattern[str]
    read: Reader
    takes: frozenset[str] | None = frozenset()
    """The adjuncts that may be said beside it; None: it is read as a whole, with all that is in it."""
    needs: str = ""
    """The adjunct that must be."""

    def fits(self, adjuncts: Iterable[str]) -> bool:
        said = {"at" if each == "home" else each for each in adjuncts} - _ANYWHERE
        return self.takes is None or (said <= self.takes and (not self.needs or self.needs in said))


def _road(clause: Clause) -> Iterator[Fact]:
    """Read how long one drives. A number without a unit is minutes."""
    minutes = clause.number if clause.minutes is None else clause.minutes
    if minutes is not None and not clause.when:
        yield road(clause.words("here"), clause.words("there"), minutes)


def _goal(clause: Clause) -> Iterator[Fact]:
    hour = None if clause.number is None or clause.number > _HOURS else clause.number * 60  # `make it 7`
    by = next((each for each in (clause.by, clause.since, hour) if each is not None), None)
    if by is not None or clause.place:
        yield goal("", place=clause.place, by=by, event=clause.words("event"))


def _at(clause: Clause) -> Iterator[Fact]:
    """Read who is where, and from when on."""
    yield from (person(name, **{"place": clause.place or clause.origin, "from": clause.since}) for name in clause.people)


def _lands(clause: Clause) -> Iterator[Fact]:
    yield from (replace(each, values={**each.values, "lands": True}) for each in _at(clause))


def _comes(clause: Clause) -> Iterator[Fact]:
    if not clause.when:
        yield from (person(name) for name in clause.people)


def _has_to_be(clause: Clause) -> Iterator[Fact]:
    """Tell `Dad must be here by 4`, which is a goal of his, from when he comes."""
    place = clause.place or (HERE if clause.said("here") else None)
    if place and clause.by is not None:
        yield from (goal(name, place=place, by=clause.by) for name in clause.people)


def _rides(clause: Clause) -> Iterator[Fact]:
    for each in _at(clause):
        yield replace(each, values={**each.values, "drives": False, "fetched": True})


def _fetched(clause: Clause) -> Iterator[Fact]:
    """Read `Emily must be picked up`, but only of people: `Programs must be picked up` begins with a capital, too."""
    if clause.known.issuperset(clause.people) or clause.found.said[:1].islower() or len(clause.people) > 1:
        yield from _rides(clause)


def _apart(clause: Clause) -> Iterator[Fact]:
    people = (*clause.people, *clause.names("whom"))
    if len(people) > 1:
        yield from map(person, people)
        yield Fact("apart", ", ".join(people))


def _drives(clause: Clause, place: str | None) -> Iterator[Fact]:
    """Read who drives; people drive together, in one car."""
    since = clause.since if place else None
    yield from (person(name, **{"place": place, "from": since, "drives": True}) for name in clause.people)
    if clause.people:
        yield car(car_of(clause.people[0]), place=place, seats=clause.number, drivers=clause.people)


def _rents(clause: Clause) -> Iterator[Fact]:
    yield from (person(name, drives=True) for name in clause.people)
    yield car(RENTAL, place=clause.place, drivers=clause.people)


def _seats(clause: Clause) -> Iterator[Fact]:
    people = clause.people or (("Me",) if clause.found.said.lower().startswith("my ") else ())
    yield from (car(car_of(name), seats=clause.number) for name in people[:1])


def _passenger(clause: Clause) -> Iterator[Fact]:
    """Read whom somebody fetches: they do not drive, and would rather ride with whoever is named."""
    by = clause.names("who")[:1]
    yield from (person(name) for name in by if clause.names("whom"))
    for name in clause.names("whom"):
        place = clause.place or clause.origin
        yield person(name, place=place, drives=False, prefers=(by or (None,))[0], **{"from": clause.opens})


def _chore(clause: Clause, thing: str, *, is_errand: bool) -> Iterator[Fact]:
    """Read what somebody does somewhere. Something that is only fetched takes no time; of all else, it has to be said."""
    place = clause.place or clause.origin
    is_thing = not is_errand or _SAYS.goods.search(thing) or thing.islower()
    if is_thing and not _SAYS.car.search(thing) and (place or not is_errand):
        minutes = clause.minutes if clause.minutes is not None or not is_errand else 0
        who = clause.names("who") or None
        values = {"place": place, "minutes": minutes, "opens": clause.opens, "closes": clause.closes, "who": who}
        yield task(thing, is_errand=is_errand or None, **values)


def _task(clause: Clause) -> Iterator[Fact]:
    name = clause.words("thing")
    is_somebody = name in clause.known.union(clause.people) or (clause.said("needs") and clause.names("thing"))
    if not (is_somebody or _SAYS.way.fullmatch(name)) and (clause.minutes is not None or clause.said("oven")):
        who = clause.names("who") or None
        yield task(name, place=clause.place, minutes=clause.minutes, opens=clause.opens, closes=clause.closes, who=who)


def _of_it(clause: Clause) -> Iterator[Fact]:
    """Read what is said of the task before: how long it takes, and when there it is open."""
    if clause.last and clause.last.table == "tasks":
        moments = {"opens" if clause.said("opens") else "closes": clause.since}
        yield task(clause.last.name, minutes=clause.minutes, **moments)


def _watched(clause: Clause) -> Iterator[Fact]:
    name = clause.said("thing") or (clause.last.name if clause.last and clause.last.table == "tasks" else "")
    if name:
        yield task(name, watched=True, who=clause.names("who") or None)


_READERS: Final[dict[str, Reader]] = {
    "road": _road,
    "occasion": _goal,
    "everybody": _goal,
    "rents": _rents,
    "rides": _rides,
    "fetched": _fetched,
    "drives_from": lambda it: _drives(it, it.origin),
    "does_not_drive": lambda it: () if it.when else (person(name, drives=False) for name in it.people),
    "has_car": lambda it: _drives(it, it.place),
    "has_to_be": _has_to_be,
    "is_there": _at,
    "arrives": _at,
    "lands": _lands,
    "comes": _comes,
    "leaves": lambda it: () if it.said("event") else _at(it),
    "company": lambda it: (person(name, never_alone=not it.said("may")) for name in it.names("who") or (EVERYBODY,)),
    "apart": _apart,
    "free": _at,
    "people": lambda it: map(person, it.names("whom")),
    "seats": _seats,
    "drives": lambda it: () if it.when else (person(name, drives=True) for name in it.people),
    "passenger": _passenger,
    "chore": lambda it: _chore(it, it.words("chore"), is_errand=False),
    "errand": lambda it: _chore(it, it.words("thing"), is_errand=True),
    "watched": _watched,
    "hours": lambda it: _of_it(it) if it.when else (),
    "lasting": _of_it,
    "left_alone": _watched,
    "makes": _task,
    "task": _task,
}


def _holes() -> dict[str, str]:
    """Return what the words in capitals stand for: forms, and phrases of those before them."""
    words, phrases = Forms(__file__, "everywhere"), Forms(__file__, "phrases")
    holes = {name: words.text(name) for name in words.parts}
    for name in phrases.parts:
        holes[name] = as_form(phrases.text(name), holes)
    own = Forms(__file__, "slots")
    for name in own.parts:
        holes[name] = as_form(own.text(name), holes)
    return holes


def _slots(section: str, *, is_whole: bool = False) -> Iterator[Slot]:
    phrases = Forms(__file__, f"slots.{section}")
    for name in phrases:
        said, _, adjuncts = phrases.phrase(name).partition(" + ")
        takes = adjuncts.replace("!", "").split()
        needs = next((each[:-1] for each in adjuncts.split() if each.endswith("!")), "")
        yield Slot(form(as_form(said, _HOLES)), _READERS[name.split()[0]], None if is_whole else frozenset(takes), needs)


_HOLES: Final = _holes()
SLOTS: Final = (*_slots("roads", is_whole=True), *_slots("occasions"), *_slots("people"), *_slots("things"))
"""The first that a clause fills says what it means."""

"""Slots: the phrases of `forms.ini`, and the facts that each states of the people, things and wishes of a reunion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from sagagraph.domains.reunion.text.clauses import Clause, names_in, without_names
from sagagraph.domains.reunion.text.facts import (
    ApartFact,
    CompanyFact,
    Fact,
    GoalFact,
    HoursFact,
    KerbFact,
    ObjectiveFact,
    PersonFact,
    PlaceFact,
    RoadFact,
    TaskFact,
    TruismFact,
    VehicleFact,
)
from sagagraph.language.forms import Forms, as_form, form
from sagagraph.language.numbers import Number

Reader = Callable[[Clause], Iterable[Fact]]
_SAYS: Final = Forms(__file__, "company")


@dataclass(frozen=True, slots=True)
class Slot:
    """A form and what `read` makes of it; an empty result means that nothing known here was said."""

    form: re.Pattern[str]
    read: Reader
    is_timed: bool = True
    """Whether there may be times of day among the words."""


# -- how far it is ---------------------------------------------------------------------------------------------------


def _between(clause: Clause, here: str, there: str) -> RoadFact:
    """Read a distance. A number without a unit is minutes; beside a distance, it is the speed."""
    number, amount = clause.number, clause.amount
    if amount is None:
        return RoadFact(here, there, number)
    minutes = amount.km / number * 60 if amount.km and number else amount.minutes
    return RoadFact(here, there, minutes, amount.km)


def _pairwise(clause: Clause) -> Iterator[Fact]:
    letters = map(chr, range(ord(clause.words("first")), ord(clause.words("last")) + 1))
    yield from (_between(clause, here, there) for here, there in combinations(letters, 2))


def _rental(clause: Clause) -> Iterator[Fact]:
    if clause.minutes is not None:
        yield TaskFact("rent a car", minutes=clause.minutes, is_errand=True)


_ROADS: Final[dict[str, Reader]] = {
    "kerb": lambda it: () if it.minutes is None else (KerbFact(it.minutes),),
    "rental": _rental,
    "road": lambda it: (_between(it, it.words("here"), it.words("there")),),
    "to_all": lambda it: (_between(it, it.words("here"), ""),),
    "pairwise": _pairwise,
}

# -- who must not wait alone (`don't leave Grandma alone`), or work side by side ---------------------------------------


def _alone(clause: Clause) -> Iterable[Fact]:
    said = re.sub(r"(\bca|\bwo)?n't", lambda each: f"{ {'ca': 'can', 'wo': 'will'}.get(each[1], '') } not", clause.words("words"))
    rest = without_names(said)
    is_refused = bool(_SAYS.no.search(rest)) != bool(_SAYS.mind.search(rest))
    is_wish = is_refused or bool(_SAYS.may.search(rest) or _SAYS.mind.search(rest))
    for words in (_SAYS.no, _SAYS.may, _SAYS.mind, _SAYS.beside):
        rest = words.sub("", rest)
    is_for_all = bool(_SAYS.everybody.search(said))
    people = () if is_for_all else names_in(_SAYS.to_whom.sub("", said)) or names_in(said) or clause.people
    return _wish(people, is_wanted=is_refused) if is_wish and not rest.strip() and (people or is_for_all) else ()


def _wish(people: tuple[str, ...], *, is_wanted: bool = True) -> Iterator[Fact]:
    yield from map(PersonFact, people)
    yield CompanyFact(people, is_wanted)


def _apart(clause: Clause) -> Iterator[Fact]:
    people = (*clause.people, *clause.whom)
    if len(people) > 1:
        yield from map(PersonFact, people)
        yield ApartFact(people, is_wanted=not clause.said("may"))


_COMPANY: Final[dict[str, Reader]] = {
    "apart": _apart,
    "alone": _alone,
    "wish": lambda it: _wish(it.whom),
    "own_wish": lambda it: _wish(it.people),
}

# -- the occasion ----------------------------------------------------------------------------------------------------


def _occasion(clause: Clause) -> Iterator[Fact]:
    if clause.when or clause.place:
        yield GoalFact((), clause.place, clause.by, clause.words("event"))


def _named_place(clause: Clause) -> Iterator[Fact]:
    """`Gift shop G`: a place and its short name."""
    if _SAYS.place.search(clause.place or ""):
        yield PlaceFact(clause.words("letter"), clause.place or "")


_OCCASIONS: Final[dict[str, Reader]] = {
    "occasion": _occasion,
    "everybody": lambda it: (GoalFact((), it.place, it.by),) if it.when else (),
    "objective": lambda it: (ObjectiveFact("driving_minutes" if it.said("time") else "distance"),),
}
_NAMED: Final[dict[str, Reader]] = {"place": _named_place, "people": lambda it: map(PersonFact, it.whom)}

# -- people: where and from when they are, how they get about, where they have to be ---------------------------------------


def _is_there(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, clause.place, clause.since)


def _arrives(clause: Clause) -> Iterator[Fact]:
    """Without saying where, it is where all meet; a car that somebody drives comes along."""
    yield PersonFact(clause.name, clause.place, clause.since, arrives=clause.place is None)
    car = f"{clause.name}'s car"
    if isinstance(clause.last, VehicleFact) and clause.last.name == car and clause.place:
        yield VehicleFact(car, clause.place, drivers=(clause.name,))


def _rides(clause: Clause) -> Iterator[Fact]:
    prefers = next(iter(names_in(clause.words("by"))), None)
    yield PersonFact(clause.name, clause.place, drives=False, prefers=prefers, is_fetched=bool(clause.said("fetched")))


def _drives(clause: Clause) -> Iterator[Fact]:
    """In a car of their own, where they come from somewhere, drive home, or say which."""
    yield PersonFact(clause.name, clause.place, clause.since, drives=True)
    if clause.place or any(map(clause.said, ("back", "car", "own"))):
        yield VehicleFact(f"{clause.name}'s car", clause.place, clause.number, (clause.name,))


_PEOPLE: Final[dict[str, Reader]] = {
    "rents": lambda it: (PersonFact(it.name, drives=True), VehicleFact("rental car", it.place, drivers=(it.name,))),
    "rides": _rides,
    "rides_from": lambda it: (*_is_there(it), *_rides(it)),
    "drives": _drives,
    "does_not_drive": lambda it: (PersonFact(it.name, drives=False),),
    "has_to_be": lambda it: (PersonFact(it.name), GoalFact((it.name,), it.place, it.by)),
    "takes_part": lambda it: (PersonFact(it.name),),
    "kerb": lambda it: (PersonFact(it.name, exit_minutes=it.minutes),),
    "is_there": _is_there,
    "arrives": _arrives,
    "lands": lambda it: (PersonFact(it.name, it.place, it.since, lands=True),),
    "prefers": lambda it: (PersonFact(it.name, prefers=it.said("whom")),),
}

# -- tasks and vehicles ----------------------------------------------------------------------------------------------


def _task(clause: Clause) -> Iterator[Fact]:
    if clause.minutes is not None or clause.place:
        yield TaskFact(clause.words("thing"), clause.place, clause.minutes, clause.at("after"), clause.at("by", "before"))


def _goes_on(clause: Clause) -> Iterator[Fact]:
    """Tell `it takes 10 minutes` from `it takes two passengers`."""
    match clause.last:
        case TaskFact(name) if clause.minutes is not None:
            yield TaskFact(name, minutes=clause.minutes)
        case VehicleFact(name) if clause.number is not None:
            yield VehicleFact(name, seats=clause.number)


def _hours(clause: Clause) -> Iterator[Fact]:
    place = clause.place or getattr(clause.last, "place", None)
    if place and clause.when:
        opens, until = clause.said("opens"), clause.at("until", "till")
        yield HoursFact(place, clause.since if opens else None, until if opens else clause.by)


def _left_alone(clause: Clause) -> Iterator[Fact]:
    """The roast that the sentence is about, or what it names."""
    name = clause.said("thing") or (clause.last.name if isinstance(clause.last, TaskFact) else "")
    if name:
        yield TaskFact(name, watched=True)


def _chore(clause: Clause) -> Iterator[Fact]:
    who = () if clause.said("somebody") else clause.people
    closes = clause.at("by", "before", "until", "till")
    yield TaskFact(clause.words("chore"), clause.place, clause.minutes, clause.at("after", "from", "at"), closes, who=who)


def _errand(clause: Clause) -> Iterator[Fact]:
    who = () if clause.said("somebody") else clause.people
    opens, closes = clause.at("after", "from"), clause.at("by", "before", "until")
    yield TaskFact(clause.words("thing"), clause.place, clause.minutes, opens, closes, is_errand=True, who=who)


def _car_of(clause: Clause) -> Iterator[Fact]:
    seats = clause.found.get("seats", Number)
    for name in clause.whom:
        yield PersonFact(name, drives=True)
        yield VehicleFact(f"{name}'s car", seats=seats.count if seats else None, drivers=(name,))


def _taxi(clause: Clause) -> Iterator[Fact]:
    if clause.place:
        yield VehicleFact(clause.words("named"), clause.place, clause.number, ())


_THINGS: Final[dict[str, Reader]] = {
    "passenger": lambda it: (PersonFact(name, replace(it, name=name).place, drives=False) for name in it.whom),
    "chore": _chore,
    "errand": _errand,
    "task": _task,
    "left_alone": _left_alone,
    "hours": _hours,
    "watched": lambda it: (TaskFact(it.words("thing"), watched=True),),
    "car_of": _car_of,
    "taxi": _taxi,
    "seats": lambda it: (VehicleFact(f"{name}'s car", seats=it.number, drivers=(name,)) for name in it.people),
    "goes_on": _goes_on,
}

# -- all of them -----------------------------------------------------------------------------------------------------


def _holes() -> dict[str, str]:
    """Return what the words in capitals stand for: forms, and phrases of those before them."""
    words, phrases = Forms(__file__, "everywhere"), Forms(__file__, "phrases")
    holes = {name: words.text(name) for name in words.parts}
    for name in phrases.parts:
        holes[name] = as_form(phrases.text(name), holes)
    return holes


def _slots(section: str, readers: dict[str, Reader], *, is_timed: bool = True) -> Iterator[Slot]:
    phrases = Forms(__file__, f"slots.{section}")
    yield from (Slot(form(phrases.phrase(name, _HOLES)), readers[name.split()[0]], is_timed) for name in phrases)


def _of_each(read: Reader) -> Reader:
    """Apply to each of those who are named first, or whom the sentence is about."""
    return lambda clause: (fact for name in clause.people for fact in read(replace(clause, name=name)))


_HOLES: Final = _holes()
_TRUISMS: Final = Forms(__file__, "truisms")
SLOTS: Final = (
    *_slots("roads", _ROADS, is_timed=False),
    *_slots("company", _COMPANY, is_timed=False),
    *_slots("named", _NAMED, is_timed=False),
    *_slots("occasions", _OCCASIONS),
    *_slots("people", {name: _of_each(read) for name, read in _PEOPLE.items()}),
    *_slots("things", _THINGS),
    *(Slot(_TRUISMS[name], lambda it: (TruismFact(it.found.said),), is_timed=False) for name in _TRUISMS),
)
"""The first that a clause fills says what it means."""

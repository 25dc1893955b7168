"""Slots: the phrases of `forms.ini`, and the facts that each states of the people, things and wishes of a reunion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from sagagraph.domains.reunion.text.clauses import HERE, Clause, car_of, names_in, without_names
from sagagraph.domains.reunion.text.facts import (
    ApartFact,
    CompanyFact,
    Fact,
    GoalFact,
    HeadcountFact,
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
        said = {"at" if each == "home" and self.needs != "home" else each for each in adjuncts} - _ANYWHERE
        return self.takes is None or (said <= self.takes and (not self.needs or self.needs in said))


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


def _kerb(clause: Clause) -> Iterator[Fact]:
    if clause.minutes is not None:
        people = names_in(clause.words("who"))
        yield from (PersonFact(name, exit_minutes=clause.minutes) for name in people)
        yield from () if people else (KerbFact(clause.minutes),)


_ROADS: Final[dict[str, Reader]] = {
    "kerb": _kerb,
    "rental": lambda it: () if it.minutes is None else (TaskFact("rent a car", minutes=it.minutes, is_errand=True),),
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


def _goal(clause: Clause) -> Iterable[Fact]:
    """Whose house `her house` is has to be said."""
    is_hers = clause.place and _SAYS.hers.match(clause.place)
    return () if is_hers else (GoalFact((), clause.place, clause.by, clause.words("event")),)


_OCCASIONS: Final[dict[str, Reader]] = {
    "occasion": lambda it: _goal(it) if it.when or it.place else (),
    "everybody": lambda it: _goal(it) if it.when else (),
    "where": lambda it: (replace(it.last, place="home"),) if isinstance(it.last, GoalFact) and not it.last.place else (),
    "count": lambda it: () if it.number is None else (HeadcountFact(it.number),),
    "objective": lambda it: (ObjectiveFact("driving_minutes" if it.said("time") else "distance"),),
}
_NAMED: Final[dict[str, Reader]] = {
    "place": lambda it: (PlaceFact(it.words("letter"), it.place),) if it.place and _SAYS.place.search(it.place) else (),
    "people": lambda it: map(PersonFact, it.whom),
}

# -- people: where and from when they are, how they get about, where they have to be ---------------------------------------


def _is_there(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, clause.place, clause.since)


def _arrives(clause: Clause, place: str | None) -> Iterator[Fact]:
    """A car that somebody drives comes along."""
    yield PersonFact(clause.name, place, clause.since)
    if isinstance(clause.last, VehicleFact) and clause.last.name == car_of(clause.name) and place:
        yield VehicleFact(clause.last.name, place, drivers=clause.last.drivers)


def _comes(clause: Clause) -> Iterable[Fact]:
    return _arrives(clause, HERE) if clause.when else (PersonFact(clause.name),)


def _later(clause: Clause) -> Iterator[Fact]:
    """`James lands at 1, and Emily half an hour later`."""
    if isinstance(clause.last, PersonFact) and clause.last.from_ is not None and clause.minutes is not None:
        yield replace(clause.last, name=clause.name, from_=clause.last.from_ + clause.minutes)


def _rides(clause: Clause) -> Iterator[Fact]:
    prefers = next(iter(names_in(clause.words("by"))), None)
    place = clause.place or clause.origin
    fetched = bool(clause.said("fetched"))
    yield PersonFact(clause.name, place, clause.since, drives=False, prefers=prefers, is_fetched=fetched)


_PEOPLE: Final[dict[str, Reader]] = {
    "rides": _rides,
    "does_not_drive": lambda it: (PersonFact(it.name, drives=False),),
    "no_car": _is_there,
    "has_to_be": lambda it: (PersonFact(it.name), GoalFact((it.name,), it.place, it.by)) if it.place or it.when else (),
    "takes_part": lambda it: (PersonFact(it.name),),
    "is_there": _is_there,
    "out": lambda it: (PersonFact(it.name, it.origin or it.place, it.since),),
    "works": lambda it: (PersonFact(it.name, it.place or it.origin or "work", it.since),),
    "comes_here": lambda it: _arrives(it, HERE),
    "arrives": lambda it: _arrives(it, it.place),
    "arrives_somewhere": _comes,
    "comes": _comes,
    "later": _later,
    "lands": lambda it: (PersonFact(it.name, it.place, it.since, lands=True),),
    "leaves": lambda it: (PersonFact(it.name, it.origin or it.place, it.since),),
    "prefers": lambda it: (PersonFact(it.name, prefers=it.said("whom")),),
}


def _drives(clause: Clause, place: str | None = None, *, is_own: bool = True) -> Iterator[Fact]:
    """People drive together, in one car."""
    yield from (PersonFact(name, place, clause.since if place else None, drives=True) for name in clause.people)
    if is_own and clause.people:
        yield VehicleFact(car_of(clause.people[0]), place, clause.number, clause.people)


def _with(clause: Clause) -> Iterator[Fact]:
    """Whoever is with somebody is where they are, and from when."""
    if isinstance(clause.last, PersonFact):
        yield from (replace(PersonFact(name), place=clause.last.place, from_=clause.last.from_) for name in clause.whom)


def _rents(clause: Clause) -> Iterator[Fact]:
    yield from (PersonFact(name, drives=True) for name in clause.people)
    yield VehicleFact("rental car", clause.place, drivers=clause.people)


_CARS: Final[dict[str, Reader]] = {
    "rents": _rents,
    "drives_from": lambda it: _drives(it, it.origin),
    "has_car": lambda it: _drives(it, it.place),
    "drives": lambda it: _drives(it, is_own=bool(it.said("back") or it.said("own"))),
    "drives_home": _drives,
    "with": _with,
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
    place = clause.said("place") or getattr(clause.last, "place", None)
    if place and clause.when:
        opens, until = clause.said("opens"), clause.at("until", "till")
        since = clause.at("from", "at", "after", "since") if opens else None
        yield HoursFact(place, since, until if opens else clause.by)


def _left_alone(clause: Clause) -> Iterator[Fact]:
    """The roast that the sentence is about, or what it names."""
    name = clause.said("thing") or (clause.last.name if isinstance(clause.last, TaskFact) else "")
    if name:
        yield TaskFact(name, watched=True)


def _passenger(clause: Clause) -> Iterator[Fact]:
    """Whoever is to fetch somebody is whom they would rather ride with."""
    who = () if clause.said("somebody") or not clause.said("who") else names_in(clause.words("who"))
    yield from map(PersonFact, who)
    for name in clause.whom:
        place = replace(clause, name=name).place or replace(clause, name=name).origin
        yield PersonFact(name, place, clause.since, drives=False, prefers=next(iter(who), None))


def _chore(clause: Clause, name: str = "") -> Iterator[Fact]:
    who = () if clause.said("somebody") else clause.people
    opens, closes = clause.at("after", "from", "at", "around", "about"), clause.at("by", "before", "until", "till")
    opens, closes = _PARTS[clause.words("part")] if clause.said("part") else (opens, closes)
    thing, place = name or clause.words("thing"), clause.place or clause.origin
    if not name and names_in(thing) and not _SAYS.goods.search(thing):
        return  # somebody, and nothing that is collected
    yield TaskFact(thing, place, clause.minutes, opens, closes, is_errand=not name, who=who)


_PARTS: Final = {"morning": (8 * 60, 12 * 60), "afternoon": (12 * 60, 18 * 60), "evening": (18 * 60, 23 * 60)}


def _car_of(clause: Clause) -> Iterator[Fact]:
    seats = clause.found.get("seats", Number)
    for name in clause.whom:
        yield PersonFact(name, drives=True)
        yield VehicleFact(car_of(name), seats=seats.count if seats else None, drivers=(name,))


def _seats(clause: Clause) -> Iterator[Fact]:
    for name in clause.people[:1]:
        yield VehicleFact(car_of(name), seats=clause.number, drivers=clause.people)


_THINGS: Final[dict[str, Reader]] = {
    "passenger": _passenger,
    "chore": lambda it: _chore(it, it.words("chore")),
    "pet": lambda it: _chore(replace(it, people=()), "walk the dog"),
    "errand": _chore,
    "errand_there": lambda it: _chore(it) if _SAYS.goods.search(it.words("thing")) else (),
    "waits": lambda it: _chore(replace(it, people=())),
    "task": _task,
    "left_alone": _left_alone,
    "out_by": lambda it: (TaskFact(it.words("thing"), closes=it.by),) if it.when else (),
    "hours": _hours,
    "watched": lambda it: (TaskFact(it.words("thing"), watched=True, who=names_in(it.words("who"))),),
    "car_of": _car_of,
    "taxi": lambda it: (VehicleFact(it.words("named"), it.place, it.number, ()),) if it.place else (),
    "seats": _seats,
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


def _slots(section: str, readers: dict[str, Reader], *, is_whole: bool = False) -> Iterator[Slot]:
    phrases = Forms(__file__, f"slots.{section}")
    for name in phrases:
        said, _, adjuncts = phrases.phrase(name).partition(" + ")
        takes = adjuncts.replace("!", "").split()
        needs = next((each[:-1] for each in adjuncts.split() if each.endswith("!")), "")
        yield Slot(form(as_form(said, _HOLES)), readers[name.split()[0]], None if is_whole else frozenset(takes), needs)


def _of_each(read: Reader) -> Reader:
    """Apply to each of those who are named first, or whom the sentence is about."""
    return lambda clause: (fact for name in clause.people for fact in read(replace(clause, name=name)))


_HOLES: Final = _holes()
_TRUISMS: Final = Forms(__file__, "truisms")
SLOTS: Final = (
    *_slots("roads", _ROADS, is_whole=True),
    *_slots("company", _COMPANY, is_whole=True),
    *_slots("named", _NAMED, is_whole=True),
    *_slots("occasions", _OCCASIONS),
    *_slots("people", {name: _of_each(read) for name, read in _PEOPLE.items()} | _CARS),
    *_slots("things", _THINGS),
    *(Slot(_TRUISMS[name], lambda it: (TruismFact(it.found.said),), takes=None) for name in _TRUISMS),
)
"""The first that a clause fills says what it means."""

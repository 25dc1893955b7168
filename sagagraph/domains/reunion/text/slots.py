"""Slots: the phrases of `forms.ini`, and the facts that each states of the people, things and wishes of a reunion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from sagagraph.domains.reunion.text import facts
from sagagraph.domains.reunion.text.clauses import HERE, TELLER, Clause, car_of, names_in, without_names
from sagagraph.domains.reunion.text.facts import Fact
from sagagraph.domains.reunion.text.places import STATION
from sagagraph.language.forms import Forms, as_form, form

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


def _between(clause: Clause, here: str, there: str) -> facts.RoadFact:
    """Read a distance. A number without a unit is minutes; beside a distance, it is the speed. `Here` is where all meet."""
    number, amount = clause.number, clause.amount
    here, there = (there, "") if _SAYS.us.fullmatch(here) else (here, "" if _SAYS.us.fullmatch(there) else there)
    if amount is None:
        return facts.RoadFact(here, there, number)
    minutes = amount.km / number * 60 if amount.km and number else amount.minutes
    return facts.RoadFact(here, there, minutes, amount.km)


def _kerb(clause: Clause) -> Iterator[Fact]:
    if clause.minutes is not None:
        people = names_in(clause.words("who"))
        yield from (facts.PersonFact(name, exit_minutes=clause.minutes) for name in people)
        yield from () if people else (facts.KerbFact(clause.minutes),)


def _onwards(clause: Clause) -> Iterator[Fact]:
    """Read another road from the same place: `it is 45 minutes to O'Hare, 35 to Midway`."""
    match clause.last:
        case facts.RoadFact(here, there) if clause.said("here"):
            yield _between(clause, here if there else clause.words("here"), clause.words("here") if there else "")
        case facts.TaskFact(name) if clause.minutes is not None and not _SAYS.away.search(clause.found.said):
            yield facts.TaskFact(name, minutes=clause.minutes)
        case facts.PersonFact() | facts.TaskFact() | facts.VehicleFact() if clause.amount and clause.last.place:
            yield _between(clause, clause.last.place, clause.words("here"))


def _likewise(clause: Clause) -> Iterator[Fact]:
    """Read another road to the same place: `the station is 10 minutes from the house, and Woking 20`."""
    if isinstance(clause.last, facts.RoadFact):
        yield _between(clause, clause.words("here"), clause.last.there)


_ROADS: Final[dict[str, Reader]] = {
    "kerb": _kerb,
    "rental": lambda it: () if it.minutes is None else (facts.TaskFact("rent a car", minutes=it.minutes, is_errand=True),),
    "road": lambda it: (_between(it, it.words("here"), it.words("there")),),
    "to_all": lambda it: (_between(it, it.words("here"), ""),),
    "onwards": _onwards,
    "likewise": _likewise,
    "further": lambda it: (_between(it, it.words("here"), it.words("there")),) if isinstance(it.last, facts.RoadFact) else (),
    "pairwise": lambda it: (
        _between(it, chr(here), chr(there))
        for here, there in combinations(range(ord(it.words("first")), ord(it.words("last")) + 1), 2)
    ),
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
    yield from map(facts.PersonFact, people)
    yield facts.CompanyFact(people, is_wanted)


def _apart(clause: Clause) -> Iterator[Fact]:
    people = (*clause.people, *clause.whom)
    if len(people) > 1:
        yield from map(facts.PersonFact, people)
        yield facts.ApartFact(people, is_wanted=not clause.said("may"))


_COMPANY: Final[dict[str, Reader]] = {
    "apart": _apart,
    "alone": _alone,
    "wish": lambda it: _wish(it.whom),
    "own_wish": lambda it: _wish(it.people),
}

# -- the occasion ----------------------------------------------------------------------------------------------------


def _goal(clause: Clause) -> Iterable[Fact]:
    """Read a goal; whose house `her house` is has to be said. From when until when it lasts, all are there at its beginning."""
    is_hers = clause.place and _SAYS.hers.match(clause.place)
    since = clause.at("from") if clause.at("until", "till") else None
    return () if is_hers else (facts.GoalFact((), clause.place, clause.by if since is None else since, clause.words("event")),)


_OCCASIONS: Final[dict[str, Reader]] = {
    "occasion": lambda it: _goal(it) if it.when or it.place else (),
    "planned": _goal,
    "at_ours": lambda it: _goal(it) if it.when and it.place and _SAYS.ours.match(it.place) else (),
    "everybody": lambda it: _goal(it) if it.when else (),
    "where": lambda it: (replace(it.last, place=it.place),) if isinstance(it.last, facts.GoalFact) and not it.last.place else (),
    "count": lambda it: () if it.number is None else (facts.HeadcountFact(it.number),),
    "objective": lambda it: (facts.ObjectiveFact("driving_minutes" if it.said("time") else "distance"),),
}
_NAMED: Final[dict[str, Reader]] = {
    "place": lambda it: (facts.PlaceFact(it.words("letter"), it.place),) if it.place and _SAYS.place.search(it.place) else (),
    "people": lambda it: map(facts.PersonFact, it.whom),
}

# -- people: where and from when they are, how they get about, where they have to be ---------------------------------------


def _arrives(clause: Clause, place: str | None) -> Iterator[Fact]:
    """Read an arrival; a car that somebody drives comes along."""
    yield facts.PersonFact(clause.name, place, clause.since)
    if isinstance(clause.last, facts.VehicleFact) and clause.last.name == car_of(clause.name) and place:
        yield facts.VehicleFact(clause.last.name, place, drivers=clause.last.drivers)


def _lands(clause: Clause) -> Iterator[Fact]:
    """Read who lands; whoever gets in by train does so at a station."""
    by_train = bool(_SAYS.train.search(clause.words("way")))
    yield facts.PersonFact(clause.name, _stop(clause), clause.since, lands=not by_train)


def _stop(clause: Clause) -> str | None:
    """Return where somebody arrives; a town that is reached by train is its station."""
    place = clause.place
    is_station = place and _SAYS.train.search(clause.words("way")) and _SAYS.town.fullmatch(place) and not STATION.search(place)
    return f"{place} station" if is_station else place


def _comes(clause: Clause) -> Iterable[Fact]:
    """Read who comes; whoever comes by plane or train arrives somewhere else first."""
    way = clause.words("way")
    if clause.origin and way == "by car":
        return tuple(_drives(clause, clause.origin))
    if _SAYS.public.search(way):
        return (facts.PersonFact(clause.name, None, clause.since, lands="plane" in way, by_train="train" in way),)
    if not clause.when:
        return (facts.PersonFact(clause.name),)
    person, *car = _arrives(clause, HERE)
    return (replace(person, is_anywhere=True), *car) if isinstance(person, facts.PersonFact) else ()


def _leaves(clause: Clause) -> Iterator[Fact]:
    """Tell `Ben starts in Leeds` from `the show starts at 2 at the Grand`."""
    if clause.said("event") and clause.when and not clause.origin:
        return
    place, owner = clause.origin or clause.place, clause.words("owner")
    yield facts.PersonFact(clause.name, place, clause.since)
    if owner:
        drivers = names_in(owner) or ((TELLER,) if owner == "my" else clause.people[:1])
        yield from _drives(replace(clause, people=drivers), place)


def _later(clause: Clause) -> Iterator[Fact]:
    """Read `James lands at 1, and Emily half an hour later`."""
    if isinstance(clause.last, facts.PersonFact) and clause.last.from_ is not None and clause.minutes is not None:
        yield replace(clause.last, name=clause.name, from_=clause.last.from_ + clause.minutes)


def _at_time(clause: Clause) -> Iterator[Fact]:
    """Read `Mia lands at JFK at 9, and Tariq at 11`."""
    match clause.last:
        case facts.PersonFact(place=str()) if clause.when:
            yield facts.PersonFact(clause.name, clause.last.place, clause.since, lands=clause.last.lands)


def _rides(clause: Clause) -> Iterator[Fact]:
    prefers = next(iter(names_in(clause.words("by"))), None)
    place, by = clause.place or clause.origin, clause.at("by", "before")
    since = None if by else clause.since
    fetched = bool(clause.said("fetched"))
    yield facts.PersonFact(clause.name, place, since, drives=False, prefers=prefers, is_fetched=fetched, fetched_by=by)


def _has_to_be(clause: Clause) -> Iterator[Fact]:
    """Tell `Dad should be here around 4`, which says when he comes, from a goal."""
    is_here = bool(clause.said("there"))
    is_when_they_come = is_here and not _SAYS.must.search(clause.found.said)
    if clause.place or (clause.at("by", "before", "until", "till") if is_when_they_come else clause.when):
        yield facts.PersonFact(clause.name)
        yield facts.GoalFact((clause.name,), HERE if is_here else clause.place, clause.by)


_OLD_ENOUGH: Final = 17
"""To drive."""


def _age(clause: Clause) -> Iterator[Fact]:
    if clause.number is not None:
        yield facts.PersonFact(clause.name, drives=False if clause.number < _OLD_ENOUGH else None)


_PEOPLE: Final[dict[str, Reader]] = {
    "age": _age,
    "rides": _rides,
    "does_not_drive": lambda it: () if it.when else (facts.PersonFact(it.name, drives=False),),
    "no_car": lambda it: (facts.PersonFact(it.name, it.place, it.since),),
    "has_to_be": _has_to_be,
    "takes_part": lambda it: (facts.PersonFact(it.name),),
    "is_there": lambda it: (facts.PersonFact(it.name, it.place, it.since),),
    "from_there": lambda it: (facts.PersonFact(it.name, it.origin, it.since),),
    "expected": lambda it: _arrives(it, HERE) if it.when else (),
    "out": lambda it: (facts.PersonFact(it.name, it.origin or it.place, it.since),),
    "works": lambda it: (facts.PersonFact(it.name, it.place or it.origin or "work", it.since),),
    "comes_here": lambda it: _arrives(it, HERE),
    "arrives": lambda it: _arrives(it, _stop(it)),
    "arrives_in": lambda it: _arrives(it, _stop(it)) if it.when else (),
    "arrives_somewhere": _comes,
    "comes": _comes,
    "brings": lambda it: [] if it.when else [facts.PersonFact(name) for name in (*it.people, *it.whom)],
    "later": _later,
    "at_time": _at_time,
    "lands": _lands,
    "leaves": _leaves,
    "rides_with": lambda it: (facts.PersonFact(it.name, prefers=next(iter(it.whom), None)),),
    "prefers": lambda it: (facts.PersonFact(it.name, prefers=it.said("whom")),),
}


def _drives(clause: Clause, place: str | None = None, *, is_own: bool = True) -> Iterator[Fact]:
    """Read who drives; people drive together, in one car."""
    is_rental = bool(_SAYS.rental.search(clause.words("car")))
    yield from (facts.PersonFact(name, place, clause.since if place else None, drives=True) for name in clause.people)
    if is_own and clause.people:
        yield facts.VehicleFact(facts.RENTAL if is_rental else car_of(clause.people[0]), place, clause.number, clause.people)


def _with(clause: Clause) -> Iterator[Fact]:
    """Read who is with whom: whoever is with somebody is where they are, and from when."""
    match clause.last:
        case facts.PersonFact():
            yield from (replace(clause.last, name=name) for name in clause.whom)
        case facts.VehicleFact(place=place):
            yield from (facts.PersonFact(name, place) for name in clause.whom)


def _at_stop(clause: Clause) -> Iterator[Fact]:
    """Read `Ann and Bob come by train, Central station 15:30`: nobody has said yet where they arrive."""
    match clause.last:
        case facts.PersonFact(place=None, from_=None) if clause.when:
            yield from (facts.PersonFact(name, clause.words("stop"), clause.since) for name in clause.people)


def _has_car(clause: Clause) -> Iterator[Fact]:
    """Read who has a car; a taxi is nobody's: it brings its own driver, to where it is taken."""
    if not _SAYS.taxi.search(clause.words("car")):
        yield from _drives(clause, clause.place)
    elif isinstance(clause.last, facts.PersonFact) and clause.last.place:
        yield facts.VehicleFact("taxi", clause.last.place, clause.number, ())


def _seats(clause: Clause) -> Iterator[Fact]:
    people = clause.people or ((TELLER,) if clause.found.said.startswith("my ") else ())
    yield from list(_drives(replace(clause, people=people)))[len(people) :]


def _with_car(clause: Clause) -> Iterator[Fact]:
    """Read `Rich and Gav are in Bristol with Rich's car`."""
    owner = next(iter(names_in(clause.words("owner"))), clause.people[0] if clause.people else "")
    if isinstance(clause.last, facts.PersonFact) and owner:
        yield from _drives(replace(clause, people=(owner,)), clause.last.place)


_CARS: Final[dict[str, Reader]] = {
    "our_car": lambda it: (facts.VehicleFact(car_of(TELLER), it.place, it.number, (TELLER,)),),
    "has_car_too": lambda it: _drives(it) if isinstance(it.last, facts.VehicleFact) else (),
    "have_cars": lambda it: (fact for name in it.people for fact in _drives(replace(it, people=(name,)), it.place)),
    "at_stop": _at_stop,
    "rents": lambda it: (*_drives(it, is_own=False), facts.VehicleFact(facts.RENTAL, it.place, drivers=it.people)),
    "car_of": lambda it: _drives(replace(it, people=it.whom)),
    "seats": _seats,
    "drives_from": lambda it: _drives(it, it.origin),
    "has_car": _has_car,
    "drives": lambda it: _drives(it, is_own=bool(it.said("back") or it.said("own") or it.number)),
    "drives_home": _drives,
    "with": _with,
    "with_car": _with_car,
}

# -- tasks and vehicles ----------------------------------------------------------------------------------------------


def _goes_on(clause: Clause) -> Iterator[Fact]:
    """Tell `it takes 10 minutes` from `it takes two passengers`."""
    match clause.last:
        case facts.TaskFact(is_errand=False) as task if clause.minutes is not None and clause.said("thing"):
            yield replace(task, name=clause.words("thing"), minutes=clause.minutes)
        case facts.TaskFact(name) if clause.minutes is not None:
            yield facts.TaskFact(name, minutes=clause.minutes)
        case facts.VehicleFact(name) if clause.number is not None:
            yield facts.VehicleFact(name, seats=clause.number)


def _errand_too(clause: Clause) -> Iterable[Fact]:
    """Read `Somebody gets the ice, and the cake at the bakery`."""
    last = clause.last
    if not (isinstance(last, facts.HoursFact) or (isinstance(last, facts.TaskFact) and last.is_errand)):
        return ()
    where = {} if clause.place or clause.origin else {"at": last.place or ""}
    return _chore(replace(clause, people=(), adjuncts={**clause.adjuncts, **where}))


def _just_then(clause: Clause) -> Iterator[Fact]:
    """Read a time alone after a task: `buy ice, not before 11`."""
    if isinstance(clause.last, facts.TaskFact) and clause.when:
        opens, closes = clause.at("after", "from"), clause.at("by", "before", "until")
        yield from [replace(clause.last, opens=opens, closes=closes)] if opens or closes else ()


def _hours(clause: Clause) -> Iterator[Fact]:
    place = clause.said("place") or getattr(clause.last, "place", None)
    if place and clause.when:
        opens, until = clause.said("opens"), clause.at("until", "till")
        since = clause.at("from", "at", "after", "since") if opens else None
        yield facts.HoursFact(place, since, until if opens else clause.by)


def _left_alone(clause: Clause) -> Iterator[Fact]:
    """Return the roast that the sentence is about, or what it names."""
    name = clause.said("thing") or (clause.last.name if isinstance(clause.last, facts.TaskFact) else "")
    if name:
        yield facts.TaskFact(name, watched=True)


def _watched(clause: Clause) -> Iterator[Fact]:
    who = names_in(clause.words("who"))
    if clause.said("home"):
        yield from (facts.PersonFact(name, HERE) for name in who)
    yield facts.TaskFact(clause.words("thing"), None, clause.minutes, watched=True, who=who)


def _passenger(clause: Clause) -> Iterator[Fact]:
    """Read a preference: people would rather ride with whoever is to fetch them."""
    who = () if clause.said("somebody") or not clause.said("who") else names_in(clause.words("who"))
    yield from map(facts.PersonFact, who if clause.whom else ())
    yield from _drives(replace(clause, people=who)) if who and clause.said("car") else ()
    for name in clause.whom:
        place = replace(clause, name=name).place or replace(clause, name=name).origin
        since, by = clause.at("from", "at", "after", "since", "around", "about", "until", "till"), clause.at("by", "before")
        yield facts.PersonFact(name, place, since, drives=False, prefers=next(iter(who), None), fetched_by=by)


def _chore(clause: Clause, name: str = "") -> Iterator[Fact]:
    who = () if clause.said("somebody") else clause.people
    opens, closes = clause.at("after", "from", "at", "around", "about"), clause.at("by", "before", "until", "till")
    opens, closes = _PARTS[clause.words("part")] if clause.said("part") else (opens, closes)
    thing = name or clause.words("thing")
    clause = replace(clause, name=who[0]) if who else clause
    place = clause.place or clause.origin
    if not name and (names_in(thing) or names_in(f"the {thing}")) and not _SAYS.goods.search(thing):
        return  # somebody, and nothing that is collected
    if _SAYS.car.search(thing):
        yield from [facts.VehicleFact(facts.RENTAL, place)] if _SAYS.rental.search(thing) else ()
        return
    yield facts.TaskFact(thing, place, clause.minutes, opens, closes, is_errand=not name, who=who)


def _task(clause: Clause) -> Iterator[Fact]:
    """Read `Ann bakes a cake, and she needs an hour`: that is how long the cake takes. What goes in the oven at 2 begins then."""
    name = clause.words("thing")
    if name in clause.people:
        name = clause.last.name if isinstance(clause.last, facts.TaskFact) else ""
    since = clause.at("after", "at", "around", "about") if clause.said("oven") else clause.at("after")
    if name and (clause.minutes is not None or clause.place or (clause.said("oven") and since is not None)):
        yield facts.TaskFact(name, clause.place, clause.minutes, since, clause.at("by", "before"))


_PARTS: Final = {"morning": (8 * 60, 12 * 60), "afternoon": (12 * 60, 18 * 60), "evening": (18 * 60, 23 * 60)}


_THINGS: Final[dict[str, Reader]] = {
    "passenger": _passenger,
    "chore": lambda it: _chore(it, it.words("chore")),
    "pet": lambda it: _chore(replace(it, people=()), "walk the dog"),
    "errand": _chore,
    "errand_too": _errand_too,
    "errand_there": lambda it: _chore(it) if _SAYS.goods.search(it.words("thing")) else (),
    "waits": lambda it: _chore(replace(it, people=())),
    "task": _task,
    "left_alone": _left_alone,
    "out_by": lambda it: (facts.TaskFact(it.words("thing"), closes=it.by),) if it.when else (),
    "hours": _hours,
    "watched": _watched,
    "on_it": lambda it: (facts.TaskFact(it.last.name, who=it.people),) if isinstance(it.last, facts.TaskFact) else (),
    "puts": lambda it: (facts.TaskFact(it.words("thing"), None, it.minutes, who=it.people),),
    "cannot_leave": lambda it: (facts.TaskFact(it.last.name, watched=True),) if isinstance(it.last, facts.TaskFact) else (),
    "makes": lambda it: (facts.TaskFact(it.words("thing"), it.place, it.minutes, who=it.people),),
    "taxi": lambda it: (facts.VehicleFact(it.words("named"), it.place, it.number, ()),) if it.place else (),
    "takes_others": lambda it: [facts.VehicleFact(car_of(name), seats=(it.number or 0) + 1) for name in it.people[:1]],
    "goes_on": _goes_on,
    "just_then": _just_then,
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
    *(Slot(_TRUISMS[name], lambda it: (facts.TruismFact(it.found.said),), takes=None) for name in _TRUISMS),
)
"""The first that a clause fills says what it means."""

"""Things: the occasion, tasks and errands, opening hours, vehicles, distances, and what matters most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Final

from sagagraph.domains.reunion.text.clauses import Clause, Slot
from sagagraph.domains.reunion.text.facts import (
    Fact,
    GoalFact,
    HoursFact,
    ObjectiveFact,
    PersonFact,
    RoadFact,
    TaskFact,
    VehicleFact,
)

# -- how far it is ---------------------------------------------------------------------------------------------------


def _road(clause: Clause) -> Iterator[Fact]:
    yield _between(clause, clause.said("here") or "", clause.said("there") or "")


def _pairwise(clause: Clause) -> Iterator[Fact]:
    first, last = (clause.said(hole) or "" for hole in ("first", "last"))
    for here, there in combinations(map(chr, range(ord(first), ord(last) + 1)), 2):
        yield _between(clause, here, there)


def _between(clause: Clause, here: str, there: str) -> RoadFact:
    """Read a distance. A number without a unit is minutes; beside a distance, it is the speed."""
    number, amount = clause.number, clause.amount
    if amount is None:
        return RoadFact(here, there, number)
    minutes = amount.km / number * 60 if amount.km and number else amount.minutes
    return RoadFact(here, there, minutes, amount.km)


ROADS: Final = tuple(
    Slot.of(words, read, is_timed=False)
    for words, read in (
        ("[driving|(the|a) (drive|way|road|journey)] [from] HERE (-|to) THERE ARE [:|=] (AMOUNT|N) [by car|drive|away]", _road),
        (
            "[the drive] [it takes|it is|it's|allow] AMOUNT [by car|drive] [to (get|drive)] (from|between) HERE (to|and) THERE",
            _road,
        ),
        ("between HERE and THERE ARE AMOUNT", _road),
        ("HERE (is|are) AMOUNT [away] (from|to) THERE", _road),
        ("HERE and THERE are AMOUNT apart", _road),
        ("FIRST to LAST [are] [all|pairwise|each] AMOUNT (apart|from each other) [at N km/h]", _pairwise),
    )
)

# -- the occasion ----------------------------------------------------------------------------------------------------


def _occasion(clause: Clause) -> Iterator[Fact]:
    if clause.when or clause.place:
        yield GoalFact((), clause.place, clause.by, clause.said("event") or "")


def _everybody(clause: Clause) -> Iterator[Fact]:
    if clause.when:
        yield GoalFact((), clause.place, clause.by)


def _objective(clause: Clause) -> Iterator[Fact]:
    yield ObjectiveFact("driving_minutes" if clause.said("time") else "distance")


_LEAST: Final = "[keep|drive|with|we want|i want] [as|the] (least|shortest|smallest|fewest|few|little)"
_WHAT: Final = "(distance|km|kilometres|kilometers|time=(driving [time]|time))"

OCCASIONS: Final = (
    Slot.of("[the|our|a] EVENT [is|start~|begin~|takes place|will be] [FROM]", _occasion),
    Slot.of("EVERYBODY [MUST|will|to] [all] [be|meet|are|is|arrive|gather|come] ((at|in) PLACE|HOME)", _everybody),
    Slot.of(f"[please] (minimise|minimize|{_LEAST}) [the] [possible|total] {_WHAT} [as possible] [,] [please]", _objective),
)

# -- tasks -----------------------------------------------------------------------------------------------------------


def _task(clause: Clause) -> Iterator[Fact]:
    if clause.minutes is not None or clause.place:
        yield TaskFact(clause.said("thing") or "", clause.place, clause.minutes, clause.at("after"), clause.at("by", "before"))


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


def _watched(clause: Clause) -> Iterator[Fact]:
    yield TaskFact(clause.said("thing") or "", watched=True)


def _errand(clause: Clause) -> Iterator[Fact]:
    who = () if clause.said("somebody") else clause.people
    opens, closes = clause.at("after", "from"), clause.at("by", "before", "until")
    yield TaskFact(clause.said("thing") or "", clause.place, clause.minutes, opens, closes, is_errand=True, who=who)


def _passenger(clause: Clause) -> Iterator[Fact]:
    for name in clause.whom:
        yield PersonFact(name, replace(clause, name=name).place, drives=False)


def _taxi(clause: Clause) -> Iterator[Fact]:
    if clause.place:
        yield VehicleFact(clause.said("named") or "", clause.place, clause.number, ())


_WHO: Final = "[please] [somebody=(SOMEBODY)|WHO] [MUST]"
_BUY: Final = "(FETCH|buy~|drop~ off|bring~)"
_BOUGHT: Final = "(FETCHED|bought|got|dropped off|brought)"
_ALL_THE_TIME: Final = "[all the time|meanwhile|then]"

THINGS: Final = tuple(
    Slot.of(words, read)
    for words, read in (
        (f"{_WHO} FETCH WHOM [FROM]", _passenger),
        (f"{_WHO} {_BUY} THING FROM [on the way] [[which|that] take~ AMOUNT]", _errand),
        (f"THING MUST be {_BOUGHT} FROM [for AMOUNT]", _errand),
        ("[PLACE|it|which] [is] (opens=(open|opens)|close~|shut~|closed)", _hours),
        (f"SOMEBODY [MUST] (watch~|stay~ with|keep~ an eye on|look~ after|attend~ [to]) THING {_ALL_THE_TIME}", _watched),
        (f"THING (MUST be (watched|attended|looked after)|need~ (watching|somebody there)) {_ALL_THE_TIME}", _watched),
        ("[a|an|the] (taxi|vehicle|cab|car|shuttle|driver) NAMED [BE|stands|starts] [(at|in) PLACE] [,] [FOR]", _taxi),
        ("[it|that|which] (take~ AMOUNT|FOR)", _goes_on),
        (
            "THING (take~|need~|last~|require~) [IN_OVEN] [for] AMOUNT [IN_OVEN] [of work|to (cook|make|prepare|roast)] [FROM]",
            _task,
        ),
        ("THING (is|goes|has to be|must be|must go|cook~|roast~) [for AMOUNT] [IN_OVEN] [for AMOUNT]", _task),
        ("THING (is|are|MUST be) (done|made|cooked|prepared) FROM", _task),
    )
)

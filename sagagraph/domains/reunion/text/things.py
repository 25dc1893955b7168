"""Things: the occasion, tasks and errands, opening hours, vehicles, distances, and what matters most."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Final

from sagagraph.domains.reunion.text.clauses import Clause, Slot
from sagagraph.domains.reunion.text.facts import (
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
from sagagraph.language.numbers import Number

# -- how far it is ---------------------------------------------------------------------------------------------------


def _road(clause: Clause) -> Iterator[Fact]:
    yield _between(clause, clause.said("here") or "", clause.said("there") or "")


def _pairwise(clause: Clause) -> Iterator[Fact]:
    first, last = (clause.said(hole) or "" for hole in ("first", "last"))
    for here, there in combinations(map(chr, range(ord(first), ord(last) + 1)), 2):
        yield _between(clause, here, there)


def _to_all(clause: Clause) -> Iterator[Fact]:
    """From where all meet."""
    yield _between(clause, clause.said("here") or "", "")


def _between(clause: Clause, here: str, there: str) -> RoadFact:
    """Read a distance. A number without a unit is minutes; beside a distance, it is the speed."""
    number, amount = clause.number, clause.amount
    if amount is None:
        return RoadFact(here, there, number)
    minutes = amount.km / number * 60 if amount.km and number else amount.minutes
    return RoadFact(here, there, minutes, amount.km)


def _kerb(clause: Clause) -> Iterator[Fact]:
    if clause.minutes is not None:
        yield KerbFact(clause.minutes)


def _rental(clause: Clause) -> Iterator[Fact]:
    if clause.minutes is not None:
        yield TaskFact("rent a car", minutes=clause.minutes, is_errand=True)


ROADS: Final = tuple(
    Slot.of(words, read, is_timed=False)
    for words, read in (
        ("[[it] takes|allow] AMOUNT from landing to [the] (kerb|curb|exit)", _kerb),
        ("([[it] takes|allow] AMOUNT to (rent|get) [a|the] [rental] car|renting [a|the] car take~ AMOUNT)", _rental),
        ("[driving|(the|a) (drive|way|road|journey)] [from] HERE (-|to) THERE ARE [:|=] (AMOUNT|N) [by car|drive|away]", _road),
        (
            "[the drive] [it takes|it is|it's|allow] AMOUNT [by car|drive] [to (get|drive)] (from|between) HERE (to|and) THERE",
            _road,
        ),
        ("between HERE and THERE ARE AMOUNT", _road),
        ("HERE (is|are) AMOUNT [away] (from|to) THERE", _road),
        ("HERE and THERE are AMOUNT apart", _road),
        ("[the] [drive] (from|to) HERE [it] (is|takes|it's) [only|more like|rather] AMOUNT", _to_all),
        (
            "(it takes|it is|it's|its|that's|that is) [only|more like|rather|closer to] AMOUNT [by car|drive] (from|between) HERE"
            " (to|and) THERE",
            _road,
        ),
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


_IS_PLACE: Final = re.compile(
    r"\b(?:airport|shop|store|tailor|venue|church|hotel|station|home|house|market|bakery|office|hall|restaurant|school|park|gate)\b",
    re.IGNORECASE,
)


def _named_place(clause: Clause) -> Iterator[Fact]:
    """`Gift shop G`: a place and its short name."""
    if _IS_PLACE.search(clause.place or ""):
        yield PlaceFact(clause.said("letter") or "", clause.place or "")


def _objective(clause: Clause) -> Iterator[Fact]:
    yield ObjectiveFact("driving_minutes" if clause.said("time") else "distance")


_LEAST: Final = "[keep|drive|with|we want|i want] [as|the] (least|shortest|smallest|fewest|few|little)"
_WHAT: Final = "(distance|km|kilometres|kilometers|time=(driving [time]|time))"

OCCASIONS: Final = (
    Slot.of("[the|our|a] EVENT [is|was|were|start~|started|begin~|takes place|will be] [FROM]", _occasion),
    Slot.of("[let's] make it", _everybody),
    Slot.of("(coordinate|plan|organise|organize) [WORDS] for [the|our|a] EVENT [FROM]", _occasion),
    Slot.of("EVERYBODY [MUST|will|to] [all] [be|meet|are|is|arrive|gather|come] ((at|in) PLACE|HOME) [for] [EVENT]", _everybody),
    Slot.of("PLACE LETTER", _named_place, is_timed=False),
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


def _left_alone(clause: Clause) -> Iterator[Fact]:
    """The roast that the sentence is about, or what it names."""
    name = clause.said("thing") or (clause.last.name if isinstance(clause.last, TaskFact) else "")
    if name:
        yield TaskFact(name, watched=True)


def _chore(clause: Clause) -> Iterator[Fact]:
    who = () if clause.said("somebody") else clause.people
    closes = clause.at("by", "before", "until", "till")
    yield TaskFact(clause.said("chore") or "", clause.place, clause.minutes, clause.at("after", "from", "at"), closes, who=who)


def _truism(clause: Clause) -> Iterator[Fact]:
    yield TruismFact(clause.found.said)


def _errand(clause: Clause) -> Iterator[Fact]:
    who = () if clause.said("somebody") else clause.people
    opens, closes = clause.at("after", "from"), clause.at("by", "before", "until")
    yield TaskFact(clause.said("thing") or "", clause.place, clause.minutes, opens, closes, is_errand=True, who=who)


def _passenger(clause: Clause) -> Iterator[Fact]:
    for name in clause.whom:
        yield PersonFact(name, replace(clause, name=name).place, drives=False)


def _car_of(clause: Clause) -> Iterator[Fact]:
    for name in clause.whom:
        yield PersonFact(name, drives=True)
        seats = clause.found.get("seats", Number)
        yield VehicleFact(f"{name}'s car", seats=seats.count if seats else None, drivers=(name,))


def _seats(clause: Clause) -> Iterator[Fact]:
    for name in clause.people:
        yield VehicleFact(f"{name}'s car", seats=clause.number, drivers=(name,))


def _taxi(clause: Clause) -> Iterator[Fact]:
    if clause.place:
        yield VehicleFact(clause.said("named") or "", clause.place, clause.number, ())


_CHORE: Final = (
    "(walk|feed|bake|cook|make|prepare|decorate|clean|set|lay|water|mow|wrap|iron|wash|tidy|ice|chill|carve|assemble|write)"
)
_WHO: Final = "[please] [somebody=(SOMEBODY)|WHO] [MUST]"
_BUY: Final = "(FETCH|buy~|drop~ off|bring~)"
_BOUGHT: Final = "(FETCHED|bought|got|dropped off|brought)"
_ALL_THE_TIME: Final = "[all the time|meanwhile|then]"

THINGS: Final = tuple(
    Slot.of(words, read)
    for words, read in (
        (f"{_WHO} FETCH WHOM [FROM]", _passenger),
        (
            f"{_WHO} chore=({_CHORE} [up] (the|a|an|some|our|her|his) THING) [for AMOUNT] [FROM] [for AMOUNT] [,]"
            " [[it|which] take~ AMOUNT|AMOUNT]",
            _chore,
        ),
        ("(the|some|a) THING from PLACE", _errand),
        ("[the] THING (collection|pickup|pick-up) from PLACE", _errand),
        (
            "THING [:] AMOUNT (IN_OVEN|[of] (work|cooking|baking|preparation|prep|preparing) [time]"
            "|to (cook|make|prepare|roast|bake))",
            _task,
        ),
        (
            "[THING|it|which|that] (MUST not|may not|can't|cannot|can not) be [left|kept] (alone|unattended|unwatched)",
            _left_alone,
        ),
        (f"{_WHO} {_BUY} THING FROM [on the way] [[which|that] take~ AMOUNT]", _errand),
        (f"THING MUST be {_BOUGHT} FROM [for AMOUNT]", _errand),
        ("[PLACE|it|which] [is] (opens=(open|opens)|close~|shut~|closed)", _hours),
        (f"SOMEBODY [MUST] (watch~|stay~ with|keep~ an eye on|look~ after|attend~ [to]) THING {_ALL_THE_TIME}", _watched),
        (f"THING (MUST be (watched|attended|looked after)|need~ (watching|somebody there)) {_ALL_THE_TIME}", _watched),
        ("[a|an|the] [N] (car|van|minivan) [[,] A_CAR] [,] with WHOM", _car_of),
        ("[a|an|the] (taxi|vehicle|cab|car|shuttle|driver) NAMED [BE|stands|starts] [(at|in) PLACE] [,] [FOR]", _taxi),
        ("WHO 's (car|van) [only|just] (has|have|seats|takes) [only|just] N [SEATS]", _seats),
        ("[it|that|which] (take~ AMOUNT|FOR)", _goes_on),
        (
            "THING (take~|need~|last~|require~) [IN_OVEN] [for] AMOUNT [IN_OVEN] [of work|to (cook|make|prepare|roast)] [FROM]",
            _task,
        ),
        ("THING (is|goes|has to be|must be|must go|cook~|roast~) [for AMOUNT] [IN_OVEN] [for AMOUNT]", _task),
        ("THING (is|are|MUST be) (done|made|cooked|prepared) FROM", _task),
    )
)

TRUISMS: Final = tuple(
    Slot(re.compile(words, re.IGNORECASE), _truism, is_timed=False)
    for words in (
        r"(?:all )?(?:the )?(?:pick-?ups|errands|rides|tasks)\b.* (?:completed?|done|made|covered)\b.*",
        r".+\b(?:is|are|be)? ?ready (?:by|for|in time for) (?:the )?(?:dinner|lunch|meal|wedding|party|ceremony)(?: time)?",
        r"(?:cooking |oven )?supervision (?:is |must be )?maintained",
        r"(?:\S+ )?(?:cars?|vehicles?) must (?:accommodate|cover|do) .+",
        r"\S+ person can do (?:both|all)(?: of them)?(?: at once)?",
        r"(?:who is )?(?:available|free) (?:after|once|when|as soon as) s?he (?:is|arrives|has arrived) .+",
    )
)
"""What holds in every plan: it is kept among what was said, and changes nothing."""

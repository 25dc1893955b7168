"""People: where and from when they are, how they get about, and where they have to be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sagagraph.domains.reunion.text.clauses import Clause, Slot, names_in
from sagagraph.domains.reunion.text.facts import Fact, GoalFact, PersonFact, VehicleFact


def _is_there(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, clause.place, clause.since)


def _arrives(clause: Clause) -> Iterator[Fact]:
    """Without saying where, it is where all meet; a car that somebody drives comes along."""
    yield PersonFact(clause.name, clause.place, clause.since, arrives=clause.place is None)
    car = f"{clause.name}'s car"
    if isinstance(clause.last, VehicleFact) and clause.last.name == car and clause.place:
        yield VehicleFact(car, clause.place, drivers=(clause.name,))


def _lands(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, clause.place, clause.since, lands=True)


def _rides(clause: Clause) -> Iterator[Fact]:
    prefers = next(iter(names_in(clause.said("by") or "")), None)
    yield PersonFact(clause.name, clause.place, drives=False, prefers=prefers, is_fetched=bool(clause.said("fetched")))


def _rides_from(clause: Clause) -> Iterator[Fact]:
    yield from _is_there(clause)
    yield from _rides(clause)


def _drives(clause: Clause) -> Iterator[Fact]:
    """In a car of their own, where they come from somewhere, drive home, or say which."""
    yield PersonFact(clause.name, clause.place, clause.since, drives=True)
    if clause.place or any(map(clause.said, ("back", "car", "own"))):
        yield VehicleFact(f"{clause.name}'s car", clause.place, clause.number, (clause.name,))


def _rents(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, drives=True)
    yield VehicleFact("rental car", clause.place, drivers=(clause.name,))


def _has_to_be(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name)
    yield GoalFact((clause.name,), clause.place, clause.by)


def _kerb(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, exit_minutes=clause.minutes)


def _does_not_drive(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, drives=False)


def _prefers(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, prefers=clause.said("whom"))


def _takes_part(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name)


_LANDS: Final = "(land~|fly~ in|flies in|get~ in|touch~ down|come~ in)"
_RIDE: Final = "([airport|station] fetched=(pick-ups|pickups|pick-up|pickup|pick up|picking up|collecting)|rides|ride|lifts|lift)"
_FETCHED: Final = "(picked up|collected|fetched)"
_NOT: Final = "(can not|cannot|can't|does not|doesn't|do not|don't|won't|will not)"
_BY_WHOM: Final = "[,] [by=(by (family|NAME))]"
_RATHER: Final = "(prefer~|would rather|would like to|would prefer to|want~ to)"

LISTED: Final = Slot.of(
    "(we are|we're|there are) [N] [people|of us] [:] WHOM",
    lambda clause: map(PersonFact, clause.whom),
    is_timed=False,
)

PEOPLE: Final = tuple(
    Slot.of_people(words, read)
    for words, read in (
        ("[will|MUST] (rent~|is renting|are renting) [a] [rental] CAR [there] [AT] [after landing]", _rents),
        (f"(need~|want~|require~|has to have|have to have) [a|an] {_RIDE} [FROM] {_BY_WHOM}", _rides),
        (f"[BE] ((at|in) PLACE|HOME) (need~|want~) [a|an] {_RIDE} {_BY_WHOM}", _rides_from),
        (f"MUST be fetched=({_FETCHED}) {_BY_WHOM} [FROM]", _rides),
        (f"MUST be fetched=({_FETCHED}) FROM {_BY_WHOM}", _rides),
        ("[is|are|will] (drive~|come~ by car) [up|over|down] from PLACE [with A_CAR]", _drives),
        (f"{_NOT} [be able to] drive", _does_not_drive),
        ("(has|have|bring~|come~ with|with|own~) A_CAR [(with|for|of) N SEATS] [,] [available|free|ready] [AT]", _drives),
        ("[MUST|want~ to|to|will|would like to] (be|arrive|get) ((at|in|to) PLACE|HOME)", _has_to_be),
        ("([is|are] [the|our] (host|hosts|hostess)|host~ [us|everybody])", _takes_part),
        (
            "(need~|take~|want~) AMOUNT (from landing to [the] (kerb|curb|exit|car)|(for|to get) [the|her|his|their] luggage"
            "|to get out)",
            _kerb,
        ),
        ("(BE (there|available|free|ready)|can (start|leave))", _is_there),
        ("[[is|are|will] (arrive~|get~)] ((at|in) PLACE|HOME) [by plane|by car] [from ELSEWHERE]", _arrives),
        (
            "[BE] [the host|hosting|the hostess|waiting|staying] ((at|in) PLACE|HOME) [with PET]"
            " [(driving|coming|flying) from ELSEWHERE|from ELSEWHERE]",
            _is_there,
        ),
        (f"[is|are|will] {_LANDS} [by plane] [from ELSEWHERE] [AT] [from ELSEWHERE]", _lands),
        ("[is|are|will] arrive~ [by plane|by car] [from ELSEWHERE] [AT]", _arrives),
        (
            "(comes|come|is coming|are coming|joins us|join us|will come|will join us|will be there) [too|as well|along|with us]",
            _takes_part,
        ),
        (f"{_RATHER} [[to] (ride|drive|go|travel|come)] [with] WHOM", _prefers),
        ("own=(driving) [a car]", _drives),
        ("[can|is able to|will] drive~ [back=(home|there|back)|A_CAR]", _drives),
        ("(leave~|set~ off|start~|depart~) [[from] PLACE]", _is_there),
    )
)

"""People: where and from when they are, how they get about, and where they have to be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sagagraph.domains.reunion.text.clauses import Clause, Slot
from sagagraph.domains.reunion.text.facts import Fact, GoalFact, PersonFact, VehicleFact


def _is_there(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, clause.place, clause.since)


def _lands(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, clause.place, clause.since, lands=True)


def _rides(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, clause.place, drives=False)


def _drives(clause: Clause) -> Iterator[Fact]:
    """In a car of their own, where they come from somewhere, drive home, or say which."""
    yield PersonFact(clause.name, clause.place, clause.since, drives=True)
    if clause.place or clause.said("back") or clause.said("car"):
        yield VehicleFact(f"{clause.name}'s car", clause.place, clause.number, (clause.name,))


def _rents(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, drives=True)
    yield VehicleFact("rental car", clause.place, drivers=(clause.name,))


def _has_to_be(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name)
    yield GoalFact((clause.name,), clause.place, clause.by)


def _does_not_drive(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, drives=False)


def _prefers(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, prefers=clause.said("whom"))


def _takes_part(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name)


_LANDS: Final = "(land~|fly~ in|flies in|get~ in|touch~ down|come~ in)"
_RIDE: Final = "(ride|rides|lift|pick-up|pickup|pick up|picking up|collecting)"
_FETCHED: Final = "(picked up|collected|fetched)"
_NOT: Final = "(can not|cannot|can't|does not|doesn't|do not|don't|won't|will not)"
_BY_WHOM: Final = "[by (family|NAME)]"
_RATHER: Final = "(prefer~|would rather|would like to|would prefer to|want~ to)"

PEOPLE: Final = tuple(
    Slot.of_people(words, read)
    for words, read in (
        ("[will|MUST] (rent~|is renting|are renting) a [rental] CAR [there] [AT]", _rents),
        (f"(need~|want~|has to have|have to have) [a] {_RIDE} [FROM] {_BY_WHOM}", _rides),
        (f"MUST be {_FETCHED} {_BY_WHOM} [FROM] {_BY_WHOM}", _rides),
        ("[is|are|will] (drive~|come~ by car) [up|over|down] from PLACE", _drives),
        (f"{_NOT} [be able to] drive", _does_not_drive),
        ("(has|have|bring~|come~ with|with|own~) A_CAR [(with|for|of) N SEATS] [AT]", _drives),
        ("[MUST|want~ to|to|will|would like to] (be|arrive|get) ((at|in|to) PLACE|HOME)", _has_to_be),
        ("((is|are) [the|our] (host|hosts|hostess)|host~ [us|everybody])", _takes_part),
        ("(BE (there|available|free|ready)|can (start|leave))", _is_there),
        ("BE [the host|hosting|the hostess|waiting|staying] ((at|in) PLACE|HOME)", _is_there),
        (f"[is|are|will] {_LANDS} [by plane] [from ELSEWHERE] [AT]", _lands),
        ("[is|are|will] arrive~ [by plane] [from ELSEWHERE] [AT]", _is_there),
        (f"{_RATHER} [[to] (ride|drive|go|travel|come)] [with] WHOM", _prefers),
        ("[can|is able to|will] drive~ [back=(home|there|back)|A_CAR]", _drives),
        ("(leave~|set~ off|start~|depart~) [[from] PLACE]", _is_there),
    )
)

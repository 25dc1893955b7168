"""People: where and from when they are, how they get about, where they have to be, and who must not wait alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sagagraph.domains.reunion.text.clauses import Clause, Slot
from sagagraph.domains.reunion.text.facts import CompanyFact, Fact, GoalFact, PersonFact, VehicleFact
from sagagraph.domains.reunion.text.words import HOLES
from sagagraph.language.passage import form
from sagagraph.language.phrases import as_form, phrase


def _is_there(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, clause.place, clause.since)


def _lands(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, clause.place, clause.since, lands=clause.word("arrives") == "")


def _rides(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, clause.place, drives=False)


def _drives(clause: Clause) -> Iterator[Fact]:
    """A car of their own, where they come from somewhere, drive home, or say which."""
    place = clause.place
    yield PersonFact(clause.name, place, clause.since, drives=True)
    if place or clause.said("back") or clause.said("car"):
        yield VehicleFact(f"{clause.name}'s car", place, clause.number, (clause.name,))


def _rents(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, drives=True)
    yield VehicleFact("rental car", clause.place, drivers=(clause.name,))


def _has_to_be(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name)
    yield GoalFact((clause.name,), clause.place or clause.said("home"), clause.by)


def _prefers(clause: Clause) -> Iterator[Fact]:
    yield PersonFact(clause.name, prefers=clause.said("whom"))


PEOPLE: Final = (
    Slot.of_people("[will|MUST] (rent~|is renting|are renting) a [rental] CAR [there] [AT]", _rents),
    Slot.of_people("(need~|want~|has to have|have to have) [a] (ride|rides|lift|pick-up|pickup|pick up|FETCHING) [FROM] [BY_WHOM]", _rides),
    Slot.of_people("MUST be FETCHED [BY_WHOM] [FROM] [BY_WHOM]", _rides),
    Slot.of_people("[is|are|will] (drive~|come~ by car) [up|over|down] from PLACE", _drives),
    Slot.of_people("(can not|cannot|can't|does not|doesn't|do not|don't|won't|will not) [be able to] drive",
                   lambda clause: (PersonFact(clause.name, drives=False),)),
    Slot.of_people("(has|have|bring~|come~ with|with|own~) A_CAR [(with|for|of) N SEATS] [AT]", _drives),
    Slot.of_people("[MUST|want~ to|to|will|would like to] (be|arrive|get) ((at|in|to) PLACE|HOME)", _has_to_be),
    Slot.of_people("(is|are) [the|our] (host|hosts|hostess)|host~ [us|everybody]", lambda clause: (PersonFact(clause.name),)),
    Slot.of_people("(BE (there|available|free|ready)|can (start|leave))", _is_there),
    Slot.of_people("BE [the host|hosting|the hostess|waiting|staying] ((at|in) PLACE|HOME)", _is_there),
    ...
)

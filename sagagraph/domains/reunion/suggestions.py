"""Suggestions of what people forget to say, in words, each to be accepted or ignored, and never added automatically.

The first two are those of the Thanksgiving problem (SagaLLM, P6; ALAS, family reunion): from landing to kerb, and renting a car.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from sagagraph.domains.reunion.parsing import parse_problem
from sagagraph.domains.reunion.request import Attention, Change, ReunionProblem, Task, Vehicle, with_row
from sagagraph.errors import InvalidInputError

KERB_MINUTES: Final = 30
RENTAL_MINUTES: Final = 30
ERRAND_MINUTES: Final = 5
_A_WHILE_MINUTES: Final = 60
_AIRPORT: Final = re.compile(r"\b(?:airport|terminal)\b", re.IGNORECASE)
_RENTAL: Final = re.compile(r"\b(?:rental|rented|hire(?:d)?)\b", re.IGNORECASE)
_OVEN: Final = re.compile(r"\b(?:oven|turkey|roast|bak(?:e|ing)|stove|grill|barbecue)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggestion. `id` names it in every problem that has it: `kerb:James`."""

    id: str
    sentence: str
    apply: Change = field(repr=False, compare=False)


def suggestions(problem: ReunionProblem) -> tuple[Suggestion, ...]:
    """Return what the problem does not say but probably means; what it already says is not suggested again."""
    return tuple(suggestion for rule in (_kerb, _rental, _oven, _errand) for suggestion in rule(problem))


def accept(problem: ReunionProblem, ids: Iterable[str]) -> ReunionProblem:
    """Return the problem with those suggestions added. Raises `InvalidInputError` for an id that was not suggested."""
    proposed = {each.id: each for each in suggestions(problem)}
    for name in ids:
        if name not in proposed:
            raise InvalidInputError(f"{name!r} is not proposed; there are {', '.join(proposed) or 'none'}", field="common_sense")
        problem = proposed[name].apply(problem)
    return parse_problem(problem.model_dump(mode="json"))


def _kerb(problem: ReunionProblem) -> Iterator[Suggestion]:
    for person in problem.people:
        where = problem.places[person.place]
        if person.from_ is not None and not person.exit_minutes and _AIRPORT.search(f"{person.place} {where}"):
            sentence = f"{person.name} needs {KERB_MINUTES} minutes from landing to the kerb of {where}"
            yield Suggestion(f"kerb:{person.name}", sentence, with_row("people", person.name, exit_minutes=KERB_MINUTES))


def _rental(problem: ReunionProblem) -> Iterator[Suggestion]:
    for vehicle in problem.vehicles:
        if not _RENTAL.search(vehicle.name) or not vehicle.drivers:
            continue
        renting = next((task for task in problem.tasks if task.name == vehicle.unlocked_by), None)
        if renting is None or not renting.minutes:
            who = " or ".join(vehicle.drivers)
            sentence = f"Renting {vehicle.name} takes {who} {RENTAL_MINUTES} minutes at {problem.places[vehicle.place]}"
            yield Suggestion(f"rental:{vehicle.name}", sentence, _renting(vehicle, renting))


def _oven(problem: ReunionProblem) -> Iterator[Suggestion]:
    for task in problem.tasks:
        if not task.is_watched and task.minutes >= _A_WHILE_MINUTES and _OVEN.search(task.name):
            sentence = f"{task.name}: nobody has to work at it, but somebody has to be there all the time"
            yield Suggestion(f"watch:{task.name}", sentence, with_row("tasks", task.name, attention=Attention.WATCHED))


def _errand(problem: ReunionProblem) -> Iterator[Suggestion]:
    unlocking = {vehicle.unlocked_by for vehicle in problem.vehicles}
    for task in problem.tasks:
        if not task.minutes and task.place is not None and task.name not in unlocking:
            sentence = f"{task.name} at {problem.places[task.place]} takes {ERRAND_MINUTES} minutes"
            yield Suggestion(f"errand:{task.name}", sentence, with_row("tasks", task.name, minutes=ERRAND_MINUTES))


def _renting(vehicle: Vehicle, renting: Task | None) -> Change:
    if renting is not None:
        return with_row("tasks", renting.name, minutes=RENTAL_MINUTES)
    name = f"rent {vehicle.name}"
    task = Task(name=name, place=vehicle.place, minutes=RENTAL_MINUTES, who=vehicle.drivers)
    unlocked = with_row("vehicles", vehicle.name, unlocked_by=name)
    return lambda problem: unlocked(problem.model_copy(update={"tasks": (*problem.tasks, task)}))

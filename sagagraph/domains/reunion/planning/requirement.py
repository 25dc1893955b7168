"""Requirements of a problem, in words: what is left without each, and what it would be if relaxed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from sagagraph.domains.reunion.request import PersonGoal, Window
from sagagraph.domains.reunion.times import text_of

if TYPE_CHECKING:
    from sagagraph.domains.reunion.request import Person, ReunionProblem, Task, Vehicle

Change = Callable[["ReunionProblem"], "ReunionProblem"]


@dataclass(frozen=True, slots=True)
class Scale:
    """How a requirement can give way by degrees: each of 1 to `most` asks less than the one before."""

    most: int
    at: Callable[[int], Change]
    sentence: Callable[[int], str]
    value: Callable[[int], Any]
    """As a file would hold it."""


@dataclass(frozen=True, slots=True)
class Requirement:
    name: str
    """Of the field that states it, with the name of what it belongs to."""
    sentence: str
    without: Change
    scale: Scale | None = None


DAY: Final = 24 * 60


def by_person(problem: ReunionProblem) -> ReunionProblem:
    """The same, each goal of several stated for each of them: one may be late while the others are not."""
    people = []
    for person in problem.people:
        shared = (goal for goal in problem.goals if goal.people == "all" or person.name in goal.people)
        own = dict.fromkeys((goal.place, goal.by, goal.not_before) for goal in (*person.goals, *shared))
        goals = tuple(PersonGoal.model_construct(place=place, by=by, not_before=early) for place, by, early in own)
        people.append(person.model_copy(update={"goals": goals}))
    return problem.model_copy(update={"people": tuple(people), "goals": ()})


def requirements_of(problem: ReunionProblem) -> tuple[Requirement, ...]:
    """Of a problem `by_person`; first those that one would give up last."""
    return (
        *(each for person in problem.people for each in _of_person(person)),
        *(each for task in problem.tasks for each in _of_task(task)),
        *(each for vehicle in problem.vehicles for each in _of_vehicle(problem, vehicle)),
        *(_of_those_apart(number, names) for number, names in enumerate(problem.apart)),
    )


# -- people ----------------------------------------------------------------------------------------------------------


def _of_person(person: Person) -> Iterator[Requirement]:
    if person.available is not None:
        extra = f" and needs {person.exit_minutes:g} minutes more" if person.exit_minutes else ""
        yield Requirement(
            f"people.{person.name}.from",
            f"{person.name} comes at {text_of(person.from_ or 0)}{extra}",
            _person(person.name, from_=None, exit_minutes=0),
            _earlier(person.from_ or 0, person.name, lambda since: _person(person.name, from_=since), "came"),
        )
    yield from (_of_goal(person.name, number, goal) for number, goal in enumerate(person.goals))
    if person.never_alone:
        name = person.name
        yield Requirement(f"people.{name}.never_alone", f"{name} never waits alone", _person(name, never_alone=False))


def _of_goal(name: str, number: int, goal: PersonGoal) -> Requirement:
    return Requirement(
        f"people.{name}.goals[{number}].by",
        f"{name} is at {goal.place} by {text_of(goal.by)}",
        _goal(name, goal, None),
        Scale(
            DAY,
            lambda minutes: _goal(name, goal, goal.by + minutes),
            lambda minutes: f"{name} may be at {goal.place} by {text_of(goal.by + minutes)}",
            lambda minutes: text_of(goal.by + minutes),
        ),
    )


def _person(name: str, **update: Any) -> Change:
    def change(problem: ReunionProblem) -> ReunionProblem:
        people = (each.model_copy(update=update) if each.name == name else each for each in problem.people)
        return problem.model_copy(update={"people": tuple(people)})

    return change


def _goal(name: str, goal: PersonGoal, by: int | None) -> Change:
    """Due at `by` instead, or not asked for at all."""

    def change(problem: ReunionProblem) -> ReunionProblem:
        person = next(each for each in problem.people if each.name == name)
        others = tuple(each for each in person.goals if each != goal)
        instead = () if by is None else (goal.model_copy(update={"by": by, "not_before": None}),)
        return _person(name, goals=(*others, *instead))(problem)

    return change


# -- tasks -----------------------------------------------------------------------------------------------------------


def _of_task(task: Task) -> Iterator[Requirement]:
    name, window = task.name, task.window
    if not task.optional:
        yield Requirement(f"tasks.{name}", f"{name!r} is done", _task(name, optional=True))
    if window.closes is not None:
        closes = window.closes
        yield Requirement(
            f"tasks.{name}.window.closes",
            f"{name!r} ends by {text_of(closes)}",
            _task(name, window=_window(window.opens, None)),
            Scale(
                DAY,
                lambda minutes: _task(name, window=_window(window.opens, closes + minutes)),
                lambda minutes: f"{name!r} may end by {text_of(closes + minutes)}",
                lambda minutes: text_of(closes + minutes),
            ),
        )
    if window.opens is not None:
        yield Requirement(
            f"tasks.{name}.window.opens",
            f"{name!r} begins at {text_of(window.opens)} or later",
            _task(name, window=_window(None, window.closes)),
            _earlier(window.opens, repr(name), lambda opens: _task(name, window=_window(opens, window.closes)), "could begin"),
        )
    if task.people > 1:
        yield Requirement(
            f"tasks.{name}.people",
            f"{name!r} takes {task.people} people",
            _task(name, people=1),
            Scale(
                task.people - 1,
                lambda fewer: _task(name, people=task.people - fewer),
                lambda fewer: f"{name!r} took {task.people - fewer} people",
                lambda fewer: task.people - fewer,
            ),
        )
    if task.who is not None:
        yield Requirement(f"tasks.{name}.who", f"{name!r} is done by {_listed(task.who)}", _task(name, who=None))
    if task.after:
        yield Requirement(f"tasks.{name}.after", f"{name!r} comes after {_listed(task.after)}", _task(name, after=()))


def _task(name: str, **update: Any) -> Change:
    def change(problem: ReunionProblem) -> ReunionProblem:
        tasks = (each.model_copy(update=update) if each.name == name else each for each in problem.tasks)
        return problem.model_copy(update={"tasks": tuple(tasks)})

    return change


def _window(opens: int | None, closes: int | None) -> Window:
    return Window.model_construct(opens=opens, closes=closes)


# -- vehicles --------------------------------------------------------------------------------------------------------


def _of_vehicle(problem: ReunionProblem, vehicle: Vehicle) -> Iterator[Requirement]:
    name, people = vehicle.name, len(problem.people)
    if vehicle.from_ is not None:
        yield Requirement(
            f"vehicles.{name}.from",
            f"{name} is there from {text_of(vehicle.from_)} on",
            _vehicle(name, from_=None),
            _earlier(vehicle.from_, name, lambda since: _vehicle(name, from_=since), "were there"),
        )
    if vehicle.seats < people:
        yield Requirement(
            f"vehicles.{name}.seats",
            f"{name} has {vehicle.seats} seats",
            _vehicle(name, seats=people),
            Scale(
                people - vehicle.seats,
                lambda more: _vehicle(name, seats=vehicle.seats + more),
                lambda more: f"{name} had {vehicle.seats + more} seats",
                lambda more: vehicle.seats + more,
            ),
        )
    if vehicle.unlocked_by is not None:
        sentence = f"{name} is unlocked by {vehicle.unlocked_by!r}"
        yield Requirement(f"vehicles.{name}.unlocked_by", sentence, _vehicle(name, unlocked_by=None))
    if vehicle.drivers is not None:
        sentence = f"{name} is driven by {_listed(vehicle.drivers) or 'nobody'}"
        yield Requirement(f"vehicles.{name}.drivers", sentence, partial(_anybody_drives, name))


def _vehicle(name: str, **update: Any) -> Change:
    def change(problem: ReunionProblem) -> ReunionProblem:
        vehicles = (each.model_copy(update=update) if each.name == name else each for each in problem.vehicles)
        return problem.model_copy(update={"vehicles": tuple(vehicles)})

    return change


def _anybody_drives(name: str, problem: ReunionProblem) -> ReunionProblem:
    """Of those who are not forbidden to."""
    return _vehicle(name, drivers=tuple(each.name for each in problem.people))(problem)


def _of_those_apart(number: int, names: tuple[str, ...]) -> Requirement:
    def change(problem: ReunionProblem) -> ReunionProblem:
        return problem.model_copy(update={"apart": tuple(each for each in problem.apart if each != names)})

    return Requirement(f"apart[{number}]", f"{' and '.join(names)} do not work side by side", change)


# -- shared ----------------------------------------------------------------------------------------------------------


def _earlier(moment: int, name: str, at: Callable[[int], Change], verb: str) -> Scale:
    return Scale(
        min(moment, DAY),
        lambda minutes: at(moment - minutes),
        lambda minutes: f"{name} {verb} at {text_of(moment - minutes)}",
        lambda minutes: text_of(moment - minutes),
    )


def _listed(names: tuple[str, ...]) -> str:
    return " or ".join(names)

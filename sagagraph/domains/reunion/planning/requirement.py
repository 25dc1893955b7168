"""Requirements of a problem, in words: what is left without each, and what it would be if relaxed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sagagraph.domains.reunion.request import Change, Goal, Person, PersonGoal, ReunionProblem, Task, Vehicle, Window, with_row
from sagagraph.domains.reunion.times import text_of

DAY: Final = 24 * 60


@dataclass(frozen=True, slots=True)
class Scale:
    """Scale on which a requirement can give way by degrees: each of 1 to `most` asks for less than the one before."""

    most: int
    values: Callable[[int], int]
    change: Callable[[int], Change]
    """The change of the problem to a value."""
    words: tuple[str, str]
    """The words before and after the value."""
    told: Callable[[int], Any] = text_of
    """The value as a file would hold it."""

    def at(self, degree: int) -> Change:
        return self.change(self.values(degree))

    def sentence(self, degree: int) -> str:
        return f"{self.words[0]} {self.value(degree)}{self.words[1]}"

    def value(self, degree: int) -> Any:
        return self.told(self.values(degree))


@dataclass(frozen=True, slots=True)
class Requirement:
    name: str
    """Path of the field that states it, with the name of what it belongs to."""
    sentence: str
    without: Change
    scale: Scale | None = None


def by_person(problem: ReunionProblem) -> ReunionProblem:
    """Return the same, with each shared goal stated separately for each person: one may be late while the others are not."""
    people = []
    for person in problem.people:
        own = dict.fromkeys((goal.place, goal.by, goal.not_before) for goal in problem.goals_of(person))
        goals = tuple(PersonGoal.model_construct(place=place, by=by, not_before=early) for place, by, early in own)
        people.append(person.model_copy(update={"goals": goals}))
    return problem.model_copy(update={"people": tuple(people), "goals": ()})


def by_goal(problem: ReunionProblem) -> ReunionProblem:
    """Return the same, with each goal stated once for all who have it, as people tell it."""
    whose: dict[tuple[Any, ...], list[str]] = {}
    for person in problem.people:
        for goal in dict.fromkeys((each.place, each.by, each.not_before) for each in problem.goals_of(person)):
            whose.setdefault(goal, []).append(person.name)
    goals = tuple(
        Goal.model_construct(
            people="all" if len(names) == len(problem.people) else tuple(names), place=place, by=by, not_before=early
        )
        for (place, by, early), names in whose.items()
    )
    people = tuple(person.model_copy(update={"goals": ()}) for person in problem.people)
    return problem.model_copy(update={"people": people, "goals": goals})


def requirements_of(problem: ReunionProblem) -> tuple[Requirement, ...]:
    """Return the requirements of a problem `by_person`, first those that one would give up last."""
    return (
        *(each for person in problem.people for each in _of_person(person)),
        *(each for task in problem.tasks for each in _of_task(task)),
        *(each for vehicle in problem.vehicles for each in _of_vehicle(problem, vehicle)),
        *(_of_those_apart(number, names) for number, names in enumerate(problem.apart)),
    )


def _row(kind: str, name: str, field: str, sentence: str, scale: Scale | None = None, **without: Any) -> Requirement:
    """Return what a field of a person, task or vehicle states; `without`: its value if it asks for nothing."""
    return Requirement(f"{kind}.{name}{field and f'.{field}'}", sentence, with_row(kind, name, **without), scale)


def _of_person(person: Person) -> Iterator[Requirement]:
    name = person.name
    if person.from_ is not None:
        extra = f" and needs {person.exit_minutes:g} minutes more" if person.exit_minutes else ""
        sentence = f"{name} comes at {text_of(person.from_)}{extra}"
        earlier = _earlier(person.from_, f"{name} came", lambda since: with_row("people", name, from_=since))
        yield _row("people", name, "from", sentence, earlier, from_=None, exit_minutes=0)
    for number, goal in enumerate(person.goals):
        yield Requirement(
            f"people.{name}.goals[{number}].by",
            f"{name} is at {goal.place} by {text_of(goal.by)}",
            _goal_due(person, goal, None),
            _later(goal.by, f"{name} may be at {goal.place} by", partial(_goal_due, person, goal)),
        )
    if person.never_alone:
        yield _row("people", name, "never_alone", f"{name} never waits alone", never_alone=False)


def _goal_due(person: Person, goal: PersonGoal, by: int | None) -> Change:
    """Return the goal due at `by` instead, or not asked for at all."""

    def change(problem: ReunionProblem) -> ReunionProblem:
        now = next(each for each in problem.people if each.name == person.name)
        others = tuple(each for each in now.goals if each != goal)
        instead = () if by is None else (goal.model_copy(update={"by": by, "not_before": None}),)
        return with_row("people", person.name, goals=(*others, *instead))(problem)

    return change


def _of_task(task: Task) -> Iterator[Requirement]:
    name, opens, closes = task.name, task.window.opens, task.window.closes

    def window(opens: int | None, closes: int | None) -> Change:
        return with_row("tasks", name, window=Window.model_construct(opens=opens, closes=closes))

    if not task.optional:
        yield _row("tasks", name, "", f"{name!r} is done", optional=True)
    if closes is not None:
        later = _later(closes, f"{name!r} may end by", lambda moment: window(opens, moment))
        sentence = f"{name!r} ends by {text_of(closes)}"
        yield Requirement(f"tasks.{name}.window.closes", sentence, window(opens, None), later)
    if opens is not None:
        earlier = _earlier(opens, f"{name!r} could begin", lambda moment: window(moment, closes))
        sentence = f"{name!r} begins at {text_of(opens)} or later"
        yield Requirement(f"tasks.{name}.window.opens", sentence, window(None, closes), earlier)
    if task.people > 1:
        fewer = _counted(
            task.people, -1, task.people - 1, f"{name!r} took", " people", lambda people: with_row("tasks", name, people=people)
        )
        yield _row("tasks", name, "people", f"{name!r} takes {task.people} people", fewer, people=1)
    if task.who is not None:
        yield _row("tasks", name, "who", f"{name!r} is done by {' or '.join(task.who)}", who=None)
    if task.after:
        yield _row("tasks", name, "after", f"{name!r} comes after {' or '.join(task.after)}", after=())


def _of_vehicle(problem: ReunionProblem, vehicle: Vehicle) -> Iterator[Requirement]:
    name, everybody = vehicle.name, tuple(each.name for each in problem.people)
    if vehicle.from_ is not None:
        sentence = f"{name} is there from {text_of(vehicle.from_)} on"
        earlier = _earlier(vehicle.from_, f"{name} were there", lambda since: with_row("vehicles", name, from_=since))
        yield _row("vehicles", name, "from", sentence, earlier, from_=None)
    if vehicle.seats < len(everybody):
        most = len(everybody) - vehicle.seats
        more = _counted(vehicle.seats, 1, most, f"{name} had", " seats", lambda seats: with_row("vehicles", name, seats=seats))
        yield _row("vehicles", name, "seats", f"{name} has {vehicle.seats} seats", more, seats=len(everybody))
    if vehicle.unlocked_by is not None:
        sentence = f"{name} is unlocked by {vehicle.unlocked_by!r}"
        yield _row("vehicles", name, "unlocked_by", sentence, unlocked_by=None)
    if vehicle.drivers is not None:
        sentence = f"{name} is driven by {' or '.join(vehicle.drivers) or 'nobody'}"
        yield _row("vehicles", name, "drivers", sentence, drivers=everybody)


def _of_those_apart(number: int, names: tuple[str, ...]) -> Requirement:
    def change(problem: ReunionProblem) -> ReunionProblem:
        return problem.model_copy(update={"apart": tuple(each for each in problem.apart if each != names)})

    return Requirement(f"apart[{number}]", f"{' and '.join(names)} do not work side by side", change)


def _counted(now: int, step: int, most: int, before: str, after: str, change: Callable[[int], Change]) -> Scale:
    return Scale(most, lambda degree: now + step * degree, change, (before, after), int)


def _earlier(moment: int, words: str, change: Callable[[int], Change]) -> Scale:
    return Scale(min(moment, DAY), lambda minutes: moment - minutes, change, (f"{words} at", ""))


def _later(moment: int, words: str, change: Callable[[int], Change]) -> Scale:
    return Scale(DAY, lambda minutes: moment + minutes, change, (words, ""))

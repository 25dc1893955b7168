"""Days of people and vehicles: each is judged by its own steps; two people's views of one ride are then put together.

A day with more steps than fit is judged in windows. Each begins with the journey that ends the one before it, at a point where
nothing else is under way: whoever arrives is where it ends, whatever came before.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import pairwise
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from sagagraph.domains.reunion.events import VehicleDown
from sagagraph.domains.reunion.rules.facts.case import Case, clock
from sagagraph.domains.reunion.rules.facts.course import Course, Excuse, Hindrance, Obstacle, Step, Subject
from sagagraph.validators import concern
from sagagraph.validators.concern import Concern, written
from sagagraph.validators.kinds import Kind
from sagagraph.validators.verdict import Violation

VERSION: Final = 3
"""Version of the validators of reunions that are shown typed views instead of parts of files."""


class Goal(Struct, frozen=True, array_like=True):
    """Goal. `arrives`: when they first are there after `by`; None: never."""

    place: str
    by: int
    arrives: int | None


class Key(Struct, frozen=True, array_like=True):
    """Key that unlocks a rental: a task that was first completed at `done`. `is_excused`: that nobody does it is reported
    elsewhere.
    """

    task: str
    done: int | None
    is_excused: bool


class DayView(Struct, frozen=True, omit_defaults=True):
    """View of a day. `after_border`: the first step is there only to say where they are."""

    who: Subject
    steps: tuple[Step, ...]
    after_border: bool = False
    excuses: tuple[Excuse, ...] = ()
    goals: tuple[Goal, ...] = ()
    key: Key | None = None
    down: tuple[tuple[int, int | None], ...] = ()
    """A vehicle begins no journey in [at, until)."""


def _person_scopes(case: Case) -> Iterator[tuple[str, DayView]]:
    goals: dict[str, list[Goal]] = {}
    for name, goal in case.world.goals():
        stays = case.simulation.people[name].stays
        arrives = min((since for since, places in stays if since > goal.by and goal.place in places), default=None)
        goals.setdefault(name, []).append(Goal(goal.place, goal.by, arrives))
    for name, course in case.simulation.people.items():
        if course.steps or name in goals:
            day = DayView(course.who, tuple(course.steps), excuses=course.excuses, goals=tuple(goals.get(name, ())))
            yield from _windows(day, case.problem.places)


def _vehicle_scopes(case: Case) -> Iterator[tuple[str, DayView]]:
    for name, course in case.simulation.vehicles.items():
        if course.steps:
            down = (each for each in case.world.events if isinstance(each, VehicleDown) and each.vehicle == name)
            yield from _windows(
                DayView(
                    course.who,
                    tuple(course.steps),
                    excuses=course.excuses,
                    key=_key(case, case.world.vehicles[name].unlocked_by),
                    down=tuple((each.at, each.until) for each in down),
                ),
                case.problem.places,
            )


def _key(case: Case, task: str | None) -> Key | None:
    if task is None:
        return None
    may_be_done = any(task == each.task or each.other_tasks for each in case.traces)
    return Key(task, case.first_ends.get(task), not case.world.tasks[task].optional or may_be_done)


# -- windows -----------------------------------------------------------------------------------------------------------


def _windows(day: DayView, places: Container[str]) -> Iterator[tuple[str, DayView]]:
    """Return the whole day if it fits, or if something in it cannot be judged; otherwise windows."""
    name, steps = day.who.name, day.steps
    if day.excuses or len(steps) < 2 or len(written(day)) <= concern.ROOM_BYTES:
        yield f"the day of {name}", day
        return
    room = concern.ROOM_BYTES - len(written(replace(day, steps=(), goals=())))
    for begin, end in pairwise([0, *_far_cuts(steps, set(_settled(steps, places)), room), len(steps)]):
        border = steps[begin - 1] if begin else None
        until = steps[end].start if end < len(steps) else None
        goals = [each for each in day.goals if (border is None or each.by >= border.end) and (until is None or each.by < until)]
        who = replace(day.who, place=border.what) if border else day.who
        shown = steps[max(0, begin - 1) : end]
        window = replace(day, who=who, steps=shown, after_border=border is not None, goals=tuple(goals))
        yield f"the day of {name}, actions {steps[begin].index} to {steps[end - 1].index}", window


def _settled(steps: tuple[Step, ...], places: Container[str]) -> Iterator[int]:
    """Return before which steps the day can be cut: a journey has ended at a known place and nothing else is under way."""
    busy_until: int | None = None
    for number, (last, following) in enumerate(pairwise(steps), start=1):
        is_known = last.to is not None and last.to in places and last.what in places
        if is_known and following.start >= last.end and (busy_until is None or busy_until <= last.start):
            yield number
        if not last.is_watched:
            busy_until = last.end if busy_until is None else max(busy_until, last.end)


def _far_cuts(steps: tuple[Step, ...], cuts: Container[int], room: int) -> Iterator[int]:
    """Return as few of the cuts as will do."""
    sizes = [len(written(each)) + 1 for each in steps]
    begin, latest, used = 0, 0, 0
    for number, size in enumerate(sizes):
        if number in cuts:
            latest = number
        used += size
        if used > room and latest > begin:
            yield latest
            begin = latest
            used = sum(sizes[begin - 1 : number + 1])


# -- what is found -----------------------------------------------------------------------------------------------------


def _check(view: DayView) -> Iterator[Violation]:
    course = Course(view.who, view.excuses).take_all(view.steps)
    judged = view.steps[1:] if view.after_border else view.steps
    hindered = [each for each in course.hindrances if not view.after_border or each.step is not view.steps[0]]
    yield from (_hindered(view.who, each) for each in hindered)
    for goal in view.goals:
        yield from _check_goal(course, goal)
    if view.who.is_vehicle and (view.key or view.down):
        early = {each.step.index for each in hindered if each.obstacle is Obstacle.NOT_YET_AVAILABLE}
        for step in judged:
            yield from () if step.index in early else _check_ready(view, step)


def _hindered(who: Subject, found: Hindrance) -> Violation:
    step = found.step
    evidence, why = _why(who, found)
    start = clock(step.start)[0]
    whose: dict[str, Any] = {"vehicle": who.name} if who.is_vehicle else {"people": [who.name]}
    return Violation(
        code=found.obstacle.value,
        message=f"at {start}, {step.doing}: {who.name} {why}",
        scope={**whose, **({"place": step.place} if step.place else {}), "action": step.index},
        evidence={"starts": start, "each": [{"name": who.name, **evidence}]},
    )


def _why(who: Subject, found: Hindrance) -> tuple[dict[str, Any], str]:
    if found.obstacle is Obstacle.NOT_YET_AVAILABLE:
        since = who.available_from(found.step.start)
        available = found.step.start if since is None else since
        early, at = available - found.step.start, clock(available)[0]
        return {"available": at, "early_by": early}, f"is available {early} minutes later, at {at}"
    if found.other is not None:
        until = clock(found.other.end)[0]
        where = f"{found.other.doing} (action {found.other.index}) until {until}"
        return {"other_action": found.other.index, "until": until}, f"is {where}"
    places = sorted(found.places)
    return {"is_at": places}, f"is at {' or '.join(places)}, not at {found.step.place}"


def _check_goal(course: Course, goal: Goal) -> Iterator[Violation]:
    """Check a goal. Somebody who arrives at the exact minute is there."""
    name, by = course.who.name, clock(goal.by)[0]
    places, leg, is_ready = course.places_at(goal.by), course.leg_at(goal.by), course.is_ready(goal.by)
    is_met = leg is None and is_ready and goal.place in places
    if is_met or any(not each.is_restated and each.may_have_moved(places, goal.place, goal.by) for each in course.excuses):
        return
    where = f"at {' or '.join(sorted(places))}" if is_ready else "not available yet"
    evidence: dict[str, Any] = {"by": by}
    late = ""
    if goal.arrives is not None:
        at, minutes = clock(goal.arrives)[0], goal.arrives - goal.by
        late = f", and arrives at {at}, {minutes} minutes late"
        evidence |= {"arrives": at, "late_by": minutes}
    yield Violation(
        code="GOAL_MISSED",
        message=f"{name} is not at {goal.place} at {by}, but {leg.doing if leg else where}{late}",
        scope={"people": [name], "place": goal.place},
        evidence=evidence,
    )


def _check_ready(view: DayView, step: Step) -> Iterator[Violation]:
    """Check for rentals that are not unlocked, and vehicles that have broken down."""
    name, start, why = view.who.name, clock(step.start)[0], ""
    down = next((each for each in view.down if each[0] <= step.start and (each[1] is None or step.start < each[1])), None)
    if down is not None:
        until = "" if down[1] is None else f" until {clock(down[1])[0]}"
        why = f"it is down from {clock(down[0])[0]} on{until}"
    elif view.key is not None and view.key.done is not None and step.start < view.key.done:
        why = f"it is unlocked by {view.key.task!r} at {clock(view.key.done)[0]}"
    elif view.key is not None and view.key.done is None and not view.key.is_excused:
        why = f"it is unlocked by {view.key.task!r}, which nobody does"
    if why:
        yield Violation(
            code="NOT_YET_AVAILABLE",
            message=f"{name} leaves {step.what} at {start}: {why}",
            scope={"vehicle": name, "action": step.index},
            evidence={"starts": start},
        )


PERSON = Concern("person's day", Kind.TEMPORAL, DayView, _person_scopes, _check, VERSION)
VEHICLE = Concern("vehicle's day", Kind.TEMPORAL, DayView, _vehicle_scopes, _check, VERSION)

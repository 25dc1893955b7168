"""Dispatch: the first answer of a repair, in about a millisecond. What has not begun waits until it can start.

Steps are taken in the order in which they were to begin, and each starts as soon as the rules let it, but no earlier than it
was to. What would then come too late after another is told to that one, which waits as well in the next pass; if that one is
over, the late step goes before all that it does not come after. Whatever does not end so is left to the solver.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sagagraph.domains.recipes.plan import Plan, Row, in_order, makespan
from sagagraph.domains.recipes.planning.planner import Situation
from sagagraph.domains.recipes.request import Property, Step, StepKey, is_fit

_MOST_TRIES: Final = 20
"""For each row, in the mean."""
Span = tuple[int, int]
"""From when to when; what goes on alone takes its cook's time for a moment, from then to then."""


@dataclass(slots=True, eq=False)
class _Task:
    """A row that is to begin. `was`: when, by the plan until now; `least`: no earlier than that; `start`: by the last pass."""

    step: Step
    key: StepKey
    after: tuple[StepKey, ...]
    duration: int
    was: int
    least: int
    start: int = 0
    end: int = 0
    is_urgent: bool = False
    cook: list[Span] = field(default_factory=list)
    """Of whoever begins it."""
    piece: _Task | None = None
    """The one before it of the same step."""
    found: dict[str, tuple[_Task | None, dict[str, Property]]] = field(default_factory=dict)
    """Who had its objects last, and how they were."""


def dispatched(situation: Situation, known: Plan) -> Plan:
    """Return the plan in which what has not begun by the `known` one waits as long as it must; empty: none was found."""
    rows = _to_begin(situation, known)
    first: dict[str, int] = {}
    for row in rows:
        first[row.recipe] = min(first.get(row.recipe, situation.since), row.start)
    later = {recipe: situation.since - start for recipe, start in first.items()}
    return _waiting(situation, rows, {}) or (_waiting(situation, rows, later) if any(later.values()) else ())


def _to_begin(situation: Situation, known: Plan) -> list[Row]:
    """The rows that have not begun, or are made again; the last of a step ends with it, however long that takes now."""
    left = {step.key: situation.left(step) for step in situation.meal.steps.values()}
    begun = {row.begins for row in situation.past}
    found: dict[StepKey, list[Row]] = {key: [] for key, some in left.items() if some > 0}
    for row in known:
        if row.key in found and row.begins not in begun:
            found[row.key].append(row)
            left[row.key] -= row.duration
    for key, own in found.items():
        last = own.pop() if own else Row(key[1], key[0], 0, situation.since)
        own.append(last._replace(duration=last.duration + left[key]))
    return [row for own in found.values() for row in own]


def _waiting(situation: Situation, rows: Iterable[Row], later: Mapping[str, int]) -> Plan:
    """Begin one after the other until nothing comes too late. `later`: by how much each dish goes behind the others at first."""
    up, steps = situation.up, situation.meal.steps
    order = sorted(rows, key=lambda row: row.start + later.get(row.recipe, 0))
    tasks = [_task(steps[row.key], row, up(max(row.start, situation.since))) for row in order]
    kitchen, place = _Kitchen(situation), 0
    for _try in range(_MOST_TRIES * len(tasks) if all(task.duration > 0 for task in tasks) else 0):
        late = kitchen.begin(tasks[place]) if place < len(tasks) else kitchen.cold()
        if late is None and place >= len(tasks):
            begun = (Row(task.step.number, task.step.recipe, task.duration, task.start) for task in tasks)
            return in_order(situation.meal, [*situation.past, *begun])
        if late is None:
            place += 1
        elif late.cause is not None and not late.cause.is_urgent:
            late.cause.least = max(late.cause.least + 1, up(late.least))
            place = kitchen.leave(tasks[: place + 1], late.cause)
        elif late.task is None or late.task.is_urgent:
            return ()
        else:
            late.task.is_urgent, late.task.least = True, up(max(late.task.was, situation.since))
            tasks, kitchen, place = _ahead(tasks, late.task), _Kitchen(situation), 0
    return ()


def _task(step: Step, row: Row, least: int) -> _Task:
    after = tuple((row.recipe, number) for number in (row.step, *step.after))
    return _Task(step, row.key, after, row.duration, row.start, least)


def _ahead(tasks: list[_Task], urgent: _Task) -> list[_Task]:
    """Put a task, and all that it comes after, before the others."""
    needed = {urgent.key}
    for task in reversed(tasks):
        if task.key in needed:
            needed.update(task.after)
    return sorted(tasks, key=lambda task: task.key not in needed)


@dataclass(frozen=True, slots=True)
class _Late:
    """What comes too late, if it is to begin; after what, or None where that is over; and when that could begin instead."""

    task: _Task | None
    cause: _Task | None = None
    least: int = 0


class _Kitchen:
    """Who and what is taken when, as one task after the other is begun."""

    def __init__(self, situation: Situation) -> None:
        meal, since = situation.meal, situation.since
        self.situation, self._grid, self._worked = situation, situation.grids[-1], situation.worked
        self._last: dict[StepKey, _Task | None] = {}
        self._cooks: list[list[Span]] = [[] for _cook in range(meal.cooks)]
        self._taken: dict[str, list[Span]] = {name: [(since, until)] for name, until in situation.down.items()}
        self._state = {name: dict(state) for name, state in situation.state.items()}
        self._users: dict[str, _Task | None] = {}
        going = [row for row in situation.past if row.end > since]
        by_hand = (row for row in going if not meal.steps[row.key].is_autonomous)
        for own, row in zip(self._cooks, by_hand, strict=False):
            own.append((row.start, row.end))
        for row in going:
            for name in meal.steps[row.key].uses:
                self._taken.setdefault(name, []).append((since, row.end))

    def begin(self, task: _Task) -> _Late | None:
        """Begin it as soon as it can; say if that is too late, or an object is not as it needs it then."""
        step = task.step
        task.start, task.cook = self._moment(task)
        task.end = task.start + task.duration
        insort(task.cook, (task.start, task.start if step.is_autonomous else task.end))
        task.found = {name: (self._users.get(name), dict(self._state.get(name, {}))) for name in step.uses}
        task.piece, self._last[task.key] = self._last.get(task.key), task
        late = None
        for name, use in step.uses.items():
            insort(self._taken.setdefault(name, []), (task.start, task.end))
            self._users[name] = task
            state = self._state.setdefault(name, {})
            is_fine = all(is_fit(key, state.get(key), needed) for key, needed in use.require.items())
            late = late if is_fine else _Late(task)
            use.change(state)
        for number, within in step.within.items():
            cause = self._last.get((step.recipe, number))
            ended = cause.end if cause else self._worked.get((step.recipe, number), (0, task.start))[1]
            if task.start - ended > within:
                late = _Late(task, cause, task.start - within - (cause.duration if cause else 0))
        return late

    def leave(self, tasks: Sequence[_Task], first: _Task) -> int:
        """Take back what was begun from the first of these on; return its place."""
        place = tasks.index(first)
        for task in reversed(tasks[place:]):
            task.cook.remove((task.start, task.start if task.step.is_autonomous else task.end))
            self._last[task.key] = task.piece
            for name, (user, state) in task.found.items():
                self._taken[name].remove((task.start, task.end))
                self._users[name], self._state[name] = user, state
        return place

    def _moment(self, task: _Task) -> tuple[int, list[Span]]:
        """When it can begin, and the time of the cook who begins it."""
        at, busy = max(task.least, self.situation.away), []
        for key in task.after:
            other = self._last.get(key)
            at = max(at, other.end if other else self._worked.get(key, (0, 0))[1])
        for name, use in task.step.uses.items():
            taken = self._taken.get(name, [])
            if not use.update and not use.require:
                busy.append(taken)
            elif (user := self._users.get(name)) and user.start >= at and self._coincide(task, user, name):
                at = user.start
            else:  # what is done to an object, and with it, stays in this order
                at = max(at, *(end for _begin, end in taken), 0)
        takes = 0 if task.step.is_autonomous else task.duration
        while True:
            before = at = -(-at // self._grid) * self._grid
            for taken in busy:
                at = _free(taken, at, at + task.duration)
            at, place = min([(_free(own, at, at + takes), place) for place, own in enumerate(self._cooks)])
            if at == before:
                return at, self._cooks[place]

    def _coincide(self, task: _Task, other: _Task, name: str) -> bool:
        """Tell whether an object is heated for both at once, as it was to be."""
        update: Mapping[str, Property] = task.step.uses[name].update
        is_at_once = (task.was, task.duration) == (other.was, other.duration) and other.step.is_autonomous
        return is_at_once and task.step.is_autonomous and bool(update) and update.items() <= self._state[name].items()

    def cold(self) -> _Late | None:
        """Say what is ready too long before the meal is complete."""
        situation, begun = self.situation, [task for task in self._last.values() if task]
        for recipe, within in situation.meal.warm.items():
            past = max((row.end for row in situation.past if row.recipe == recipe), default=0)
            last = max((task for task in begun if task.key[0] == recipe), key=lambda task: task.end, default=None)
            complete = max(makespan(situation.past), *(task.end for task in begun))
            if complete - max(past, last.end if last else 0) > within:
                return _Late(None, last, complete - within - (last.duration if last else 0))
        return None


def _free(busy: list[Span], start: int, end: int) -> int:
    """Return the first start from then on, beside what is in the list already, in its order."""
    for begins, ends in busy:
        if begins < end and start < ends:
            start, end = ends, end - start + ends
    return start

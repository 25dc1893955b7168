"""Dispatch: the first answer of a repair, in about a millisecond. What has not begun waits until it can start.

Steps are taken in the order in which they were to begin, and each starts as soon as the rules let it, but no earlier than it
was to. What would then come too late after another is told to that one, which waits as well in the next pass; if that one is
over, the late step goes before all that it does not come after. Whatever does not end so is left to the solver, and so are
dishes that would be cold.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence
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
    """A row that is to begin: no earlier than `was`, at first, and no earlier than `least`, as it turns out."""

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
    found: dict[str, dict[str, Property]] = field(default_factory=dict)
    """Its objects' properties, before it."""


def dispatched(situation: Situation, known: Plan) -> Plan:
    """Return the plan in which what has not begun by the `known` one waits as long as it must; empty: none was found."""
    tasks: list[_Task] = []
    for row in sorted(_to_begin(situation, known), key=lambda row: row.start):
        step, was = situation.meal.steps[row.key], situation.up(max(row.start, situation.since))
        after = tuple((row.recipe, number) for number in (row.step, *step.after))
        tasks.append(_Task(step, row.key, after, row.duration, was, was))
    kitchen, place = _Kitchen(situation), 0
    for _try in range(_MOST_TRIES * (len(tasks) + 1) if all(task.duration > 0 for task in tasks) else 0):
        if place == len(tasks):
            return _plan(situation, tasks)
        task = tasks[place]
        is_fine, cause, least = kitchen.begin(task)
        if is_fine:
            place += 1
        elif cause is not None and not cause.is_urgent:
            cause.least = max(cause.least + 1, situation.up(least))
            place = kitchen.leave(tasks[: place + 1], cause)
        elif task.is_urgent:
            return ()
        else:
            task.is_urgent, task.least = True, task.was
            tasks, kitchen, place = _ahead(tasks, task), _Kitchen(situation), 0
    return ()


def _plan(situation: Situation, tasks: Iterable[_Task]) -> Plan:
    """The plan as it has been begun; empty: a dish would be cold."""
    begun = (Row(task.step.number, task.step.recipe, task.duration, task.start) for task in tasks)
    plan = in_order(situation.meal, [*situation.past, *begun])
    ready = {row.recipe: row.end for row in sorted(plan, key=lambda row: row.end)}
    is_cold = any(makespan(plan) - ready[recipe] > within for recipe, within in situation.meal.warm.items())
    return () if is_cold else plan


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


def _ahead(tasks: list[_Task], urgent: _Task) -> list[_Task]:
    """Put a task, and all that it comes after, before the others."""
    needed = {urgent.key}
    for task in reversed(tasks):
        if task.key in needed:
            needed.update(task.after)
    return sorted(tasks, key=lambda task: task.key not in needed)


class _Kitchen:
    """Who and what is taken when, as one task after the other is begun."""

    def __init__(self, situation: Situation) -> None:
        meal, since = situation.meal, situation.since
        self.situation, self._grid, self._worked = situation, situation.grids[-1], situation.worked
        self._last: dict[StepKey, _Task | None] = {}
        self._cooks: list[list[Span]] = [[] for _cook in range(meal.cooks)]
        self._taken: dict[str, list[Span]] = {name: [(since, until)] for name, until in situation.down.items()}
        self._state = {name: dict(state) for name, state in situation.state.items()}
        going = [row for row in situation.past if row.end > since]
        by_hand = (row for row in going if not meal.steps[row.key].is_autonomous)
        for own, row in zip(self._cooks, by_hand, strict=False):
            own.append((row.start, row.end))
        for row in going:
            for name in meal.steps[row.key].uses:
                self._taken.setdefault(name, []).append((since, row.end))

    def begin(self, task: _Task) -> tuple[bool, _Task | None, int]:
        """Begin it as soon as it can. Tell whether that is in time, and every object as it needs it; if not, after what that is
        too late (None: that is over), and when that could begin instead.
        """
        step = task.step
        task.start, task.cook = self._moment(task)
        task.end = task.start + task.duration
        insort(task.cook, (task.start, task.start if step.is_autonomous else task.end))
        task.found = {name: dict(self._state.get(name, {})) for name in step.uses}
        task.piece, self._last[task.key] = self._last.get(task.key), task
        is_fine, late, least = True, None, 0
        for name, use in step.uses.items():
            insort(self._taken.setdefault(name, []), (task.start, task.end))
            state = self._state.setdefault(name, {})
            is_fine = is_fine and all(is_fit(key, state.get(key), needed) for key, needed in use.require.items())
            use.change(state)
        for number, within in step.within.items():
            cause = self._last.get((step.recipe, number))
            ended = cause.end if cause else self._worked.get((step.recipe, number), (0, task.start))[1]
            if task.start - ended > within:
                is_fine, late, least = False, cause, task.start - within - (cause.duration if cause else 0)
        return is_fine, late, least

    def leave(self, tasks: Sequence[_Task], first: _Task) -> int:
        """Take back what was begun from the first of these on; return its place."""
        place = tasks.index(first)
        for task in reversed(tasks[place:]):
            task.cook.remove((task.start, task.start if task.step.is_autonomous else task.end))
            self._last[task.key] = task.piece
            for name, state in task.found.items():
                self._taken[name].remove((task.start, task.end))
                self._state[name] = state
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


def _free(busy: list[Span], start: int, end: int) -> int:
    """Return the first start from then on, beside what is in the list already, in its order."""
    for begins, ends in busy:
        if begins < end and start < ends:
            start, end = ends, end - start + ends
    return start

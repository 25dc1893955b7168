"""Dispatch: the first answer of a repair, in about a millisecond. What has not begun waits until it can start.

Steps are taken in the order in which they were to begin, and each starts as soon as the rules allow, but no earlier than planned.
If a step would then come too late after another, that other one waits as well in the next pass; if that one is over, the late
step goes before everything that it need not follow. Whatever cannot be solved this way is left to the solver, and so are dishes
that would be cold.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from typing import Final

from sagagraph.domains.recipes.plan import Plan, Row, in_order, makespan
from sagagraph.domains.recipes.planning.situation import Situation
from sagagraph.domains.recipes.request import Step, StepKey, is_fit

_MOST_PASSES: Final = 60
Span = tuple[int, int]
"""From when to when; an unattended step takes its cook's time only for the moment at which it starts."""


@dataclass(slots=True, eq=False)
class _Task:
    """Task: a row that is to begin, no earlier than `least`, which later passes may raise."""

    step: Step
    row: Row
    """The row as planned."""
    least: int
    start: int = 0
    is_urgent: bool = False

    @property
    def end(self) -> int:
        return self.start + self.row.duration

    @property
    def after(self) -> tuple[StepKey, ...]:
        return tuple((self.step.recipe, number) for number in (self.step.number, *self.step.after))


def dispatched(situation: Situation, known: Plan) -> Plan:
    """Return the `known` plan with what has not begun waiting as long as it must; empty: none was found."""
    tasks = [
        _Task(situation.meal.steps[row.key], row, situation.up(max(row.start, situation.since)))
        for row in sorted(_to_begin(situation, known), key=lambda row: row.start)
    ]
    for _pass in range(_MOST_PASSES if all(task.row.duration > 0 for task in tasks) else 0):
        kitchen = _Kitchen(situation)
        late = next((task for task in tasks if not kitchen.begin(task)), None)
        if late is None:
            plan = in_order(situation.meal, [*situation.past, *(task.row._replace(start=task.start) for task in tasks)])
            ready = {row.recipe: row.end for row in sorted(plan, key=lambda row: row.end)}
            is_cold = any(makespan(plan) - ready[recipe] > within for recipe, within in situation.meal.warm.items())
            return () if is_cold else plan
        if (cause := kitchen.cause) is not None and not cause.is_urgent:
            cause.least = max(cause.least + 1, situation.up(kitchen.least))
        elif late.is_urgent:
            return ()
        else:
            late.is_urgent, late.least = True, situation.up(max(late.row.start, situation.since))
            tasks = _ahead(tasks, late)
    return ()


def _to_begin(situation: Situation, known: Plan) -> list[Row]:
    """Return the rows that have not begun, or are made again; the last row of a step ends with it, however long it now takes."""
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
    """Put a task, and everything that it comes after, before the others."""
    needed = {urgent.row.key}
    for task in reversed(tasks):
        if task.row.key in needed:
            needed.update(task.after)
    return sorted(tasks, key=lambda task: task.row.key not in needed)


class _Kitchen:
    """Kitchen: which cooks and objects are taken when, as one task after the other is begun."""

    def __init__(self, situation: Situation) -> None:
        meal, since = situation.meal, situation.since
        self.cause: _Task | None = None
        """What the last task begins too long after; None: that is over."""
        self.least = 0
        """When that could begin instead."""
        self._situation = situation
        self._begun: dict[StepKey, _Task] = {}
        self._ended = {key: ended for key, (_worked, ended) in situation.worked.items()}
        self._cooks: list[list[Span]] = [[] for _cook in range(meal.cooks)]
        self._taken: dict[str, list[Span]] = {name: [] for name in meal.objects}
        for name, until in situation.down.items():
            self._taken[name].append((since, until))
        self._state = {name: dict(situation.state.get(name, {})) for name in meal.objects}
        going = [row for row in situation.past if row.end > since]
        by_hand = (row for row in going if not meal.steps[row.key].is_autonomous)
        for own, row in zip(self._cooks, by_hand, strict=False):
            own.append((row.start, row.end))
        for row in going:
            for name in meal.steps[row.key].uses:
                self._taken[name].append((since, row.end))

    def begin(self, task: _Task) -> bool:
        """Begin it as soon as it can begin. Tell whether that is in time, with every object as it needs it."""
        step = task.step
        task.start, cook = self._moment(task)
        start, end = task.start, task.end
        insort(cook, (start, start if step.is_autonomous else end))
        is_fine = True
        for name, use in step.uses.items():
            insort(self._taken[name], (start, end))
            is_fine = is_fine and all(is_fit(key, self._state[name].get(key), needed) for key, needed in use.require.items())
            use.change(self._state[name])
        for number, within in step.within.items():
            key = step.recipe, number
            if start - self._ended.get(key, start) > within:
                is_fine, self.cause = False, self._begun.get(key)
                self.least = start - within - (self.cause.row.duration if self.cause else 0)
        self._begun[step.key], self._ended[step.key] = task, end
        return is_fine

    def _moment(self, task: _Task) -> tuple[int, list[Span]]:
        """Return when it can begin, and the cook who begins it."""
        at = max(task.least, self._situation.away, *(self._ended.get(key, 0) for key in task.after))
        busy = []
        for name, use in task.step.uses.items():
            if not use.update and not use.require:
                busy.append(self._taken[name])
            else:  # what happens to an object, and with it, stays in this order
                at = max(at, *(end for _begin, end in self._taken[name]), 0)
        takes = 0 if task.step.is_autonomous else task.row.duration
        while True:
            before = at = at if task.step.within else self._situation.up(at)  # limits need not be on the grid
            for taken in busy:
                at = _free(taken, at, at + task.row.duration)
            at, place = min([(_free(own, at, at + takes), place) for place, own in enumerate(self._cooks)])
            if at == before:
                return at, self._cooks[place]


def _free(busy: list[Span], start: int, end: int) -> int:
    """Return the first free start from then on, among what is in the list already, in its order."""
    for begins, ends in busy:
        if begins < end and start < ends:
            start, end = ends, end - start + ends
    return start

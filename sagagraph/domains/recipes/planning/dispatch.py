"""Dispatch: the first answer of a repair, in about a millisecond. What has not begun waits until it can start.

Whatever can start first is begun next, no earlier than it was to, and what goes on alone before the rest. What would come too
late after another is told to that one, which waits as well in the next pass; if that one is over, the late step goes before the
others, with all that it comes after. Whatever does not end so is left to the solver, and so are dishes that would be cold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sagagraph.domains.recipes.plan import Plan, Row, in_order, makespan
from sagagraph.domains.recipes.planning.planner import Situation
from sagagraph.domains.recipes.request import Step, StepKey, is_fit

_MOST_PASSES: Final = 30


@dataclass(slots=True, eq=False)
class _Task:
    """A row that is to begin: no earlier than `least`, as it turns out."""

    step: Step
    row: Row
    """As it was to begin."""
    least: int
    start: int = 0


def dispatched(situation: Situation, known: Plan) -> Plan:
    """Return the plan in which what has not begun by the `known` one waits as long as it must; empty: none was found."""
    steps, urgent = situation.meal.steps, set[StepKey]()
    tasks = [
        _Task(steps[row.key], row, situation.up(max(row.start, situation.since)))
        for row in sorted(_to_begin(situation, known), key=lambda row: row.start)
    ]
    for _pass in range(_MOST_PASSES if all(task.row.duration > 0 for task in tasks) else 0):
        kitchen = _Kitchen(situation, urgent)
        late = kitchen.begin(tasks)
        if late is None:
            plan = in_order(situation.meal, [*situation.past, *(task.row._replace(start=task.start) for task in tasks)])
            ready = {row.recipe: row.end for row in sorted(plan, key=lambda row: row.end)}
            is_cold = any(makespan(plan) - ready[recipe] > within for recipe, within in situation.meal.warm.items())
            return () if is_cold else plan
        if (cause := kitchen.cause) is not None and cause.row.key not in urgent:
            cause.least = max(cause.least + 1, situation.up(kitchen.least))
        elif late.row.key in urgent:
            return ()
        else:
            level = {late.row.key}
            while level - urgent:
                urgent |= level
                level = {each.key for key in level for each in situation.meal.before(steps[key])}
    return ()


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


class _Kitchen:
    """Until when whom and what is taken, as one task after the other is begun."""

    def __init__(self, situation: Situation, urgent: set[StepKey]) -> None:
        steps = situation.meal.steps
        self.cause: _Task | None = None
        """After what the last task begins too late; None: that is over."""
        self.least = 0
        """When that could begin instead."""
        self._situation, self._urgent = situation, urgent
        self._begun: dict[StepKey, _Task] = {}
        self._ended = {key: ended for key, (_worked, ended) in situation.worked.items()}
        self._state = {name: dict(situation.state.get(name, {})) for name in situation.meal.objects}
        self._free = {name: situation.down.get(name, 0) for name in situation.meal.objects}
        self._hands = [0] * situation.meal.cooks
        """When each cook is free."""
        for row in situation.past:
            if row.end > situation.since and not steps[row.key].is_autonomous:
                self._hands[self._hands.index(min(self._hands))] = row.end
            for name in steps[row.key].uses:
                self._free[name] = max(self._free[name], row.end)

    def begin(self, tasks: list[_Task]) -> _Task | None:
        """Begin all as soon as they can. Return the first that begins too late, or without an object as it needs it."""
        left = list(tasks)
        while left:
            keys = {task.row.key for task in left}
            ready = [task for task in left if keys.isdisjoint((task.step.recipe, number) for number in task.step.after)]
            task = min(ready, key=self._rank)
            left.remove(task)
            if not self._begin(task):
                return task
        return None

    def _rank(self, task: _Task) -> tuple[bool, int, bool, int]:
        return task.row.key not in self._urgent, self._moment(task), not task.step.is_autonomous, task.row.start

    def _moment(self, task: _Task) -> int:
        step = task.step
        ends = [self._ended.get((step.recipe, number), 0) for number in (step.number, *step.after)]
        at = max(task.least, self._situation.away, min(self._hands), *ends, *(self._free[name] for name in step.uses))
        return at if step.within else self._situation.up(at)  # limits need not be on the grid

    def _begin(self, task: _Task) -> bool:
        """Tell whether that is in time, and every object as it needs it."""
        step, start = task.step, self._moment(task)
        task.start, end, is_fine = start, start + task.row.duration, True
        cook = max((free, number) for number, free in enumerate(self._hands) if free <= start)[1]
        self._hands[cook] = start if step.is_autonomous else end
        for name, use in step.uses.items():
            self._free[name] = end
            is_fine = is_fine and all(is_fit(key, self._state[name].get(key), needed) for key, needed in use.require.items())
            use.change(self._state[name])
        for number, within in step.within.items():
            key = step.recipe, number
            if start - self._ended.get(key, start) > within:
                is_fine, self.cause = False, self._begun.get(key)
                self.least = start - within - (self.cause.row.duration if self.cause else 0)
        self._begun[step.key], self._ended[step.key] = task, end
        return is_fine

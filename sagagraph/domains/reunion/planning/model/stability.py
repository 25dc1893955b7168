"""Stability: which actions of an older plan a sequence keeps as they were."""

from __future__ import annotations

from collections.abc import Mapping

from ortools.sat.python import cp_model

from sagagraph.domains.reunion.plan import Act, Journey
from sagagraph.domains.reunion.planning.model.sequence import Sequence
from sagagraph.domains.reunion.planning.model.situation import Situation, is_on
from sagagraph.domains.reunion.times import whole_minutes

Bool = cp_model.IntVar


def slack_of(situation: Situation, action: Act) -> int | None:
    """Return how much longer than necessary it is stated to last; None: it cannot be kept, because something in it has
    changed.
    """
    names = {each.name for each in situation.travellers}
    if not names.issuperset(action.people) or action.end > situation.ends or not _is_possible(situation, action):
        return None
    if isinstance(action, Journey):
        needed = next(leg.minutes for leg in situation.legs if is_on(leg, action))
    else:
        needed = next(whole_minutes(task.minutes) for task in situation.tasks if task.name == action.task)
    slack = action.end - action.start - needed
    return slack if slack >= 0 else None


class Keeping:
    """Keeping of actions. `is_kept` by the index of the action: whether some step is exactly that. Only kept actions last longer
    than necessary.

    `promises`: one for each person in an action, which holds if they still take part in it then, whoever else does.
    """

    def __init__(self, sequence: Sequence, actions: Mapping[int, Act]) -> None:
        self._sequence = sequence
        self._model = sequence.model
        self.is_kept: dict[int, Bool] = {}
        self.promises: list[Bool] = []
        slacks: list[list[cp_model.LinearExprT]] = [[] for _ in range(sequence.count)]
        for index, action in actions.items():
            slack = slack_of(sequence.situation, action)
            kept = self._model.new_bool_var("")
            self.is_kept[index] = kept
            matches = [] if slack is None else [self._match(k, action) for k in range(sequence.count)]
            self._promise(action)
            self._model.add(sum(matches) == kept)
            for k, match in enumerate(matches):
                slacks[k].append((slack or 0) * match)
        for k, terms in enumerate(slacks):
            self._model.add(sequence.steps.slack[k] == sum(terms))

    def _match(self, k: int, action: Act) -> Bool:
        """Return what implies that step k is this action."""
        match = self._model.new_bool_var("")
        self._is_at_the_time(k, action, match)
        self._model.add(self._sequence.steps.end[k] == action.end).only_enforce_if(match)
        for each, part in zip(self._sequence.situation.travellers, self._parts(k, action), strict=True):
            self._model.add_implication(match, part if each.name in action.people else ~part)
        return match

    def _promise(self, action: Act) -> None:
        here = self._sequence.situation
        if not _is_possible(here, action):
            return
        similar = [self._model.new_bool_var("") for _ in range(self._sequence.count)]
        for k, step in enumerate(similar):
            self._is_at_the_time(k, action, step)
        for person, each in enumerate(here.travellers):
            if each.name in action.people:
                promise = self._model.new_bool_var("")
                self._model.add_bool_or(*similar, ~promise)
                for k, step in enumerate(similar):
                    self._model.add_bool_or(~step, ~promise, self._parts(k, action)[person])
                self.promises.append(promise)

    def _parts(self, k: int, action: Act) -> list[Bool]:
        """Return who takes part in it, if step k is it."""
        if isinstance(action, Journey):
            return self._sequence.steps.rides[k]
        task = self._sequence.task_called(action.task)
        return [] if task is None else self._sequence.takes_part[task]

    def _is_at_the_time(self, k: int, action: Act, condition: Bool) -> None:
        """Require, if `condition` holds, that step k goes the same way, or does the same, from the same moment on."""
        here, steps = self._sequence.situation, self._sequence.steps
        self._model.add(steps.start[k] == action.start).only_enforce_if(condition)
        if isinstance(action, Journey):
            leg = next(index for index, each in enumerate(here.legs) if is_on(each, action))
            car = next(index for index, each in enumerate(here.cars) if each.name == action.vehicle)
            self._model.add_implication(condition, steps.uses_leg[k][leg])
            self._model.add_implication(condition, steps.uses_car[k][car])
        else:
            task = next(index for index, each in enumerate(here.tasks) if each.name == action.task)
            self._model.add_implication(condition, steps.does_task[k][task])


def _is_possible(situation: Situation, action: Act) -> bool:
    """Tell whether everything that it needs still exists, whoever takes part."""
    if isinstance(action, Journey):
        on_road = any(is_on(leg, action) for leg in situation.legs)
        return on_road and any(car.name == action.vehicle for car in situation.cars)
    return any(task.name == action.task for task in situation.tasks)

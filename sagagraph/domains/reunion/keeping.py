"""Which actions of an older plan a sequence keeps as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagagraph.domains.reunion.draft import is_on
from sagagraph.domains.reunion.plan import Journey
from sagagraph.domains.reunion.times import whole_minutes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ortools.sat.python import cp_model

    from sagagraph.domains.reunion.plan import Work
    from sagagraph.domains.reunion.sequence import Sequence
    from sagagraph.domains.reunion.situation import Situation

    Action = Journey | Work
    Bool = cp_model.IntVar


def slack_of(situation: Situation, action: Action) -> int | None:
    """How much longer than it has to it is stated to last; None: it can not be kept, something in it is not so any more."""
    names = {each.name for each in situation.travellers}
    if not names.issuperset(action.people) or action.end > situation.ends:
        return None
    if isinstance(action, Journey):
        leg = next((leg for leg in situation.legs if is_on(leg, action)), None)
        needed = None if leg is None else leg.minutes
    else:
        task = next((task for task in situation.tasks if task.name == action.task), None)
        needed = None if task is None else whole_minutes(task.minutes)
    slack = None if needed is None else action.end - action.start - needed
    return slack if slack is not None and slack >= 0 else None


class Keeping:
    """`is_kept` by the index of the action: whether some step is just that. Only kept actions last longer than they have to."""

    def __init__(self, sequence: Sequence, actions: Mapping[int, Action]) -> None:
        self._sequence = sequence
        self._model = sequence.model
        self.is_kept: dict[int, Bool] = {}
        slacks: list[list[cp_model.LinearExprT]] = [[] for _ in range(sequence.count)]
        for index, action in actions.items():
            slack = slack_of(sequence.situation, action)
            kept = self._model.new_bool_var("")
            self.is_kept[index] = kept
            matches = [] if slack is None else [self._match(k, action) for k in range(sequence.count)]
            self._model.add(sum(matches) == kept)
            for k, match in enumerate(matches):
                slacks[k].append((slack or 0) * match)
        for k, terms in enumerate(slacks):
            self._model.add(sequence.steps.slack[k] == sum(terms))

    def _match(self, k: int, action: Action) -> Bool:
        """Implies that step k is this action."""
        match = self._model.new_bool_var("")
        steps = self._sequence.steps
        self._model.add(steps.start[k] == action.start).only_enforce_if(match)
        self._model.add(steps.end[k] == action.end).only_enforce_if(match)
        here = self._sequence.situation
        if isinstance(action, Journey):
            leg = next(index for index, each in enumerate(here.legs) if is_on(each, action))
            car = next(index for index, each in enumerate(here.cars) if each.name == action.vehicle)
            self._model.add_implication(match, steps.uses_leg[k][leg])
            self._model.add_implication(match, steps.uses_car[k][car])
            taking_part = steps.rides[k]
        else:
            task = next(index for index, each in enumerate(here.tasks) if each.name == action.task)
            self._model.add_implication(match, steps.does_task[k][task])
            taking_part = self._sequence.takes_part[task]
        for each, part in zip(here.travellers, taking_part, strict=True):
            self._model.add_implication(match, part if each.name in action.people else ~part)
        return match

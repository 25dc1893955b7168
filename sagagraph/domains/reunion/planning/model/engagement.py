"""Engagement: when one person acts in a sequence, and until when: journeys and tasks, but not watching."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagagraph.domains.reunion.planning.model.situation import is_watched

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from sagagraph.domains.reunion.planning.model.sequence import Sequence

    Bool = cp_model.IntVar
    Int = cp_model.IntVar


class Engagement:
    """`acts[k]`: in step k. `busy_until[k]`: when the last action of theirs among the first k steps ends, or from when on they
    are free."""

    def __init__(self, sequence: Sequence, person: int) -> None:
        self._sequence = sequence
        self._model = sequence.model
        self._person = person
        self.acts: list[Bool] = [self._acts_in(k) for k in range(sequence.count)]
        self.busy_until: list[Int] = self._busy()

    def _acts_in(self, k: int) -> Bool:
        steps, model = self._sequence.steps, self._model
        parts = [steps.rides[k][self._person]]
        for task, what in enumerate(self._sequence.situation.tasks):
            if not is_watched(what):
                parts.append(both(model, steps.does_task[k][task], self._sequence.takes_part[task][self._person]))
        acts = model.new_bool_var("")
        model.add_max_equality(acts, parts)
        return acts

    def _busy(self) -> list[Int]:
        here, steps, model = self._sequence.situation, self._sequence.steps, self._model
        free = here.travellers[self._person].free
        busy = [model.new_constant(free)]
        for k, acts in enumerate(self.acts):
            until = model.new_int_var(0, max(here.ends, free), "")
            model.add(until == steps.end[k]).only_enforce_if(acts)
            model.add(until == busy[k]).only_enforce_if(~acts)
            busy.append(until)
        return busy


def both(model: cp_model.CpModel, one: Bool, other: Bool) -> Bool:
    """Return whether both are so."""
    together = model.new_bool_var("")
    model.add_implication(together, one)
    model.add_implication(together, other)
    model.add_bool_or(together, ~one, ~other)
    return together

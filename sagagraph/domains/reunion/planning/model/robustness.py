"""Robustness: how many single disturbances a sequence does not survive, with separate times for each of them.

In a disturbance everybody does the same things in the same order, each as soon as what they wait for is over: starts move, and
nothing else. (Right-shift rescheduling; Leon, Wu and Storer, "Robustness measures and robust scheduling for job shops", 1994.)
"""

from __future__ import annotations

from ortools.sat.python import cp_model

from sagagraph.domains.reunion.planning.model.presence import Engagement, Presence, both
from sagagraph.domains.reunion.planning.model.sequence import Sequence, total
from sagagraph.domains.reunion.request import LATE_MINUTES, SLOW_ROAD
from sagagraph.domains.reunion.times import whole_minutes

Bool = cp_model.IntVar
Int = cp_model.IntVar
Expression = cp_model.LinearExpr


class Robustness:
    """Robustness. `not_survived`: one for each disturbance, false only if the sequence survives it."""

    def __init__(self, sequence: Sequence, presence: Presence) -> None:
        self._sequence = sequence
        self._model = sequence.model
        self._presence = presence
        people = range(len(sequence.situation.travellers))
        self._part_in = [self._parts(person) for person in people]
        """[person][k]: in step k, even if only as a watcher."""
        self._waits = [[self._model.new_bool_var("") for _ in range(k)] for k in range(sequence.count)]
        """[k][j], j before k: step k begins when j is over, if not later."""
        self._due = [self._model.new_int_var(0, sequence.situation.ends, "") for _ in range(sequence.count)]
        for k in range(sequence.count):
            self._wait_for_those_who_act(k)
            self._wait_for_what_comes_before(k)
            self._wait_for_who_watches(k)
            self._be_over(k)
        roads = dict.fromkeys(frozenset((leg.here, leg.there)) for leg in sequence.situation.legs)
        self.not_survived = [~each for each in (*map(self._late, people), *map(self._slow, roads))]

    def _parts(self, person: int) -> list[Bool]:
        sequence, model = self._sequence, self._model
        watched = [index for index, task in enumerate(sequence.situation.tasks) if task.is_watched]
        parts = []
        for k, acts in enumerate(Engagement(sequence, person).acts):
            watches = [both(model, sequence.steps.does_task[k][task], sequence.takes_part[task][person]) for task in watched]
            parts.append(model.new_bool_var(""))
            model.add_max_equality(parts[-1], [acts, *watches])
        return parts

    # -- what waits for what -------------------------------------------------------------------------------------------

    def _wait_for_those_who_act(self, k: int) -> None:
        """Wait until the previous action of the same person or vehicle is over; somebody who only watches is free at once."""
        steps, model = self._sequence.steps, self._model
        for j, waits in enumerate(self._waits[k]):
            for person, parts in enumerate(self._part_in):
                rides = steps.rides[j][person]
                model.add_bool_or(~rides, ~parts[k], waits)
                for task, what in enumerate(self._sequence.situation.tasks):
                    if not what.is_watched:
                        part = self._sequence.takes_part[task][person]
                        model.add_bool_or(~steps.does_task[j][task], ~part, ~parts[k], waits)
            for before, after in zip(steps.uses_car[j], steps.uses_car[k], strict=True):
                model.add_bool_or(~before, ~after, waits)

    def _wait_for_what_comes_before(self, k: int) -> None:
        sequence, steps, model = self._sequence, self._sequence.steps, self._model
        for j, waits in enumerate(self._waits[k]):
            for task, what in enumerate(sequence.situation.tasks):
                for before in (number for name in what.after if (number := sequence.task_called(name)) is not None):
                    model.add_bool_or(~steps.does_task[j][before], ~steps.does_task[k][task], waits)
            for car, each in enumerate(sequence.situation.cars):
                unlocking = None if each.unlocked_by is None else sequence.task_called(each.unlocked_by)
                if unlocking is not None:
                    model.add_bool_or(~steps.does_task[j][unlocking], ~steps.uses_car[k][car], waits)

    def _wait_for_who_watches(self, k: int) -> None:
        """Wait for watchers: whoever watches after step k has come by then; and what began after something watched was over still
        does.
        """
        steps, model = self._sequence.steps, self._model
        for at, person, is_there in self._presence.watchers:
            if at == k:
                for j, waits in enumerate(self._waits[k]):
                    model.add_bool_or(~is_there, ~steps.rides[j][person], waits)
        for at, task, is_over in self._presence.over:
            if at == k:
                for j, waits in enumerate(self._waits[k]):
                    model.add_bool_or(~is_over, ~steps.does_task[j][task], waits)

    def _be_over(self, k: int) -> None:
        steps, model = self._sequence.steps, self._model
        for task, what in enumerate(self._sequence.situation.tasks):
            if what.window.closes is not None:
                model.add(self._due[k] <= what.window.closes).only_enforce_if(steps.does_task[k][task])
        for person, each in enumerate(self._sequence.situation.travellers):
            for goal in each.goals:
                begun = self._presence.begun_by(goal.by)[k]
                model.add(self._due[k] <= goal.by).only_enforce_if(begun, self._part_in[person][k], steps.is_journey[k])
        for leg, used in zip(self._sequence.situation.legs, steps.uses_leg[k], strict=True):
            if leg.closes <= self._sequence.situation.ends:
                model.add(self._due[k] < leg.closes + leg.minutes).only_enforce_if(used)

    # -- disturbances --------------------------------------------------------------------------------------------------

    def _late(self, person: int) -> Bool:
        """Return delays: people who are still to come are this much later; anybody else is, with the first thing that they do."""
        each, survives = self._sequence.situation.travellers[person], self._model.new_bool_var("")
        starts = self._moved(survives, [total([])] * self._sequence.count)
        for k, part in enumerate(self._part_in[person]):
            if each.is_expected:
                self._model.add(starts[k] >= each.free + LATE_MINUTES).only_enforce_if(survives, part)
            else:
                is_first = self._model.new_bool_var("")
                self._model.add_bool_or(~part, is_first, *self._part_in[person][:k])
                self._model.add(starts[k] >= self._sequence.steps.start[k] + LATE_MINUTES).only_enforce_if(survives, is_first)
        for k, watcher, is_there in self._presence.watchers:
            if each.is_expected and watcher == person:
                self._model.add(starts[k] >= each.free + LATE_MINUTES).only_enforce_if(survives, is_there)
        return survives

    def _slow(self, road: frozenset[str]) -> Bool:
        survives = self._model.new_bool_var("")
        legs = self._sequence.situation.legs
        lasts = [whole_minutes((SLOW_ROAD if {leg.here, leg.there} == road else 1) * leg.minutes) for leg in legs]
        more = [slow - leg.minutes for slow, leg in zip(lasts, legs, strict=True)]
        rows = self._sequence.steps.uses_leg
        longer = [total(minutes * used for minutes, used in zip(more, row, strict=True)) for row in rows]
        self._moved(survives, longer)
        return survives

    def _moved(self, survives: Bool, longer: list[Expression]) -> list[Int]:
        """Return when each step begins in a disturbance in which it lasts this much longer."""
        here, steps, model = self._sequence.situation, self._sequence.steps, self._model
        starts = [model.new_int_var(here.begins, here.ends, "") for _ in range(self._sequence.count)]
        for k, start in enumerate(starts):
            model.add(start >= steps.start[k]).only_enforce_if(survives)
            model.add(start + steps.lasts[k] + longer[k] <= self._due[k]).only_enforce_if(survives)
            for j, waits in enumerate(self._waits[k]):
                model.add(start >= starts[j] + steps.lasts[j] + longer[j]).only_enforce_if(survives, waits)
        return starts

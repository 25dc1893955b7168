"""Presence: who has to be where, and when: goals, and tasks that are watched."""

from __future__ import annotations

from ortools.sat.python import cp_model

from sagagraph.domains.reunion.planning.model.sequence import Sequence
from sagagraph.domains.reunion.planning.model.situation import Watch, is_watched
from sagagraph.domains.reunion.request import PersonGoal

Bool = cp_model.IntVar
Int = cp_model.IntVar


class Presence:
    """Adds to `sequence` that goals are met and that what is watched is never left alone."""

    def __init__(self, sequence: Sequence) -> None:
        self._sequence = sequence
        self._model = sequence.model
        self._begun: dict[int, list[Bool]] = {}
        self._exactly: dict[int, list[Bool]] = {}
        self._arrivals: list[list[Int]] = []
        self.watchers: list[tuple[int, int, Bool]] = []
        """(step, person, whether they are counted on to watch after it)."""
        self.over: list[tuple[int, int, Bool]] = []
        """(step, watched task, whether it is counted on that the task is over by then)."""
        for person, each in enumerate(sequence.situation.travellers):
            for goal in each.goals:
                self._be_there(person, goal)
            if each.stays_from is not None:
                self._stay(person, each.stays_from)
        for task, what in enumerate(sequence.situation.tasks):
            if is_watched(what):
                self._watch_task(task)
        for watch in sequence.situation.watches:
            self._watch_on(watch)

    def begun_by(self, moment: int) -> list[Bool]:
        """[k]: step k begins before `moment`."""
        if moment not in self._begun:
            begun = [self._model.new_bool_var("") for _ in range(self._sequence.count)]
            for k, yes in enumerate(begun):
                self._model.add(self._sequence.steps.start[k] < moment).only_enforce_if(yes)
                self._model.add(self._sequence.steps.start[k] >= moment).only_enforce_if(~yes)
                if k:
                    self._model.add_implication(yes, begun[k - 1])
            self._begun[moment] = begun
        return self._begun[moment]

    def steps_before(self, moment: int) -> list[Bool]:
        """[k], from 0 to the number of steps: exactly k of them begin before `moment`."""
        if moment not in self._exactly:
            begun = self.begun_by(moment)
            exactly = [self._model.new_bool_var("") for _ in range(len(begun) + 1)]
            self._model.add_exactly_one(exactly)
            for k, yes in enumerate(begun):
                self._model.add_implication(exactly[k], ~yes)
                self._model.add_implication(exactly[k + 1], yes)
            self._exactly[moment] = exactly
        return self._exactly[moment]

    def arrivals(self) -> list[list[Int]]:
        """[k][person]: when the last journey of theirs among the first k steps ends, or from when on they take part."""
        if not self._arrivals:
            here, steps, model = self._sequence.situation, self._sequence.steps, self._model
            self._arrivals = [[model.new_constant(each.arrives) for each in here.travellers]]
            for k in range(self._sequence.count):
                last = len(self._arrivals) - 1
                row = [model.new_int_var(0, max(here.ends, each.arrives), "") for each in here.travellers]
                for person, moment in enumerate(row):
                    model.add(moment == steps.end[k]).only_enforce_if(steps.rides[k][person])
                    model.add(moment == self._arrivals[last][person]).only_enforce_if(~steps.rides[k][person])
                self._arrivals.append(row)
        return self._arrivals

    def _be_there(self, person: int, goal: PersonGoal) -> None:
        """Require presence at the place by then, with the previous action over."""
        steps = self._sequence.steps
        place = self._sequence.situation.places.index(goal.place)
        if self._sequence.situation.travellers[person].arrives > goal.by:
            self._model.add_bool_or()
        for k, exactly in enumerate(self.steps_before(goal.by)):
            self._model.add_implication(exactly, steps.person_at[k][person][place])
        for k, begun in enumerate(self.begun_by(goal.by)):
            self._model.add(steps.end[k] <= goal.by).only_enforce_if(begun, steps.rides[k][person])

    def _stay(self, person: int, by: int) -> None:
        for k, begun in enumerate(self.begun_by(by)):
            self._model.add_implication(self._sequence.steps.rides[k][person], begun)

    def _watch_task(self, task: int) -> None:
        """Who begins it has arrived. From the step with which it begins on, up to its end, somebody is there after each step.

        Only when a step begins can anybody leave, so these are the moments that count.
        """
        sequence, model = self._sequence, self._model
        what = sequence.situation.tasks[task]
        for k, does in enumerate(row[task] for row in sequence.steps.does_task):
            for person, part in enumerate(sequence.takes_part[task]):
                arrival = self.arrivals()[k][person]
                model.add(arrival <= sequence.steps.start[k]).only_enforce_if(does, part)
        under_way = [model.new_bool_var("") for _ in range(sequence.count)]
        for k in range(sequence.count):
            begun = sum(sequence.steps.does_task[j][task] for j in range(k + 1))
            over = model.new_bool_var("")
            self.over.append((k, task, over))
            model.add(sequence.steps.start[k] >= sequence.task_end[task]).only_enforce_if(over)
            model.add(under_way[k] + over >= begun)
        if what.place is not None:
            self._somebody(sequence.situation.places.index(what.place), under_way)
            return
        for place, there in enumerate(sequence.place_of_task[task]):
            self._somebody(place, under_way, ~there)

    def _watch_on(self, watch: Watch) -> None:
        here = self._sequence.situation
        if not any(each.place == watch.place and each.arrives <= here.begins for each in here.travellers):
            self._model.add_bool_or()
        self._somebody(here.places.index(watch.place), self.begun_by(watch.end))

    def _somebody(self, place: int, when: list[Bool], *unless: cp_model.LiteralT) -> None:
        """Where `when[k]` holds, an available helper who is not on the way is at `place` after step k begins."""
        sequence, model = self._sequence, self._model
        arrivals = self.arrivals()
        for k, during in enumerate(when):
            present = []
            for person in range(len(sequence.situation.travellers)):
                is_there = model.new_bool_var("")
                model.add_implication(is_there, sequence.steps.person_at[k + 1][person][place])
                model.add(arrivals[k + 1][person] <= sequence.steps.start[k]).only_enforce_if(is_there)
                present.append(is_there)
                self.watchers.append((k, person, is_there))
            model.add_bool_or(*present, ~during, *unless)

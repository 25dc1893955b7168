"""Presence: who has to be where, and when: goals, watched tasks, people who must not wait alone, and people who are kept
apart.
"""

from __future__ import annotations

from itertools import combinations, permutations

from ortools.sat.python import cp_model

from sagagraph.domains.reunion.planning.model.sequence import Sequence, either
from sagagraph.domains.reunion.planning.model.situation import Company, Watch
from sagagraph.domains.reunion.request import PersonGoal

Bool = cp_model.IntVar
Int = cp_model.IntVar


class Presence:
    """Constraints on `sequence` that goals are met and that what is watched is never left alone."""

    def __init__(self, sequence: Sequence) -> None:
        self._sequence = sequence
        self._model = sequence.model
        self._begun: dict[int, list[Bool]] = {}
        self._exactly: dict[int, list[Bool]] = {}
        self._arrivals: list[list[Int]] = []
        self.watchers: list[tuple[int, int, Bool]] = []
        """(step, person, whether they are relied on to watch after it)."""
        self.over: list[tuple[int, int, Bool]] = []
        """(step, watched task, whether it is assumed that the task is over by then)."""
        for person, each in enumerate(sequence.situation.travellers):
            for goal in each.goals:
                self._be_there(person, goal)
            if each.stays_from is not None:
                self._stay(person, each.stays_from)
        for task, what in enumerate(sequence.situation.tasks):
            if what.is_watched:
                self._watch_task(task)
        for watch in sequence.situation.watches:
            self._watch_on(watch)

    def begun_by(self, moment: int) -> list[Bool]:
        """Return [k]: step k begins before `moment`."""
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
        """Return [k], from 0 to the number of steps: exactly k of them begin before `moment`."""
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
        """Return [k][person]: when their last journey among the first k steps ends, or from when on they take part."""
        if not self._arrivals:
            here, steps, model = self._sequence.situation, self._sequence.steps, self._model
            self._arrivals = [[model.new_constant(each.arrives) for each in here.travellers]]
            for k in range(self._sequence.count):
                people = zip(here.travellers, steps.rides[k], self._arrivals[-1], strict=True)
                row = [either(model, rides, steps.end[k], last, max(here.ends, who.arrives)) for who, rides, last in people]
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
        """Watch a task. Whoever begins it has arrived. From the step with which it begins, up to its end, somebody is there after
        each step.

        People can leave only when a step begins, so these are the moments that count.
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
        """Require, if `when[k]` holds, that an available helper who is not travelling is at `place` after step k begins."""
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


# -- company ----------------------------------------------------------------------------------------------------------


def keep_company(sequence: Sequence, presence: Presence) -> None:
    for person, each in enumerate(sequence.situation.travellers):
        if each.company is not None:
            _Waiting(sequence, presence, person, each.company)


def keep_apart(sequence: Sequence) -> None:
    here, takes_part = sequence.situation, sequence.takes_part
    index = {each.name: person for person, each in enumerate(here.travellers)}
    for names in here.apart:
        for one, other in combinations([name for name in names if name in index], 2):
            for parts in takes_part:
                sequence.model.add_bool_or(~parts[index[one]], ~parts[index[other]])
            for first, second in permutations([task for task, what in enumerate(here.tasks) if not what.is_watched], 2):
                _not_side_by_side(sequence, (first, index[one]), (second, index[other]))
            for mine, theirs in ((one, other), (other, one)):
                _after_the_shift(sequence, mine, index[theirs])


def _not_side_by_side(sequence: Sequence, one: tuple[int, int], other: tuple[int, int]) -> None:
    """Require of each (task, person): at different places, or one after the other."""
    model = sequence.model
    before, after, elsewhere = (model.new_bool_var("") for _ in range(3))
    model.add(sequence.task_end[one[0]] <= sequence.task_start[other[0]]).only_enforce_if(before)
    model.add(sequence.task_end[other[0]] <= sequence.task_start[one[0]]).only_enforce_if(after)
    for place in sequence.situation.places:
        model.add_bool_or(
            ~elsewhere, *(~at for at in _at(sequence, one[0], place)), *(~at for at in _at(sequence, other[0], place))
        )
    is_part = [sequence.takes_part[task][person] for task, person in (one, other)]
    model.add_bool_or(before, after, elsewhere, *(~part for part in is_part))


def _after_the_shift(sequence: Sequence, mine: str, theirs: int) -> None:
    here, model = sequence.situation, sequence.model
    for shift in (each for each in here.shifts if mine in each.people and each.place is not None):
        for task, what in enumerate(here.tasks):
            if not what.is_watched:
                busy = [sequence.takes_part[task][theirs], *_at(sequence, task, shift.place or "")]
                model.add(sequence.task_start[task] >= shift.end).only_enforce_if(*busy)


def _at(sequence: Sequence, task: int, place: str) -> list[cp_model.LiteralT]:
    """Return what must hold for the task to be done there."""
    stated = sequence.situation.tasks[task].place
    if stated is None:
        return [sequence.place_of_task[task][sequence.situation.places.index(place)]]
    return [] if stated == place else [sequence.model.new_constant(0)]


class _Waiting:
    """Waiting of one person. Nobody leaves between two steps: company at the start of a wait stays until its end."""

    def __init__(self, sequence: Sequence, presence: Presence, person: int, company: Company) -> None:
        self._sequence = sequence
        self._model = sequence.model
        self._arrivals = presence.arrivals()
        self._person = person
        self._company = company
        self._times = Engagement(sequence, person)
        for k in range(sequence.count + 1):
            self._after(k, self._times.busy_until[k])

    def _after(self, k: int, busy: Int) -> None:
        """Constrain the time after the first k steps, up to the next one: they do not wait, they wait at their last goal, or
        somebody is there.
        """
        here, steps, model = self._sequence.situation, self._sequence.steps, self._model
        begins = model.new_int_var(0, max(here.ends, here.travellers[self._person].free), "")
        model.add_max_equality(begins, [busy, steps.start[k - 1] if k else here.begins])
        is_short, is_over = model.new_bool_var(""), model.new_bool_var("")
        model.add(begins >= (steps.start[k] if k < self._sequence.count else here.ends)).only_enforce_if(is_short)
        model.add(begins >= self._company.until).only_enforce_if(is_over)
        at_refuge = steps.person_at[k][self._person][here.places.index(self._company.refuge)]
        model.add_bool_or(is_short, is_over, at_refuge, *self._not_yet(k), *self._others(k, begins))

    def _not_yet(self, k: int) -> list[Bool]:
        """Return that they have not begun: a person there from the beginning waits for nothing before their first action."""
        if not self._company.from_first_action:
            return []
        not_yet = self._model.new_bool_var("")
        for each in self._times.acts[:k]:
            self._model.add_implication(not_yet, ~each)
        return [not_yet]

    def _others(self, k: int, by: Int) -> list[Bool]:
        """Return one condition for each other person: same place, taking part, and not travelling."""
        model, steps = self._model, self._sequence.steps
        company = []
        for other in range(len(self._sequence.situation.travellers)):
            if other == self._person:
                continue
            is_there = model.new_bool_var("")
            model.add(self._arrivals[k][other] <= by).only_enforce_if(is_there)
            for mine, theirs in zip(steps.person_at[k][self._person], steps.person_at[k][other], strict=True):
                model.add_bool_or(~is_there, ~mine, theirs)
            company.append(is_there)
        return company


class Engagement:
    """Engagement of a person. `acts[k]`: in step k. `busy_until[k]`: when their last action among the first k steps ends, or from
    when on they are free.
    """

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
            if not what.is_watched:
                parts.append(both(model, steps.does_task[k][task], self._sequence.takes_part[task][self._person]))
        acts = model.new_bool_var("")
        model.add_max_equality(acts, parts)
        return acts

    def _busy(self) -> list[Int]:
        here, steps, model = self._sequence.situation, self._sequence.steps, self._model
        free = here.travellers[self._person].free
        busy = [model.new_constant(free)]
        for k, acts in enumerate(self.acts):
            busy.append(either(model, acts, steps.end[k], busy[k], max(here.ends, free)))
        return busy


def both(model: cp_model.CpModel, one: Bool, other: Bool) -> Bool:
    """Return whether both conditions hold."""
    together = model.new_bool_var("")
    model.add_implication(together, one)
    model.add_implication(together, other)
    model.add_bool_or(together, ~one, ~other)
    return together

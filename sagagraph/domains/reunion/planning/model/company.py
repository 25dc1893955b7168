"""Company: whenever a person who must not wait alone waits after a step, somebody else is there by then; and whoever is to be
kept apart does no task together, and none side by side.
"""

from __future__ import annotations

from itertools import combinations, permutations

from ortools.sat.python import cp_model

from sagagraph.domains.reunion.planning.model.presence import Presence
from sagagraph.domains.reunion.planning.model.sequence import Sequence
from sagagraph.domains.reunion.planning.model.situation import Company, is_watched

Bool = cp_model.IntVar
Int = cp_model.IntVar


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
            for first, second in permutations([task for task, what in enumerate(here.tasks) if not is_watched(what)], 2):
                _not_side_by_side(sequence, (first, index[one]), (second, index[other]))
            for mine, theirs in ((one, other), (other, one)):
                _after_the_shift(sequence, mine, index[theirs])


def _not_side_by_side(sequence: Sequence, one: tuple[int, int], other: tuple[int, int]) -> None:
    """(task, person) each: at different places, or one after the other."""
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
            if not is_watched(what):
                busy = [sequence.takes_part[task][theirs], *_at(sequence, task, shift.place or "")]
                model.add(sequence.task_start[task] >= shift.end).only_enforce_if(*busy)


def _at(sequence: Sequence, task: int, place: str) -> list[cp_model.LiteralT]:
    """What must hold for the task to be done there."""
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
        """After the first k steps, up to the next one: they do not wait, they wait at their last goal, or somebody is there."""
        here, steps, model = self._sequence.situation, self._sequence.steps, self._model
        begins = model.new_int_var(0, max(here.ends, here.travellers[self._person].free), "")
        model.add_max_equality(begins, [busy, steps.start[k - 1] if k else here.begins])
        is_short, is_over = model.new_bool_var(""), model.new_bool_var("")
        model.add(begins >= (steps.start[k] if k < self._sequence.count else here.ends)).only_enforce_if(is_short)
        model.add(begins >= self._company.until).only_enforce_if(is_over)
        at_refuge = steps.person_at[k][self._person][here.places.index(self._company.refuge)]
        model.add_bool_or(is_short, is_over, at_refuge, *self._not_yet(k), *self._others(k, begins))

    def _not_yet(self, k: int) -> list[Bool]:
        """A person there from the beginning waits for nothing before their first action."""
        if not self._company.from_first_action:
            return []
        not_yet = self._model.new_bool_var("")
        for each in self._times.acts[:k]:
            self._model.add_implication(not_yet, ~each)
        return [not_yet]

    def _others(self, k: int, by: Int) -> list[Bool]:
        """Return one condition for each other person: same place, taking part, and not on the way."""
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

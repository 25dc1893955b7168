"""Presence: who has to be where, and when: goals, watched tasks, people who must not wait alone, and people who are kept
apart.
"""

from __future__ import annotations

from functools import cache, cached_property
from itertools import combinations, permutations, product

from sagagraph.domains.reunion.planning.model.logic import Int, Literal, no
from sagagraph.domains.reunion.planning.model.sequence import Sequence
from sagagraph.domains.reunion.planning.model.situation import Company, Traveller, UnderWay
from sagagraph.domains.reunion.request import Task


class Presence:
    """Constraints on `sequence` that goals are met, that what is watched is never left alone, and who is in company or apart."""

    def __init__(self, sequence: Sequence) -> None:
        self._sequence, self._model = sequence, sequence.model
        self._here = sequence.situation
        self.begun_by = cache(self._begun_by)
        self.steps_before = cache(self._steps_before)
        self.busy_until = cache(self._busy_until)
        self.watchers: list[tuple[int, str, Literal]] = []
        """(step, person, whether they are relied on to watch after it)."""
        self.over: list[tuple[int, str, Literal]] = []
        """(step, watched task, whether it is assumed that the task is over by then)."""
        for each in self._here.travellers:
            self._be_there(each)
            if each.company is not None:
                for k in range(sequence.count + 1):
                    self._keep_company(k, each, each.company)
        for task in self._here.tasks:
            if task.is_watched:
                self._watch(task)
        for work in self._here.under_way:
            if work.is_watched:
                self._watch_on(work)
        for names in self._here.apart:
            for one, other in combinations([each.name for each in self._here.travellers if each.name in names], 2):
                self._keep_apart(one, other)

    # -- moments and people --------------------------------------------------------------------------------------------

    def _begun_by(self, moment: int) -> list[Literal]:
        """Return [k]: step k begins before `moment`."""
        begun: list[Literal] = []
        for start in self._sequence.start:
            yes = self._model.yes()
            self._model.must(start < moment, yes)
            self._model.must(start >= moment, no(yes))
            if begun:
                self._model.some(begun[-1], given=[yes])
            begun.append(yes)
        return begun

    def _steps_before(self, moment: int) -> list[Literal]:
        """Return [k], from 0 to the number of steps: exactly k of them begin before `moment`."""
        begun = self.begun_by(moment)
        exactly = [self._model.yes() for _ in range(len(begun) + 1)]
        self._model.add_exactly_one(exactly)
        for k, yes in enumerate(begun):
            self._model.some(no(yes), given=[exactly[k]])
            self._model.some(yes, given=[exactly[k + 1]])
        return list(exactly)

    @cached_property
    def arrivals(self) -> list[dict[str, Int]]:
        """Return [k][person]: when their last journey among the first k steps ends, or from when on they take part."""
        sequence, model = self._sequence, self._model
        rows = [{each.name: model.new_constant(each.arrives) for each in self._here.travellers}]
        for k, end in enumerate(sequence.end):
            most = max([self._here.ends, *(each.arrives for each in self._here.travellers)])
            acts, rides = sequence.acts[k], sequence.is_journey[k]
            rows.append({name: model.last(before, end, most, acts[name], rides) for name, before in rows[-1].items()})
        return rows

    def _busy_until(self, person: Traveller) -> list[Int]:
        """Return [k]: when their last action among the first k steps ends, or from when on they are free."""
        busy = [self._model.new_constant(person.free)]
        for acts, end in zip(self._sequence.acts, self._sequence.end, strict=True):
            busy.append(self._model.last(busy[-1], end, max(self._here.ends, person.free), acts[person.name]))
        return busy

    def not_yet(self, k: int, person: Traveller) -> Literal:
        """Return what implies that they have done nothing before step k."""
        not_yet = self._model.yes()
        for acts in self._sequence.acts[:k]:
            self._model.some(given=[not_yet, acts[person.name]])
        return not_yet

    # -- goals and what is watched -------------------------------------------------------------------------------------

    def _be_there(self, person: Traveller) -> None:
        """Require presence at each goal by then, with the previous journey over; and that they stay at the last one."""
        sequence, model = self._sequence, self._model
        rides = [[acts[person.name], is_journey] for acts, is_journey in zip(sequence.acts, sequence.is_journey, strict=True)]
        for goal in person.goals:
            model.some(person.arrives <= goal.by)
            for k, exactly in enumerate(self.steps_before(goal.by)):
                model.some(sequence.at[k][person.name][goal.place], given=[exactly])
            for k, begun in enumerate(self.begun_by(goal.by)):
                model.must(sequence.end[k] <= goal.by, begun, *rides[k])
        for k, begun in enumerate([] if person.stays_from is None else self.begun_by(person.stays_from)):
            model.some(begun, given=rides[k])

    def _watch(self, task: Task) -> None:
        """Watch a task. Whoever begins it has arrived. From the step with which it begins, up to its end, somebody is there after
        each step.

        People can leave only when a step begins, so these are the moments that count.
        """
        sequence, model = self._sequence, self._model
        under_way: list[Literal] = []
        for k, start in enumerate(sequence.start):
            does, over = sequence.does[k][task.name], model.yes()
            for name, part in sequence.keeps[task.name].items():
                model.must(self.arrivals[k][name] <= start, does, part)
            model.must(start >= sequence.ends[task.name], over)
            self.over.append((k, task.name, over))
            under_way.append(model.yes())
            for begun in sequence.does[: k + 1]:
                model.some(under_way[k], over, given=[begun[task.name]])
        for place in self._here.places:
            self._somebody(place, under_way, sequence.is_at(task, place))

    def _watch_on(self, watch: UnderWay) -> None:
        there = (each for each in self._here.travellers if each.place == watch.place and each.arrives <= self._here.begins)
        self._model.some(any(there))
        self._somebody(watch.place or "", self.begun_by(watch.end), True)

    def _somebody(self, place: str, when: list[Literal], there: Literal) -> None:
        """Require, if `when[k]` holds, that an available helper who is not travelling is at `place` after step k begins."""
        for k, during in enumerate(when if there is not False else ()):
            present = []
            for name, at in self._sequence.at[k + 1].items():
                if at[place] is not False:
                    is_there = self._model.yes()
                    self._model.some(at[place], given=[is_there])
                    self._model.must(self.arrivals[k + 1][name] <= self._sequence.start[k], is_there)
                    present.append(is_there)
                    self.watchers.append((k, name, is_there))
            self._model.some(*present, given=[during, there])

    # -- company -------------------------------------------------------------------------------------------------------

    def _keep_company(self, k: int, person: Traveller, company: Company) -> None:
        """Constrain the time after the first k steps, up to the next one: they do not wait, they wait at their last goal, or
        somebody is there. Nobody leaves between two steps: company at the start of a wait stays until its end.
        """
        sequence, model, at = self._sequence, self._model, self._sequence.at[k]
        begins = model.minutes(0, max(self._here.ends, person.free))
        model.add_max_equality(begins, [self.busy_until(person)[k], sequence.start[k - 1] if k else self._here.begins])
        is_short, is_over = model.yes(), model.yes()
        model.must(begins >= (sequence.start[k] if k < sequence.count else self._here.ends), is_short)
        model.must(begins >= company.until, is_over)
        not_yet = company.from_first_action and self.not_yet(k, person)
        others = []
        for other in at.keys() - {person.name}:
            is_there = model.yes()
            model.must(self.arrivals[k][other] <= begins, is_there)
            for place, mine in at[person.name].items():
                model.some(at[other][place], given=[is_there, mine])
            others.append(is_there)
        model.some(is_short, is_over, not_yet, at[person.name][company.refuge], *others)

    def _keep_apart(self, one: str, other: str) -> None:
        """Require of what is no watching: not together, and at different places, or one after the other."""
        sequence, model = self._sequence, self._model
        for keeps in sequence.keeps.values():
            model.some(given=[keeps[one], keeps[other]])
        for k, acts in enumerate(sequence.acts):
            model.some(sequence.is_journey[k], given=[acts[one], acts[other]])
            for mine, theirs in permutations((one, other)):
                works, at = (no(sequence.is_journey[k]), acts[theirs]), sequence.at[k][theirs]
                for work in (each for each in self._here.under_way if mine in each.people and not each.is_watched):
                    model.must(sequence.start[k] >= work.end, *works, at.get(work.place or "", False))
                for j, place in product(range(k), self._here.places):
                    there = sequence.at[j][mine][place], at[place], no(sequence.is_journey[j]), sequence.acts[j][mine]
                    model.must(sequence.start[k] >= sequence.end[j], *works, *there)

"""Sequence: the CP-SAT model of a plan as one sequence of steps in order of their starts.

A step is a journey of one vehicle over one road, the start of one task, or empty (these come last). Where a person or a vehicle
is before a step follows from the steps before it, so hand-overs, shared rides and empty runs need no rules: everybody in a
journey is at its start by then, and free.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Sequence as Ordered
from itertools import combinations
from typing import Any

from sagagraph.domains.reunion.plan import Act, Journey, Work
from sagagraph.domains.reunion.planning.model.logic import Literal, Logic, no
from sagagraph.domains.reunion.planning.model.reach import reach_of, ready
from sagagraph.domains.reunion.planning.model.situation import Car, Leg, Situation, Traveller, is_on
from sagagraph.domains.reunion.request import Task
from sagagraph.domains.reunion.times import whole_minutes

Places = dict[str, Literal]
Table = list[dict[str, Literal]]
"""By step and name."""


class Sequence:
    """Sequence. `count` is the most steps there are, tasks among them; `longer`: by how much one may be stated to last longer
    than necessary. `draft`: the steps, of which only times and who does the tasks are still to be decided.
    """

    def __init__(self, situation: Situation, count: int, longer: int = 0, draft: Ordered[Act] = ()) -> None:
        self.situation, self.count, self.longer = situation, count, longer
        self.model = Logic()
        minutes, here = self.model.minutes, situation
        most = here.ends - here.begins
        self.start = [minutes(here.begins, here.ends) for _ in range(count)]
        self.lasts = [minutes(0, most) for _ in range(count)]
        self.slack = [minutes(0, longer) for _ in range(count)]
        """How much longer than necessary it lasts."""
        self.end = [minutes(here.begins, here.ends) for _ in range(count)]
        self.begins = {task.name: minutes(here.begins, here.ends) for task in here.tasks}
        self.ends = {task.name: minutes(here.begins, here.ends) for task in here.tasks}
        people, cars = [each.name for each in here.travellers], [each.name for each in here.cars]
        self.keeps = {task.name: self._flags(people) for task in here.tasks if task.is_watched}
        """Who begins to watch."""
        self.chosen = {task.name: self._flags(here.places) for task in here.tasks if task.place is None}
        """The place of what can be done anywhere."""
        if draft:
            self._follow(sorted(draft, key=lambda each: each.start))
        else:
            self.takes = [{leg: self._flag() for leg in here.legs} for _ in range(count)]
            self.by: Table = [self._flags(cars) for _ in range(count)]
            self.does: Table = [self._flags(self.begins) for _ in range(count)]
            self.acts: Table = [self._flags(people) for _ in range(count)]
            """Who rides, or works."""
            self.at = [{name: self._flags(here.places) for name in people} for _ in range(count + 1)]
            """Where everybody is after the first k steps."""
            self.stands = [{name: self._flags(here.places) for name in cars} for _ in range(count + 1)]
            self.is_journey: list[Literal] = [self._flag() for _ in range(count)]
            self.is_used: list[Literal] = [self._flag() for _ in range(count)]
            self.done: Places = self._flags(self.begins)
            self._kinds()
            self._earliest()
        for k in range(count):
            self._times(k)
            for car in here.cars:
                self._journey_of(k, car)
        for person in here.travellers:
            self._one_thing_at_a_time(person.name, self.acts)
            for k in range(count):
                self.model.must(self.start[k] >= person.free, self.acts[k][person.name])
        for name in cars:
            self._one_thing_at_a_time(name, self.by)
        for task in here.tasks:
            self._task(task)

    def _flag(self) -> Literal:
        return self.model.yes()

    def _flags(self, names: Iterable[str]) -> dict[str, Literal]:
        return {name: self._flag() for name in names}

    # -- what the steps are --------------------------------------------------------------------------------------------

    @property
    def tables(self) -> tuple[Ordered[Mapping[Any, Literal]], ...]:
        """Return all that says what the steps are, but for their times and what follows from it."""
        kinds = [{"journey": ride, "used": used} for ride, used in zip(self.is_journey, self.is_used, strict=True)]
        return self.takes, self.by, self.does, self.acts, kinds

    def tables_of(self, draft: Ordered[Act | None]) -> tuple[list[dict[Any, Literal]], ...]:
        """Return the same of a draft."""
        here = self.situation
        rides = [act if isinstance(act, Journey) else None for act in draft]
        works = [act.task if isinstance(act, Work) else None for act in draft]
        acting = [() if act is None or work in self.keeps else act.people for act, work in zip(draft, works, strict=True)]
        return (
            [{leg: ride is not None and is_on(leg, ride) for leg in here.legs} for ride in rides],
            [{car.name: ride is not None and ride.vehicle == car.name for car in here.cars} for ride in rides],
            [{name: name == work for name in self.begins} for work in works],
            [{each.name: each.name in people for each in here.travellers} for people in acting],
            [{"journey": isinstance(act, Journey), "used": act is not None} for act in draft],
        )

    def _follow(self, draft: Ordered[Act]) -> None:
        """Take the steps of the draft; who of those who are there does a task is open."""
        here = self.situation
        self.takes, self.by, self.does, self.acts, kinds = self.tables_of(draft)
        self.is_journey, self.is_used = [row["journey"] for row in kinds], [row["used"] for row in kinds]
        self.done = {name: any(row[name] for row in self.does) for name in self.begins}
        only: dict[str, Places] = {place: defaultdict(bool, {place: True}) for place in here.places}
        self.at, self.stands = [{each.name: only[each.place] for each in here.travellers}], [{}]
        for act in draft:
            moved = dict.fromkeys(act.people, only[act.to]) if isinstance(act, Journey) else {}
            if isinstance(act, Work) and act.task not in self.keeps:
                there = (name for name, at in self.at[-1].items() if at[act.place or ""])
                self.acts[len(self.at) - 1] |= self._flags(there)
            self.at.append({**self.at[-1], **moved})

    def _kinds(self) -> None:
        """Constrain kinds: a journey takes one road and one vehicle, a task begins once; used steps come first."""
        model, here = self.model, self.situation
        for k in range(self.count):
            model.must(self.start[k] == here.ends, no(self.is_used[k]))
            if k:
                model.some(self.is_used[k - 1], given=[self.is_used[k]])
            model.add(sum(self.takes[k].values()) == self.is_journey[k])
            model.add(sum(self.by[k].values()) == self.is_journey[k])
            model.add(sum(self.does[k].values()) + self.is_journey[k] == self.is_used[k])
            leaves, reaches = self._flags(here.places), self._flags(here.places)
            for place in here.places:
                model.add(leaves[place] == sum(took for leg, took in self.takes[k].items() if leg.here == place))
                model.add(reaches[place] == sum(took for leg, took in self.takes[k].items() if leg.there == place))
            self._flow(k, here.travellers, self.at, self.acts[k], leaves, reaches)
            self._flow(k, here.cars, self.stands, self.by[k], leaves, reaches)
            for acts in self.acts[k].values():
                model.some(self.is_used[k], given=[acts])
        for name, done in self.done.items():
            model.add(sum(row[name] for row in self.does) == done)

    def _flow(
        self,
        k: int,
        who: Iterable[Traveller | Car],
        at: list[dict[str, Places]],
        moves: dict[str, Literal],
        leaves: Places,
        reaches: Places,
    ) -> None:
        """Constrain places: who moves at a step leaves its start for its end; everybody else stays."""
        for each in who:
            name, before, after = each.name, at[k][each.name], at[k + 1][each.name]
            self.model.add_exactly_one(after.values())
            for place in self.situation.places:
                if not k:
                    self.model.add(before[place] == (place == each.place))
                self.model.some(before[place], given=[moves[name], leaves[place]])
                self.model.some(after[place], given=[moves[name], reaches[place]])
                self.model.some(moves[name], after[place], given=[before[place]])
                self.model.some(self.is_journey[k], after[place], given=[before[place]])

    def _earliest(self) -> None:
        """State bounds that follow from everything else, and save the search from finding them."""
        here = self.situation
        reach = reach_of(here)
        for k in range(self.count):
            for leg, took in self.takes[k].items():
                for each in here.travellers:
                    earliest = reach.people[each.name].get(leg.here, here.ends + 1)
                    if earliest > each.free:
                        self.model.must(self.start[k] >= min(earliest, here.ends + 1), self.acts[k][each.name], took)
                for car in here.cars:
                    earliest = ready(here, reach, car, leg.here)
                    if earliest > car.free:
                        self.model.must(self.start[k] >= min(earliest, here.ends + 1), self.by[k][car.name], took)
            for each in here.travellers:
                for place in set(here.places) - reach.people[each.name].keys():
                    self.model.some(given=[self.at[k][each.name][place]])

    # -- when they are -------------------------------------------------------------------------------------------------

    def _times(self, k: int) -> None:
        model, here = self.model, self.situation
        needed = [leg.minutes * took for leg, took in self.takes[k].items()]
        needed += [whole_minutes(task.minutes) * self.does[k][task.name] for task in here.tasks]
        model.add(self.lasts[k] == sum(needed) + self.slack[k])
        model.add(self.end[k] == self.start[k] + self.lasts[k])
        if k:
            model.add(self.start[k] >= self.start[k - 1])
        for leg, took in self.takes[k].items():
            if leg.opens > here.begins:
                model.must(self.start[k] >= leg.opens, took)
            if leg.closes <= here.ends:
                model.must(self.start[k] < leg.closes, took)

    def _one_thing_at_a_time(self, name: str, acts: Table) -> None:
        """Let nobody be in two actions; what takes no time has its turn as well."""
        model, here = self.model, self.situation
        mine = [k for k in range(self.count) if acts[k][name] is not False]
        times = ((self.start[k], self.lasts[k], self.end[k], acts[k][name]) for k in mine)
        model.add_no_overlap([model.new_optional_interval_var(*each, "") for each in times])
        if all(leg.minutes for leg in here.legs) and all(whole_minutes(task.minutes) for task in here.tasks):
            return
        for j, k in combinations(mine, 2):
            model.must(self.start[k] >= self.end[j], acts[j][name], acts[k][name])

    def _journey_of(self, k: int, car: Car) -> None:
        """Constrain a journey: its seats, who drives it, and when it may set out."""
        model, used, start = self.model, self.by[k][car.name], self.start[k]
        if car.capacity < len(self.acts[k]):
            model.must(sum(self.acts[k].values()) <= car.capacity, used)
        if car.drivers is not None:
            model.some(*(self.acts[k].get(name, False) for name in car.drivers), given=[used])
        model.must(start >= car.free, used)
        for since, until in car.down if used is not False else ():
            earlier = model.yes()
            model.must(start < since, used, earlier)
            model.must(start >= until, used, no(earlier))
        if car.unlocked_by in self.done:
            model.some(self.done[car.unlocked_by], given=[used])
            model.must(start >= self.ends[car.unlocked_by], used)
        elif car.unlocked_by is not None:
            model.must(start >= self.situation.done[car.unlocked_by], used)

    # -- tasks ---------------------------------------------------------------------------------------------------------

    def _task(self, task: Task) -> None:
        """Constrain a task: when it is done, by whom and how many, and that they are where it is done."""
        model, done = self.model, self.done[task.name]
        begins, ends = self.begins[task.name], self.ends[task.name]
        model.must(begins == self.situation.ends, no(done))
        model.must(ends == begins, no(done))
        if not task.optional:
            model.some(done)
        if task.window.opens is not None:
            model.must(begins >= task.window.opens, done)
        if task.window.closes is not None:
            model.must(ends <= task.window.closes, done)
        for name in task.after:
            if name in self.done:
                model.must(begins >= self.ends[name], done, self.done[name])
            else:
                model.must(begins >= self.situation.done[name], done)
        if task.name in self.chosen:
            model.add_exactly_one(self.chosen[task.name].values())
        for k in range(self.count):
            does = self.does[k][task.name]
            model.must(begins == self.start[k], does)
            model.must(ends == self.end[k], does)
            if does is not False:
                self._people_of(k, task)

    def _people_of(self, k: int, task: Task) -> None:
        model, does = self.model, self.does[k][task.name]
        parts = self.keeps.get(task.name, self.acts[k])
        model.must(sum(parts.values()) >= task.people, does)
        for person in self.situation.travellers:
            name, part = person.name, parts[person.name]
            if task.is_watched:
                model.some(given=[does, self.acts[k][name]])
                model.must(self.start[k] >= person.free, does, part)
            if task.who is not None and name not in task.who:
                model.some(given=[does, part])
                continue
            for place in self.situation.places:
                model.some(self.at[k][name][place], given=[does, part, self.is_at(task, place)])

    def is_at(self, task: Task, place: str) -> Literal:
        return self.chosen[task.name][place] if task.place is None else task.place == place

    def meals(self, task: Task) -> list[int]:
        """Return when those who are to be at the task's place are to be there."""
        return [goal.by for each in self.situation.travellers for goal in each.goals if goal.place == task.place]

    def roads(self) -> list[tuple[int, Leg, Literal]]:
        """Return (step, road, whether it takes it)."""
        return [(k, leg, took) for k in range(self.count) for leg, took in self.takes[k].items() if took is not False]

"""Sequence: the CP-SAT model of a plan as one sequence of steps in order of their starts.

A step is a journey of one vehicle over one road, the start of one task, or empty (these come last). Where a person or a vehicle
is before a step follows from the steps before it, so hand-overs, shared rides and empty runs need no rules: everybody in a
journey is at its start by then, and free.
"""

from __future__ import annotations

from collections.abc import Iterable

from ortools.sat.python import cp_model

from sagagraph.domains.reunion.plan import Act, Journey, Work
from sagagraph.domains.reunion.planning.model.reach import Reach, reach_of, ready
from sagagraph.domains.reunion.planning.model.situation import Car, Situation, Traveller, is_on
from sagagraph.domains.reunion.times import whole_minutes

Bool = cp_model.IntVar
Int = cp_model.IntVar


def total(terms: Iterable[cp_model.LinearExprT]) -> cp_model.LinearExpr:
    """Return the sum, as an expression even if there is nothing to add."""
    return cp_model.LinearExpr.sum(list(terms)) + 0


def either(
    model: cp_model.CpModel, condition: Bool, then: cp_model.LinearExprT, otherwise: cp_model.LinearExprT, most: int
) -> Int:
    """Return `then` if the condition holds, and `otherwise` if it does not: from 0 to `most`."""
    chosen = model.new_int_var(0, most, "")
    model.add(chosen == then).only_enforce_if(condition)
    model.add(chosen == otherwise).only_enforce_if(~condition)
    return chosen


class Steps:
    """Variables of the steps; the first index is the step, from 0."""

    def __init__(self, model: cp_model.CpModel, here: Situation, count: int, longer: int) -> None:
        def times(least: int, most: int) -> list[Int]:
            return [model.new_int_var(least, most, "") for _ in range(count)]

        def flags(columns: int) -> list[Bool]:
            return [model.new_bool_var("") for _ in range(columns)]

        def table(columns: int) -> list[list[Bool]]:
            return [flags(columns) for _ in range(count)]

        def positions(of: int) -> list[list[list[Bool]]]:
            return [[flags(len(here.places)) for _ in range(of)] for _ in range(count + 1)]

        self.start = times(here.begins, here.ends)
        self.lasts = times(0, max(0, here.ends - here.begins))
        self.slack = times(0, longer)
        """How much longer than necessary it lasts."""
        self.end = times(here.begins, here.ends)
        self.is_journey = flags(count)
        self.is_used = flags(count)
        self.uses_leg = table(len(here.legs))
        self.uses_car = table(len(here.cars))
        self.does_task = table(len(here.tasks))
        self.rides = table(len(here.travellers))
        """[k][person]: in the vehicle, driving or not."""
        self.leaves = table(len(here.places))
        """[k][place]: the journey begins there."""
        self.reaches = table(len(here.places))
        self.person_at = positions(len(here.travellers))
        """[k + 1][person][place]: where somebody is after step k; at first [0]."""
        self.car_at = positions(len(here.cars))

    def follow(self, model: cp_model.CpModel, here: Situation, draft: Iterable[Act]) -> None:
        """Make constants of all but the times: the steps are those of the draft."""
        no, yes = model.new_constant(0), model.new_constant(1)
        self.is_used = [yes] * len(self.start)
        people, cars = {each.name: each.place for each in here.travellers}, {each.name: each.place for each in here.cars}
        for k, action in enumerate(sorted(draft, key=lambda each: each.start)):
            ride = action if isinstance(action, Journey) else None
            task = action.task if isinstance(action, Work) else None
            self.is_journey[k] = yes if ride else no
            leg = next((each for each in here.legs if ride is not None and is_on(each, ride)), None)
            self.uses_leg[k] = [yes if each is leg else no for each in here.legs]
            self.uses_car[k] = [yes if ride and each.name == ride.vehicle else no for each in here.cars]
            self.does_task[k] = [yes if each.name == task else no for each in here.tasks]
            self.rides[k] = [yes if ride and each.name in ride.people else no for each in here.travellers]
            for at, where in ((self.person_at, people), (self.car_at, cars)):
                if not k:
                    at[0] = [[yes if place == now else no for place in here.places] for now in where.values()]
            if ride is not None:
                people |= dict.fromkeys(ride.people, ride.to)
                cars[ride.vehicle] = ride.to
            self.person_at[k + 1] = [[yes if place == now else no for place in here.places] for now in people.values()]
            self.car_at[k + 1] = [[yes if place == now else no for place in here.places] for now in cars.values()]


class Sequence:
    """Sequence. `steps` is the most steps there are, tasks among them; `longer`: by how much one may be stated to last longer
    than necessary. `draft`: the steps, of which only times and who does the tasks are still to be decided.
    """

    def __init__(self, situation: Situation, steps: int, longer: int = 0, draft: tuple[Act, ...] = ()) -> None:
        self.situation = situation
        self.longer = longer
        self.model = cp_model.CpModel()
        self.count = steps
        self.takes_part = [[self._bool() for _ in situation.travellers] for _ in situation.tasks]
        """[task][person]."""
        self.is_done = [self._bool() for _ in situation.tasks]
        self.task_start = [self.model.new_int_var(situation.begins, situation.ends, "") for _ in situation.tasks]
        self.task_lasts = [self.model.new_int_var(0, max(0, situation.ends - situation.begins), "") for _ in situation.tasks]
        self.task_end = [self.model.new_int_var(situation.begins, situation.ends, "") for _ in situation.tasks]
        self.place_of_task: dict[int, list[Bool]] = {}
        """[task][place], of those that can be done at any place."""
        self.steps = Steps(self.model, situation, steps, longer)
        if draft:
            self.steps.follow(self.model, situation, draft)
        self._kinds()
        if not draft:
            self._flow(situation.travellers, self.steps.person_at, self.steps.rides)
            self._flow(situation.cars, self.steps.car_at, self.steps.uses_car)
        self._nobody_is_in_two_actions()
        self._what_takes_no_time_has_its_turn()
        self._vehicles()
        self._tasks()
        if not draft:
            self._earliest(reach_of(situation))

    def _bool(self) -> Bool:
        return self.model.new_bool_var("")

    def _kinds(self) -> None:
        """Constrain kinds: a journey takes one leg and one vehicle, a task begins once; steps are in order, empty ones last."""
        model, steps, here = self.model, self.steps, self.situation
        for k in range(self.count):
            model.add(steps.start[k] == here.ends).only_enforce_if(~steps.is_used[k])
            if k:
                model.add(steps.start[k] >= steps.start[k - 1])
                model.add_implication(steps.is_used[k], steps.is_used[k - 1])
        for k in range(self.count):
            model.add(sum(steps.uses_leg[k]) == steps.is_journey[k])
            model.add(sum(steps.uses_car[k]) == steps.is_journey[k])
            model.add(sum(steps.does_task[k]) + steps.is_journey[k] == steps.is_used[k])
            minutes = sum(leg.minutes * used for leg, used in zip(here.legs, steps.uses_leg[k], strict=True))
            lasting = sum(whole_minutes(each.minutes) * used for each, used in zip(here.tasks, steps.does_task[k], strict=True))
            model.add(steps.lasts[k] == minutes + lasting + steps.slack[k])
            model.add(steps.end[k] == steps.start[k] + steps.lasts[k])
            for place, name in enumerate(here.places):
                out = [used for leg, used in zip(here.legs, steps.uses_leg[k], strict=True) if leg.here == name]
                into = [used for leg, used in zip(here.legs, steps.uses_leg[k], strict=True) if leg.there == name]
                model.add(steps.leaves[k][place] == sum(out))
                model.add(steps.reaches[k][place] == sum(into))
            for leg, used in zip(here.legs, steps.uses_leg[k], strict=True):
                if leg.opens > here.begins:
                    model.add(steps.start[k] >= leg.opens).only_enforce_if(used)
                if leg.closes <= here.ends:
                    model.add(steps.start[k] < leg.closes).only_enforce_if(used)
        for task, done in enumerate(self.is_done):
            model.add(sum(steps.does_task[k][task] for k in range(self.count)) == done)

    def _flow(self, who: Iterable[Traveller | Car], at: list[list[list[Bool]]], moves: list[list[Bool]]) -> None:
        """Constrain places: who moves at a step leaves its start for its end; everybody else stays."""
        model, steps = self.model, self.steps
        for index, each in enumerate(who):
            for place, name in enumerate(self.situation.places):
                model.add(at[0][index][place] == int(name == each.place))
            for k in range(self.count):
                moving = moves[k][index]
                model.add_implication(moving, steps.is_journey[k])
                model.add_exactly_one(at[k + 1][index])
                for place in range(len(self.situation.places)):
                    before, after = at[k][index][place], at[k + 1][index][place]
                    model.add_bool_or(~moving, ~steps.leaves[k][place], before)
                    model.add_bool_or(~moving, ~steps.reaches[k][place], after)
                    model.add_bool_or(moving, ~before, after)
                    model.add_bool_or(moving, before, ~after)

    def _nobody_is_in_two_actions(self) -> None:
        model, steps, here = self.model, self.steps, self.situation
        for person, each in enumerate(here.travellers):
            busy = [
                model.new_optional_interval_var(steps.start[k], steps.lasts[k], steps.end[k], steps.rides[k][person], "")
                for k in range(self.count)
            ]
            for task, what in enumerate(here.tasks):
                part = self.takes_part[task][person]
                model.add(self.task_start[task] >= each.free).only_enforce_if(part)
                if not what.is_watched:
                    lasting = self.task_lasts[task]
                    busy.append(model.new_optional_interval_var(self.task_start[task], lasting, self.task_end[task], part, ""))
            model.add_no_overlap(busy)
            if each.free > here.begins:
                for k in range(self.count):
                    model.add(steps.start[k] >= each.free).only_enforce_if(steps.rides[k][person])

    def _what_takes_no_time_has_its_turn(self) -> None:
        """Let a step without duration overlap nothing at its moment: it begins after what came before has ended."""
        tasks = [index for index, task in enumerate(self.situation.tasks) if not whole_minutes(task.minutes)]
        legs = [index for index, leg in enumerate(self.situation.legs) if not leg.minutes]
        for k in range(1, self.count) if tasks or legs else ():
            for j in range(k):
                is_over = self._bool()
                self.model.add(self.steps.start[k] >= self.steps.end[j]).only_enforce_if(is_over)
                self._turns(j, k, is_over, tasks, legs)

    def _turns(self, j: int, k: int, is_over: Bool, tasks: list[int], legs: list[int]) -> None:
        """Order whoever is in step `j`, and then in a step of no length at `k`."""
        model, steps, here = self.model, self.steps, self.situation
        for person in range(len(here.travellers)):
            in_both = ~steps.rides[j][person], ~steps.rides[k][person]
            for task in tasks:
                part = self.takes_part[task][person]
                model.add_bool_or(is_over, ~steps.rides[j][person], ~steps.does_task[k][task], ~part)
            for leg in legs:
                model.add_bool_or(is_over, *in_both, ~steps.uses_leg[k][leg])
                for task in (index for index, each in enumerate(here.tasks) if not each.is_watched):
                    done = ~steps.does_task[j][task], ~self.takes_part[task][person]
                    model.add_bool_or(is_over, *done, ~steps.rides[k][person], ~steps.uses_leg[k][leg])
        for car in range(len(here.cars)):
            for leg in legs:
                model.add_bool_or(is_over, ~steps.uses_car[j][car], ~steps.uses_car[k][car], ~steps.uses_leg[k][leg])

    def _vehicles(self) -> None:
        steps = self.steps
        for index, car in enumerate(self.situation.cars):
            busy = [
                self.model.new_optional_interval_var(steps.start[k], steps.lasts[k], steps.end[k], steps.uses_car[k][index], "")
                for k in range(self.count)
            ]
            self.model.add_no_overlap(busy)
            for k in range(self.count):
                self._journey_of(k, index, car)

    def _earliest(self, reach: Reach) -> None:
        """State bounds that follow from everything else, and save the search from finding them."""
        model, steps, here = self.model, self.steps, self.situation
        for place, name in enumerate(here.places):
            for k in range(self.count):
                for person, each in enumerate(here.travellers):
                    earliest = reach.people[each.name].get(name)
                    if earliest is None:
                        model.add(steps.person_at[k][person][place] == 0)
                    elif earliest > each.free:
                        both = (steps.rides[k][person], steps.leaves[k][place])
                        model.add(steps.start[k] >= min(earliest, here.ends + 1)).only_enforce_if(*both)
                for index, car in enumerate(here.cars):
                    earliest = min(ready(here, reach, car, name), here.ends + 1)
                    if earliest > car.free:
                        model.add(steps.start[k] >= earliest).only_enforce_if(steps.uses_car[k][index], steps.leaves[k][place])

    def _journey_of(self, k: int, index: int, car: Car) -> None:
        """Constrain a journey: its seats, who drives it, and when it may set out."""
        model, steps, here = self.model, self.steps, self.situation
        used = steps.uses_car[k][index]
        if car.capacity < len(here.travellers):
            model.add(sum(steps.rides[k]) <= car.capacity).only_enforce_if(used)
        if car.drivers is not None:
            able = [steps.rides[k][p] for p, each in enumerate(here.travellers) if each.name in car.drivers]
            model.add_bool_or(*able, ~used)
        if car.free > here.begins:
            model.add(steps.start[k] >= car.free).only_enforce_if(used)
        for since, until in car.down:
            later, earlier = self._bool(), self._bool()
            model.add(steps.start[k] >= until).only_enforce_if(later)
            model.add(steps.start[k] < since).only_enforce_if(earlier)
            model.add_bool_or(later, earlier, ~used)
        if car.unlocked_by is not None:
            task = self.task_called(car.unlocked_by)
            if task is None:
                model.add(steps.start[k] >= here.done[car.unlocked_by]).only_enforce_if(used)
            else:
                model.add_implication(used, self.is_done[task])
                model.add(steps.start[k] >= self.task_end[task]).only_enforce_if(used)

    def task_called(self, name: str) -> int | None:
        return next((index for index, each in enumerate(self.situation.tasks) if each.name == name), None)

    def _tasks(self) -> None:
        for task, what in enumerate(self.situation.tasks):
            done = self.is_done[task]
            self.model.add(self.task_end[task] == self.task_start[task] + self.task_lasts[task])
            self.model.add(self.task_start[task] == self.situation.ends).only_enforce_if(~done)
            self.model.add(self.task_lasts[task] == 0).only_enforce_if(~done)
            if not self.longer:
                self.model.add(self.task_lasts[task] == whole_minutes(what.minutes)).only_enforce_if(done)
            if not what.optional:
                self.model.add(done == 1)
            for k in range(self.count):
                does = self.steps.does_task[k][task]
                self.model.add(self.task_start[task] == self.steps.start[k]).only_enforce_if(does)
                self.model.add(self.task_lasts[task] == self.steps.lasts[k]).only_enforce_if(does)
            self._window(task)
            self._people_of(task)

    def _window(self, task: int) -> None:
        what, done = self.situation.tasks[task], self.is_done[task]
        if what.window.opens is not None:
            self.model.add(self.task_start[task] >= what.window.opens).only_enforce_if(done)
        if what.window.closes is not None:
            self.model.add(self.task_end[task] <= what.window.closes).only_enforce_if(done)
        for name in what.after:
            before = self.task_called(name)
            if before is None:
                self.model.add(self.task_start[task] >= self.situation.done[name]).only_enforce_if(done)
            else:
                self.model.add(self.task_start[task] >= self.task_end[before]).only_enforce_if(done, self.is_done[before])

    def _people_of(self, task: int) -> None:
        """Constrain a task's people: who may and how many must, and that they are where it is done."""
        model, steps, here = self.model, self.steps, self.situation
        what = here.tasks[task]
        parts = self.takes_part[task]
        model.add(sum(parts) >= what.people).only_enforce_if(self.is_done[task])
        for person, each in enumerate(here.travellers):
            model.add_implication(parts[person], self.is_done[task])
            if what.who is not None and each.name not in what.who:
                model.add(parts[person] == 0)
                continue
            for k in range(self.count):
                if what.place is not None:
                    place = here.places.index(what.place)
                    model.add_bool_or(~parts[person], ~steps.does_task[k][task], steps.person_at[k][person][place])
        if what.place is None:
            self._together(task)

    def _together(self, task: int) -> None:
        """Require one place, whichever it is."""
        chosen = [self._bool() for _ in self.situation.places]
        self.place_of_task[task] = chosen
        self.model.add_exactly_one(chosen)
        for person, part in enumerate(self.takes_part[task]):
            for k in range(self.count):
                for place, there in enumerate(chosen):
                    at = self.steps.person_at[k][person][place]
                    self.model.add_bool_or(~part, ~self.steps.does_task[k][task], ~there, at)

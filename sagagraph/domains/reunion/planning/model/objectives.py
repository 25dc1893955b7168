"""Objectives, as linear expressions over a sequence; see measure.py for what is counted."""

from __future__ import annotations

from ortools.sat.python import cp_model

from sagagraph.domains.reunion.planning.model.presence import Engagement, Presence
from sagagraph.domains.reunion.planning.model.reach import METRES
from sagagraph.domains.reunion.planning.model.robustness import Robustness
from sagagraph.domains.reunion.planning.model.sequence import Sequence, either, total
from sagagraph.domains.reunion.request import LONG_WAIT, Objective, PersonGoal

Bool = cp_model.IntVar
Expression = cp_model.LinearExpr


class Aims:
    def __init__(self, sequence: Sequence, presence: Presence) -> None:
        self._sequence = sequence
        self._presence = presence
        self._model = sequence.model

    def expression(self, objective: Objective) -> Expression:
        match objective:
            case Objective.DISTANCE:
                return self._sum_over_legs([round(leg.km * METRES) for leg in self._sequence.situation.legs])
            case Objective.DRIVING_MINUTES:
                return self._sum_over_legs([leg.minutes for leg in self._sequence.situation.legs]) + self._slack()
            case Objective.MAKESPAN:
                here = self._sequence.situation
                last = self._model.new_int_var(max(here.begins, here.ended), max(here.ends, here.ended), "")
                for end, used in zip(self._sequence.steps.end, self._sequence.steps.is_used, strict=True):
                    self._model.add(last >= end).only_enforce_if(used)
                return last - here.first_moment
            case Objective.WORKLOAD_BALANCE:
                return self._spread_of_work()
            case Objective.LATEST_DEPARTURE:
                return self._waiting_lost()
            case Objective.ROBUSTNESS:
                return total(Robustness(self._sequence, self._presence).not_survived)
            case Objective.FRESH_FOOD:
                return self._standing_food()
            case Objective.WAITING:
                return self._waiting()
            case Objective.UNUSED_RENTALS:
                return self._unused_rentals()

    def _sum_over_legs(self, weights: list[int]) -> Expression:
        rows = self._sequence.steps.uses_leg
        return total([weight * used for row in rows for weight, used in zip(weights, row, strict=True)])

    def _slack(self) -> Expression:
        """Add the slack of journeys that are stated to take longer than necessary, as some kept ones are."""
        if not self._sequence.longer:
            return total([])
        steps, longer = self._sequence.steps, self._sequence.longer
        return total([either(self._model, *each, 0, longer) for each in zip(steps.is_journey, steps.slack, strict=True)])

    def _spread_of_work(self) -> Expression:
        here, steps, model = self._sequence.situation, self._sequence.steps, self._model
        most = here.ends - here.begins + max((each.worked for each in here.travellers), default=0)
        longest, shortest = model.new_int_var(0, most, ""), model.new_int_var(0, most, "")
        for person, each in enumerate(here.travellers):
            terms: list[Expression] = [total([]) + each.worked]
            for k in range(self._sequence.count):
                terms += [either(model, steps.rides[k][person], steps.end[k] - steps.start[k], 0, most)]
            for task, parts in enumerate(self._sequence.takes_part):
                terms += [either(model, parts[person], self._sequence.task_lasts[task], 0, most)]
            acts = model.new_bool_var("")
            part_in = [steps.rides[k][person] for k in range(self._sequence.count)]
            part_in += [parts[person] for parts in self._sequence.takes_part]
            part_in += [model.new_constant(1)] if each.worked else []
            model.add_max_equality(acts, part_in)
            model.add(longest >= total(terms))
            model.add(shortest <= total(terms)).only_enforce_if(acts)
        model.add(longest >= shortest)
        return longest - shortest

    def _waiting_lost(self) -> Expression:
        """Return how long before the last moment that matters each used vehicle sets out."""
        here, steps, model = self._sequence.situation, self._sequence.steps, self._model
        terms: list[Expression] = []
        for index in (index for index, car in enumerate(here.cars) if car.name not in here.departed):
            lost = model.new_int_var(0, max(0, here.last_moment - here.begins), "")
            for k in range(self._sequence.count):
                model.add(lost >= here.last_moment - steps.start[k]).only_enforce_if(steps.uses_car[k][index])
            terms.append(lost)
        return total(terms)

    def _standing_food(self) -> Expression:
        """Return how long food stands, from when it is ready until the last goal at its place is due."""
        here, stands = self._sequence.situation, []
        for task, end in zip(here.tasks, self._sequence.task_end, strict=True):
            meals = [goal.by for each in here.travellers for goal in each.goals if goal.place == task.place]
            if task.food and meals:
                minutes = self._model.new_int_var(0, max(0, max(meals) - here.begins), "")
                self._model.add(minutes >= max(meals) - end)
                stands.append(minutes)
        return total(stands)

    def _unused_rentals(self) -> Expression:
        unused = []
        for index, car in enumerate(self._sequence.situation.cars):
            task = None if car.unlocked_by is None else self._sequence.task_called(car.unlocked_by)
            if task is not None:
                left = self._model.new_bool_var("")
                self._model.add_bool_or(
                    ~self._sequence.is_done[task], left, *(row[index] for row in self._sequence.steps.uses_car)
                )
                unused.append(left)
        return total(unused)

    def _waiting(self) -> Expression:
        """Return minutes away with nothing to do, plus the part of each wait beyond `LONG_WAIT` once more."""
        waits: list[Expression] = []
        for person, each in enumerate(self._sequence.situation.travellers):
            times = Engagement(self._sequence, person)
            for k in range(0 if each.has_come else 1, self._sequence.count):
                wait = self._wait_before(k, person, times, unless_first=not each.has_come)
                longer = self._model.new_int_var(0, max(0, self._sequence.situation.ends - self._sequence.situation.begins), "")
                self._model.add(longer >= wait - LONG_WAIT)
                waits += [wait, longer]
        return total(waits)

    def _wait_before(self, k: int, person: int, times: Engagement, *, unless_first: bool) -> Expression:
        here, steps, model = self._sequence.situation, self._sequence.steps, self._model
        wait = model.new_int_var(0, max(0, here.ends - here.begins), "")
        destinations = {goal.place for goal in here.travellers[person].goals}
        fine = [steps.person_at[k][person][place] for place, name in enumerate(here.places) if name in destinations]
        if unless_first:
            is_first = model.new_bool_var("")
            for each in times.acts[:k]:
                model.add_implication(is_first, ~each)
            fine.append(is_first)
        counts = model.new_bool_var("")
        model.add_bool_or(counts, ~times.acts[k], *fine)
        model.add(wait >= steps.start[k] - times.busy_until[k]).only_enforce_if(counts)
        return wait

    # -- soft wishes and ties ----------------------------------------------------------------------------------------

    def wishes(self) -> Expression:
        """Return rides without preferred company, optional tasks left out (a rental that is not needed is no loss), and minutes
        that somebody arrives too early."""
        here = self._sequence.situation
        rentals = {car.unlocked_by for car in here.cars}
        tasks = zip(here.tasks, self._sequence.is_done, strict=True)
        left_out = [-done + 1 for what, done in tasks if what.optional and what.name not in rentals]
        early = [self._early(person, goal) for person, each in enumerate(here.travellers) for goal in each.goals]
        return total([*self._lonely_rides(), *left_out, *early])

    def _lonely_rides(self) -> list[Expression]:
        here, steps = self._sequence.situation, self._sequence.steps
        lonely: list[Expression] = []
        for person, each in enumerate(here.travellers):
            liked = [index for index, other in enumerate(here.travellers) if other.name in each.prefers]
            for k in range(self._sequence.count) if each.prefers else ():
                without = self._model.new_bool_var("")
                self._model.add_bool_or(~steps.rides[k][person], *(steps.rides[k][other] for other in liked), without)
                lonely.append(without)
        return lonely

    def _early(self, person: int, goal: PersonGoal) -> Expression:
        """Return how early people come by a journey that is still to be made."""
        if goal.not_before is None:
            return total([])
        early = self._model.new_int_var(0, max(0, goal.not_before - self._sequence.situation.begins), "")
        for k, exactly in enumerate(self._presence.steps_before(goal.by)):
            if k:
                arrival = self._presence.arrivals()[k][person]
                self._model.add(early >= goal.not_before - arrival).only_enforce_if(exactly)
        return early

    def ties(self) -> Expression:
        """Break ties: every action as early as possible, then as few people and vehicles as possible."""
        here, steps = self._sequence.situation, self._sequence.steps
        idle = here.ends - here.begins
        starts = [start - here.begins - idle * (1 - used) for start, used in zip(steps.start, steps.is_used, strict=True)]
        people = [part for row in (*steps.rides, *self._sequence.takes_part) for part in row]
        cars = [self._model.new_bool_var("") for _ in here.cars]
        for row in steps.uses_car:
            for used, car in zip(row, cars, strict=True):
                self._model.add_implication(used, car)
        return total(starts) * (len(people) + len(cars) + 1) + total([*people, *cars])

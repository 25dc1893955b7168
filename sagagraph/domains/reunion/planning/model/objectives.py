"""Objectives, as linear expressions over a sequence; see measure.py for what is counted."""

from __future__ import annotations

from sagagraph.domains.reunion.planning.model.logic import Expression, Int, Literal, no, total
from sagagraph.domains.reunion.planning.model.presence import Presence
from sagagraph.domains.reunion.planning.model.reach import METRES
from sagagraph.domains.reunion.planning.model.robustness import Robustness
from sagagraph.domains.reunion.planning.model.sequence import Sequence
from sagagraph.domains.reunion.planning.model.situation import Car, Traveller
from sagagraph.domains.reunion.request import LONG_WAIT, Objective, PersonGoal


class Aims:
    def __init__(self, sequence: Sequence, presence: Presence) -> None:
        self._sequence, self._presence = sequence, presence
        self._model, self._here = sequence.model, sequence.situation
        self._most = self._here.ends - self._here.begins + max((each.worked for each in self._here.travellers), default=0)

    def expression(self, objective: Objective) -> Expression:
        here, sequence = self._here, self._sequence
        match objective:
            case Objective.DISTANCE:
                return total(round(leg.km * METRES) * took for _, leg, took in sequence.roads())
            case Objective.DRIVING_MINUTES:
                return total(map(self._driven, range(sequence.count)))
            case Objective.MAKESPAN:
                last = self._model.minutes(max(here.begins, here.ended), max(here.ends, here.ended))
                for end, used in zip(sequence.end, sequence.is_used, strict=True):
                    self._model.must(last >= end, used)
                return last - here.first_moment
            case Objective.WORKLOAD_BALANCE:
                return self._spread_of_work()
            case Objective.LATEST_DEPARTURE:
                return total(self._lost(car) for car in here.cars if car.name not in here.departed)
            case Objective.ROBUSTNESS:
                return total(Robustness(sequence, self._presence).not_survived)
            case Objective.FRESH_FOOD:
                food = (task for task in here.tasks if task.food and sequence.meals(task))
                return total(self._over(max(sequence.meals(task)) - sequence.ends[task.name]) for task in food)
            case Objective.WAITING:
                return total(map(self._waiting, here.travellers))
            case Objective.UNUSED_RENTALS:
                return total(self._unused(car) for car in here.cars if car.unlocked_by in sequence.done)

    def _over(self, minutes: Expression, *given: Literal) -> Int:
        """Return the minutes, if all those given hold and there are any; otherwise what is least."""
        over = self._model.minutes(0, self._most)
        self._model.must(over >= minutes, *given)
        return over

    def _driven(self, k: int) -> Expression:
        """Return what step k drives; some kept journeys are stated to take longer than necessary."""
        sequence = self._sequence
        needed = total(leg.minutes * took for of, leg, took in sequence.roads() if of == k)
        return needed + (self._over(sequence.slack[k] + 0, sequence.is_journey[k]) if sequence.longer else 0)

    def _spread_of_work(self) -> Expression:
        sequence, model = self._sequence, self._model
        longest, shortest = model.minutes(0, self._most), model.minutes(0, self._most)
        for each in self._here.travellers:
            parts = [(acts[each.name], lasts + 0) for acts, lasts in zip(sequence.acts, sequence.lasts, strict=True)]
            parts += [(keeps[each.name], sequence.ends[task] - sequence.begins[task]) for task, keeps in sequence.keeps.items()]
            terms: list[Expression | int] = [each.worked]
            for part, lasts in parts:
                minutes = model.minutes(0, self._most)
                model.must(minutes == lasts, part)
                model.must(minutes == 0, no(part))
                terms.append(minutes)
            model.add(longest >= total(terms))
            for part, _ in (*parts, (each.worked > 0, 0)):
                model.must(shortest <= total(terms), part)
        model.add(longest >= shortest)
        return longest - shortest

    def _lost(self, car: Car) -> Expression:
        """Return how long before the last moment that matters it sets out."""
        lost = self._model.minutes(0, max(0, self._here.last_moment - self._here.begins))
        for start, by in zip(self._sequence.start, self._sequence.by, strict=True):
            self._model.must(lost >= self._here.last_moment - start, by[car.name])
        return lost + 0

    def _unused(self, car: Car) -> Expression:
        left = self._model.yes()
        done = self._sequence.done[car.unlocked_by or ""]
        self._model.some(left, *(row[car.name] for row in self._sequence.by), given=[done])
        return left + 0

    def _waiting(self, person: Traveller) -> Expression:
        """Return minutes away with nothing to do, plus the part of each wait beyond `LONG_WAIT` once more."""
        sequence, model, waits = self._sequence, self._model, list[Expression]()
        for k in range(0 if person.has_come else 1, sequence.count):
            wait = model.minutes(0, self._most)
            acts, counts = sequence.acts[k][person.name], model.yes()
            fine = [sequence.at[k][person.name][place] for place in {goal.place for goal in person.goals}]
            if not person.has_come:
                fine.append(self._presence.not_yet(k, person))
            model.some(counts, *fine, given=[acts])
            model.must(wait >= sequence.start[k] - self._presence.busy_until(person)[k], counts)
            waits += [wait, self._over(wait - LONG_WAIT)]
        return total(waits)

    # -- soft wishes and ties ----------------------------------------------------------------------------------------

    def wishes(self) -> Expression:
        """Return rides without preferred company, optional tasks left out (a rental that is not needed is no loss), and minutes
        that somebody arrives too early."""
        here, sequence = self._here, self._sequence
        rentals = {car.unlocked_by for car in here.cars}
        left_out = [no(sequence.done[each.name]) for each in here.tasks if each.optional and each.name not in rentals]
        early = [self._early(each, goal) for each in here.travellers for goal in each.goals if goal.not_before is not None]
        return total([*(each for person in here.travellers for each in self._lonely_rides(person)), *left_out, *early])

    def _lonely_rides(self, person: Traveller) -> list[Int]:
        lonely = []
        for acts, is_journey in zip(self._sequence.acts, self._sequence.is_journey, strict=True) if person.prefers else ():
            lonely.append(self._model.yes())
            liked = [acts[name] for name in person.prefers if name in acts]
            self._model.some(*liked, lonely[-1], given=[acts[person.name], is_journey])
        return lonely

    def _early(self, person: Traveller, goal: PersonGoal) -> Int:
        """Return how early people come by a journey that is still to be made."""
        early = self._model.minutes(0, self._most)
        for k, exactly in enumerate(self._presence.steps_before(goal.by)):
            if k:
                self._model.must(early >= (goal.not_before or 0) - self._presence.arrivals[k][person.name], exactly)
        return early

    def ties(self) -> Expression:
        """Break ties: every action as early as possible, then as few people and vehicles as possible."""
        here, sequence = self._here, self._sequence
        idle = here.ends - here.begins
        starts = (start - here.begins - idle * no(used) for start, used in zip(sequence.start, sequence.is_used, strict=True))
        people = [part for row in (*sequence.acts, *sequence.keeps.values()) for part in row.values()]
        cars = [self._model.yes() for _ in here.cars]
        for row in sequence.by:
            for used, car in zip(row.values(), cars, strict=True):
                self._model.some(car, given=[used])
        return total(starts) * (len(people) + len(cars) + 1) + total([*people, *cars])

"""Robustness: how many single disturbances a sequence does not survive, with separate times for each of them.

In a disturbance everybody does the same things in the same order, each as soon as what they wait for is over: starts move, and
nothing else. (Right-shift rescheduling; Leon, Wu and Storer, "Robustness measures and robust scheduling for job shops", 1994.)
"""

from __future__ import annotations

from itertools import combinations

from sagagraph.domains.reunion.planning.model.logic import Int, Literal, no, total
from sagagraph.domains.reunion.planning.model.presence import Presence
from sagagraph.domains.reunion.planning.model.sequence import Sequence
from sagagraph.domains.reunion.planning.model.situation import Traveller
from sagagraph.domains.reunion.request import LATE_MINUTES, SLOW_ROAD
from sagagraph.domains.reunion.times import whole_minutes


class Robustness:
    """Robustness. `not_survived`: one for each disturbance, false only if the sequence survives it."""

    def __init__(self, sequence: Sequence, presence: Presence) -> None:
        self._sequence, self._presence = sequence, presence
        self._model, self._here = sequence.model, sequence.situation
        self._waits = {pair: self._model.yes() for pair in combinations(range(sequence.count), 2)}
        """[j, k]: step k begins when j is over, if not later."""
        self._part_in = [self._parts(k) for k in range(sequence.count)]
        """[k][person]: in step k, even if only as a watcher."""
        self._due = [self._model.minutes(0, self._here.ends) for _ in range(sequence.count)]
        for j, k in self._waits:
            self._wait(j, k)
        for k in range(sequence.count):
            self._be_over(k)
        roads = dict.fromkeys(frozenset((leg.here, leg.there)) for leg in self._here.legs)
        self.not_survived = [no(each) for each in (*map(self._late, self._here.travellers), *map(self._slow, roads))]

    def _parts(self, k: int) -> dict[str, Literal]:
        model, sequence = self._model, self._sequence
        parts = {}
        for name, acts in sequence.acts[k].items():
            watches = [model.both(sequence.does[k][task], keeps[name]) for task, keeps in sequence.keeps.items()]
            parts[name] = model.yes() if watches else acts
            if watches:
                model.add_max_equality(parts[name], [acts, *watches])
        return parts

    def _wait(self, j: int, k: int) -> None:
        """Let step k wait until j is over: for the same person or vehicle, what comes before it, and whoever watches after it has
        come; what began after something watched was over still does. Somebody who only watches is free at once.
        """
        sequence, here, waits = self._sequence, self._here, self._waits[j, k]
        does = sequence.does
        pairs: list[tuple[Literal, Literal]] = [(sequence.acts[j][name], part) for name, part in self._part_in[k].items()]
        pairs += [(before, sequence.by[k][name]) for name, before in sequence.by[j].items()]
        pairs += [(does[j][name], does[k][task.name]) for task in here.tasks for name in task.after if name in sequence.done]
        pairs += [(does[j][car.unlocked_by], sequence.by[k][car.name]) for car in here.cars if car.unlocked_by in sequence.done]
        pairs += [(does[j][task], is_over) for at, task, is_over in self._presence.over if at == k]
        for before, after in pairs:
            self._model.some(waits, given=[before, after])
        for at, person, is_there in self._presence.watchers:
            if at == k:
                self._model.some(waits, given=[is_there, sequence.acts[j][person], sequence.is_journey[j]])

    def _be_over(self, k: int) -> None:
        sequence, model, due = self._sequence, self._model, self._due[k]
        for task in self._here.tasks:
            if task.window.closes is not None:
                model.must(due <= task.window.closes, sequence.does[k][task.name])
        for person in self._here.travellers:
            for goal in person.goals:
                rides = self._presence.begun_by(goal.by)[k], sequence.acts[k][person.name], sequence.is_journey[k]
                model.must(due <= goal.by, *rides)
        for leg, took in sequence.takes[k].items():
            if leg.closes <= self._here.ends:
                model.must(due < leg.closes + leg.minutes, took)

    # -- disturbances --------------------------------------------------------------------------------------------------

    def _late(self, person: Traveller) -> Literal:
        """Return delays: people who are still to come are this much later; anybody else is, with the first thing that they do."""
        model, survives = self._model, self._model.yes()
        starts = self._moved(survives)
        mine = [parts[person.name] for parts in self._part_in]
        late = person.free + LATE_MINUTES
        for k, part in enumerate(mine):
            is_first = part if person.is_expected else model.yes()
            model.some(is_first, *mine[:k], given=[part])
            model.must(starts[k] >= (late if person.is_expected else self._sequence.start[k] + LATE_MINUTES), survives, is_first)
        for k, watcher, is_there in self._presence.watchers:
            if person.is_expected and watcher == person.name:
                model.must(starts[k] >= late, survives, is_there)
        return survives

    def _slow(self, road: frozenset[str]) -> Literal:
        survives = self._model.yes()
        self._moved(survives, road)
        return survives

    def _moved(self, survives: Literal, slow: frozenset[str] = frozenset()) -> list[Int]:
        """Return when each step begins in a disturbance in which that road is slow."""
        sequence, model = self._sequence, self._model
        lasts = [total([each]) for each in sequence.lasts]
        for k, leg, took in sequence.roads():
            if {leg.here, leg.there} == slow:
                lasts[k] += (whole_minutes(SLOW_ROAD * leg.minutes) - leg.minutes) * took
        starts = [model.minutes(self._here.begins, self._here.ends) for _ in lasts]
        for k, start in enumerate(starts):
            model.must(start >= sequence.start[k], survives)
            model.must(start + lasts[k] <= self._due[k], survives)
        for (j, k), waits in self._waits.items():
            model.must(starts[k] >= starts[j] + lasts[j], survives, waits)
        return starts

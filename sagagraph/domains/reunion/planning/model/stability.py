"""Stability: which actions of an older plan a sequence keeps as they were."""

from __future__ import annotations

from collections.abc import Mapping

from sagagraph.domains.reunion.plan import Act, Journey
from sagagraph.domains.reunion.planning.model.logic import Expression, Literal, no, total
from sagagraph.domains.reunion.planning.model.sequence import Sequence
from sagagraph.domains.reunion.planning.model.situation import Situation, is_on
from sagagraph.domains.reunion.times import whole_minutes


def slack_of(situation: Situation, action: Act) -> int | None:
    """Return how much longer than necessary it is stated to last; None: it cannot be kept, because something in it has
    changed.
    """
    needed = _needed(situation, action)
    if needed is None or not {each.name for each in situation.travellers}.issuperset(action.people):
        return None
    slack = action.end - action.start - needed
    return slack if slack >= 0 and action.end <= situation.ends else None


def _needed(situation: Situation, action: Act) -> int | None:
    """Return the minutes that it takes, whoever takes part; None: something that it needs does not exist any more."""
    if isinstance(action, Journey):
        has_car = any(car.name == action.vehicle for car in situation.cars)
        return next((leg.minutes for leg in situation.legs if has_car and is_on(leg, action)), None)
    return next((whole_minutes(task.minutes) for task in situation.tasks if task.name == action.task), None)


class Keeping:
    """Keeping of actions. `is_kept` by the index of the action: whether some step is exactly that. Only kept actions last longer
    than necessary. `changes`: how many are not kept, and then how many people are not in the same action at the same time.
    """

    def __init__(self, sequence: Sequence, actions: Mapping[int, Act]) -> None:
        self._sequence, self._model = sequence, sequence.model
        self.is_kept: dict[int, Expression] = {}
        promises: list[Literal] = []
        longer: list[list[Expression]] = [[] for _ in range(sequence.count)]
        for index, action in actions.items():
            slack, is_possible = slack_of(sequence.situation, action), _needed(sequence.situation, action) is not None
            steps = {k: self._alike(k, action) for k in range(sequence.count if is_possible else 0)}
            alike = {k: step for k, step in steps.items() if step is not False}
            same = {k: self._same(k, action, step) for k, step in alike.items() if slack is not None}
            self.is_kept[index] = total(same.values())
            promises += self._promises(alike, action)
            self._model.add(self.is_kept[index] <= 1)
            for k, kept in same.items():
                longer[k].append(total([(slack or 0) * kept]))
        for k, terms in enumerate(longer):
            self._model.add(sequence.slack[k] == total(terms))
        self.changes = total([len(actions), *(-each for each in self.is_kept.values())]) * (len(promises) + 1) + total(
            map(no, promises)
        )

    def _alike(self, k: int, action: Act) -> Literal:
        """Return what implies that step k goes the same way, or does the same, from the same moment on."""
        sequence, model = self._sequence, self._model
        if isinstance(action, Journey):
            leg = next(each for each in sequence.situation.legs if is_on(each, action))
            kind = model.both(sequence.takes[k][leg], sequence.by[k][action.vehicle])
        else:
            kind = sequence.does[k][action.task]
        if kind is False:
            return False
        alike = model.yes()
        model.some(kind, given=[alike])
        model.must(sequence.start[k] == action.start, alike)
        return alike

    def _parts(self, k: int, action: Act) -> dict[str, Literal]:
        acts = self._sequence.acts[k]
        return acts if isinstance(action, Journey) else self._sequence.keeps.get(action.task, acts)

    def _same(self, k: int, action: Act, alike: Literal) -> Literal:
        """Return what implies that step k is this action."""
        same = self._model.yes()
        self._model.some(alike, given=[same])
        self._model.must(self._sequence.end[k] == action.end, same)
        for name, part in self._parts(k, action).items():
            self._model.some(part if name in action.people else no(part), given=[same])
        return same

    def _promises(self, alike: Mapping[int, Literal], action: Act) -> list[Literal]:
        promises: list[Literal] = []
        here = {each.name for each in self._sequence.situation.travellers}
        for name in here.intersection(action.people) if alike else ():
            promises.append(self._model.yes())
            self._model.some(*alike.values(), given=[promises[-1]])
            for k, step in alike.items():
                self._model.some(self._parts(k, action)[name], given=[step, promises[-1]])
        return promises

"""Lower bound of every plan, for problems too large for a proof: everybody reaches their goals, but time is ignored.

How often each road is driven is a flow of vehicles, with the drivers brought back in time (a fixed-charge network design:
Magnanti and Wong, "Network design and transportation planning", 1984). The seats say how often any set of places must be left;
the sets that a plan would need are found relaxation by relaxation (rounded capacity inequalities: Laporte, Nobert and Desrochers,
"Optimal routing under capacity and distance restrictions", 1985). They hold for hand-overs too: whoever leaves a set sits in some
journey out of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import networkx as nx
import numpy as np
from ortools.linear_solver.python import model_builder

from sagagraph.domains.reunion.planning.model.reach import weight
from sagagraph.domains.reunion.planning.model.situation import Situation, Traveller
from sagagraph.domains.reunion.request import Objective
from sagagraph.planning.budget import Budget

Road = tuple[str, str]
Cut = tuple[frozenset[str], int]
"""A set of places, and how many journeys leave it at least."""

MOST_PLACES: Final = 16
"""How many places the sets of places are made of: those that most people leave."""
CUTS_A_ROUND: Final = 60


def driving_bound(situation: Situation, objective: Objective, budget: Budget) -> int:
    """Return a bound in minutes or metres; 0 for objectives that are not sums over journeys."""
    weigh = weight(objective)
    if weigh is None or not situation.cars:
        return 0
    costs: dict[Road, int] = {}  # for each road, the least at any time
    for leg in situation.legs:
        road = leg.here, leg.there
        costs[road] = min(costs.get(road, weigh(leg)), weigh(leg))
    sets, cuts, bound = _Sets(situation), dict[frozenset[str], int](), 0
    for is_whole in (False, True):
        new: Mapping[frozenset[str], int] = {}
        while budget.left and (new or not cuts or is_whole):
            relaxed = _relaxed(situation, costs, list(cuts.items()), budget if is_whole else None)
            if relaxed is None:
                return bound
            bound = max(bound, math.ceil(relaxed[0] - 1e-6))
            new = sets.lacking(relaxed[1])
            if not new:
                break
            cuts |= new
    return bound


def _relaxed(
    situation: Situation, costs: Mapping[Road, int], cuts: Sequence[Cut], whole: Budget | None
) -> tuple[float, dict[Road, float]] | None:
    """Return the least cost, or what it is at least, and how often each road is driven; in fractions, unless there is a budget
    for whole numbers.
    """
    model = model_builder.Model()  # type: ignore[no-untyped-call] # OR-Tools does not say
    most = 2 * (len(situation.travellers) + len(situation.tasks)) if whole else math.inf
    driven = {road: model.new_var(0, most, whole is not None, "") for road in costs}
    _keep_balance(model, driven, Counter(car.place for car in situation.cars), {}, situation.places)
    total = model_builder.LinearExpr.sum
    if all(car.drivers is not None for car in situation.cars):
        steering: dict[Road, list[model_builder.Variable]] = {road: [] for road in costs}
        for crew, number in _crews(situation).items():
            roads = crew.roads(situation)
            own = {road: model.new_var(0, most, whole is not None, "") for road in roads}
            _keep_balance(model, own, {crew.start: number}, {crew.end: number} if crew.end else {}, situation.places)
            model.add(total([0.0, *(minutes * own[road] for road, minutes in roads.items())]) <= number * crew.time)
            for road, often in own.items():
                steering[road].append(often)
        for road, often in driven.items():
            model.add(total([0.0, *steering[road]]) >= often)
    for task in situation.tasks:
        if task.place is not None and not task.optional and all(each.place != task.place for each in situation.travellers):
            model.add(total([0.0, *(often for (_, there), often in driven.items() if there == task.place)]) >= 1)
    for places, count in cuts:
        out = [often for (here, there), often in driven.items() if here in places and there not in places]
        model.add(total([0.0, *out]) >= count)
    model.minimize(model_builder.LinearExpr.weighted_sum(list(driven.values()), [float(cost) for cost in costs.values()]))
    solver = model_builder.Solver("GLOP" if whole is None else "SAT")
    if whole is not None:
        solver.set_solver_specific_parameters("num_workers:1")
        solver.set_time_limit_in_seconds(whole.left)
    if solver.solve(model) not in (model_builder.SolveStatus.OPTIMAL, model_builder.SolveStatus.FEASIBLE):
        return None
    least = solver.objective_value if whole is None else solver.best_objective_bound
    return least, {road: solver.value(often) for road, often in driven.items()}


def _keep_balance(
    model: model_builder.Model,
    flow: Mapping[Road, model_builder.Variable],
    at: Mapping[str, int],
    stay: Mapping[str, int],
    places: Iterable[str],
) -> None:
    """Let no more leave a place than are there and come, without those who are to stay in the end."""
    for place in places:
        leaving = [often for (here, _), often in flow.items() if here == place]
        coming = [often for (_, there), often in flow.items() if there == place]
        sum_ = model_builder.LinearExpr.sum([0.0, *leaving, *(-each for each in coming)])
        model.add(sum_ <= at.get(place, 0) - stay.get(place, 0))


@dataclass(frozen=True, slots=True)
class _Crew:
    """Crew: drivers who begin at one place, and are to be at one place at last, with so many minutes for it."""

    start: str
    end: str | None
    time: int

    def roads(self, situation: Situation) -> dict[Road, int]:
        """Return the roads that they have time for, with the least minutes."""
        minutes: dict[Road, int] = {}
        for leg in situation.legs:
            minutes[leg.here, leg.there] = min(minutes.get((leg.here, leg.there), leg.minutes), leg.minutes)
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(situation.places)
        graph.add_weighted_edges_from((here, there, taken) for (here, there), taken in minutes.items())
        before = nx.single_source_dijkstra_path_length(graph, self.start)
        after = nx.single_source_dijkstra_path_length(graph.reverse(), self.end) if self.end else dict.fromkeys(graph, 0)

        def needs(here: str, there: str, taken: int) -> float:
            return before.get(here, math.inf) + taken + after.get(there, math.inf)

        return {road: taken for road, taken in minutes.items() if needs(*road, taken) <= self.time}


def _crews(situation: Situation) -> Counter[_Crew]:
    drivers = {name for car in situation.cars for name in car.drivers or ()}
    crews: Counter[_Crew] = Counter()
    for each in (each for each in situation.travellers if each.name in drivers):
        end = _stops(each)[-1] if each.stays_from is not None else None
        until = situation.ends if each.stays_from is None else each.stays_from
        crews[_Crew(each.place, end, max(0, until - each.free))] += 1
    return crews


class _Sets:
    """Sets of places, and how often each must be left by people who never drive."""

    def __init__(self, situation: Situation) -> None:
        seats = max(car.capacity for car in situation.cars)
        drivers: set[str] = set()
        if all(car.drivers is not None for car in situation.cars):
            drivers = {name for car in situation.cars for name in car.drivers or ()}
            seats -= 1
        self._places = list(situation.places)
        number = {place: index for index, place in enumerate(self._places)}
        ways = [way for each in situation.travellers if each.name not in drivers for way in pairwise(_stops(each)) if seats]
        left = [sum(here == place for here, _ in ways) for place in self._places]
        chosen = sorted(range(len(left)), key=lambda place: -left[place])[:MOST_PLACES]
        inside = np.zeros((2 ** len(chosen), len(self._places)), dtype=bool)
        for bit, place in enumerate(chosen):
            inside[:, place] = np.arange(len(inside)) >> bit & 1
        self._inside = np.concatenate([inside, ~inside]).astype(np.float32)
        leaving = np.zeros(len(self._inside))
        for here, there in ways:
            leaving += self._inside[:, number[here]] * (1 - self._inside[:, number[there]])
        self._needed = np.ceil(leaving / max(1, seats))

    def lacking(self, driven: Mapping[Road, float]) -> dict[frozenset[str], int]:
        """Return sets that are left too rarely, with how often they must be: those that lack most."""
        often = np.array([[driven.get((here, there), 0.0) for there in self._places] for here in self._places], dtype=np.float32)
        leaving = (self._inside @ often * (1 - self._inside)).sum(axis=1)
        lack = self._needed - leaving
        most = np.argsort(-lack, kind="stable")[:CUTS_A_ROUND]
        found = ((self._inside[index] > 0, int(self._needed[index])) for index in most if lack[index] > 1e-3)
        return {
            frozenset(place for place, yes in zip(self._places, inside, strict=True) if yes): often for inside, often in found
        }


def _stops(person: Traveller) -> list[str]:
    """Return where they are, and then have to be, in order."""
    return [person.place, *(goal.place for goal in sorted(person.goals, key=lambda goal: goal.by))]

"""Lower bound of every plan, for problems too large for a proof: how often each road is driven, whatever the times.

Journeys are flows of vehicles, and of drivers who steer them or ride along, in layers: between two moments at which people have
to be somewhere (a fixed-charge network design: Magnanti and Wong, "Network design and transportation planning", 1984). The seats
say how often any set of places must be left in each layer; the sets that a plan would need are found relaxation by relaxation
(rounded capacity inequalities: Laporte, Nobert and Desrochers, "Optimal routing under capacity and distance restrictions", 1985).
They hold for hand-overs too: whoever leaves a set sits in some journey out of it.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Final, NamedTuple

import networkx as nx
import numpy as np
from ortools.linear_solver.python import model_builder

from sagagraph.domains.reunion.planning.model.reach import weight
from sagagraph.domains.reunion.planning.model.situation import Car, Situation, Traveller
from sagagraph.domains.reunion.request import Objective
from sagagraph.planning.budget import Budget

Road = tuple[str, str]
Layers = tuple[int, int]
"""The first and the last."""
Key = tuple[int, Road]
"""Layer and road."""
Flow = dict[Key, model_builder.Variable]
Variables = list[model_builder.Variable]
Often = defaultdict[Key, Variables]
"""How often each road is driven, or driven or ridden along by drivers: a variable for each fleet, or crew."""

MOST_PLACES: Final = 17
"""How many places the sets of places are made of: those that most people leave, and then those where most vehicles begin."""
MOST_LAYERS: Final = 3
CUTS_A_ROUND: Final = 120


def driving_bound(situation: Situation, objective: Objective, budget: Budget) -> int:
    """Return a bound in minutes or metres; 0 for objectives that are not sums over journeys."""
    weigh = weight(objective)
    if weigh is None or not situation.cars:
        return 0
    costs: dict[Road, int] = {}  # for each road, the least at any time
    for leg in situation.legs:
        road = leg.here, leg.there
        costs[road] = min(costs.get(road, weigh(leg)), weigh(leg))
    flows = _Flows(situation, costs)
    sets, bound = _Sets(situation, flows.moments), 0
    for is_whole in (False, True):
        while budget.left:
            least = flows.solve(budget, is_whole=is_whole)
            if least is None:
                return bound
            bound = max(bound, math.ceil(least - 1e-6))
            new = sorted(sets.lacking(flows), key=lambda cut: -cut.lack)[:CUTS_A_ROUND]
            if not new:
                break
            for cut in new:
                flows.must_leave(cut)
    return bound


class _Cut(NamedTuple):
    """Cut: a set of places that journeys must leave so often in these layers."""

    lack: float
    layers: Layers
    places: frozenset[str]
    journeys: int


@dataclass(frozen=True, slots=True)
class _Crew:
    """Crew: drivers who begin at one place and moment, and are to be at the same places by the same moments."""

    start: str
    free: int
    stops: tuple[tuple[str, int], ...]
    stays: bool
    """At the last one; where they have been everywhere already, they may be anywhere, which the bound allows."""

    def place_at(self, moment: int) -> str | None:
        """Return where they have to be at the moment; None: anywhere."""
        if self.stays and moment >= self.stops[-1][1]:
            return self.stops[-1][0]
        return next((place for place, by in self.stops if by == moment), None)


class _Flows:
    """Flows, as a linear program that is given more and more cuts."""

    def __init__(self, situation: Situation, costs: Mapping[Road, int]) -> None:
        self._situation = situation
        self.moments = _moments_between(situation)
        self._untils = [*self.moments, situation.ends]
        self.model = model_builder.Model()  # type: ignore[no-untyped-call] # OR-Tools does not say
        self._most = 2 * (len(situation.travellers) + len(situation.tasks))
        capacity = max(car.capacity for car in situation.cars)
        self.driven, self.steered = Often(list), Often(list)
        self._roads()
        drivers = _drivers_in(situation)
        crew_of = {each.name: _crew_of(each, situation) for each in situation.travellers if each.name in drivers}
        own = {crew: self._steered_by(crew, number) for crew, number in Counter(crew_of.values()).items()}
        anybody = set(product(range(len(self._untils)), costs))
        fleets = Counter((car.place, _able(car, crew_of)) for car in situation.cars)
        by_drivers = Often(list)
        for (place, able), number in fleets.items():
            flow = self._flow(sorted(anybody if able is None else {key for crew in able for key in own[crew]}), self.driven)
            self._keep_balance(flow, place, number, {})
            for key, often in flow.items() if able is not None else ():
                by_drivers[key].append(often)
                self._require([own[crew][key] for crew in able or () if key in own[crew]], [often], 0)
        for key, cars in by_drivers.items():
            self._require(self.steered[key], cars, 0)
        for key, steering in self.steered.items():
            self._require(self.driven[key], steering, 0, capacity)
        for task in situation.tasks:
            if task.place is not None and not task.optional and all(each.place != task.place for each in situation.travellers):
                coming = [often for (_, (_, there)), flows in self.driven.items() if there == task.place for often in flows]
                self._require(coming, [], 1)
        every = [(often, float(costs[road])) for (_, road), flows in self.driven.items() for often in flows]
        weighted = model_builder.LinearExpr.weighted_sum
        self.model.minimize(weighted([often for often, _ in every], [cost for _, cost in every]))

    def _roads(self) -> None:
        """Note the least minutes of each road, and from anywhere to anywhere."""
        self._minutes: dict[Road, int] = {}
        for leg in self._situation.legs:
            road = leg.here, leg.there
            self._minutes[road] = min(self._minutes.get(road, leg.minutes), leg.minutes)
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self._situation.places)
        graph.add_weighted_edges_from((here, there, taken) for (here, there), taken in self._minutes.items())
        self._apart = dict(nx.all_pairs_dijkstra_path_length(graph))

    def _require(self, more: Variables, less: Variables, least: int, times: int = 1) -> None:
        """Require that one sum, taken so many times, is larger than the other, at least by so much."""
        factors = [float(times)] * len(more) + [-1.0] * len(less)
        if factors:
            self.model.add(model_builder.LinearExpr.weighted_sum([*more, *less], factors) >= least)

    def _flow(self, keys: Iterable[Key], of: Often) -> Flow:
        flow = {key: self.model.new_num_var(0, self._most, "") for key in keys}
        for key, often in flow.items():
            of[key].append(often)
        return flow

    def _steered_by(self, crew: _Crew, number: int) -> Flow:
        """Return how often the crew drives or rides on each road: where there is time for it between where they have to be."""
        flow: Flow = {}
        here, since, first = crew.start, crew.free, 0
        for layer, until in enumerate(self._untils):
            there = crew.place_at(until)
            if there is None and until != self._untils[-1]:
                continue
            time = max(0, (min(until, crew.stops[-1][1]) if crew.stays else until) - since)
            after = {place: self._apart[place].get(there, math.inf) if there else 0 for place in self._apart}
            before = self._apart[here]
            roads = [
                road for road, taken in self._minutes.items() if before.get(road[0], math.inf) + taken + after[road[1]] <= time
            ]
            flow |= self._flow(product(range(first, layer + 1), roads), self.steered)
            here, since, first = there or here, until, layer + 1
        ends = {layer: place for layer, until in enumerate(self._untils) if (place := crew.place_at(until))}
        self._keep_balance(flow, crew.start, number, ends)
        return flow

    def _keep_balance(self, flow: Flow, start: str, number: int, ends: Mapping[int, str]) -> None:
        """Let no more have left a place than were there and came, up to each layer, without those who have to be there then."""
        for layer, place in product(range(len(self._untils)), self._situation.places):
            gone = [often for (when, (here, _)), often in flow.items() if when <= layer and here == place]
            come = [often for (when, (_, there)), often in flow.items() if when <= layer and there == place]
            self._require(come, gone, number * ((place == ends.get(layer)) - (place == start)))

    def must_leave(self, cut: _Cut) -> None:
        first, last = cut.layers
        leaving = (
            often
            for (layer, (here, there)), often in self.driven.items()
            if first <= layer <= last and here in cut.places and there not in cut.places
        )
        self._require([one for often in leaving for one in often], [], cut.journeys)

    def solve(self, budget: Budget, *, is_whole: bool) -> float | None:
        """Return the least cost, or what it is at least; in fractions, or in whole numbers. None: not in time."""
        solver = model_builder.Solver("SAT" if is_whole else "GLOP")
        solver.set_time_limit_in_seconds(budget.left)
        if is_whole:
            for flows in (*self.driven.values(), *self.steered.values()):
                for often in flows:
                    often.is_integral = True
            solver.set_solver_specific_parameters("num_workers:1")
        proven = (model_builder.SolveStatus.OPTIMAL, *([model_builder.SolveStatus.FEASIBLE] if is_whole else []))
        if solver.solve(self.model) not in proven:
            return None
        self.solver = solver
        return solver.best_objective_bound if is_whole else solver.objective_value

    def often(self, layers: Layers) -> np.ndarray:
        """Return (places, places): how often each road is driven in these layers."""
        number = {place: index for index, place in enumerate(self._situation.places)}
        often = np.zeros((len(number), len(number)))
        for (layer, (here, there)), each in self.driven.items():
            if layers[0] <= layer <= layers[1]:
                often[number[here], number[there]] += sum(map(self.solver.value, each))
        return often


def _drivers_in(situation: Situation) -> set[str]:
    return {name for car in situation.cars for name in car.drivers or ()}


def _able(car: Car, crew_of: Mapping[str, _Crew]) -> frozenset[_Crew] | None:
    """Return who may drive it; None: it brings its own driver."""
    return None if car.drivers is None else frozenset(crew_of[name] for name in car.drivers if name in crew_of)


def _crew_of(each: Traveller, situation: Situation) -> _Crew:
    stops = _stops(each)
    return _Crew(each.place, max(each.free, situation.begins), stops, each.stays_from is not None and stops != ())


def _moments_between(situation: Situation) -> list[int]:
    """Return the moments at which most people have to be somewhere before they go on."""
    due = Counter(way[1] for each in situation.travellers for way in list(_ways(each, situation))[:-1])
    return sorted(moment for moment, _ in due.most_common(MOST_LAYERS - 1))


def _ways(person: Traveller, situation: Situation) -> Iterator[tuple[int, int, Road]]:
    """Yield the ways that they have to go to their goals: since when, until when, from where to where."""
    for (here, since), (there, until) in pairwise([(person.place, situation.begins), *_stops(person)]):
        yield since, until, (here, there)


def _stops(person: Traveller) -> tuple[tuple[str, int], ...]:
    return tuple((goal.place, goal.by) for goal in sorted(person.goals, key=lambda goal: goal.by))


class _Sets:
    """Sets of places, and how often each must be left by people who never drive."""

    def __init__(self, situation: Situation, moments: list[int]) -> None:
        seats = max(car.capacity - (car.drivers is not None) for car in situation.cars)
        drivers = _drivers_in(situation)
        self._places = list(situation.places)
        number = {place: index for index, place in enumerate(self._places)}
        ways: dict[Layers, list[Road]] = defaultdict(list)
        for each in situation.travellers:
            for since, until, way in _ways(each, situation) if each.name not in drivers and seats else ():
                layers = sum(moment <= since for moment in moments), sum(moment < until for moment in moments)
                ways[layers].append(way)
        begin = Counter(car.place for car in situation.cars)
        self._chosen: dict[Layers, list[int]] = {}
        self._needed: dict[Layers, np.ndarray] = {}
        for layers, some in ways.items():
            often = np.zeros((len(number), len(number)))
            for here, there in some:
                often[number[here], number[there]] += 1
            left = often.sum(axis=1)
            by_use = sorted(number.values(), key=lambda place: (-left[place], -begin[self._places[place]]))
            self._chosen[layers] = by_use[:MOST_PLACES]
            self._needed[layers] = np.ceil(_leaving(often, self._chosen[layers]) / seats)

    def lacking(self, flows: _Flows) -> Iterator[_Cut]:
        """Yield sets that are left too rarely."""
        for layers, needed in self._needed.items():
            chosen = self._chosen[layers]
            lack = needed - _leaving(flows.often(layers), chosen)
            lacking = np.flatnonzero(lack > 1e-3)
            for index in lacking[np.argsort(-lack[lacking], kind="stable")[:CUTS_A_ROUND]]:
                yield _Cut(float(lack[index]), layers, self._set(int(index), chosen), int(needed[index]))

    def _set(self, index: int, chosen: list[int]) -> frozenset[str]:
        """Return the set that the bits of the index stand for; for the second half of all, what is not in it."""
        places = {self._places[place] for bit, place in enumerate(chosen) if index >> bit & 1}
        return frozenset(places if index < 2 ** len(chosen) else set(self._places) - places)


def _leaving(often: np.ndarray, chosen: list[int]) -> np.ndarray:
    """Return how many leave each set, and then what is not in it: all who leave its places, or come, but for those within."""
    within = np.zeros(1)
    for bit, place in enumerate(chosen):
        others = chosen[:bit]
        within = np.concatenate([within, within + often[place, place] + _sums(often[place, others] + often[others, place])])
    leave, come = _sums(often.sum(axis=1)[chosen]), _sums(often.sum(axis=0)[chosen])
    return np.concatenate([leave - within, come - within])


def _sums(each: np.ndarray) -> np.ndarray:
    """Return the sum of each subset, in the order of its bits."""
    sums = np.zeros(1)
    for one in each:
        sums = np.concatenate([sums, sums + one])
    return sums

"""Lower bound of every plan, for problems too large for a proof: everybody reaches their goals, but time is ignored.

How often each road is driven is a flow of vehicles that carries the people, each to their last goal, with the drivers brought
back too (a fixed-charge network design: Magnanti and Wong, "Network design and transportation planning", 1984). The seats say how
often any set of places must be left; the sets that a plan without fractions would need are found by linear relaxations (rounded
capacity inequalities: Laporte, Nobert and Desrochers, "Optimal routing under capacity and distance restrictions", 1985). They
hold for hand-overs too: whoever leaves a set sits in some journey out of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Final

from ortools.linear_solver.python import model_builder
from ortools.sat.python import cp_model

from sagagraph.domains.reunion.planning.model.reach import weight
from sagagraph.domains.reunion.planning.model.situation import Situation, Traveller
from sagagraph.domains.reunion.request import Objective
from sagagraph.planning.budget import Budget
from sagagraph.planning.cp_sat import proven_bound, solver_with

Flow = dict[tuple[str, str], cp_model.IntVar]
Road = tuple[str, str]
Cut = tuple[frozenset[str], int]
"""A set of places, and how many journeys leave it at least."""

MOST_SETS: Final = 4096
"""How many sets of places are looked through for each linear relaxation."""
CUTS_A_ROUND: Final = 30
RELAXATIONS_SHARE: Final = 0.4


def driving_bound(situation: Situation, objective: Objective, budget: Budget) -> int:
    """Return a bound in minutes or metres; 0 for objectives that are not sums over journeys."""
    weigh = weight(objective)
    if weigh is None:
        return 0
    costs: dict[Road, int] = {}  # for each road, the least at any time
    for leg in situation.legs:
        road = leg.here, leg.there
        costs[road] = min(costs.get(road, weigh(leg)), weigh(leg))
    network = _Network(situation)
    for cut in _cuts(situation, costs, budget.part(budget.left * RELAXATIONS_SHARE)):
        network.leave(*cut)
    network.model.minimize(sum(cost * network.driven[road] for road, cost in costs.items()))
    solver = solver_with(budget)
    if solver.solve(network.model) == cp_model.INFEASIBLE:
        return 0
    return max(0, proven_bound(solver))


def _cuts(situation: Situation, costs: Mapping[Road, int], budget: Budget) -> tuple[Cut, ...]:
    """Return inequalities that linear relaxations violate, relaxation by relaxation, until none is violated or time is up."""
    needed = _exits(situation)
    cuts: dict[frozenset[str], int] = {places: count for places, count in needed.items() if len(places) == 1}
    while budget.left:
        flow = _relaxed(situation, costs, cuts)
        if flow is None:
            break
        used = [(here, there, amount) for (here, there), amount in flow.items() if amount > 1e-6]

        def lacking(places: frozenset[str], used: list[tuple[str, str, float]] = used) -> float:
            leaving = sum(amount for here, there, amount in used if here in places and there not in places)
            return needed[places] - leaving

        violated = sorted(((lacking(places), places) for places in needed if places not in cuts), key=lambda each: -each[0])
        new = {places: needed[places] for lack, places in violated[:CUTS_A_ROUND] if lack > 1e-3}
        if not new:
            break
        cuts |= new
    return tuple(cuts.items())


def _exits(situation: Situation) -> dict[frozenset[str], int]:
    """Return how often each of the sets of places that are looked at must be left: the smallest sets first."""
    riders, seats = _seated(situation)
    places = sorted({each.place for each in riders if _last_goal(each) not in (None, each.place)})
    needed: dict[frozenset[str], int] = {}
    for size in range(1, len(places) + 1):
        for chosen in map(frozenset, combinations(places, size)):
            if len(needed) == MOST_SETS or not seats:
                return needed
            leaving = sum(each.place in chosen and _last_goal(each) not in (None, *chosen) for each in riders)
            needed[chosen] = math.ceil(leaving / seats)
    return needed


def _relaxed(situation: Situation, costs: Mapping[Road, int], cuts: Mapping[frozenset[str], int]) -> dict[Road, float] | None:
    """Return how often each road is driven at least, in fractions, if vehicles leave as often as they come."""
    model = model_builder.Model()  # type: ignore[no-untyped-call] # OR-Tools does not say
    driven = {road: model.new_num_var(0, math.inf, "") for road in costs}
    total = model_builder.LinearExpr.sum
    for place in situation.places:
        leaving = [each for (here, _), each in driven.items() if here == place]
        coming = [each for (_, there), each in driven.items() if there == place]
        model.add(total([*leaving, *(-each for each in coming)]) == 0)
    for places, count in cuts.items():
        out = [each for (here, there), each in driven.items() if here in places and there not in places]
        model.add(total(out) >= count)
    model.minimize(model_builder.LinearExpr.weighted_sum(list(driven.values()), list(costs.values())))
    solver = model_builder.Solver("GLOP")
    if solver.solve(model) != model_builder.SolveStatus.OPTIMAL:
        return None
    return {road: solver.value(each) for road, each in driven.items()}


def _seated(situation: Situation) -> tuple[list[Traveller], int]:
    """Return the people who never drive, and how many of them a journey can carry."""
    seats = max((car.capacity for car in situation.cars), default=0)
    if any(car.drivers is None for car in situation.cars):
        return list(situation.travellers), seats
    drivers = {name for car in situation.cars for name in car.drivers or ()}
    return [each for each in situation.travellers if each.name not in drivers], seats - 1


class _Network:
    def __init__(self, situation: Situation) -> None:
        self.model = cp_model.CpModel()
        self._here = situation
        self._roads = sorted({(leg.here, leg.there) for leg in situation.legs})
        people = len(situation.travellers)
        self._most = max(2, 2 * people + 2 * len(situation.tasks))
        self.driven = self._flow(self._most)
        drivers = {name for car in situation.cars for name in car.drivers or ()}
        own = any(car.drivers is None for car in situation.cars)
        riding = self._riders([each for each in situation.travellers if own or each.name not in drivers])
        steering = self._flow(self._most * people)
        if not own:
            self._bring_back([each for each in situation.travellers if each.name in drivers], steering)
        seats = max((car.capacity for car in situation.cars), default=0)
        for road in self._roads:
            aboard = sum(flow[road] for flow in riding)
            self.model.add(aboard + (0 if own else steering[road]) <= seats * self.driven[road])
            if not own:
                self.model.add(steering[road] >= self.driven[road])
        self._vehicles()
        self._visits()

    def leave(self, places: Iterable[str], count: int) -> None:
        """Leave the places at least so often."""
        inside = set(places)
        out = (self.driven[road] for road in self._roads if road[0] in inside and road[1] not in inside)
        self.model.add(sum(out) >= count)

    def _flow(self, most: int) -> Flow:
        return {road: self.model.new_int_var(0, most, "") for road in self._roads}

    def _balance(self, flow: Flow, place: str) -> cp_model.LinearExprT:
        """Return what leaves minus what arrives."""
        return sum(flow[road] for road in self._roads if road[0] == place) - sum(
            flow[road] for road in self._roads if road[1] == place
        )

    def _riders(self, people: list[Traveller]) -> list[Flow]:
        """Add a flow for each place where some of the riders must end."""
        flows: list[Flow] = []
        for to in sorted({place for each in people if (place := _last_goal(each)) is not None}):
            bound_there = [each for each in people if _last_goal(each) == to]
            flow = self._flow(len(bound_there))
            for place in self._here.places:
                leaving = sum(each.place == place for each in bound_there)
                self.model.add(self._balance(flow, place) == leaving - (len(bound_there) if place == to else 0))
            flows.append(flow)
        return flows

    def _bring_back(self, drivers: list[Traveller], steering: Flow) -> None:
        """Bring back those who stay at their last goal; others may end anywhere."""
        stay = [each for each in drivers if each.stays_from is not None]
        for place in self._here.places:
            leaving = sum(each.place == place for each in drivers)
            staying = sum(_last_goal(each) == place for each in stay)
            self.model.add(self._balance(steering, place) <= leaving - staying)
            self.model.add(self._balance(steering, place) >= leaving - staying - (len(drivers) - len(stay)))

    def _vehicles(self) -> None:
        for place in self._here.places:
            self.model.add(self._balance(self.driven, place) <= sum(car.place == place for car in self._here.cars))

    def _visits(self) -> None:
        """Send somebody wherever something must be done and nobody is."""
        for task in self._here.tasks:
            if task.place is not None and not task.optional and all(each.place != task.place for each in self._here.travellers):
                self.model.add(sum(self.driven[road] for road in self._roads if road[1] == task.place) >= 1)


def _last_goal(person: Traveller) -> str | None:
    return max(person.goals, key=lambda each: each.by).place if person.goals else None

"""Lower bound of every plan, for problems too large for a proof: everybody reaches their goals, but time is ignored.

How often each road is driven is a flow of vehicles that carries the people, each to their last goal, with the drivers brought
back too (a fixed-charge network design: Magnanti and Wong, "Network design and transportation planning", 1984).
"""

from __future__ import annotations

from ortools.sat.python import cp_model

from sagagraph.domains.reunion.planning.model.reach import weight
from sagagraph.domains.reunion.planning.model.situation import Situation, Traveller
from sagagraph.domains.reunion.request import Objective
from sagagraph.planning.budget import Budget
from sagagraph.planning.cp_sat import proven_bound, solver_with

Flow = dict[tuple[str, str], cp_model.IntVar]


def driving_bound(situation: Situation, objective: Objective, budget: Budget) -> int:
    """Return a bound in minutes or metres; 0 for objectives that are not sums over journeys."""
    weigh = weight(objective)
    if weigh is None:
        return 0
    network = _Network(situation)
    costs: dict[tuple[str, str], int] = {}  # for each road, the least at any time
    for leg in situation.legs:
        road = leg.here, leg.there
        costs[road] = min(costs.get(road, weigh(leg)), weigh(leg))
    network.model.minimize(sum(cost * network.driven[road] for road, cost in costs.items()))
    solver = solver_with(budget)
    if solver.solve(network.model) == cp_model.INFEASIBLE:
        return 0
    return max(0, proven_bound(solver))


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

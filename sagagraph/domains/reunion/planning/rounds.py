"""Rounds of vehicles: who is fetched with whom, and by which vehicle: the first plan of a large reunion.

A round leads from where a vehicle is over some stops to the place where most people are to be in the end. All that may be good
are listed; a linear relaxation prices them; an integer program chooses among the cheapest, so that everybody is fetched and all
have the time for it; then the rounds are packed into the vehicles. (Set covering: Balinski and Quandt, "On an integer program for
a delivery problem", 1964.)

A round says nothing about hand-overs, windows or watching: the sequence model makes each team's plan from it, and improves it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, combinations_with_replacement, pairwise, permutations
from typing import Final

import networkx as nx
from ortools.linear_solver.python import model_builder
from ortools.sat.python import cp_model

from sagagraph.domains.reunion.plan import Act, Work
from sagagraph.domains.reunion.planning.model.situation import Car, Situation, Traveller, journey, roads_of
from sagagraph.domains.reunion.planning.teams import Team
from sagagraph.domains.reunion.request import PersonGoal, ReunionProblem
from sagagraph.domains.reunion.times import whole_minutes
from sagagraph.planning.budget import Budget
from sagagraph.planning.cp_sat import solver_with

MOST_STOPS: Final = 5
NEIGHBOURS: Final = 9
"""Who shares a round with whom: those who wait in the same way at the nearest places."""
DETOURS: Final = 2
"""How many of the nearest places that only work leads to a round may go to as well."""
MOST_FURTHER: Final = 1
"""How many are fetched elsewhere by a vehicle that is under way, besides those who wait where it is."""
CHEAPEST: Final = 1500
"""How many rounds are chosen from, for each place where a vehicle starts."""
SHORTER: Final = 3
"""Minutes by which all rounds together have to become shorter if they do not fit."""
SECONDS_TO_CHOOSE: Final = 1.0
SECONDS_TO_PACK: Final = 0.3
SHARE: Final = 0.5
"""Of the time, for choosing and packing altogether."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """Kind: teams that are alike to whoever fetches them."""

    stops: tuple[str, ...]
    people: int
    minutes: int
    """Work to be done at the stops."""


@dataclass(frozen=True, slots=True)
class _Round:
    start: str
    way: tuple[str, ...]
    """All stops, in order; without the start and the end."""
    kinds: tuple[_Kind, ...]
    driven: int
    lasts: int


@dataclass(slots=True)
class Tour:
    """Tour of a vehicle: the team that goes with it, and what it does, one action after the other."""

    team: Team
    actions: tuple[Act, ...] = ()


@dataclass(slots=True)
class Rounds:
    """Rounds for the `waiting` teams by the vehicles of `crews`: a team for each vehicle, with the people who drive it."""

    problem: ReunionProblem
    situation: Situation
    crews: Mapping[str, Team]
    waiting: Sequence[Team]
    _hub: str = ""
    _minutes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    _limits: Mapping[str, int] = field(default_factory=dict)
    """Minutes that each vehicle has."""
    _paths: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)
    _ways: dict[tuple[str, frozenset[str]], tuple[int, tuple[str, ...]] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        roads: nx.DiGraph[str] = nx.DiGraph()
        roads.add_nodes_from(self.problem.places)
        roads.add_weighted_edges_from((here, there, taken) for here, there, taken, _ in roads_of(self.problem))
        self._minutes = dict(nx.all_pairs_dijkstra_path_length(roads))
        self._paths = dict(nx.all_pairs_dijkstra_path(roads))
        ends = Counter(goal.place for each in self.situation.travellers if (goal := last_goal(each)) is not None)
        self._hub = ends.most_common(1)[0][0] if ends else self._cars()[0].place

        self._limits = {car.name: self._time(car) for car in self._cars()}

    def tours(self, budget: Budget) -> tuple[Tour, ...] | None:
        """Return a tour for each vehicle; None: none was found, which proves nothing."""
        kinds: dict[_Kind, list[Team]] = {}
        for team in self.waiting:
            kinds.setdefault(self._kind(team), []).append(team)
        counts = {kind: len(teams) for kind, teams in kinds.items()}
        possible = [each for each in self._rounds(counts) if any(self._fits(each, car) for car in self._cars())]
        rounds = self._priced(possible, counts)
        chosen = None if rounds is None else self._chosen(rounds, counts, budget.part(budget.left * SHARE))
        if chosen is None:
            return None
        tours = []
        for car, own in chosen.items():
            teams = [(each, [kinds[kind].pop() for kind in each.kinds if kinds[kind]]) for each in own]
            team = self.crews[car.name]
            for _, some in teams:
                for other in some:
                    team |= other
            tours.append(Tour(team, tuple(self._actions(car, teams))))
        return tuple(tours)

    # -- what rounds there are -----------------------------------------------------------------------------------------

    def _cars(self) -> list[Car]:
        return [car for car in self.situation.cars if car.name in self.crews]

    def _kind(self, team: Team) -> _Kind:
        tasks = [task for task in self.situation.tasks if task.name in team.tasks]
        people = [each.place for each in self.situation.travellers if each.name in team.people]
        stops = {*people, *(task.place for task in tasks if task.place is not None)}
        return _Kind(tuple(sorted(stops)), len(people), sum(whole_minutes(task.minutes) for task in tasks))

    def _rounds(self, counts: Mapping[_Kind, int]) -> Iterator[_Round]:
        seats = max(car.capacity - (car.drivers is not None) for car in self._cars())
        starts = sorted({car.place for car in self._cars()})
        for kinds in sorted({*self._together(counts, seats)}, key=lambda each: (len(each), *map(str, each))):
            for start in starts:
                away = sum(each.stops != (start,) for each in kinds)
                if kinds if start == self._hub else away <= MOST_FURTHER:
                    yield from self._round(start, kinds)

    def _together(self, counts: Mapping[_Kind, int], seats: int) -> Iterator[tuple[_Kind, ...]]:
        """Yield what may share a round: people of neighbouring kinds, with up to two teams that are only work."""
        yield ()
        order = {kind: number for number, kind in enumerate(counts)}
        riding = [kind for kind in counts if kind.people]
        working = [kind for kind in counts if not kind.people]
        for first in riding:
            others = self._nearest(first, riding)[: NEIGHBOURS + 1]
            for size in range(seats):
                for rest in combinations_with_replacement(others, size):
                    kinds = tuple(sorted((first, *rest), key=order.__getitem__))
                    if sum(each.people for each in kinds) <= seats and all(kinds.count(each) <= counts[each] for each in kinds):
                        yield kinds
                        yield from ((*kinds, *work) for work in self._work_on_the_way(kinds, working, counts))
        yield from ((each,) for each in working)
        yield from (pair for pair in combinations_with_replacement(working, 2) if pair[0] != pair[1] or counts[pair[0]] > 1)

    def _work_on_the_way(
        self, kinds: tuple[_Kind, ...], working: Sequence[_Kind], counts: Mapping[_Kind, int]
    ) -> Iterator[tuple[_Kind, ...]]:
        stops = {stop for each in kinds for stop in each.stops}
        near = self._nearest(kinds[0], working)[:DETOURS]
        here = [each for each in working if stops.issuperset(each.stops) for _ in range(counts[each])]
        for size in range(min(2, len(here)) + 1):
            for some in combinations(here, size):
                if some:
                    yield some
                yield from ((*some, each) for each in near if each not in here)

    def _nearest(self, to: _Kind, kinds: Sequence[_Kind]) -> list[_Kind]:
        """Return the kinds, the nearest first."""
        return sorted(kinds, key=lambda each: (each != to, self._apart(to, each)))

    def _apart(self, one: _Kind, other: _Kind) -> float:
        return self._minutes[one.stops[0]].get(other.stops[0], math.inf)

    def _round(self, start: str, kinds: tuple[_Kind, ...]) -> Iterator[_Round]:
        stops = frozenset(stop for each in kinds for stop in each.stops)
        if (start, stops) not in self._ways:
            self._ways[start, stops] = self._way(start, stops)
        found = self._ways[start, stops]
        if found is not None:
            yield _Round(start, found[1], kinds, found[0], found[0] + sum(each.minutes for each in kinds))

    def _way(self, start: str, stops: frozenset[str]) -> tuple[int, tuple[str, ...]] | None:
        """Return the shortest way over all stops to the end, in minutes; None: there is none, or it has too many stops."""
        between = stops - {start, self._hub}
        if len(between) > MOST_STOPS:
            return None

        def length(way: tuple[str, ...]) -> float:
            return sum(self._minutes[here].get(there, math.inf) for here, there in pairwise((start, *way, self._hub)))

        best = min(permutations(sorted(between)), key=length)
        return None if math.isinf(length(best)) else (round(length(best)), best)

    # -- which of them are driven, and by whom -------------------------------------------------------------------------

    def _priced(self, rounds: Sequence[_Round], counts: Mapping[_Kind, int]) -> list[_Round] | None:
        """Return the cheapest rounds at the prices of the linear relaxation, for each place where vehicles start."""
        master = _Master(rounds, counts, sum(self._limits.values()), self._away(), is_whole=False)
        solver = model_builder.Solver("GLOP")
        if solver.solve(master.model) != model_builder.SolveStatus.OPTIMAL:
            return None
        prices = {kind: solver.dual_value(row) for kind, row in master.fetched.items()}
        minute = solver.dual_value(master.time)
        kept: dict[str, list[tuple[float, int]]] = {}
        for number, each in enumerate(rounds):
            reduced = each.driven - minute * each.lasts - sum(prices[kind] for kind in each.kinds)
            kept.setdefault(each.start, []).append((reduced, number))
        return [rounds[number] for some in kept.values() for _, number in sorted(some)[:CHEAPEST]]

    def _chosen(self, rounds: Sequence[_Round], counts: Mapping[_Kind, int], budget: Budget) -> dict[Car, list[_Round]] | None:
        """Choose rounds for all vehicles together, and pack them into their times; if they do not fit, choose shorter ones."""
        time = sum(self._limits.values())
        while budget.left:
            master = _Master(rounds, counts, time, self._away(), is_whole=True)
            solver = model_builder.Solver("SCIP")
            solver.set_time_limit_in_seconds(budget.part(SECONDS_TO_CHOOSE).left)
            if solver.solve(master.model) not in (model_builder.SolveStatus.OPTIMAL, model_builder.SolveStatus.FEASIBLE):
                return None
            driven = zip(rounds, master.driven, strict=True)
            some = [each for each, how in driven for _ in range(round(solver.value(how)))]
            packed = self._packed(some, budget.part(SECONDS_TO_PACK))
            if packed is not None:
                return packed
            time = min(time, sum(each.lasts for each in some)) - SHORTER
        return None

    def _away(self) -> dict[str, int]:
        """Return how many vehicles start elsewhere, by place."""
        return Counter(car.place for car in self._cars() if car.place != self._hub)

    def _packed(self, rounds: Sequence[_Round], budget: Budget) -> dict[Car, list[_Round]] | None:
        """Return the rounds of each vehicle, the one from where it is first; the last one is back as early as possible."""
        model, cars = cp_model.CpModel(), self._cars()
        goes = [[model.new_bool_var("") for _ in cars] for _ in rounds]
        for each, by in zip(rounds, goes, strict=True):
            model.add_exactly_one(by)
            for car, yes in zip(cars, by, strict=True):
                if not self._fits(each, car) or each.start not in (self._hub, car.place):
                    model.add(yes == 0)
        for number, car in enumerate(cars):
            model.add(sum(each.lasts * by[number] for each, by in zip(rounds, goes, strict=True)) <= self._limits[car.name])
            if car.place != self._hub:
                model.add_exactly_one(by[number] for each, by in zip(rounds, goes, strict=True) if each.start == car.place)
        last = model.new_int_var(0, max(self._limits.values()), "")
        for number, _ in enumerate(cars):
            model.add(sum(each.lasts * by[number] for each, by in zip(rounds, goes, strict=True)) <= last)
        model.minimize(last)
        solver = solver_with(budget)
        if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        own = {car: [each for each, by in zip(rounds, goes, strict=True) if solver.value(by[n])] for n, car in enumerate(cars)}
        return {car: sorted(some, key=lambda each: each.start == self._hub) for car, some in own.items()}

    def _fits(self, one: _Round, car: Car) -> bool:
        has_seats = sum(each.people for each in one.kinds) <= car.capacity - (car.drivers is not None)
        return has_seats and one.lasts <= self._limits[car.name]

    def _time(self, car: Car) -> int:
        """Return the minutes until whoever drives it, or is fetched, is due."""
        due = [goal.by for each in self.situation.travellers if (goal := last_goal(each)) is not None]
        return max(0, max(due, default=self.situation.ends) - self._free(car))

    def _free(self, car: Car) -> int:
        drivers = [each.free for each in self.situation.travellers if each.name in (car.drivers or ())]
        return max(car.free, self.situation.begins, min(drivers, default=0))

    # -- what is done on them ------------------------------------------------------------------------------------------

    def _actions(self, car: Car, rounds: Sequence[tuple[_Round, Sequence[Team]]]) -> Iterator[Act]:
        """Yield the actions of the rounds: all is done as early as possible, and what is done on the way by the driver."""
        driver = next((each.name for each in self.situation.travellers if each.name in (car.drivers or ())), None)
        now, here = self._free(car), car.place
        for each, teams in rounds:
            aboard: set[str] = set()
            waiting = {who.name: who for who in self.situation.travellers if any(who.name in team.people for team in teams)}
            tasks = [task for task in self.situation.tasks if any(task.name in team.tasks for team in teams)]
            for stop in (each.start, *each.way, self._hub):
                for there in self._paths[here][stop][1:]:
                    ends = now + round(self._minutes[here][there])
                    riders = tuple(name for name in waiting if name in aboard)
                    yield journey(car.name, driver, riders, (here, there), (now, ends))
                    now, here = ends, there
                for task in [task for task in tasks if task.place == here]:
                    tasks.remove(task)
                    ends = now + whole_minutes(task.minutes)
                    who = (driver,) if driver is not None else tuple(sorted(aboard))[:1]
                    yield Work.model_construct(task=task.name, who=who, place=here, start=now, end=ends)
                    now = ends
                aboard |= {name for name, who in waiting.items() if who.place == here}
                now = max([now, *(who.free for name, who in waiting.items() if name in aboard)])


class _Master:
    """Master problem: how often each round is driven, so that everybody is fetched, and every vehicle that is away sets out once
    from there.
    """

    def __init__(
        self, rounds: Sequence[_Round], counts: Mapping[_Kind, int], time: int, away: Mapping[str, int], *, is_whole: bool
    ) -> None:
        self.model = model_builder.Model()  # type: ignore[no-untyped-call] # OR-Tools does not say
        most = max((*counts.values(), *away.values()), default=1)
        self.driven = [self.model.new_var(0, most if is_whole else math.inf, is_whole, "") for _ in rounds]
        fetching: dict[_Kind, list[model_builder.Variable]] = {kind: [] for kind in counts}
        for each, how_often in zip(rounds, self.driven, strict=True):
            for kind in each.kinds:
                fetching[kind].append(how_often)
        total = model_builder.LinearExpr.sum
        self.fetched = {kind: self.model.add(total(fetching[kind]) >= count) for kind, count in counts.items()}
        for start, cars in away.items():
            here = [how_often for each, how_often in zip(rounds, self.driven, strict=True) if each.start == start]
            self.model.add(total(here) == cars)
        weighted = model_builder.LinearExpr.weighted_sum
        self.time = self.model.add(weighted(self.driven, [each.lasts for each in rounds]) <= time)
        self.model.minimize(weighted(self.driven, [each.driven for each in rounds]))


def last_goal(person: Traveller) -> PersonGoal | None:
    return max(person.goals, key=lambda each: each.by, default=None)

"""Rounds of vehicles: who is fetched with whom, and by which vehicle: the draft of a large reunion.

A round leads from where a vehicle is over some stops to where its people are to be, or to be handed over. Rounds are priced by a
linear relaxation, which takes in those that pay (column generation: Desrosiers, Soumis and Desrochers, "Routing with time windows
by column generation", 1984); an integer program chooses among them, so that everybody is fetched and every vehicle has a way from
round to round; then they are packed into the shifts of the vehicles, at their times.

A round says nothing about watching or company: the sequence model makes each team's plan from it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, combinations_with_replacement, pairwise, permutations, product
from typing import Final

import networkx as nx
import numpy as np
from ortools.linear_solver.python import model_builder
from ortools.sat.python import cp_model

from sagagraph.domains.reunion.plan import Act, Work
from sagagraph.domains.reunion.planning.model.situation import Car, Situation, Traveller, journey
from sagagraph.domains.reunion.planning.teams import Team
from sagagraph.domains.reunion.times import whole_minutes
from sagagraph.planning.budget import Budget
from sagagraph.planning.cp_sat import solver_with

MOST_STOPS: Final = 5
NEIGHBOURS: Final = 9
"""Who shares a round with whom: those whose ways begin and end at the nearest places."""
DETOURS: Final = 2
"""How many of the nearest places that only work leads to a round may go to as well."""
PRICED: Final = 400
"""How many rounds are taken in after each relaxation."""
CHEAPEST: Final = 1500
"""How many rounds are chosen from."""
MOST_LOOPS: Final = 12
"""How many rounds from a place and back a vehicle drives that comes there."""
SHORTER: Final = 3
"""Minutes by which all rounds together have to become shorter if they do not fit."""
LEFT_OUT: Final = 100_000
"""What it costs to fetch somebody by no round."""
NODES: Final = 500
"""Of the search for whole numbers, which a busy machine does not change."""
SECONDS_TO_PACK: Final = 1.5
SHARE: Final = 0.5
"""Of the time, for choosing and packing altogether."""


@dataclass(frozen=True, slots=True)
class _Shift:
    """Shift: what a vehicle does between two moments at which its driver has to be somewhere."""

    car: Car
    driver: str | None
    start: str
    since: int
    end: str | None
    """None: anywhere."""
    until: int
    crew: int = 0
    """Shifts of one crew end at one place at one time, with as many seats."""

    @property
    def seats(self) -> int:
        return self.car.capacity - (self.driver is not None)


@dataclass(frozen=True, slots=True, order=True)
class _Kind:
    """Kind: people who are to be fetched from `here` to `there`, or work to be done `here`, alike to whoever drives."""

    here: str
    there: str
    """Empty: it is work."""
    opens: int
    due: int
    minutes: int = 0
    part: int = 0
    """1 and 2: the ways of `of` before and after a hand-over."""
    of: _Kind | None = None


@dataclass(frozen=True, slots=True)
class _Some:
    """Some kinds that may share a round, and where it ends."""

    kinds: tuple[_Kind, ...]
    end: str

    @property
    def minutes(self) -> int:
        return sum(each.minutes for each in self.kinds)

    @property
    def people(self) -> int:
        return sum(each.there != "" for each in self.kinds)


@dataclass(frozen=True, slots=True)
class _Round:
    start: str
    end: str
    way: tuple[str, ...]
    """All stops, in order, the end included."""
    kinds: tuple[_Kind, ...]
    crew: int
    driven: int
    lasts: int
    opens: int
    closes: int
    """When it may begin, at first and at last."""
    at: Mapping[str, int]
    """How long after its beginning all is done at a stop."""

    @property
    def people(self) -> int:
        return sum(each.there != "" for each in self.kinds)


_Way = tuple[float, tuple[str, ...]]
"""Minutes, and the stops in order."""
_Driven = tuple[_Shift, int, _Round]
"""By whom a round is driven, and from when on."""


@dataclass
class Rounds:
    """Rounds in a situation for the people and tasks of `waiting`."""

    situation: Situation
    waiting: Team
    hands_over: bool = False
    """Whether people may change vehicles where shifts end."""
    _names: dict[_Kind, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.shifts = tuple(_shifts_of(self.situation))
        self._drivers = {each.driver for each in self.shifts}
        for name, kind in self._wanted():
            self._names.setdefault(kind, []).append(name)
        self._kinds = [*self._names, *(self._halves() if self.hands_over else ())]

    def draft(self, budget: Budget) -> tuple[Act, ...] | None:
        """Return what all vehicles do, in order; None: nothing was found, which proves nothing."""
        if not self.shifts:
            return None
        part = budget.part(budget.left * SHARE)
        master = _Master(self, list(self._together()))
        master.price(part)
        while part.left:
            chosen = master.chosen(part)
            if chosen is None:
                return None
            driven: list[_Driven] = []
            for crew in master.crews:
                own = [each for each in chosen if each.crew == crew]
                packed = self._packed(crew, own, driven, part.part(SECONDS_TO_PACK))
                if packed is None:
                    master.shorten(crew, sum(each.lasts for each in own) - SHORTER)
                    break
                driven += packed
            else:
                return tuple(sorted(self._actions(driven), key=lambda each: each.start))
        return None

    # -- who and what is fetched ---------------------------------------------------------------------------------------

    def _wanted(self) -> Iterator[tuple[str, _Kind]]:
        for each in self.situation.travellers:
            if each.name in self.waiting.people and each.name not in self._drivers:
                here, free = each.place, each.free
                for goal in sorted(each.goals, key=lambda goal: goal.by):
                    if goal.place != here:
                        yield each.name, _Kind(here, goal.place, free, goal.by)
                    here, free = goal.place, goal.by
        for task in self.situation.tasks:
            able = task.who is None or not self._drivers.isdisjoint(task.who)
            if task.name in self.waiting.tasks and task.place is not None and able and task.people == 1 and not task.is_watched:
                opens = max(task.window.opens or 0, self.situation.begins)
                closes = self.situation.ends if task.window.closes is None else task.window.closes
                yield task.name, _Kind(task.place, "", opens, closes, whole_minutes(task.minutes))

    def _halves(self) -> Iterator[_Kind]:
        """Yield the ways to and from where somebody may change into another vehicle: where drivers end."""
        for kind in (each for each in self._names if each.there):
            for place in sorted({each.end for each in self.shifts if each.end is not None} - {kind.here, kind.there}):
                before, after = self._apart(kind.here, place), self._apart(place, kind.there)
                if kind.opens + before + after <= kind.due:
                    yield _Kind(kind.here, place, kind.opens, kind.due - round(after), 0, 1, kind)
                    yield _Kind(place, kind.there, kind.opens + round(before), kind.due, 0, 2, kind)

    # -- what rounds there are -----------------------------------------------------------------------------------------

    @cached_property
    def places(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.situation.places)}

    @cached_property
    def _roads(self) -> nx.DiGraph[str]:
        """Return the roads with the minutes that hold for longest."""
        roads: nx.DiGraph[str] = nx.DiGraph()
        roads.add_nodes_from(self.situation.places)
        for leg in sorted(self.situation.legs, key=lambda leg: min(leg.closes, self.situation.ends) - leg.opens):
            roads.add_edge(leg.here, leg.there, weight=leg.minutes)
        return roads

    @cached_property
    def minutes(self) -> np.ndarray:
        """Return (places, places) minutes by the shortest way."""
        return np.array([[self._apart(here, there) for there in self.places] for here in self.places])

    @cached_property
    def _lengths(self) -> Mapping[str, Mapping[str, float]]:
        return dict(nx.all_pairs_dijkstra_path_length(self._roads))

    @cached_property
    def _paths(self) -> Mapping[str, Mapping[str, list[str]]]:
        return dict(nx.all_pairs_dijkstra_path(self._roads))

    def _apart(self, here: str, there: str) -> float:
        return self._lengths[here].get(there, math.inf)

    @cached_property
    def starts(self) -> list[str]:
        return sorted({each.start for each in self.shifts} | self.ends)

    @cached_property
    def ends(self) -> set[str]:
        """Return where rounds end: where people are to be, and where shifts end."""
        return {each.there for each in self._kinds if each.there} | {each.end for each in self.shifts if each.end is not None}

    def _together(self) -> Iterator[_Some]:
        """Yield what may share a round: people whose ways are neighbours, with up to two stops for work; and empty ways."""
        seats = max(each.seats for each in self.shifts)
        riding = [kind for kind in self._kinds if kind.there]
        working = [kind for kind in self._kinds if not kind.there]
        alone = [(), *((each,) for each in working), *combinations(working, 2)]
        seen = {kinds for kinds in alone}
        for first in riding:
            others = sorted(riding, key=lambda each: (each != first, self._between(first, each)))[: NEIGHBOURS + 1]
            for size in range(seats):
                for rest in combinations_with_replacement(others, size):
                    kinds = tuple(sorted((first, *rest), key=self._order.__getitem__))
                    if kinds not in seen and all(kinds.count(each) <= self.count(each) for each in kinds):
                        seen |= {kinds, *((*kinds, *work) for work in self._work_on_the_way(kinds, working))}
        for kinds in seen:
            if max((each.opens for each in kinds), default=0) <= min((each.due for each in kinds), default=math.inf):
                ends = {each.there for each in kinds if each.there} or self.ends
                yield from (_Some(kinds, end) for end in sorted(ends))

    @cached_property
    def _order(self) -> dict[_Kind, int]:
        return {kind: number for number, kind in enumerate(self._kinds)}

    def count(self, kind: _Kind) -> int:
        return len(self._names[kind.of or kind])

    def _between(self, one: _Kind, other: _Kind) -> float:
        return self._apart(one.here, other.here) + self._apart(one.there, other.there)

    def _work_on_the_way(self, kinds: tuple[_Kind, ...], working: Sequence[_Kind]) -> Iterator[tuple[_Kind, ...]]:
        stops = {each.here for each in kinds}
        near = sorted(working, key=lambda each: self._apart(kinds[0].here, each.here))[:DETOURS]
        here = [each for each in working if each.here in stops for _ in range(self.count(each))]
        for size in range(min(2, len(here)) + 1):
            for some in combinations(here, size):
                if some:
                    yield some
                yield from ((*some, each) for each in near if each not in here)

    def ways(self, some: _Some) -> dict[str, _Way]:
        """Return the shortest ways, by their first stop."""
        stops = frozenset({some.end, *(each.here for each in some.kinds), *(each.there for each in some.kinds if each.there)})
        before = frozenset((each.here, each.there) for each in some.kinds if each.there and each.there != some.end)
        if len(stops) > MOST_STOPS + 1 or any(here == some.end for here, _ in before):
            return {}
        rest = stops - {some.end}
        firsts = rest - {there for _, there in before} or {some.end}
        return {first: self._shortest(first, rest - {first}, before, some.end) for first in firsts}

    def _shortest(self, first: str, rest: frozenset[str], before: frozenset[tuple[str, str]], end: str) -> _Way:
        """Return the shortest way over the rest to the end (dynamic programming: Held and Karp, 1962)."""
        key = (first, rest, before, end)
        if key not in self._known:
            nexts = [stop for stop in rest if not any(there == stop and here in rest for here, there in before)]
            ways = ((stop, self._shortest(stop, rest - {stop}, before, end)) for stop in nexts)
            after = ((self._apart(first, stop) + minutes, (first, *way)) for stop, (minutes, way) in ways)
            last = (self._apart(first, end), (first, end) if first != end else (end,))
            self._known[key] = min(after, default=(math.inf, ())) if rest else last
        return self._known[key]

    @cached_property
    def _known(self) -> dict[tuple[str, frozenset[str], frozenset[tuple[str, str]], str], _Way]:
        return {}

    def round_of(self, some: _Some, start: str, crew: int) -> _Round | None:
        """Return the round from there; None: it has no time."""
        ways = self.ways(some)
        first = min(ways, key=lambda place: self._apart(start, place) + ways[place][0])
        now, here, opens, closes, at = 0, start, 0, self.situation.ends, dict[str, int]()
        for stop in ways[first][1]:
            now += round(self._apart(here, stop))
            for each in some.kinds:
                if each.here == stop:
                    opens = max(opens, each.opens - now)
                    now += each.minutes
                    closes = min(closes, each.due - now) if not each.there else closes
                elif each.there == stop:
                    closes = min(closes, each.due - now)
            here, at[stop] = stop, now
        if opens > closes:
            return None
        return _Round(start, some.end, ways[first][1], some.kinds, crew, now - some.minutes, now, opens, closes, at)

    # -- by whom and when they are driven ------------------------------------------------------------------------------

    def _packed(self, crew: int, rounds: Sequence[_Round], before: Sequence[_Driven], budget: Budget) -> list[_Driven] | None:
        """Return which shift drives each round, and from when on; the last one is back as early as possible."""
        model = cp_model.CpModel()
        shifts = [each for each in self.shifts if each.crew == crew]
        starts = [model.new_int_var(each.opens, min(each.closes, shifts[0].until - each.lasts), "") for each in rounds]
        last = model.new_int_var(0, shifts[0].until, "")
        for each, start in zip(rounds, starts, strict=True):
            model.add(last >= start + each.lasts)
            for _, ready, one in before:
                for place in _handed_over(one, each):
                    model.add(start + each.at[place] >= ready + one.lasts)
        for one, other in permutations(range(len(rounds)), 2):
            for place in _handed_over(rounds[one], rounds[other]):
                model.add(starts[other] + rounds[other].at[place] >= starts[one] + rounds[one].lasts)
        first, follows = self._chains(model, shifts, rounds, starts)
        model.minimize(last)
        solver = solver_with(budget)
        if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        driven: list[_Driven] = []
        for (shift, number), yes in first.items():
            while solver.value(yes):
                driven.append((shifts[shift], solver.value(starts[number]), rounds[number]))
                after = (other for one, other in follows if one == number and solver.value(follows[one, other]))
                number = next(after, -1)
                if number < 0:
                    break
        return driven

    def _chains(
        self, model: cp_model.CpModel, shifts: Sequence[_Shift], rounds: Sequence[_Round], starts: Sequence[cp_model.IntVar]
    ) -> tuple[dict[tuple[int, int], cp_model.IntVar], dict[tuple[int, int], cp_model.IntVar]]:
        """Let each round begin where the shift does, or another round has ended, and each shift end where it is to."""
        first, follows = {}, {}
        ends = [model.new_bool_var("") if shifts[0].end in (None, each.end) else model.new_constant(0) for each in rounds]
        for (number, shift), (index, each) in product(enumerate(shifts), enumerate(rounds)):
            if shift.start == each.start:
                first[number, index] = model.new_bool_var("")
                model.add(starts[index] >= shift.since).only_enforce_if(first[number, index])
        for one, other in permutations(range(len(rounds)), 2):
            if rounds[one].end == rounds[other].start:
                follows[one, other] = model.new_bool_var("")
                model.add(starts[other] >= starts[one] + rounds[one].lasts).only_enforce_if(follows[one, other])
        for index, _ in enumerate(rounds):
            coming = [yes for (_, to), yes in (*first.items(), *follows.items()) if to == index]
            model.add(sum(coming) == 1)
            model.add(sum(yes for (here, _), yes in follows.items() if here == index) + ends[index] == 1)
        for number, shift in enumerate(shifts):
            begun = sum(yes for (which, _), yes in first.items() if which == number)
            model.add(begun <= 1 if shift.end in (None, shift.start) else begun == 1)
        return first, follows

    # -- what is done on them ------------------------------------------------------------------------------------------

    def _actions(self, packed: Iterable[tuple[_Shift, int, _Round]]) -> Iterator[Act]:
        """Yield the actions of the rounds: what is done on the way is done by the driver."""
        names = {kind: list(each) for kind, each in self._names.items()}
        changing: dict[tuple[_Kind, str], list[str]] = {}
        with_whom: dict[str, str] = {}
        """The vehicle of each, by preference the next time too, so that teams stay small."""
        for shift, start, each in sorted(packed, key=lambda one: (one[1], one[2].lasts)):
            now, here = start, each.start
            left, aboard = list(each.kinds), list[tuple[str, str]]()
            for stop in each.way:
                for there in self._paths[here][stop][1:]:
                    ends = now + round(self._apart(here, there))
                    riders = tuple(name for name, _ in aboard)
                    yield journey(shift.car.name, shift.driver, riders, (here, there), (now, ends))
                    now, here = ends, there
                aboard = [(name, to) for name, to in aboard if to != stop]
                for kind in [kind for kind in left if kind.here == stop]:
                    left.remove(kind)
                    waiting = changing.get((kind.of, stop), []) if kind.of and kind.part == 2 else names[kind.of or kind]
                    if not waiting:  # it was fetched by another round already
                        continue
                    name = next((each for each in waiting if with_whom.get(each) == shift.car.name), waiting[0])
                    waiting.remove(name)
                    with_whom[name] = shift.car.name
                    if kind.of and kind.part == 1:
                        changing.setdefault((kind.of, kind.there), []).append(name)
                    if kind.there:
                        aboard.append((name, kind.there))
                        continue
                    who = (shift.driver,) if shift.driver is not None else tuple(name for name, _ in aboard[:1])
                    yield Work.model_construct(task=name, who=who, place=here, start=now, end=now + kind.minutes)
                    now += kind.minutes


def _handed_over(one: _Round, other: _Round) -> set[str]:
    """Return where somebody changes from one into the other."""
    first = {(each.of, each.there) for each in one.kinds if each.part == 1}
    return {each.here for each in other.kinds if each.part == 2 and (each.of, each.here) in first}


def _shifts_of(situation: Situation) -> Iterator[_Shift]:
    found: list[_Shift] = []
    busy: set[str] = set()
    for car in situation.cars:
        driver = next((each for each in situation.travellers if _may_drive(each, car) and each.name not in busy), None)
        if (car.drivers is not None and driver is None) or car.unlocked_by not in (None, *situation.done):
            continue
        here = car.place
        since = max(car.free, situation.begins, situation.done.get(car.unlocked_by or "", 0), driver.free if driver else 0)
        since = max([since, *(until for begins, until in car.down if begins <= since < until)])
        for goal in sorted(driver.goals, key=lambda goal: goal.by) if driver else ():
            found.append(_Shift(car, driver.name, here, since, goal.place, goal.by))
            here, since = goal.place, goal.by
        if driver is None or driver.stays_from is None:
            found.append(_Shift(car, driver.name if driver else None, here, since, None, situation.ends))
        busy |= {driver.name} if driver else set()
    crews = sorted({(each.until, each.end or "", each.seats) for each in found})
    for each in found:
        if each.since < each.until:
            yield replace(each, crew=crews.index((each.until, each.end or "", each.seats)))


def _may_drive(person: Traveller, car: Car) -> bool:
    return person.name in (car.drivers or ()) and person.place == car.place


class _Master:
    """Master problem: how often each round is driven, so that everybody is fetched, and every shift has a way to its end."""

    def __init__(self, rounds: Rounds, some: Sequence[_Some]) -> None:
        self._rounds = rounds
        self._some = some
        self._kinds = rounds._kinds
        self.crews = sorted({each.crew for each in rounds.shifts})
        self._time = {
            crew: sum(each.until - each.since for each in rounds.shifts if each.crew == crew) for crew in self.crews
        }
        first = np.full((len(some), len(rounds.places)), math.inf)
        self._holds = np.zeros((len(some), len(self._kinds)))
        order = {kind: number for number, kind in enumerate(self._kinds)}
        for number, each in enumerate(some):
            for stop, (minutes, _) in rounds.ways(each).items():
                first[number, rounds.places[stop]] = minutes
            for kind in each.kinds:
                self._holds[number, order[kind]] += 1
        froms = rounds.minutes[[rounds.places[start] for start in rounds.starts]]
        self._driven = np.array([np.minimum(first + row, LEFT_OUT).min(axis=1) for row in froms])
        """(starts, some) minutes."""
        self._work = np.array([each.minutes for each in some])
        self._ends = np.array([rounds.starts.index(each.end) for each in some])
        self._pool: list[tuple[int, int, int]] = []
        """(crew, start, some)."""

    def shorten(self, crew: int, lasts: int) -> None:
        self._time[crew] = min(self._time[crew], lasts)

    def price(self, budget: Budget) -> None:
        """Take in rounds, relaxation by relaxation, until none pays any more; keep the cheapest."""
        possible = {crew: self._possible(crew) for crew in self.crews}
        empty = [number for number, each in enumerate(self._some) if len(each.kinds) <= 1]
        known = {
            (crew, start, number)
            for crew, start, number in product(self.crews, range(len(self._rounds.starts)), empty)
            if possible[crew][start, number]
        }
        costs: list[tuple[float, tuple[int, int, int]]] = []
        is_new = True
        while is_new and budget.left:
            self._pool = sorted(known)
            solver, rows = self._relaxed()
            costs = []
            for crew in self.crews:
                reduced = np.where(possible[crew], self._reduced(crew, solver, rows), math.inf)
                best = np.argsort(reduced, axis=None)[:CHEAPEST]
                starts, numbers = np.unravel_index(best, reduced.shape)
                costs += [
                    (float(reduced[start, number]), (crew, int(start), int(number)))
                    for start, number in zip(starts, numbers, strict=True)
                ]
            costs.sort()
            new = [each for cost, each in costs if cost < -1e-6 and each not in known][:PRICED]
            known |= set(new)
            is_new = bool(new)
        used = {each for each, often in zip(self._pool, rows.driven, strict=True) if solver.value(often) > 0}
        cheapest = {each for cost, each in costs[:CHEAPEST] if cost < math.inf}
        self._pool = sorted(used | cheapest | {each for each in known if len(self._some[each[2]].kinds) <= 1})

    def _possible(self, crew: int) -> np.ndarray:
        """Return (starts, some): whether there is time for it in the crew."""
        shifts = [each for each in self._rounds.shifts if each.crew == crew]
        since, until = min(each.since for each in shifts), max(each.until for each in shifts)
        opens = np.array([max((kind.opens for kind in each.kinds), default=0) for each in self._some])
        due = np.array([min((kind.due for kind in each.kinds), default=until) for each in self._some])
        longest = max(each.until - each.since for each in shifts)
        in_crew = (opens < until) & (due > since)
        lasts = self._driven + self._work
        places = np.array(range(len(self._rounds.starts)))[:, None]
        moves = (places != self._ends[None, :]) | (self._holds.sum(axis=1) > 0)[None, :]
        seated = np.array([each.people for each in self._some]) <= shifts[0].seats
        return (in_crew & seated)[None, :] & (lasts <= longest) & moves

    def _reduced(self, crew: int, solver: model_builder.Solver, rows: _Rows) -> np.ndarray:
        fetched = np.array([solver.dual_value(rows.fetched[kind]) for kind in self._kinds])
        there = np.array([solver.dual_value(rows.moved[crew, start]) for start in self._rounds.starts])
        weights = self.weights(crew, self._driven + self._work)
        spent = sum(solver.dual_value(row) * weighed for row, weighed in zip(rows.time[crew], weights, strict=True))
        coming = np.array([solver.dual_value(row) if (row := rows.reached.get((crew, start))) else 0 for start in self._rounds.starts])
        is_loop = np.arange(len(there))[:, None] == self._ends[None, :]
        reached = np.where(is_loop, -1, MOST_LOOPS) * coming[self._ends][None, :]
        moved = there[self._ends][None, :] - there[:, None]
        return self._driven - spent - (self._holds @ fetched)[None, :] - moved - reached

    def weights(self, crew: int, lasts: np.ndarray) -> list[np.ndarray]:
        """Return what rounds that last so long take of the crew: minutes, and shares of its shifts, of which each has one at most
        (dual feasible functions: Fekete and Schepers, "New classes of fast lower bounds for bin packing problems", 2001).
        """
        longest = max(each.until - each.since for each in self._rounds.shifts if each.crew == crew)
        shares = [np.where(times * lasts % longest, times * lasts // longest / (times - 1), lasts / longest) for times in (2, 3, 4)]
        return [lasts, *shares]

    def room(self, crew: int) -> list[float]:
        """Return how much of each of these there is."""
        shifts = sum(each.crew == crew for each in self._rounds.shifts)
        return [self._time[crew], shifts, shifts, shifts]

    def _relaxed(self) -> tuple[model_builder.Solver, _Rows]:
        rows = _Rows(self, is_whole=False)
        solver = model_builder.Solver("GLOP")
        solver.solve(rows.model)
        return solver, rows

    def chosen(self, budget: Budget) -> list[_Round] | None:
        if not hasattr(self, "_exact"):
            rounds = self._rounds
            exact = ((each, rounds.round_of(self._some[each[2]], rounds.starts[each[1]], each[0])) for each in self._pool)
            self._exact = {each: one for each, one in exact if one is not None}
            self._pool = list(self._exact)
        rows = _Rows(self, is_whole=True)
        solver = model_builder.Solver("SCIP")
        solver.set_solver_specific_parameters(f"limits/gap = 0.003\nlimits/totalnodes = {NODES}")
        solver.set_time_limit_in_seconds(budget.left)
        if solver.solve(rows.model) not in (model_builder.SolveStatus.OPTIMAL, model_builder.SolveStatus.FEASIBLE):
            return None
        if sum(solver.value(each) for each in rows.left_out) > 0.5:
            return None
        often = zip(self._pool, rows.driven, strict=True)
        return [self._exact[each] for each, how in often for _ in range(round(solver.value(how)))]


class _Rows:
    """Rows of the master problem over the rounds that are known."""

    def __init__(self, master: _Master, *, is_whole: bool) -> None:
        rounds, pool = master._rounds, master._pool
        self.model = model_builder.Model()  # type: ignore[no-untyped-call] # OR-Tools does not say
        most = max([2, *(rounds.count(kind) for kind in master._kinds), len(rounds.shifts)])
        self.driven = [self.model.new_var(0, most if is_whole else math.inf, is_whole, "") for _ in pool]
        weighted, total = model_builder.LinearExpr.weighted_sum, model_builder.LinearExpr.sum
        fetching: dict[_Kind, list[model_builder.LinearExprT]] = {kind: [] for kind in master._kinds}
        moving: dict[tuple[int, str], list[model_builder.LinearExprT]] = {
            (crew, start): [] for crew in master.crews for start in rounds.starts
        }
        coming: dict[tuple[int, str], tuple[list[model_builder.Variable], list[model_builder.Variable]]] = {
            key: ([], []) for key in moving
        }
        """Rounds to a place from elsewhere, and from there."""
        spent: dict[int, list[tuple[model_builder.Variable, float]]] = {crew: [] for crew in master.crews}
        for (crew, start, number), how_often in zip(pool, self.driven, strict=True):
            some = master._some[number]
            for kind in some.kinds:
                fetching[kind].append(how_often)
            moving[crew, some.end].append(how_often)
            moving[crew, rounds.starts[start]].append(-how_often)
            coming[crew, some.end][some.end == rounds.starts[start]].append(how_often)
            spent[crew].append((how_often, master._driven[start, number] + some.minutes))
        changes = {kind: self.model.new_var(0, rounds.count(kind), is_whole, "") for kind in master._kinds if kind.part == 1}
        whole = [kind for kind in master._kinds if not kind.part]
        self.left_out = [self.model.new_var(0, math.inf, False, "") for _ in whole]
        wanted: dict[_Kind, model_builder.LinearExprT] = {}
        for kind, change in changes.items():
            wanted[kind] = change
        for kind in master._kinds:
            if kind.part == 2:
                wanted[kind] = next(each for of, each in changes.items() if (of.of, of.there) == (kind.of, kind.here))
        self.fetched = {}
        for kind in master._kinds:
            fetched = total(fetching[kind])
            if kind.part:
                self.fetched[kind] = self.model.add(fetched - wanted[kind] == 0)
                continue
            handed = [change for of, change in changes.items() if of.of == kind]
            self.fetched[kind] = self.model.add(total([fetched, *handed, self.left_out[whole.index(kind)]]) >= rounds.count(kind))
        self.moved = {}
        for (crew, place), terms in moving.items():
            own = [each for each in rounds.shifts if each.crew == crew]
            needed = sum(each.end == place for each in own) - sum(each.start == place for each in own)
            self.moved[crew, place] = self.model.add(total([0.0, *terms]) >= needed)
        self.reached = {}
        for (crew, place), (terms, loops) in coming.items():
            if not any(each.start == place for each in rounds.shifts if each.crew == crew):
                self.reached[crew, place] = self.model.add(total([0.0, *(MOST_LOOPS * each for each in terms), *(-each for each in loops)]) >= 0)
        self.time = {}
        for crew, some in spent.items():
            weights = master.weights(crew, np.array([lasts for _, lasts in some]))
            driven = [each for each, _ in some]
            rows = zip(weights, master.room(crew), strict=True)
            self.time[crew] = [self.model.add(weighted(driven, list(each)) <= room + 1e-6) for each, room in rows]
        costs = [float(master._driven[start, number]) for _, start, number in pool]
        self.model.minimize(weighted([*self.driven, *self.left_out], [*costs, *(LEFT_OUT for _ in whole)]))

"""Rounds of vehicles: who may be fetched with whom, from where to where, and how long that takes.

A round leads from where a vehicle is over some stops to where its people are to be. It says nothing about watching or company:
the sequence model makes the plan from what is chosen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, combinations_with_replacement, product
from typing import Final

import networkx as nx

from sagagraph.domains.reunion.planning.model.situation import Car, Situation, Traveller
from sagagraph.domains.reunion.request import Task
from sagagraph.domains.reunion.times import whole_minutes

MOST_STOPS: Final = 6
NEIGHBOURS: Final = 9
"""Who shares a round with whom: those whose ways begin and end at the nearest places."""
DETOURS: Final = 2
"""How many of the nearest places to work at a round may go to as well."""
NO_CREW: Final = -1
Way = tuple[float, tuple[str, ...]]
"""Minutes, and the stops in order."""


@dataclass(frozen=True, slots=True)
class Shift:
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


@dataclass(frozen=True, slots=True)
class Kind:
    """Kind: people who are to be fetched from `here` to `there`, or work to be done `here`, alike to whoever drives."""

    here: str
    there: str
    """Empty: it is work."""
    opens: int
    due: int
    minutes: int = 0
    crew: int = NO_CREW
    """The crew whose drivers leave their vehicles here for good, and ride along. Otherwise they are people who are to be
    fetched.
    """


@dataclass(frozen=True, slots=True)
class Some:
    """Some kinds that may share a round, and where it ends."""

    kinds: tuple[Kind, ...]
    end: str

    @property
    def minutes(self) -> int:
        return sum(each.minutes for each in self.kinds)

    @property
    def people(self) -> int:
        return sum(each.there != "" for each in self.kinds)


@dataclass(frozen=True, slots=True)
class Round:
    start: str
    some: Some
    way: tuple[str, ...]
    """All stops, in order, the end included."""
    crew: int
    driven: int
    opens: int
    closes: int
    """When it may begin, at first and at last."""
    boards: tuple[tuple[Kind, int], ...]
    """Drivers who ride along, and how long after its begin they board."""

    @property
    def lasts(self) -> int:
        return self.driven + self.some.minutes


@dataclass
class Rounds:
    """Rounds in a situation for everybody who is to be somewhere else, and for what can be done on the way."""

    situation: Situation
    names: dict[Kind, list[str]] = field(default_factory=dict)
    """The people or tasks of each kind."""
    _known: dict[tuple[str, frozenset[str], frozenset[tuple[str, str]], str], Way] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.shifts = tuple(_shifts_of(self.situation))
        self._drivers = {each.driver for each in self.shifts}
        for name, kind in self._wanted():
            self.names.setdefault(kind, []).append(name)
        last = {each.driver: each for each in self.shifts if each.driver is not None and each.end is not None}
        for shift, place in product(last.values(), self.starts):
            if place != shift.end and self.apart(shift.start, place) < math.inf:
                opens = min(each.since for each in last.values() if each.crew == shift.crew)
                ride = Kind(place, shift.end or "", opens, shift.until, crew=shift.crew)
                self.names.setdefault(ride, []).append(shift.driver or "")

    def _wanted(self) -> Iterator[tuple[str, Kind]]:
        ready = {each.name: each.free for each in self.situation.travellers if each.name not in self._drivers}
        for task in self.situation.tasks:
            is_able = task.who is None or not self._drivers.isdisjoint(task.who)
            if task.place is None or task.people > 1 or task.is_watched or task.optional or self._is_done_there(task, ready):
                continue
            if is_able:
                opens = max(task.window.opens or 0, self.situation.begins)
                closes = self.situation.ends if task.window.closes is None else task.window.closes
                yield task.name, Kind(task.place, "", opens, closes, whole_minutes(task.minutes))
        for each in (each for each in self.situation.travellers if each.name in ready):
            here, free = each.place, ready[each.name]
            for goal in sorted(each.goals, key=lambda goal: goal.by):
                if goal.place != here:
                    yield each.name, Kind(here, goal.place, free, goal.by)
                here, free = goal.place, goal.by

    def _is_done_there(self, task: Task, ready: dict[str, int]) -> bool:
        """Tell whether somebody at its place has time to do it before they leave, and note when they are `ready` then."""
        for each in (each for each in self.situation.travellers if each.name in ready and each.place == task.place):
            over = max(ready[each.name], task.window.opens or 0) + whole_minutes(task.minutes)
            leave = min((goal.by - self.apart(each.place, goal.place) for goal in each.goals), default=math.inf)
            if over <= min(leave, task.window.closes or math.inf) and (task.who is None or each.name in task.who):
                ready[each.name] = over
                return True
        return False

    # -- where they lead -----------------------------------------------------------------------------------------------

    @cached_property
    def _roads(self) -> nx.DiGraph[str]:
        """Return the roads with the minutes that hold for longest."""
        roads: nx.DiGraph[str] = nx.DiGraph()
        roads.add_nodes_from(self.situation.places)
        for leg in sorted(self.situation.legs, key=lambda leg: min(leg.closes, self.situation.ends) - leg.opens):
            roads.add_edge(leg.here, leg.there, weight=leg.minutes)
        return roads

    @cached_property
    def _lengths(self) -> Mapping[str, Mapping[str, float]]:
        return dict(nx.all_pairs_dijkstra_path_length(self._roads))

    @cached_property
    def paths(self) -> Mapping[str, Mapping[str, list[str]]]:
        return dict(nx.all_pairs_dijkstra_path(self._roads))

    def apart(self, here: str, there: str) -> float:
        """Return the minutes by the shortest way."""
        return self._lengths[here].get(there, math.inf)

    @cached_property
    def starts(self) -> list[str]:
        return sorted({each.start for each in self.shifts} | self._ends)

    @cached_property
    def _ends(self) -> set[str]:
        """Return where rounds end: where people are to be, and where shifts end; if there is no such place, where they begin."""
        ends = {each.there for each in self.names if each.there} | {each.end for each in self.shifts if each.end is not None}
        return ends or {each.start for each in self.shifts}

    def ways(self, some: Some) -> dict[str, Way]:
        """Return the shortest ways over all stops, by their first one."""
        stops = frozenset({some.end, *(each.here for each in some.kinds), *(each.there for each in some.kinds if each.there)})
        before = frozenset((each.here, each.there) for each in some.kinds if each.there and each.there != some.end)
        if len(stops) > MOST_STOPS or any(here == some.end for here, _ in before):
            return {}
        rest = stops - {some.end}
        firsts = rest - {there for _, there in before} or {some.end}
        return {first: self._shortest(first, rest - {first}, before, some.end) for first in firsts}

    def _shortest(self, first: str, rest: frozenset[str], before: frozenset[tuple[str, str]], end: str) -> Way:
        """Return the shortest way over the rest to the end (Held and Karp, "A dynamic programming approach to sequencing
        problems", 1962).
        """
        key = (first, rest, before, end)
        if key not in self._known:
            nexts = [stop for stop in rest if not any(there == stop and here in rest for here, there in before)]
            ways = ((stop, self._shortest(stop, rest - {stop}, before, end)) for stop in nexts)
            after = ((self.apart(first, stop) + minutes, (first, *way)) for stop, (minutes, way) in ways)
            last = (self.apart(first, end), (first, end) if first != end else (end,))
            self._known[key] = min(after, default=(math.inf, ())) if rest else last
        return self._known[key]

    def round_of(self, some: Some, start: str, crew: int) -> Round | None:
        """Return the round from there; None: it has no way, or no time."""
        ways = self.ways(some)
        first = min(ways, key=lambda place: (self.apart(start, place) + ways[place][0], place), default=start)
        if first not in ways or self.apart(start, first) + ways[first][0] == math.inf:
            return None
        now, here, opens, closes = 0, start, 0, self.situation.ends
        boards: list[tuple[Kind, int]] = []
        for stop in ways[first][1]:
            now += round(self.apart(here, stop))
            for each in some.kinds:
                if each.here == stop:
                    boards += [(each, now)] if each.crew != NO_CREW else []
                    opens = max(opens, each.opens - now)
                    now += each.minutes
                if stop == (each.there or each.here):
                    closes = min(closes, each.due - now)
            here = stop
        driven = now - some.minutes
        return Round(start, some, ways[first][1], crew, driven, opens, closes, tuple(boards)) if opens <= closes else None

    # -- who shares one ------------------------------------------------------------------------------------------------

    def together(self) -> Iterator[Some]:
        """Yield what may share a round: people whose ways are neighbours, perhaps with work on the way; and empty ways."""
        seats = max(each.seats for each in self.shifts)
        riding = [kind for kind in self.names if kind.there]
        working = [kind for kind in self.names if not kind.there]
        order = {kind: number for number, kind in enumerate(self.names)}
        seen: dict[tuple[Kind, ...], None] = dict.fromkeys([(), *((each,) for each in working), *combinations(working, 2)])
        for first in riding:
            others = sorted(riding, key=lambda each: (each != first, self._between(first, each)))[: NEIGHBOURS + 1]
            for size in range(seats):
                for rest in combinations_with_replacement(others, size):
                    kinds = tuple(sorted((first, *rest), key=order.__getitem__))
                    if kinds not in seen and all(kinds.count(each) <= len(self.names[each]) for each in kinds):
                        near = sorted(working, key=lambda each: self.apart(first.here, each.here))[:DETOURS]
                        seen |= dict.fromkeys([kinds, *((*kinds, each) for each in near)])
        for kinds in seen:
            if max((each.opens for each in kinds), default=0) <= min((each.due for each in kinds), default=math.inf):
                ends = {each.there for each in kinds if each.there} or self._ends
                yield from (Some(kinds, end) for end in sorted(ends))

    def _between(self, one: Kind, other: Kind) -> float:
        return self.apart(one.here, other.here) + self.apart(one.there, other.there)


def _shifts_of(situation: Situation) -> Iterator[Shift]:
    found: list[Shift] = []
    busy: set[str] = set()
    for car in situation.cars:
        driver = next((each for each in situation.travellers if _may_drive(each, car) and each.name not in busy), None)
        if (car.drivers is not None and driver is None) or car.unlocked_by not in (None, *situation.done):
            continue
        here = car.place
        since = max(car.free, situation.begins, situation.done.get(car.unlocked_by or "", 0), driver.free if driver else 0)
        since = max([since, *(until for begins, until in car.down if begins <= since < until)])
        for goal in sorted(driver.goals, key=lambda goal: goal.by) if driver else ():
            found.append(Shift(car, driver.name if driver else None, here, since, goal.place, goal.by))
            here, since = goal.place, goal.by
        if driver is None or driver.stays_from is None:
            found.append(Shift(car, driver.name if driver else None, here, since, None, situation.ends))
        busy |= {driver.name} if driver else set()
    found = [each for each in found if each.since < each.until]
    crews = sorted({(each.until, each.end or "", each.seats) for each in found})
    yield from (replace(each, crew=crews.index((each.until, each.end or "", each.seats))) for each in found)


def _may_drive(person: Traveller, car: Car) -> bool:
    return person.name in (car.drivers or ()) and person.place == car.place

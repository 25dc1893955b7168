"""Master problem of large reunions: which rounds are driven, so that everybody is fetched and every shift has a way to its end.

Rounds are priced by a linear relaxation over all of them; an integer program chooses among those of the least reduced costs. (Set
covering: Balinski and Quandt, "On an integer program for a delivery problem", 1964.)
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import product, takewhile
from typing import Final

import numpy as np
from ortools.linear_solver.python import model_builder

from sagagraph.domains.reunion.planning.rounds import NO_CREW, Kind, Round, Rounds
from sagagraph.planning.budget import Budget

CHEAPEST: Final = 1500
"""How many rounds are chosen from."""
NEVER: Final = 100_000
"""Minutes that nothing lasts, and what it costs to fetch somebody by no round."""
MOST_LOOPS: Final = 12
"""How many rounds from a place and back a vehicle drives that comes there."""
ENOUGH: Final = "limits/gap = 0.003\nlimits/totalnodes = 100"
"""How well is chosen, for SCIP: counted, so that a busy machine does not change it."""
CHOOSING: Final = 0.6
"""Share of the time that is left after which the best choice so far is taken: it has to be packed, and perhaps chosen again."""
Column = tuple[int, int, int]
"""(crew, start, some kinds), by their numbers."""


class Master:
    def __init__(self, rounds: Rounds, budget: Budget) -> None:
        self._rounds = rounds
        self._kinds: list[Kind] = list(rounds.names)
        in_time = takewhile(lambda _: budget.left, rounds.together())
        self._some = [some for some in in_time if rounds.ways(some)]
        places = {place: number for number, place in enumerate(rounds.situation.places)}
        first = np.full((len(self._some), len(places)), math.inf)
        self._holds = np.zeros((len(self._some), len(self._kinds)))
        order = {kind: number for number, kind in enumerate(self._kinds)}
        for number, each in enumerate(self._some):
            for stop, (minutes, _) in rounds.ways(each).items():
                first[number, places[stop]] = minutes
            for kind in each.kinds:
                self._holds[number, order[kind]] += 1
        to_first = [[rounds.apart(start, place) for place in places] for start in rounds.starts]
        self._driven = np.array([np.minimum(first + row, NEVER).min(axis=1) for row in to_first])
        """(starts, some) minutes."""
        self._lasts = self._driven + np.array([each.minutes for each in self._some])
        self._ends = np.array([rounds.starts.index(each.end) for each in self._some])
        self.crews = sorted({each.crew for each in rounds.shifts})
        self._own = {crew: [each for each in rounds.shifts if each.crew == crew] for crew in self.crews}
        self._riding = self._holds @ [float(kind.crew != NO_CREW) for kind in self._kinds]
        self._every = [column for crew in self.crews for column in self._possible(crew)]
        self.most_rides = 0
        self._pool: list[Column] = []

    def let_ride(self, most: int) -> None:
        """Let so many drivers at most leave their vehicles for good, and ride along; keep the cheapest rounds for that."""
        self.most_rides, self._pool = most, self._every
        self._time = {crew: sum(each.until - each.since for each in own) for crew, own in self._own.items()}
        program, solver = _Program(self, is_whole=False), model_builder.Solver("GLOP")
        if solver.solve(program.model) == model_builder.SolveStatus.OPTIMAL:
            costs = sorted(zip(map(solver.reduced_cost, program.driven), self._every, strict=True))
            alone = (each for each in self._every if len(self._some[each[2]].kinds) <= 1)
            self._pool = sorted({*alone, *(column for _, column in costs[:CHEAPEST])})
        else:  # some shift has no way to its end
            self._pool = []
        exact = {each: self._exactly(each) for each in self._pool}
        self._exact = {column: one for column, one in exact.items() if one is not None}
        self._pool = list(self._exact)

    def shorten(self, crew: int, lasts: int) -> None:
        """Let all rounds of the crew last so long at most."""
        self._time[crew] = min(self._time[crew], lasts)

    def _exactly(self, column: Column) -> Round | None:
        crew, start, some = column
        return self._rounds.round_of(self._some[some], self._rounds.starts[start], crew)

    def _possible(self, crew: int) -> Iterator[Column]:
        """Yield what the crew has time and seats for, and what leads somewhere."""
        own = self._own[crew]
        since, until = min(each.since for each in own), own[0].until
        opens = np.array([max((kind.opens for kind in each.kinds), default=0) for each in self._some])
        due = np.array([min((kind.due for kind in each.kinds), default=until) for each in self._some])
        apart, end = self._rounds.apart, own[0].end
        before = np.array([min(apart(each.start, start) for each in own) for start in self._rounds.starts])
        after = np.array([0 if end is None else apart(each.end, end) for each in self._some])
        riding = self._holds @ [float(kind.crew == crew) for kind in self._kinds]
        seated = (np.array([each.people for each in self._some]) <= own[0].seats) & (riding < len(own))
        moves = (np.arange(len(self._rounds.starts))[:, None] != self._ends) | (self._holds.sum(axis=1) > 0)
        in_time = (opens < until) & (due > since) & (before[:, None] + self._lasts + after <= self._longest(crew))
        yield from ((crew, int(start), int(some)) for start, some in np.argwhere(in_time & seated & moves))

    def _longest(self, crew: int) -> int:
        return max(each.until - each.since for each in self._own[crew])

    def shares(self, crew: int, lasts: np.ndarray) -> list[np.ndarray]:
        """Return what rounds that last so long take of the crew: minutes, and shares of its shifts, of which each has one at most
        (dual feasible functions: Fekete and Schepers, "New classes of fast lower bounds for bin packing problems", 2001).
        """
        longest = self._longest(crew)

        def share(times: int) -> np.ndarray:
            return np.where(times * lasts % longest, times * lasts // longest / (times - 1), lasts / longest)

        return [lasts, share(2), share(3), share(4)]

    def chosen(self, budget: Budget) -> list[Round] | None:
        """Return the rounds to drive; None: there are none, or none were found in time."""
        program = _Program(self, is_whole=True)
        solver = model_builder.Solver("SCIP")
        solver.set_solver_specific_parameters(f"{ENOUGH}\nlimits/softtime = {budget.left * CHOOSING}")
        solver.set_time_limit_in_seconds(budget.left)
        if solver.solve(program.model) not in (model_builder.SolveStatus.OPTIMAL, model_builder.SolveStatus.FEASIBLE):
            return None
        if sum(solver.value(each) for each in program.left_out) > 0.5:
            return None
        often = zip(self._pool, program.driven, strict=True)
        return [self._exact[column] for column, how in often for _ in range(round(solver.value(how)))]


class _Program:
    """Program over the rounds that are known: how often each is driven."""

    def __init__(self, master: Master, *, is_whole: bool) -> None:
        rounds, pool = master._rounds, master._pool
        self.model = model_builder.Model()  # type: ignore[no-untyped-call] # OR-Tools does not say
        total, weighted = model_builder.LinearExpr.sum, model_builder.LinearExpr.weighted_sum
        most = max([len(rounds.shifts), *map(len, rounds.names.values())]) if is_whole else math.inf
        self.driven = [self.model.new_var(0, most, is_whole, "") for _ in pool]
        self.left_out = [self.model.new_num_var(0, math.inf, "") for _ in master._kinds]
        fetching: list[list[model_builder.Variable]] = [[each] for each in self.left_out]
        order = {kind: number for number, kind in enumerate(master._kinds)}
        moving: dict[tuple[int, int], list[model_builder.LinearExprT]] = defaultdict(lambda: [0.0])
        riding: dict[tuple[int, int], list[model_builder.LinearExprT]] = defaultdict(lambda: [0.0])
        coming: dict[tuple[int, int], list[model_builder.LinearExprT]] = defaultdict(lambda: [0.0])
        for (crew, start, some), often in zip(pool, self.driven, strict=True):
            end = int(master._ends[some])
            for kind in master._some[some].kinds:
                fetching[order[kind]].append(often)
                if kind.crew != NO_CREW:
                    riding[kind.crew, rounds.starts.index(kind.there)].append(often)
                    riding[kind.crew, rounds.starts.index(kind.here)].append(-often)
            moving[crew, end].append(often)
            moving[crew, start].append(-often)
            coming[crew, end].append(-often if start == end else MOST_LOOPS * often)
        for kind, some in zip(master._kinds, fetching, strict=True):
            self.model.add(total(some) >= (len(rounds.names[kind]) if kind.crew == NO_CREW else 0))
        rides = [float(master._riding[some]) for _, _, some in pool]
        self.model.add(weighted(self.driven, rides) <= master.most_rides)
        for crew, (number, place) in product(master.crews, enumerate(rounds.starts)):
            begin = sum(each.start == place for each in master._own[crew])
            needed = sum(each.end == place for each in master._own[crew]) - begin
            self.model.add(total([*moving[crew, number], *riding[crew, number]]) >= needed)
            self.model.add(total(moving[crew, number]) >= -begin)
            if not begin:  # no rounds from there and back without one that comes there
                self.model.add(total(coming[crew, number]) >= 0)
        for crew, own in master._own.items():
            mine = [(often, start, some) for (of, start, some), often in zip(pool, self.driven, strict=True) if of == crew]
            shares = master.shares(crew, np.array([master._lasts[start, some] for _, start, some in mine]))
            driven = [often for often, _, _ in mine]
            for share, limit in zip(shares, [master._time[crew], *[len(own)] * 3], strict=True):
                self.model.add(weighted(driven, list(share)) <= limit + 1e-6)
        costs = [float(master._driven[start, some]) for _, start, some in pool]
        self.model.minimize(weighted([*self.driven, *self.left_out], [*costs, *[float(NEVER)] * len(self.left_out)]))

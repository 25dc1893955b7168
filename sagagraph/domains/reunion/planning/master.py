"""Master problem of large reunions: which rounds are driven, so that everybody is fetched and every shift has a way to its end.

Rounds are priced by a linear relaxation over all of them; an integer program chooses among those of the least reduced costs. (Set
covering: Balinski and Quandt, "On an integer program for a delivery problem", 1964.)
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from itertools import product, takewhile
from typing import Final

from ortools.linear_solver.python import model_builder

from sagagraph.domains.reunion.planning.rounds import NO_CREW, Kind, Round, Rounds
from sagagraph.planning.budget import Budget

CHEAPEST: Final = 700
"""How many rounds are chosen from."""
NEVER: Final = 100_000
"""Minutes that nothing lasts, and what it costs to fetch somebody by no round."""
ENOUGH: Final = "limits/gap = 0.003\nlimits/totalnodes = 100"
"""How well is chosen, for SCIP: counted, so that a busy machine does not change it."""
CHOOSING: Final = 0.6
"""Share of the time that is left after which the best choice so far is taken: it has to be packed, and perhaps chosen again."""
Sums = defaultdict[tuple[int, str], list[model_builder.LinearExprT]]
"""By crew and place."""


class Master:
    def __init__(self, rounds: Rounds, budget: Budget) -> None:
        self.rounds = rounds
        self.crews = sorted({each.crew for each in rounds.shifts})
        self.own = {crew: [each for each in rounds.shifts if each.crew == crew] for crew in self.crews}
        in_time = takewhile(lambda _: budget.left, rounds.together())
        some = (each for each in in_time if rounds.ways(each))
        every = [each for way in product(some, rounds.starts) if (each := rounds.round_of(*way, NO_CREW)) is not None]
        self.pool = [replace(each, crew=crew) for crew in self.crews for each in every if self.spare(crew, each) >= 0]
        self.time = {crew: sum(each.until - each.since for each in own) for crew, own in self.own.items()}
        self.most_rides = len(rounds.shifts) if any(kind.crew != NO_CREW for kind in rounds.names) else 0
        """So many drivers at most leave their vehicles for good, and ride along."""
        self.pool = self._cheapest()

    def _cheapest(self) -> list[Round]:
        """Return the rounds of the least reduced costs; none if some shift has no way to its end."""
        program, solver = _Program(self, is_whole=False), model_builder.Solver("GLOP")
        if solver.solve(program.model) != model_builder.SolveStatus.OPTIMAL:
            return []
        order = sorted(range(len(self.pool)), key=lambda number: solver.reduced_cost(program.driven[number]))
        alone = (number for number, each in enumerate(self.pool) if len(each.some.kinds) <= 1)
        return [self.pool[number] for number in sorted({*alone, *order[:CHEAPEST]})]

    def shorten(self, crew: int, lasts: int) -> None:
        """Let all rounds of the crew last so long at most."""
        self.time[crew] = min(self.time[crew], lasts)

    def spare(self, crew: int, each: Round) -> float:
        """Return the minutes that the crew has left after it; less than 0: it has no time or seats, or it leads nowhere."""
        own, apart = self.own[crew], self.rounds.apart
        riding = sum(kind.crew == crew for kind in each.some.kinds)
        opens = max(each.opens, min(shift.since + apart(shift.start, each.start) for shift in own))
        is_seated = each.some.people <= own[0].seats and riding < len(own)
        if not is_seated or opens > each.closes or (each.start == each.some.end and not each.some.kinds):
            return -math.inf
        after = 0 if own[0].end is None else apart(each.some.end, own[0].end)
        return own[0].until - opens - each.lasts - after

    def shares(self, crew: int, lasts: list[int]) -> list[list[float]]:
        """Return what rounds that last so long take of the crew: minutes, and shares of its shifts, of which each has one at most
        (dual feasible functions: Fekete and Schepers, "New classes of fast lower bounds for bin packing problems", 2001).
        """
        longest = max(each.until - each.since for each in self.own[crew])

        def share(times: int) -> list[float]:
            return [times * each // longest / (times - 1) if times * each % longest else each / longest for each in lasts]

        return [[float(each) for each in lasts], share(2), share(3), share(4)]

    def chosen(self, budget: Budget) -> list[Round] | None:
        """Return the rounds to drive; None: there are none, or none were found in time."""
        program = _Program(self, is_whole=True)
        solver = model_builder.Solver("SCIP")
        solver.set_solver_specific_parameters(f"{ENOUGH}\nlimits/softtime = {budget.left * CHOOSING}")
        solver.set_time_limit_in_seconds(budget.left * (CHOOSING if self.most_rides else 1))
        if solver.solve(program.model) not in (model_builder.SolveStatus.OPTIMAL, model_builder.SolveStatus.FEASIBLE):
            return None
        if sum(solver.value(each) for each in program.left_out) > 0.5:
            return None
        often = zip(self.pool, program.driven, strict=True)
        return [each for each, how in often for _ in range(round(solver.value(how)))]


class _Program:
    """Program over the rounds that are known: how often each is driven."""

    def __init__(self, master: Master, *, is_whole: bool) -> None:
        rounds, pool = master.rounds, master.pool
        self.model = model_builder.Model()  # type: ignore[no-untyped-call] # OR-Tools does not say
        total, weighted = model_builder.LinearExpr.sum, model_builder.LinearExpr.weighted_sum
        most = max([len(rounds.shifts), *map(len, rounds.names.values())]) if is_whole else math.inf
        self.driven = [self.model.new_var(0, most, is_whole, "") for _ in pool]
        self.left_out = [self.model.new_num_var(0, math.inf, "") for _ in rounds.names]
        fetching: dict[Kind, list[model_builder.Variable]] = {
            kind: [left] for kind, left in zip(rounds.names, self.left_out, strict=True)
        }
        moving, riding, coming = (Sums(lambda: [0.0]) for _ in range(3))
        for each, often in zip(pool, self.driven, strict=True):
            start, end = (each.crew, each.start), (each.crew, each.some.end)
            for kind in each.some.kinds:
                fetching[kind].append(often)
                if kind.crew != NO_CREW:
                    riding[kind.crew, kind.there].append(often)
                    riding[kind.crew, kind.here].append(-often)
            moving[end].append(often)
            moving[start].append(-often)
            coming[end].append((-each.lasts if start == end else master.spare(each.crew, each)) * often)
        for kind, some in fetching.items():
            self.model.add(total(some) >= (len(rounds.names[kind]) if kind.crew == NO_CREW else 0))
        self.model.add(weighted(self.driven, [float(len(each.boards)) for each in pool]) <= master.most_rides)
        for crew, place in product(master.crews, rounds.starts):
            begin = sum(each.start == place for each in master.own[crew])
            needed = sum(each.end == place for each in master.own[crew]) - begin
            self.model.add(total([*moving[crew, place], *riding[crew, place]]) >= needed)
            self.model.add(total(moving[crew, place]) >= -begin)
            if not begin:  # rounds from there and back have the time that is left to those that come there
                self.model.add(total(coming[crew, place]) >= 0)
        for crew, own in master.own.items():
            mine = [(often, each.lasts) for each, often in zip(pool, self.driven, strict=True) if each.crew == crew]
            shares = master.shares(crew, [lasts for _, lasts in mine])
            for share, limit in zip(shares, [master.time[crew], *[len(own)] * 3], strict=True):
                self.model.add(weighted([often for often, _ in mine], share) <= limit + 1e-6)
        costs = [float(each.driven) for each in pool]
        self.model.minimize(weighted([*self.driven, *self.left_out], [*costs, *[float(NEVER)] * len(self.left_out)]))

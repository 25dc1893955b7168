"""CP-SAT model of the rest of a meal: when each slice of each step is worked at, in units of the grid.

A step that may be split is as many slices as its duration has units: with them, the model has every plan on the grid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ortools.sat.python import cp_model

from sagagraph.domains.recipes.plan import Plan, Row
from sagagraph.domains.recipes.planning.situation import is_splittable
from sagagraph.domains.recipes.planning.states import add_states
from sagagraph.planning.cp_sat import proven_bound, solver_with

if TYPE_CHECKING:
    from sagagraph.domains.recipes.planning.situation import Situation
    from sagagraph.domains.recipes.request import Step, StepKey
    from sagagraph.planning.budget import Budget


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What is left of a step."""

    step: Step
    short: int
    """Its last slice is so many seconds shorter than the grid has it."""
    starts: tuple[cp_model.IntVar, ...]
    sizes: tuple[int, ...]
    breaks: tuple[cp_model.IntVar, ...]
    """For each slice but the first, whether it begins a new piece; empty where that does not matter."""

    @property
    def start(self) -> cp_model.IntVar:
        return self.starts[0]

    @property
    def end(self) -> cp_model.LinearExprT:
        return self.starts[-1] + self.sizes[-1]

    @property
    def slices(self) -> Iterator[tuple[cp_model.IntVar, int]]:
        return zip(self.starts, self.sizes, strict=True)


@dataclass(frozen=True, slots=True)
class Answer:
    plan: Plan | None
    """None: nothing was found in time, or, if it is impossible, there is nothing."""
    bound: int
    """Seconds: no plan of this model is complete earlier."""
    is_impossible: bool = False


class Model:
    """All plans that are complete by `latest`, in seconds. `counts`: every step knows where it begins a new piece."""

    def __init__(self, situation: Situation, grid: int, latest: int, *, splits: bool, counts: bool = False) -> None:
        self.situation = situation
        self.grid = grid
        self.latest = latest // grid
        self.cp = cp_model.CpModel()
        self.makespan = self.cp.new_int_var(0, self.latest, "makespan")
        steps = [step for step in situation.meal.steps.values() if situation.left(step) > 0]
        self.works: dict[StepKey, Work] = {step.key: self._work(step, splits=splits, counts=counts) for step in steps}
        for row in situation.past:
            self.cp.add(self.makespan >= self.up(row.end))
        for work in self.works.values():
            self.cp.add(self.makespan >= work.end)
            self._add_order(work)
        self._add_cooks()
        self._add_joints()
        self._add_objects()
        self._add_warmth()

    def up(self, seconds: int) -> int:
        return -(-seconds // self.grid)

    def down(self, seconds: int) -> int:
        return seconds // self.grid

    def _work(self, step: Step, *, splits: bool, counts: bool) -> Work:
        left = self.situation.left(step)
        units = self.up(left)
        size = self.situation.slice(self.grid) if splits and is_splittable(step) else units
        sizes = tuple(min(size, units - done) for done in range(0, units, size))
        earliest = self.up(max(self.situation.since, self.situation.ended(step)))
        starts = [self.cp.new_int_var(earliest, max(earliest, self.latest), f"{step} {place}") for place, _ in enumerate(sizes)]
        for before, start in pairwise(starts):
            self.cp.add(start >= before + size)
        if len(starts) > 2:
            self.cp.add(starts[-1] >= starts[0] + sum(sizes[:-1]))
        breaks = tuple(self.cp.new_bool_var("") for _ in starts[1:]) if counts or step.within or step.is_autonomous else ()
        for is_new, before, start in zip(breaks, starts, starts[1:], strict=False):
            self.cp.add(start == before + size).only_enforce_if(~is_new)
        return Work(step, units * self.grid - left, tuple(starts), sizes, breaks)

    def _add_order(self, work: Work) -> None:
        """It starts after what it comes after; and every piece of it starts in time."""
        for before in self.situation.meal.before(work.step):
            other = self.works.get(before.key)
            self.cp.add(work.start >= (other.end if other is not None else self.up(self.situation.ended(before))))
        for number, within in work.step.within.items():
            other = self.works.get((work.step.recipe, number))
            for place, start in enumerate(work.starts):  # of a step with limits, breaks are known
                is_piece = [work.breaks[place - 1]] if place else []
                if other is not None:
                    self._add_lag(start, other, within, is_piece, is_ancestor=number in work.step.after)
                else:
                    ended = self.situation.ended(self.situation.meal.steps[work.step.recipe, number])
                    self.cp.add(start <= self.down(ended + within)).only_enforce_if(is_piece)

    def _add_lag(
        self, start: cp_model.IntVar, other: Work, within: int, is_piece: list[cp_model.IntVar], *, is_ancestor: bool
    ) -> None:
        """From the end of the last piece of `other` so far: if it has not been started, or is followed in time."""
        allowed = self.down(within - other.short)
        self.cp.add(start <= other.end + allowed).only_enforce_if(is_piece)
        for place, is_new in enumerate(other.breaks if not is_ancestor else ()):
            ended = other.starts[place] + other.sizes[place]
            is_behind = self.cp.new_bool_var("")
            self.cp.add(start >= other.starts[place + 1]).only_enforce_if([*is_piece, is_behind])
            self.cp.add(start <= ended + self.down(within)).only_enforce_if([*is_piece, is_new, ~is_behind])

    def _add_cooks(self) -> None:
        """Who works does nothing else, and starts nothing meanwhile: an instant is an interval of no length."""
        cp, situation = self.cp, self.situation
        cooks: list[list[cp_model.IntervalVar]] = [[] for _ in range(situation.meal.cooks)]
        for work in self.works.values():
            for place, (start, size) in enumerate(work.slices):
                turns = [cp.new_bool_var("") for _ in cooks]
                if place and work.step.is_autonomous:
                    cp.add_bool_or(turns).only_enforce_if(work.breaks[place - 1])
                else:
                    cp.add_exactly_one(turns)
                for own, turn in zip(cooks, turns, strict=True):
                    length = 0 if work.step.is_autonomous else size
                    own.append(cp.new_optional_fixed_size_interval_var(start, length, turn, ""))
        going = [row.end for row in situation.past if not situation.meal.steps[row.key].is_autonomous]
        busy = [until for until in going if until > situation.since]
        before = self.down(situation.since) - 1  # nothing is started at that very moment either
        for own, until in zip(cooks, [*busy, *[0] * len(cooks)], strict=False):
            free = self.up(max(until, situation.away, situation.since))
            cp.add_no_overlap([*own, cp.new_fixed_size_interval_var(before, free - before, "")])

    def _add_joints(self) -> None:
        """Where one piece goes on from slice to slice, nobody starts anything: to do that, the cook must lay it down.

        A joint is an interval of two units around it. Those of neighbours overlap: every other one is in the same constraint.
        """
        alone = [start for work in self.works.values() if work.step.is_autonomous for start in work.starts]
        points = [self.cp.new_fixed_size_interval_var(start, 0, "") for start in alone]
        for work in self.works.values():
            if work.step.is_autonomous:
                continue
            joints = [
                self.cp.new_optional_fixed_size_interval_var(start - 1, 2, ~is_new, "")
                for start, is_new in zip(work.starts[1:], work.breaks, strict=False)
            ]
            for half in filter(None, (joints[::2], joints[1::2])):
                self.cp.add_no_overlap([*points, *half])

    def _add_objects(self) -> None:
        situation = self.situation
        for name in situation.meal.objects:
            taken = add_states(self, name, [work for work in self.works.values() if name in work.step.uses])
            ends = [row.end for row in situation.past if name in situation.meal.steps[row.key].uses]
            until = max(*ends, situation.down.get(name, 0), situation.since)
            begin = self.down(situation.since)
            self.cp.add_no_overlap([*taken, self.cp.new_fixed_size_interval_var(begin, self.up(until) - begin, "")])

    def _add_warmth(self) -> None:
        """A recipe ends with the last of its steps that no other of them comes after."""
        for recipe, within in self.situation.meal.warm.items():
            works = [work for (name, _step), work in self.works.items() if name == recipe]
            ended = max((self.down(row.end) for row in self.situation.past if row.recipe == recipe), default=0)
            end = self.cp.new_int_var(0, self.latest, "")
            self.cp.add_max_equality(end, [ended, *(work.end for work in works)])
            short = max((work.short for work in works), default=0)
            self.cp.add(self.makespan <= end + self.down(within - short))

    def least(self, aim: cp_model.LinearExprT, budget: Budget) -> Answer:
        """Minimise `aim`."""
        self.cp.minimize(aim)
        solver = solver_with(budget)
        status = solver.solve(self.cp)
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Answer(self._plan(solver), proven_bound(solver) * self.grid)
        bound = max(0, proven_bound(solver)) if status == cp_model.UNKNOWN else 0
        return Answer(None, bound * self.grid, is_impossible=status == cp_model.INFEASIBLE)

    def _plan(self, solver: cp_model.CpSolver) -> Plan:
        """At the same moment whatever goes on alone comes first, and of that, what needs an object as it is now."""
        rows = list(self.situation.past)
        alone = {solver.value(start) for work in self.works.values() if work.step.is_autonomous for start in work.starts}
        for work in self.works.values():
            rows += self._pieces(work, [solver.value(start) for start in work.starts], alone)

        def place(row: Row) -> tuple[int, bool, bool]:
            step = self.situation.meal.steps[row.key]
            return row.start, not step.is_autonomous, any(use.update for use in step.uses.values())

        return tuple(sorted(rows, key=place))

    def _pieces(self, work: Work, starts: Sequence[int], alone: set[int]) -> Iterator[Row]:
        """Join slices unless something that goes on `alone` is started between them."""
        spans: list[tuple[int, int]] = []
        for start, size in zip(starts, work.sizes, strict=True):
            joins = spans and spans[-1][1] == start and (work.step.is_autonomous or start not in alone)
            spans.append((spans.pop()[0] if joins else start, start + size))
        for place, (start, end) in enumerate(spans):
            short = work.short if place == len(spans) - 1 else 0
            yield Row(work.step.number, work.step.recipe, (end - start) * self.grid - short, start * self.grid)


def shortest(situation: Situation, grid: int, latest: int, budget: Budget, *, splits: bool) -> Answer:
    """Return a plan that is complete by `latest`, as early as possible, and a bound of all plans of this kind."""
    model = Model(situation, grid, latest, splits=splits)
    return model.least(model.makespan, budget)


def calmest(
    situation: Situation, known: Plan, grid: int, latest: int, budget: Budget, was: Mapping[StepKey, int] | None = None
) -> Plan:
    """Return a plan that is complete by `latest`, in which the fewest steps begin at another time than they `was` to begin.

    Of those, it has few interruptions. It is the `known` plan if none is found in time.
    """
    model = Model(situation, grid, latest, splits=True, counts=True)
    moved = []
    for key, start in (was or {}).items():
        if key in model.works and start % grid == 0:
            moved.append(model.cp.new_bool_var(""))
            model.cp.add(model.works[key].start == start // grid).only_enforce_if(~moved[-1])
    breaks = [each for work in model.works.values() for each in work.breaks]
    return model.least(4 * sum(moved) + sum(breaks), budget).plan or known

"""CP-SAT model of the rest of a meal: when each slice of each step is worked at, in units of the grid.

A step that may be split is as many slices as its duration has units: with them, the model has every plan on the grid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ortools.sat.python import cp_model

from sagagraph.domains.recipes.plan import Plan, Row, in_order, makespan
from sagagraph.domains.recipes.planning.situation import Situation
from sagagraph.domains.recipes.request import VOLUME, Property, Step, StepKey, is_fit
from sagagraph.planning.budget import Budget
from sagagraph.planning.cp_sat import proven_bound, solver_with


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Work: what is left of a step."""

    step: Step
    short: int
    """By how many seconds its last slice is shorter than on the grid."""
    starts: tuple[cp_model.IntVar, ...]
    sizes: tuple[int, ...]
    breaks: tuple[cp_model.IntVar, ...]
    """For each slice except the first, whether it begins a new piece; empty if that does not matter."""

    @property
    def end(self) -> cp_model.LinearExprT:
        return self.starts[-1] + self.sizes[-1]

    @property
    def slices(self) -> Iterator[tuple[cp_model.IntVar, int]]:
        return zip(self.starts, self.sizes, strict=True)


@dataclass(frozen=True, slots=True)
class Planned:
    plan: Plan
    """Empty: there is none, or none was found in time."""
    lower_bound: int
    """Seconds: no plan is complete earlier."""
    is_infeasible: bool = False
    """There is no plan in the model; if the situation is exact, this is a proof."""

    @property
    def makespan(self) -> int:
        return makespan(self.plan)


class Model:
    """Model of all plans that are complete by `latest`, in seconds. `counts`: every step knows where it begins a new piece."""

    def __init__(self, situation: Situation, grid: int, latest: int, *, splits: bool, counts: bool = False) -> None:
        self.situation = situation
        self.grid = grid
        self.latest = latest // grid
        self.cp = cp_model.CpModel()
        self.makespan = self.cp.new_int_var(0, self.latest, "makespan")
        steps = [step for step in situation.meal.steps.values() if situation.left(step) > 0]
        self.works: dict[StepKey, Work] = {step.key: self._work(step, splits=splits, counts=counts) for step in steps}
        self.cp.add(self.makespan >= self.up(makespan(situation.past)))
        for work in self.works.values():
            self.cp.add(self.makespan >= work.end)
            self._add_order(work)
        self._add_cooks()
        self._add_joints()
        self._add_objects()
        self._add_warmth()

    def up(self, seconds: int) -> int:
        return -(-seconds // self.grid)

    def _work(self, step: Step, *, splits: bool, counts: bool) -> Work:
        left = self.situation.left(step)
        units = self.up(left)
        size = self.situation.slice(self.grid) if splits and self.situation.splits(step) else units
        sizes = tuple(min(size, units - done) for done in range(0, units, size))
        earliest = self.up(max(self.situation.since, self.situation.ended(step)))
        starts = [self.cp.new_int_var(earliest, max(earliest, self.latest), f"{step} {place}") for place, _ in enumerate(sizes)]
        for before, start in pairwise(starts):
            self.cp.add(start >= before + size)
        self.cp.add(starts[-1] >= starts[0] + sum(sizes[:-1]))
        breaks = tuple(self.cp.new_bool_var("") for _ in starts[1:]) if counts or step.within or step.is_autonomous else ()
        for is_new, before, start in zip(breaks, starts, starts[1:], strict=False):
            self.cp.add(start == before + size).only_enforce_if(~is_new)
        return Work(step, units * self.grid - left, tuple(starts), sizes, breaks)

    def _add_order(self, work: Work) -> None:
        """Make it start after what it comes after, and every piece of it start in time."""
        for before in self.situation.meal.before(work.step):
            other = self.works.get(before.key)
            self.cp.add(work.starts[0] >= (other.end if other is not None else self.up(self.situation.ended(before))))
        for number, within in work.step.within.items():
            other = self.works.get((work.step.recipe, number))
            ended = self.situation.ended(self.situation.meal.steps[work.step.recipe, number])
            latest = (ended + within) // self.grid if other is None else other.end + (within - other.short) // self.grid
            for place, start in enumerate(work.starts):  # of a step with limits, breaks are known
                self.cp.add(start <= latest).only_enforce_if([work.breaks[place - 1]] if place else [])

    def _add_cooks(self) -> None:
        """Let a working cook do nothing else, and start nothing meanwhile: an instant is an interval of no length."""
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
        before = situation.since // self.grid - 1  # nothing is started at that exact moment either
        for own, until in zip(cooks, [*busy, *[0] * len(cooks)], strict=False):
            free = self.up(max(until, situation.away, situation.since))
            cp.add_no_overlap([*own, cp.new_fixed_size_interval_var(before, free - before, "")])

    def _add_joints(self) -> None:
        """Forbid starts where one piece continues from slice to slice: to start something, the cook must interrupt it.

        A joint is an interval of two units around it. Those of neighbours overlap: every other one is in the same constraint.
        """
        alone = [start for work in self.works.values() if work.step.is_autonomous for start in work.starts]
        points = [self.cp.new_fixed_size_interval_var(start, 0, "") for start in alone]
        for work in (each for each in self.works.values() if not each.step.is_autonomous):
            ends = zip(work.starts[1:], work.breaks, strict=False)
            joints = [self.cp.new_optional_fixed_size_interval_var(end - 1, 2, ~is_new, "") for end, is_new in ends]
            for half in filter(None, (joints[::2], joints[1::2])):
                self.cp.add_no_overlap([*points, *half])

    def _add_objects(self) -> None:
        situation = self.situation
        for name in situation.meal.objects:
            taken = _add_states(self, name, [work for work in self.works.values() if name in work.step.uses])
            ends = [row.end for row in situation.past if name in situation.meal.steps[row.key].uses]
            until = max(*ends, situation.down.get(name, 0), situation.since)
            begin = situation.since // self.grid
            self.cp.add_no_overlap([*taken, self.cp.new_fixed_size_interval_var(begin, self.up(until) - begin, "")])

    def _add_warmth(self) -> None:
        """Add warmth. A recipe ends with the last of its steps that no other of them comes after."""
        for recipe, within in self.situation.meal.warm.items():
            works = [work for (name, _step), work in self.works.items() if name == recipe]
            ended = max((row.end // self.grid for row in self.situation.past if row.recipe == recipe), default=0)
            end = self.cp.new_int_var(0, self.latest, "")
            self.cp.add_max_equality(end, [ended, *(work.end for work in works)])
            short = max((work.short for work in works), default=0)
            self.cp.add(self.makespan <= end + (within - short) // self.grid)

    def least(self, aim: cp_model.LinearExprT, budget: Budget) -> Planned:
        """Minimise `aim`."""
        self.cp.minimize(aim)
        solver = solver_with(budget)
        status = solver.solve(self.cp)
        if status == cp_model.INFEASIBLE:
            return Planned((), 0, is_infeasible=True)
        plan = () if status == cp_model.UNKNOWN else self._plan(solver)
        return Planned(plan, max(0, proven_bound(solver)) * self.grid)

    def _plan(self, solver: cp_model.CpSolver) -> Plan:
        rows = list(self.situation.past)
        alone = {solver.value(start) for work in self.works.values() if work.step.is_autonomous for start in work.starts}
        for work in self.works.values():
            rows += self._pieces(work, [solver.value(start) for start in work.starts], alone)
        return in_order(self.situation.meal, rows)

    def _pieces(self, work: Work, starts: Sequence[int], alone: set[int]) -> Iterator[Row]:
        """Join slices unless an unattended step is started between them."""
        spans: list[tuple[int, int]] = []
        for start, size in zip(starts, work.sizes, strict=True):
            joins = spans and spans[-1][1] == start and (work.step.is_autonomous or start not in alone)
            spans.append((spans.pop()[0] if joins else start, start + size))
        for start, end in spans:
            short = work.short if end == spans[-1][1] else 0
            yield Row(work.step.number, work.step.recipe, (end - start) * self.grid - short, start * self.grid)


def _add_states(model: Model, name: str, users: Sequence[Work]) -> list[cp_model.IntervalVar]:
    """Add what the users of this object need. Returns the intervals during which it is taken."""
    for key in sorted({key for user in users for key in user.step.uses[name].require}):
        _add_property(model, name, key, users)
    taken: list[cp_model.IntervalVar] = []
    present: list[tuple[Work, cp_model.LiteralT]] = []
    for user in sorted(users, key=lambda user: bool(user.step.uses[name].update)):
        is_there = model.cp.new_bool_var("")
        merged = []
        for other, is_other_there in present:
            if _may_coincide(user, other, name):
                merged.append(model.cp.new_bool_var(""))
                model.cp.add(user.starts[0] == other.starts[0]).only_enforce_if(merged[-1])
                model.cp.add_implication(merged[-1], is_other_there)
        model.cp.add_exactly_one(is_there, *merged)
        present.append((user, is_there))
        taken += [model.cp.new_optional_fixed_size_interval_var(start, size, is_there, "") for start, size in user.slices]
    return taken


def _may_coincide(user: Work, other: Work, name: str) -> bool:
    """Tell whether heating for one step may coincide with heating for another, and with baking at exactly that heat."""
    update, there = user.step.uses[name].update, other.step.uses[name]
    is_plain = bool(update) and VOLUME not in update and not user.step.uses[name].require
    is_alike = update == there.update or (update == there.require and not there.update and other.step.is_autonomous)
    return is_plain and is_alike and (user.sizes, user.short) == (other.sizes, other.short)


def _add_property(model: Model, name: str, key: str, users: Sequence[Work]) -> None:
    """Give each step that needs the property a source of it: a step before it, or the current state; no other comes between."""
    now: tuple[Work | None, Property | None] = (None, model.situation.state.get(name, {}).get(key))
    sources = [(user, user.step.uses[name].update[key]) for user in users if key in user.step.uses[name].update]
    takers = [(user, user.step.uses[name].require[key]) for user in users if key in user.step.uses[name].require]
    fitting: dict[Work, list[cp_model.IntVar]] = {taker: [] for taker, _needed in takers}
    for source, given in (now, *sources):
        parts = []
        for taker, needed in takers:
            if source is not taker and is_fit(key, given, needed):
                others = [each for each, value in sources if each not in (source, taker) and (key == VOLUME or value != given)]
                fitting[taker].append(_finds(model, source, taker, others))
                parts.append(round(1000 * float(needed)) * fitting[taker][-1])
        if key == VOLUME and parts:
            model.cp.add(sum(parts) <= round(1000 * float(given or 0)))
    for literals in fitting.values():
        model.cp.add_bool_or(literals)


def _finds(model: Model, source: Work | None, taker: Work, others: Sequence[Work]) -> cp_model.IntVar:
    """Return whether `taker` finds what the source left, or the current state; none of the others may come between."""
    cp, is_so = model.cp, model.cp.new_bool_var("")
    if source is not None:
        cp.add(taker.starts[0] >= source.end).only_enforce_if(is_so)
    for other in others:
        is_earlier = cp.new_bool_var("") if source is not None else cp.new_constant(0)
        if source is not None:
            cp.add(source.starts[0] >= other.end).only_enforce_if([is_so, is_earlier])
        cp.add(other.starts[0] >= taker.end).only_enforce_if([is_so, ~is_earlier])
    return is_so


def shortest(situation: Situation, grid: int, latest: int, budget: Budget, *, splits: bool) -> Planned:
    """Return a plan that is complete by `latest`, as early as possible, and a bound for all plans of this kind."""
    model = Model(situation, grid, latest, splits=splits)
    return model.least(model.makespan, budget)


def calmest(
    situation: Situation, known: Plan, grid: int, latest: int, budget: Budget, was: Mapping[StepKey, int] | None = None
) -> Plan:
    """Return a plan that is complete by `latest`, in which the fewest steps begin at a time other than when they `was` to begin.

    Of those, it has few interruptions. It is the `known` plan if none is found in time.
    """
    model = Model(situation, grid, latest, splits=True, counts=True)
    moved = []
    for key, start in (was or {}).items():
        if key in model.works and start % grid == 0:
            moved.append(model.cp.new_bool_var(""))
            model.cp.add_hint(model.works[key].starts[0], start // grid)
            model.cp.add(model.works[key].starts[0] == start // grid).only_enforce_if(~moved[-1])
    breaks = [each for work in model.works.values() for each in work.breaks]
    return model.least(4 * sum(moved) + sum(breaks), budget).plan or known

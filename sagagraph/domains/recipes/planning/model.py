"""CP-SAT model of the rest of a meal: when each slice of each step is worked at, in units of the grid.

A step that may be split is as many slices as its duration has units: with them, the model has every plan on the grid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ortools.sat.python import cp_model

from sagagraph.domains.recipes.plan import Plan, Row, makespan
from sagagraph.domains.recipes.planning.situation import is_splittable
from sagagraph.domains.recipes.planning.states import add_states
from sagagraph.planning.cp_sat import proven_bound, solver_with

if TYPE_CHECKING:
    from sagagraph.domains.recipes.planning.situation import Situation
    from sagagraph.domains.recipes.request import Meal, Step, StepKey
    from sagagraph.planning.budget import Budget


@dataclass(frozen=True, slots=True)
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

    def intervals(self, model: Model) -> list[cp_model.IntervalVar]:
        pairs = zip(self.starts, self.sizes, strict=True)
        return [model.cp.new_fixed_size_interval_var(start, size, "") for start, size in pairs]


@dataclass(slots=True)
class Model:
    situation: Situation
    grid: int
    """Seconds."""
    latest: int
    """In units of the grid, as everything here."""
    makespan: cp_model.IntVar
    cp: cp_model.CpModel
    works: dict[StepKey, Work] = field(default_factory=dict)

    def up(self, seconds: int) -> int:
        return -(-seconds // self.grid)

    def down(self, seconds: int) -> int:
        return seconds // self.grid


@dataclass(frozen=True, slots=True)
class Answer:
    plan: Plan | None
    """None: nothing was found in time, or, if it is impossible, there is nothing."""
    bound: int
    """Seconds: no plan of this model is complete earlier."""
    is_impossible: bool = False


def modelled(situation: Situation, grid: int, latest: int, *, splits: bool, counts: bool = False) -> Model:
    """Model all plans that are complete by `latest`, in seconds. `counts`: every step knows where it begins a new piece."""
    cp = cp_model.CpModel()
    end = latest // grid
    model = Model(situation, grid, end, cp.new_int_var(0, end, "makespan"), cp)
    for step in situation.meal.steps.values():
        if situation.left(step) > 0:
            model.works[step.key] = _work(model, step, splits=splits, counts=counts)
    for row in situation.past:
        cp.add(model.makespan >= model.up(row.end))
    for work in model.works.values():
        cp.add(model.makespan >= work.end)
        _add_order(model, work)
    _add_cooks(model)
    _add_joints(model)
    _add_objects(model)
    _add_warmth(model)
    return model


def _work(model: Model, step: Step, *, splits: bool, counts: bool) -> Work:
    situation, cp = model.situation, model.cp
    left = situation.left(step)
    units = model.up(left)
    sizes = _sizes(units, situation.slice(model.grid)) if splits and is_splittable(step) else (units,)
    earliest = model.up(max(situation.since, situation.ended(step) or 0))
    starts = [cp.new_int_var(earliest, max(earliest, model.latest), f"{step} {place}") for place, _ in enumerate(sizes)]
    for before, start, size in zip(starts, starts[1:], sizes, strict=False):
        cp.add(start >= before + size)
    if len(starts) > 2:
        cp.add(starts[-1] >= starts[0] + sum(sizes[:-1]))
    breaks = tuple(cp.new_bool_var("") for _ in starts[1:]) if counts or step.within or step.is_autonomous else ()
    for is_new, before, start, size in zip(breaks, starts, starts[1:], sizes, strict=False):
        cp.add(start == before + size).only_enforce_if(~is_new)
    return Work(step, units * model.grid - left, tuple(starts), sizes, breaks)


def _sizes(units: int, size: int) -> tuple[int, ...]:
    whole, rest = divmod(units, size)
    return (size,) * whole + ((rest,) if rest else ())


def _add_order(model: Model, work: Work) -> None:
    """It starts after what it comes after; and every piece of it starts in time."""
    situation, cp = model.situation, model.cp
    for before in situation.meal.before(work.step):
        if before.key in model.works:
            cp.add(work.start >= model.works[before.key].end)
        else:
            cp.add(work.start >= model.up(situation.ended(before) or 0))
    for number, within in work.step.within.items():
        other = model.works.get((work.step.recipe, number))
        for place, start in enumerate(work.starts):  # of a step with limits, breaks are known
            is_piece = [work.breaks[place - 1]] if place else []
            if other is not None:
                _add_lag(model, start, other, within, is_piece, is_ancestor=number in work.step.after)
            else:
                ended = situation.ended(situation.meal.steps[work.step.recipe, number])
                cp.add(start <= model.down((ended or 0) + within)).only_enforce_if(is_piece)


def _add_lag(
    model: Model, start: cp_model.IntVar, other: Work, within: int, is_piece: list[cp_model.IntVar], *, is_ancestor: bool
) -> None:
    """From the end of the last piece of `other` so far: if it has not been started, or is followed in time."""
    cp, allowed = model.cp, (within - other.short) // model.grid
    cp.add(start <= other.end + allowed).only_enforce_if(is_piece)
    if is_ancestor:
        return
    for place, is_new in enumerate(other.breaks):
        ended = other.starts[place] + other.sizes[place]
        is_behind = cp.new_bool_var("")
        cp.add(start >= other.starts[place + 1]).only_enforce_if([*is_piece, is_behind])
        cp.add(start <= ended + model.down(within)).only_enforce_if([*is_piece, is_new, ~is_behind])


def _add_cooks(model: Model) -> None:
    """Who works does nothing else, and starts nothing meanwhile: an instant is an interval of no length."""
    cooks: list[list[cp_model.IntervalVar]] = [[] for _ in range(model.situation.meal.cooks)]
    for start, size, at_piece in _hands(model):
        if len(cooks) == 1 and not at_piece:
            cooks[0].append(model.cp.new_fixed_size_interval_var(start, size, ""))
            continue
        turns = [model.cp.new_bool_var("") for _ in cooks]
        model.cp.add_exactly_one(*turns) if not at_piece else model.cp.add(sum(turns) >= 1).only_enforce_if(at_piece)
        for own, turn in zip(cooks, turns, strict=True):
            own.append(model.cp.new_optional_fixed_size_interval_var(start, size, turn, ""))
    before = model.down(model.situation.since) - 1  # nothing is started at that very moment either
    for own, until in zip(cooks, _busy(model.situation), strict=False):
        own.append(model.cp.new_fixed_size_interval_var(before, model.up(until) - before, ""))
    for own in cooks:
        if model.situation.away:
            until = max(model.situation.since, *(end for _begin, end in model.situation.away))
            own.append(model.cp.new_fixed_size_interval_var(before, model.up(until) - before, ""))
        model.cp.add_no_overlap(own)


def _add_joints(model: Model) -> None:
    """Where one piece goes on from slice to slice, nobody starts anything: to do that, the cook must lay it down.

    A joint is an interval of two units around it. Those of neighbours overlap: every other one is in the same constraint.
    """
    cp = model.cp
    instants = [work.starts[0] for work in model.works.values() if work.step.is_autonomous]
    instants += [start for work in model.works.values() if work.step.is_autonomous for start in work.starts[1:]]
    points = [cp.new_fixed_size_interval_var(start, 0, "") for start in instants]
    for work in model.works.values():
        if work.step.is_autonomous:
            continue
        joints = [
            cp.new_optional_fixed_size_interval_var(start - 1, 2, ~is_new, "")
            for start, is_new in zip(work.starts[1:], work.breaks, strict=False)
        ]
        for half in (joints[::2], joints[1::2]):
            if half:
                cp.add_no_overlap([*points, *half])


def _busy(situation: Situation) -> list[int]:
    """Until when cooks go on with what they are at."""
    steps = situation.meal.steps
    return [row.end for row in situation.past if row.end > situation.since and not steps[row.recipe, row.step].is_autonomous]


def _hands(model: Model) -> list[tuple[cp_model.IntVar, int, list[cp_model.IntVar]]]:
    """Where a cook is needed: from when, for how long, and if which slice begins a piece (empty: in any case)."""
    found: list[tuple[cp_model.IntVar, int, list[cp_model.IntVar]]] = []
    for work in model.works.values():
        if work.step.is_autonomous:
            news: Sequence[list[cp_model.IntVar]] = [[], *([each] for each in work.breaks)]
            found += [(start, 0, is_new) for start, is_new in zip(work.starts, news, strict=True)]
        else:
            found += [(start, size, []) for start, size in zip(work.starts, work.sizes, strict=True)]
    return found


def _add_objects(model: Model) -> None:
    situation, cp = model.situation, model.cp
    for name in sorted({name for step in situation.meal.steps.values() for name in step.uses}):
        users = [work for work in model.works.values() if name in work.step.uses]
        taken = add_states(model, name, users)
        spans = [(row.start, row.end) for row in situation.past if name in situation.meal.steps[row.recipe, row.step].uses]
        until = max((end for _begin, end in (*spans, *situation.down.get(name, ()))), default=0)
        if until > situation.since:
            begin = model.down(situation.since)
            taken.append(cp.new_fixed_size_interval_var(begin, model.up(until) - begin, ""))
        cp.add_no_overlap(taken)


def _add_warmth(model: Model) -> None:
    """A recipe ends with the last of its steps that no other of them comes after."""
    for recipe, within in model.situation.meal.warm.items():
        steps = model.situation.meal.recipes[recipe]
        works = [model.works[step.key] for step in steps if step.key in model.works]
        ended = max((model.down(row.end) for row in model.situation.past if row.recipe == recipe), default=0)
        end = model.cp.new_int_var(0, model.latest, "")
        model.cp.add_max_equality(end, [ended, *(work.end for work in works)])
        model.cp.add(model.makespan <= end + model.down(within - max((work.short for work in works), default=0)))


# -- answers ---------------------------------------------------------------------------------------------------------


def least(model: Model, aim: cp_model.LinearExprT, budget: Budget, on_plan: Callable[[], None] = lambda: None) -> Answer:
    """Minimise `aim`. `on_plan` is called for each plan on the way."""
    model.cp.minimize(aim)
    solver = solver_with(budget)
    status = solver.solve(model.cp, _Told(on_plan))
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        bound = max(0, proven_bound(solver)) if status == cp_model.UNKNOWN else 0
        return Answer(None, bound * model.grid, is_impossible=status == cp_model.INFEASIBLE)
    return Answer(_plan(model, solver), proven_bound(solver) * model.grid)


class _Told(cp_model.CpSolverSolutionCallback):
    def __init__(self, on_plan: Callable[[], None]) -> None:
        super().__init__()
        self._on_plan = on_plan

    def on_solution_callback(self) -> None:
        self._on_plan()


def _plan(model: Model, solver: cp_model.CpSolver) -> Plan:
    rows = list(model.situation.past)
    alone = {solver.value(start) for work in model.works.values() if work.step.is_autonomous for start in work.starts}
    for work in model.works.values():
        rows += _pieces(work, [solver.value(start) for start in work.starts], model.grid, alone)
    return in_execution_order(model.situation.meal, rows)


def in_execution_order(meal: Meal, rows: Iterable[Row]) -> Plan:
    """At the same moment whatever goes on alone comes first, and of that, what needs an object as it is now."""

    def place(row: Row) -> tuple[int, bool, bool]:
        step = meal.steps[row.recipe, row.step]
        return row.start, not step.is_autonomous, any(use.update for use in step.uses.values())

    return tuple(sorted(rows, key=place))


def _pieces(work: Work, starts: Sequence[int], grid: int, alone: set[int]) -> list[Row]:
    """Join slices unless something that goes on `alone` is started between them."""
    spans: list[list[int]] = []
    for start, size in zip(starts, work.sizes, strict=True):
        if spans and spans[-1][1] == start and (work.step.is_autonomous or start not in alone):
            spans[-1][1] = start + size
        else:
            spans.append([start, start + size])
    spans = [[begin * grid, end * grid] for begin, end in spans]
    spans[-1][1] -= work.short
    return [Row(work.step.number, work.step.recipe, end - begin, begin) for begin, end in spans]


def shortest(
    situation: Situation, grid: int, latest: int, budget: Budget, *, splits: bool, on_plan: Callable[[], None] = lambda: None
) -> Answer:
    """Return a plan that is complete by `latest`, as early as possible, and a bound of all plans of this kind."""
    model = modelled(situation, grid, latest, splits=splits)
    return least(model, model.makespan, budget, on_plan)


def calmest(situation: Situation, known: Plan, grid: int, budget: Budget) -> Plan:
    """Return a plan as short as the known one, with the fewest interruptions that can be found in time."""
    model = modelled(situation, grid, makespan(known), splits=True, counts=True)
    breaks = [each for work in model.works.values() for each in work.breaks]
    return least(model, sum(breaks), budget).plan or known

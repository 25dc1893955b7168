"""Search: runs CP-SAT over a sequence, one aim after the other, fixing each while the next is optimised.

One worker with a fixed seed: the same question has the same answer, unless time ran out before the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Sequence as Ordered
from dataclasses import dataclass, field, replace
from typing import Any

from ortools.sat.python import cp_model

from sagagraph.domains.reunion.plan import Act, Journey, Work
from sagagraph.domains.reunion.planning.model.logic import Expression, Literal, total
from sagagraph.domains.reunion.planning.model.objectives import Aims
from sagagraph.domains.reunion.planning.model.presence import Presence
from sagagraph.domains.reunion.planning.model.sequence import Sequence
from sagagraph.domains.reunion.planning.model.situation import Situation, journey
from sagagraph.domains.reunion.planning.model.stability import Keeping, slack_of
from sagagraph.planning.budget import Budget
from sagagraph.planning.cp_sat import proven_bound, solver_with


@dataclass(frozen=True, slots=True)
class Question:
    """Question: a situation, and what must stay of an older plan."""

    outlook: Callable[[int], Situation]
    """Function that returns the situation for at most a given number of journeys."""
    planned: Mapping[int, Act] = field(default_factory=dict)
    """Actions of the older plan: as many as possible are kept, once the objectives are as good as possible."""
    fixed: frozenset[int] = frozenset()
    """Those of `planned` that must be kept."""
    draft: tuple[Act, ...] = ()
    """The only steps, in this order: what is still to be decided is when."""

    def model(self, journeys: int) -> tuple[Sequence, list[Expression]]:
        """Return the model with its aims in order: objectives, kept actions, soft wishes, and every action as early as
        possible.
        """
        situation = self.outlook(journeys)
        longer = max((slack_of(situation, action) or 0 for action in self.planned.values()), default=0)
        sequence = Sequence(situation, len(self.draft) or journeys + len(situation.tasks), longer, self.draft)
        aims = Aims(sequence, Presence(sequence))
        objectives = list(map(aims.expression, situation.objectives))
        changes: list[Expression] = []
        if self.planned:
            keeping = Keeping(sequence, self.planned)
            for index in self.fixed:
                sequence.model.add(keeping.is_kept[index] == 1)
            changes.append(keeping.changes)
        return sequence, [*objectives, *changes, aims.wishes(), aims.ties()]


# -- the search --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Found:
    """Result with `values` and `bounds`, one for each aim that was optimised; an aim is proven best if they are equal."""

    actions: tuple[Act, ...]
    values: tuple[int, ...]
    bounds: tuple[int, ...]
    is_cut_short: bool = False
    """By the clock: another time it may be another plan."""


@dataclass(frozen=True, slots=True)
class Unsolved:
    """No plan. `is_proof`: there is none; otherwise none was found in time."""

    is_proof: bool


def search(
    sequence: Sequence,
    aims: Ordered[Expression],
    budget: Budget,
    *,
    start_from: Iterable[Act] = (),
    foremost: float | None = None,
) -> Found | Unsolved:
    """Return the best in the order of `aims`; without aims, any. `foremost`: the effort for the first aim, if it differs."""
    model = sequence.model
    started = tuple(start_from)
    if started:
        _hint(sequence, started)
    found = Found((), (), ())
    for number, aim in enumerate(aims or (total([]),)):
        model.minimize(aim)
        if number and not model.proto.objective.vars:  # nothing to choose: no food, no wishes
            value = round(model.proto.objective.offset)
            found = replace(found, values=(*found.values, value), bounds=(*found.bounds, value))
            continue
        solver = solver_with(budget if number else replace(budget, effort=foremost or budget.effort))
        status = solver.solve(model)
        has_tried = budget.effort is not None and solver.response_proto.deterministic_time >= budget.effort
        is_cut = found.is_cut_short or (status != cp_model.OPTIMAL and not has_tried)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return replace(found, is_cut_short=is_cut) if number else Unsolved(is_proof=status == cp_model.INFEASIBLE)
        value = round(solver.objective_value)
        bound = value if status == cp_model.OPTIMAL else proven_bound(solver)
        found = Found(_actions_of(sequence, solver.value), (*found.values, value), (*found.bounds, bound), is_cut)
        model.add(aim <= value)
        model.clear_hints()  # type: ignore[no-untyped-call] # CP-SAT does not say
        for index in range(len(model.proto.variables)):
            variable = model.get_int_var_from_proto_index(index)
            model.add_hint(variable, solver.value(variable))
    return found


# -- between steps of a sequence and actions of a plan -----------------------------------------------------------------


def _actions_of(sequence: Sequence, value: Callable[[Literal], int]) -> tuple[Act, ...]:
    """Return the actions in the order of the steps; `value` gives a variable's value."""
    here = sequence.situation
    drivers = {car.name: car.drivers for car in here.cars}

    def chosen(flags: Mapping[Any, Literal]) -> list[Any]:
        return [name for name, flag in flags.items() if value(flag)]

    def travel(k: int) -> Journey:
        (leg,), (car,), aboard = chosen(sequence.takes[k]), chosen(sequence.by[k]), chosen(sequence.acts[k])
        driver = next((name for name in drivers[car] or () if name in aboard), None)
        riders = tuple(name for name in aboard if name != driver)
        return journey(car, driver, riders, (leg.here, leg.there), (value(sequence.start[k]), value(sequence.end[k])))

    def work(k: int) -> Work:
        (name,) = chosen(sequence.does[k])
        place = next(task.place for task in here.tasks if task.name == name) or chosen(sequence.chosen[name])[0]
        who = tuple(chosen(sequence.keeps.get(name, sequence.acts[k])))
        start, end = value(sequence.start[k]), value(sequence.end[k])
        return Work.model_construct(task=name, who=who, place=place, start=start, end=end)

    used = (k for k in range(sequence.count) if value(sequence.is_used[k]))
    return tuple(travel(k) if value(sequence.is_journey[k]) else work(k) for k in used)


def _hint(sequence: Sequence, actions: Iterable[Act]) -> None:
    """Start the search at these actions, as far as the sequence knows what they name."""
    model = sequence.model
    model.clear_hints()  # type: ignore[no-untyped-call] # CP-SAT does not say
    ordered = sorted(actions, key=lambda each: each.start)[: sequence.count]
    padded = [*ordered, *[None] * (sequence.count - len(ordered))]
    for start, action in zip(sequence.start, padded, strict=True):
        model.add_hint(start, sequence.situation.ends if action is None else action.start)
    for table, drafted in zip(sequence.tables, sequence.tables_of(padded), strict=True):
        for row, known in zip(table, drafted, strict=True):
            for name, flag in row.items():
                if not isinstance(flag, bool):
                    model.add_hint(flag, known[name] is True)

"""Search: runs CP-SAT over a sequence, one aim after the other, holding each while the next is optimised.

One worker with a fixed seed: the same question has the same answer, unless time ran out before the proof.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Ordered
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ortools.sat.python import cp_model

from sagagraph.domains.reunion.planning.model.draft import actions_of, hint
from sagagraph.planning.cp_sat import proven_bound, solver_with

if TYPE_CHECKING:
    from sagagraph.domains.reunion.plan import Journey, Work
    from sagagraph.domains.reunion.planning.model.sequence import Sequence
    from sagagraph.planning.budget import Budget

    Action = Journey | Work


@dataclass(frozen=True, slots=True)
class Found:
    """`values` and `bounds` one for each aim that was looked at; an aim is proven best where they are equal."""

    actions: tuple[Action, ...]
    values: tuple[int, ...]
    bounds: tuple[int, ...]
    is_cut_short: bool = False
    """By the clock: another time it may be another plan."""


@dataclass(frozen=True, slots=True)
class NothingFound:
    """`is_proof`: there is nothing; otherwise the time ran out."""

    is_proof: bool


def search(
    sequence: Sequence,
    aims: Ordered[cp_model.LinearExprT],
    budget: Budget,
    *,
    start_from: Iterable[Action] = (),
    foremost: float | None = None,
) -> Found | NothingFound:
    """Return the best in the order of `aims`; without aims, any. `foremost`: the effort for the first, if it is another."""
    started = tuple(start_from)
    if started:
        hint(sequence, started)
    found = Found((), (), ())
    for number, aim in enumerate(aims or (0,)):
        sequence.model.minimize(aim)
        if number and not sequence.model.proto.objective.vars:  # nothing to choose: no food, no wishes
            value = round(sequence.model.proto.objective.offset)
            found = replace(found, values=(*found.values, value), bounds=(*found.bounds, value))
            continue
        solver = solver_with(budget if number else replace(budget, effort=foremost or budget.effort))
        status = solver.solve(sequence.model)
        is_cut = found.is_cut_short or (status != cp_model.OPTIMAL and not _has_tried(solver, budget))
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return replace(found, is_cut_short=is_cut) if number else NothingFound(is_proof=status == cp_model.INFEASIBLE)
        value = round(solver.objective_value)
        bound = value if status == cp_model.OPTIMAL else proven_bound(solver)
        found = Found(actions_of(sequence, solver.value), (*found.values, value), (*found.bounds, bound), is_cut)
        sequence.model.add(aim <= value)
        keep_as_hint(sequence, solver)
    return found


def _has_tried(solver: cp_model.CpSolver, budget: Budget) -> bool:
    """Tell whether the search used its full effort."""
    return budget.effort is not None and solver.response_proto.deterministic_time >= budget.effort


def keep_as_hint(sequence: Sequence, solver: cp_model.CpSolver) -> None:
    sequence.model.clear_hints()  # type: ignore[no-untyped-call] # CP-SAT does not say
    for index in range(len(sequence.model.proto.variables)):
        variable = sequence.model.get_int_var_from_proto_index(index)
        sequence.model.add_hint(variable, solver.value(variable))

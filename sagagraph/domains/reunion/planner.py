"""Plans a logistics problem: the best in the order of its objectives, with a proof of how good it is, or that there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from sagagraph.domains.reunion.aims import Aims
from sagagraph.domains.reunion.plan import ReunionPlan
from sagagraph.domains.reunion.presence import Presence
from sagagraph.domains.reunion.search import Budget, Found, search
from sagagraph.domains.reunion.sequence import Sequence
from sagagraph.domains.reunion.situation import situation_of
from sagagraph.domains.reunion.tours import most_journeys

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from sagagraph.domains.reunion.plan import Journey, Work
    from sagagraph.domains.reunion.problem import Objective, ReunionProblem
    from sagagraph.domains.reunion.situation import Situation

    Action = Journey | Work

FIRST_TRIES: Final = (2, 4, 7, 11, 16)
"""How many journeys a first plan may have: as few as will do, for small models are quick."""
MOST_JOURNEYS: Final = 24
"""More than these are not modelled at once; a proof that would need them is not given."""
COUNTED: Final = 200
"""How far the journeys of a plan are counted when asking whether there can be more than that."""


class Status(StrEnum):
    OPTIMAL = "optimal"
    """No plan is better in the objectives."""
    FEASIBLE = "feasible"
    """The time ran out before the proof: see the bounds."""


@dataclass(frozen=True, slots=True)
class Attained:
    """What a plan comes to in an objective, and what no plan goes below."""

    objective: Objective
    value: int
    bound: int


@dataclass(frozen=True, slots=True)
class Solved:
    plan: ReunionPlan
    objectives: tuple[Attained, ...]
    status: Status
    seconds_to_first: float
    """From the beginning of the search to the first plan."""


@dataclass(frozen=True, slots=True)
class Unsolved:
    """`is_proof`: there is no plan; otherwise none was found in time."""

    is_proof: bool


Outlook = Callable[[int], "Situation"]
"""The situation for at most so many journeys."""


def plan(problem: ReunionProblem, budget: Budget) -> Solved | Unsolved:
    answer: Solved | Unsolved = Unsolved(is_proof=True)
    for outlook in outlooks_of(problem):
        answer = solve(problem, outlook, budget)
        if isinstance(answer, Solved) or not answer.is_proof:
            return answer
    return answer


def outlooks_of(problem: ReunionProblem) -> tuple[Outlook, ...]:
    """As one would plan it: nothing before the earliest moment stated, and who has met their last goal stays. And, only where
    that leaves no plan, without either."""
    return (
        lambda journeys: situation_of(problem, journeys=journeys),
        lambda journeys: situation_of(problem, journeys=journeys, is_free=True),
    )


def solve(problem: ReunionProblem, outlook: Outlook, budget: Budget) -> Solved | Unsolved:
    started = budget.clock()
    first = first_plan(outlook, budget)
    if isinstance(first, Unsolved):
        return first
    seconds = budget.clock() - started
    found, is_exact = best_plan(outlook, first, budget)
    objectives = outlook(0).objectives
    attained = tuple(
        Attained(each, value, bound if is_exact else 0)
        for each, value, bound in zip(objectives, found.values, found.bounds, strict=False)
    )
    proven = is_exact and len(attained) == len(objectives) and all(each.value == each.bound for each in attained)
    status = Status.OPTIMAL if proven else Status.FEASIBLE
    return Solved(ReunionPlan(problem=problem.name, actions=found.actions), attained, status, seconds)


def first_plan(outlook: Outlook, budget: Budget) -> tuple[Action, ...] | Unsolved:
    """Any, with as few journeys as will do. That there is none is proven where all were looked at that there can be."""
    most = most_journeys(outlook(MOST_JOURNEYS), COUNTED)
    answer = Unsolved(is_proof=False)
    for tried in sorted({*(few for few in FIRST_TRIES if few < most), min(most, MOST_JOURNEYS)}):
        sequence, _ = model_of(outlook(tried), tried)
        found = search(sequence, (), budget)
        if isinstance(found, Found):
            return found.actions
        answer = Unsolved(is_proof=found.is_proof and tried >= most)
        if not found.is_proof:
            break
    return answer


def best_plan(outlook: Outlook, first: tuple[Action, ...], budget: Budget) -> tuple[Found, bool]:
    """And whether no journey more would help. What a good plan costs bounds how many journeys a better one has."""
    journeys = sum(action.do == "travel" for action in first)
    good = _improved(outlook, journeys + 1, first, budget)
    most = most_journeys(outlook(MOST_JOURNEYS), COUNTED, good.values[0] if good.values else None)
    if most > journeys + 1:
        good = _improved(outlook, min(most, MOST_JOURNEYS), good.actions, budget)
    return good, most <= MOST_JOURNEYS


def _improved(outlook: Outlook, journeys: int, known: tuple[Action, ...], budget: Budget) -> Found:
    sequence, aims = model_of(outlook(journeys), journeys)
    found = search(sequence, aims, budget, start_from=known)
    if isinstance(found, Found):
        return found
    return Found(known, (), ())


def model_of(situation: Situation, journeys: int) -> tuple[Sequence, list[cp_model.LinearExprT]]:
    """With the aims in their order: the objectives, the soft wishes, and every action as early as possible."""
    sequence = Sequence(situation, journeys + len(situation.tasks))
    presence = Presence(sequence)
    aims = Aims(sequence, presence)
    return sequence, [*(aims.expression(each) for each in situation.objectives), aims.wishes(), aims.ties()]

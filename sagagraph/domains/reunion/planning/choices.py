"""Choices: alternatives to the preferred plan, each better in something that people ask about."""

from __future__ import annotations

from dataclasses import astuple, replace
from typing import Final

from sagagraph.domains.reunion.plan import ReunionPlan
from sagagraph.domains.reunion.planning.measure import Tradeoffs, measure, tradeoffs
from sagagraph.domains.reunion.planning.model.search import Found, search
from sagagraph.domains.reunion.planning.solving import plain, questions_of
from sagagraph.domains.reunion.request import Objective, ReunionProblem
from sagagraph.planning.budget import Budget

MOST_PEOPLE: Final = 10
"""More are planned in teams, and get no choice."""
NOTICEABLE: Final = 5
"""Minutes or kilometres: what is better by less is no choice."""
EFFORT: Final = 0.3
"""For each step of one search, in CP-SAT's own measure, which is the same on a busy machine."""
MOST_DRIVING: Final = 1.5
"""Of the preferred plan's: what takes more is no choice, whatever it is better in."""
SOUGHT: Final = (Objective.MAKESPAN, Objective.WAITING, Objective.DRIVING_MINUTES, Objective.WORKLOAD_BALANCE)


def choices(problem: ReunionProblem, preferred: ReunionPlan, most: int, budget: Budget) -> tuple[ReunionPlan, ...]:
    """Return up to `most` plans: over earlier, with less waiting, with less driving, more evenly shared; sought in this order.

    A plan that improves on nothing in an earlier one is left out. If time runs out there are fewer. Beside a plan with
    slack, the others need have none: so what it costs is seen.
    """
    driven = problem.model_copy(update={"objectives": (Objective.DRIVING_MINUTES,)})
    simpler = driven if Objective.ROBUSTNESS in problem.objectives else problem
    others: list[ReunionPlan] = []
    known = [tradeoffs(problem, preferred)]
    for aim in SOUGHT if len(problem.people) <= MOST_PEOPLE else ():
        is_sought_already = aim is Objective.DRIVING_MINUTES and problem.objectives[:1] == (aim,)
        value = round(measure(problem, preferred, aim))
        if is_sought_already or value < NOTICEABLE or len(others) == most or not budget.left:
            continue
        other = _better(simpler, preferred, aim, value, budget)
        if other is not None and all(_is_better_somewhere(tradeoffs(problem, other), each) for each in known):
            others.append(other)
            known.append(tradeoffs(problem, other))
    return tuple(others)


def _better(problem: ReunionProblem, preferred: ReunionPlan, aim: Objective, value: int, budget: Budget) -> ReunionPlan | None:
    """Return a plan with less than `value`, with at most one journey more; None: there is none, or it was not found in time."""
    question = replace(questions_of(problem, plain)[0], foremost=aim)
    driven = measure(problem, preferred, Objective.DRIVING_MINUTES)
    sequence, aims = question.model(sum(action.do == "travel" for action in preferred.actions) + 1)
    sequence.model.add(aims[0] <= value - NOTICEABLE)
    legs = sequence.situation.legs
    minutes = (leg.minutes * used for row in sequence.steps.uses_leg for leg, used in zip(legs, row, strict=True))
    sequence.model.add(sum(minutes) <= int(MOST_DRIVING * driven))
    found = search(sequence, aims, replace(budget, effort=EFFORT), start_from=preferred.actions)
    if not isinstance(found, Found) or found.is_cut_short:
        return None
    return ReunionPlan.model_construct(problem=problem.name, actions=found.actions)


def _is_better_somewhere(one: Tradeoffs, other: Tradeoffs) -> bool:
    return any((mine or 0) <= (theirs or 0) - NOTICEABLE for mine, theirs in zip(astuple(one), astuple(other), strict=True))

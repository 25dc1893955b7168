"""Planner: the best plan in the order of the problem's objectives, with a proof of its quality, or that there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, replace
from typing import Final

from sagagraph.domains.reunion.plan import Act, ReunionPlan
from sagagraph.domains.reunion.planning.bound import driving_bound
from sagagraph.domains.reunion.planning.drafting import draft, first_draft
from sagagraph.domains.reunion.planning.measure import measure, tradeoffs
from sagagraph.domains.reunion.planning.model.logic import total
from sagagraph.domains.reunion.planning.model.reach import METRES, is_too_late
from sagagraph.domains.reunion.planning.model.search import Found, Question, Unsolved, search
from sagagraph.domains.reunion.planning.solving import (
    MOST_JOURNEYS,
    Attained,
    Setting,
    Solved,
    is_impossible,
    plain,
    questions_of,
    solve,
    sought,
    timed,
)
from sagagraph.domains.reunion.request import Objective, ReunionProblem
from sagagraph.planning.background import nobody
from sagagraph.planning.budget import Budget
from sagagraph.planning.cp_sat import Status

MANY: Final = 10
"""If there are more people than these, a draft by rounds is planned first, and there are no choices."""
TOO_MANY: Final = 25
"""If there are more people than these, they are never planned as a whole, but as they are drafted."""
FIRST_S: Final = 10.0
"""For a first plan, whatever time there is: it takes half a second of an idle core for 60 people."""
DRAFT_SHARE: Final = 0.8
"""Of the time."""
SECONDS_TO_BOUND: Final = 2.5
SECONDS_TO_BOUND_FEW: Final = 0.5


def plan(
    problem: ReunionProblem,
    budget: Budget,
    setting: Setting = plain,
    before: tuple[Act, ...] = (),
    tell: Callable[[tuple[Act, ...]], None] = nobody,
) -> Solved | Unsolved:
    """Plan everything that has not begun in the setting; `before` is what has begun, and belongs to the plan. `tell` is called
    with each plan that is found before the best.
    """
    problem = sought(problem)
    usual, free = questions_of(problem, setting)
    if len(problem.people) > MANY:
        first = timed(usual, first_draft(usual.outlook(0)), Budget.of(FIRST_S, budget.clock), is_any=True)
        if first:
            tell((*before, *first))
        elif is_too_late(free.outlook(MOST_JOURNEYS)):
            return Unsolved(is_proof=True)
        if best := _drafted(usual, first, budget):
            tell((*before, *best))
            least = bound_of(problem, budget.part(SECONDS_TO_BOUND), setting, before)
            return judged(problem, (*before, *best), least)
    if len(problem.people) > TOO_MANY:
        return Unsolved(is_proof=False)
    answer = solve(problem, usual, budget, before=before, tell=tell)
    if isinstance(answer, Unsolved) and not is_impossible(problem, setting, budget):
        return solve(problem, free, budget, before=before, tell=tell)
    if isinstance(answer, Unsolved):
        return Unsolved(is_proof=True)
    return _bounded(problem, answer, Budget.of(SECONDS_TO_BOUND_FEW, budget.clock), setting, before)


def _drafted(question: Question, first: tuple[Act, ...], budget: Budget) -> tuple[Act, ...]:
    """Return a better plan for many people than the first: the rounds that were chosen, at times that keep to all rules; if there
    is none in time, the first; if that is none either, one with as many journeys.
    """
    drafted = draft(question.outlook(0), budget.part(budget.left * DRAFT_SHARE))
    found = timed(question, drafted, budget) if budget.left else ()
    if found or first or not drafted:
        return found or first
    sequence, _ = question.model(sum(act.do == "travel" for act in drafted))
    answer = search(sequence, (), budget, start_from=drafted)
    return answer.actions if isinstance(answer, Found) else ()


def _bounded(problem: ReunionProblem, solved: Solved, budget: Budget, setting: Setting, before: tuple[Act, ...]) -> Solved:
    """Return it with the bound by flows, if the search has proven less."""
    if solved.status is Status.OPTIMAL or not solved.objectives:
        return solved
    first, *others = solved.objectives
    least = bound_of(problem, budget, setting, before)
    return replace(solved, objectives=(replace(first, bound=max(first.bound, least)), *others))


def bound_of(problem: ReunionProblem, budget: Budget, setting: Setting, before: tuple[Act, ...]) -> float:
    """Return a lower bound of the first objective over all plans, including history."""
    situation = setting(problem, 0, is_free=False)
    if not situation.objectives:
        return 0
    objective = situation.objectives[0]
    least = driving_bound(situation, objective, budget)
    begun = measure(problem, ReunionPlan.model_construct(problem=problem.name, actions=before), objective) if least else 0
    return begun + (least / METRES if objective is Objective.DISTANCE else least)


def judged(problem: ReunionProblem, actions: tuple[Act, ...], least: float) -> Solved:
    """Judge by the lower bound of the first objective."""
    made = ReunionPlan.model_construct(problem=problem.name, actions=actions)
    attained = (
        Attained(objective, measure(problem, made, objective), 0 if number else least)
        for number, objective in enumerate(problem.objectives)
    )
    return Solved(made, tuple(attained))


# -- choices ----------------------------------------------------------------------------------------------------------


NOTICEABLE: Final = 5
"""Minutes or kilometres: a smaller improvement is not offered as an alternative."""
EFFORT: Final = 0.3
"""For each step of one search, in CP-SAT's own measure, which is the same on a busy machine."""
MOST_DRIVING: Final = 1.5
"""Share of the preferred plan's driving: a plan with more than that is not offered, however good it is otherwise."""
SOUGHT: Final = (Objective.MAKESPAN, Objective.WAITING, Objective.DRIVING_MINUTES, Objective.WORKLOAD_BALANCE)


def choices(problem: ReunionProblem, preferred: ReunionPlan, most: int, budget: Budget) -> tuple[ReunionPlan, ...]:
    """Return up to `most` plans: ends earlier, less waiting, less driving, work shared more evenly; sought in this order.

    A plan that is better than an earlier one in nothing is left out. If time runs out there are fewer. If the preferred plan has
    slack, the others need have none, which shows what the slack costs.
    """
    driven = problem.model_copy(update={"objectives": (Objective.DRIVING_MINUTES,)})
    simpler = driven if Objective.ROBUSTNESS in problem.objectives else problem
    known = [preferred]
    for aim in SOUGHT if len(problem.people) <= MANY else ():
        is_sought_already = aim is Objective.DRIVING_MINUTES and problem.objectives[:1] == (aim,)
        value = round(measure(problem, preferred, aim))
        if is_sought_already or value < NOTICEABLE or len(known) > most or not budget.left:
            continue
        other = _better(simpler, preferred, aim, value, budget)
        if other is not None and all(_is_better_somewhere(problem, other, each) for each in known):
            known.append(other)
    return tuple(known[1:])


def _better(problem: ReunionProblem, preferred: ReunionPlan, aim: Objective, value: int, budget: Budget) -> ReunionPlan | None:
    """Return a plan with less than `value`, with at most one more journey; None: there is none, or it was not found in time."""
    aimed = problem.model_copy(update={"objectives": (aim, *problem.objectives)})
    question, _ = questions_of(aimed, plain)
    driven = measure(problem, preferred, Objective.DRIVING_MINUTES)
    sequence, aims = question.model(sum(action.do == "travel" for action in preferred.actions) + 1)
    sequence.model.add(aims[0] <= value - NOTICEABLE)
    sequence.model.add(total(leg.minutes * took for _, leg, took in sequence.roads()) <= int(MOST_DRIVING * driven))
    found = search(sequence, aims, replace(budget, effort=EFFORT), start_from=preferred.actions)
    if not isinstance(found, Found) or found.is_cut_short:
        return None
    return ReunionPlan.model_construct(problem=problem.name, actions=found.actions)


def _is_better_somewhere(problem: ReunionProblem, one: ReunionPlan, other: ReunionPlan) -> bool:
    figures = zip(astuple(tradeoffs(problem, one)), astuple(tradeoffs(problem, other)), strict=True)
    return any((mine or 0) <= (theirs or 0) - NOTICEABLE for mine, theirs in figures)

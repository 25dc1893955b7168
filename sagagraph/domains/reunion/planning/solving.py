"""Solving one question exactly: first any plan, then the best, with a proof of its quality, or that there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol

from sagagraph.domains.reunion.plan import Act, ReunionPlan
from sagagraph.domains.reunion.planning.measure import measure
from sagagraph.domains.reunion.planning.model.reach import METRES, is_too_late, most_journeys
from sagagraph.domains.reunion.planning.model.search import Found, Question, Unsolved, search
from sagagraph.domains.reunion.planning.model.situation import Situation, situation_of
from sagagraph.domains.reunion.request import MOST_WITH_SLACK, Objective, ReunionProblem
from sagagraph.planning.background import nobody
from sagagraph.planning.budget import Budget
from sagagraph.planning.cp_sat import Status


class Setting(Protocol):
    """Setting: the situation in which a problem is to be solved, with at most this many further journeys."""

    def __call__(self, problem: ReunionProblem, journeys: int, *, is_free: bool) -> Situation: ...


FIRST_TRIES: Final = (2, 4, 8, 14)
"""How many journeys more than the fixed ones a first plan may have: as few as will do, because small models are quick."""
MOST_JOURNEYS: Final = 24
"""The most journeys that are modelled at once; a proof that would need more is not given."""
SPARE_JOURNEYS: Final = 1
"""The same for a plan with slack: more than for a first plan. With one more, everything is proven best in a second or two; with
two, hardly.
"""
EFFORT_FOR_SLACK: Final = 0.4
"""In CP-SAT's own measure, which is the same on a busy machine."""
EFFORT: Final = 0.3
"""For each aim after slack."""
EFFORT_TO_TIME: Final = 10.0
"""For the first aim of a draft, which has times or has none."""
EFFORT_TO_TIDY: Final = 0.1
"""For each aim after it."""
COUNTED: Final = 200
"""Up to how many journeys a plan is examined when asking whether it can have more than that."""
plain: Final[Setting] = situation_of
"""Before anything has happened."""


@dataclass(frozen=True, slots=True)
class Attained:
    """Value that a plan attains in an objective (see `measure`), and a bound that no plan goes below."""

    objective: Objective
    value: float
    bound: float


@dataclass(frozen=True, slots=True)
class Solved:
    plan: ReunionPlan
    objectives: tuple[Attained, ...]

    @property
    def values(self) -> tuple[float, ...]:
        return tuple(each.value for each in self.objectives)

    @property
    def status(self) -> Status:
        return Status.OPTIMAL if all(each.value == each.bound for each in self.objectives) else Status.FEASIBLE


def sought(problem: ReunionProblem) -> ReunionProblem:
    """Return the problem without objectives that are not optimised for so many people."""
    left = tuple(each for each in problem.objectives if each is not Objective.ROBUSTNESS)
    return problem if len(problem.people) <= MOST_WITH_SLACK else problem.model_copy(update={"objectives": left})


def questions_of(problem: ReunionProblem, setting: Setting) -> tuple[Question, Question]:
    """Return the questions as people would plan: nothing before the earliest moment stated, and people who have met their last
    goal stay. And, only if that has no plan, without either.
    """
    return Question(partial(setting, problem, is_free=False)), Question(partial(setting, problem, is_free=True))


def is_impossible(problem: ReunionProblem, setting: Setting, budget: Budget) -> bool:
    """Tell whether it is proven that there is no plan, not even without what can be done after everything else is over."""
    tasks = (task.model_copy(update={"optional": True}) if task.window.closes is None else task for task in problem.tasks)
    urgent = problem.model_copy(update={"tasks": tuple(tasks)})
    answer = first_plan(questions_of(urgent, setting)[1], budget)
    return isinstance(answer, Unsolved) and answer.is_proof


def solve(
    problem: ReunionProblem,
    question: Question,
    budget: Budget,
    *,
    improving: Budget | None = None,
    before: tuple[Act, ...] = (),
    tell: Callable[[tuple[Act, ...]], None] = nobody,
) -> Solved | Unsolved:
    """Solve. `improving`: until when a plan that is found is made better, if not until the end of the budget. `before`: what has
    begun already, and belongs to the plan. `tell` is called with each plan that is found first.
    """
    first = first_plan(question, budget)
    if isinstance(first, Unsolved):
        return first
    tell((*before, *first))
    found, is_exact = best_plan(question, first, improving or budget, lambda better: tell((*before, *better)))
    made = ReunionPlan.model_construct(problem=problem.name, actions=(*before, *found.actions))

    def attained(number: int, objective: Objective) -> Attained:
        is_found = number < len(found.values)
        if objective is Objective.ROBUSTNESS:  # its survival of all existing disturbances has been established by nobody
            all_of_them = len(problem.people) + len({frozenset((each.here, each.there)) for each in problem.travel_minutes})
            return Attained(objective, found.values[number] if is_found else all_of_them, 0)
        value = measure(problem, made, objective)
        if not is_exact or not is_found:
            return Attained(objective, value, 0)
        gap = found.values[number] - found.bounds[number]
        return Attained(objective, value, value - (gap / METRES if objective is Objective.DISTANCE else gap))

    return Solved(made, tuple(attained(*each) for each in enumerate(problem.objectives)))


def timed(question: Question, draft: tuple[Act, ...], budget: Budget, *, is_any: bool = False) -> tuple[Act, ...]:
    """Return the draft at the best times that keep to all rules, or `is_any` that do; nothing if there are none."""
    if not draft:
        return ()
    sequence, aims = replace(question, draft=draft).model(0)
    limited = replace(budget, effort=budget.effort or EFFORT_TO_TIDY)
    found = search(sequence, () if is_any else aims, limited, start_from=draft, foremost=EFFORT_TO_TIME)
    return found.actions if isinstance(found, Found) else ()


def first_plan(question: Question, budget: Budget) -> tuple[Act, ...] | Unsolved:
    """Return any plan, with as few journeys as will do. That there is none is proven if every possible number of journeys was
    tried.
    """
    outlook = question.outlook(MOST_JOURNEYS)
    if is_too_late(outlook):
        return Unsolved(is_proof=True)
    fixed = sum(question.planned[index].do == "travel" for index in question.fixed)
    most = most_journeys(outlook, COUNTED)
    answer = Unsolved(is_proof=False)
    for tried in sorted({*(fixed + few for few in FIRST_TRIES if fixed + few < most), min(most, fixed + MOST_JOURNEYS)}):
        sequence, _ = question.model(tried)
        found = search(sequence, (), budget, start_from=question.planned.values())
        if isinstance(found, Found):
            return found.actions
        answer = Unsolved(is_proof=found.is_proof and tried >= most)
        if not found.is_proof:
            break
    return answer


def best_plan(
    question: Question, first: tuple[Act, ...], budget: Budget, tell: Callable[[tuple[Act, ...]], None] = nobody
) -> tuple[Found, bool]:
    """Return the best plan, and whether one more journey could help. `tell` is called with a good one before the best.

    The cost of a good plan limits how many journeys a better one has, so the objectives are optimised with few journeys first,
    and then all aims with as many as that allows.

    With slack there are only as many journeys as necessary, or as are planned: slack has its price, but nobody drives around for
    it.
    """
    counts = [sum(action.do == "travel" for action in actions) for actions in (first, question.planned.values())]
    journeys = counts[0] + 1
    objectives = question.outlook(journeys).objectives
    if not objectives or Objective.ROBUSTNESS in objectives:
        sequence, aims = question.model(max(counts) + SPARE_JOURNEYS)
        limited = replace(budget, effort=budget.effort or EFFORT)
        effort = budget.effort or EFFORT_FOR_SLACK
        answer = search(sequence, aims, limited, start_from=first, foremost=effort)
        return answer if isinstance(answer, Found) else Found(first, (), ()), False
    sequence, aims = question.model(journeys)
    answer = search(sequence, aims[: len(objectives)], budget, start_from=first)
    good = answer if isinstance(answer, Found) else Found(first, (), ())
    tell(good.actions)
    most = most_journeys(question.outlook(MOST_JOURNEYS), COUNTED, good.values[0] if good.values else None)
    sequence, aims = question.model(max(journeys, min(most, MOST_JOURNEYS)))
    best = search(sequence, aims, budget, start_from=good.actions)
    return best if isinstance(best, Found) and best.values else good, most <= max(journeys, MOST_JOURNEYS)

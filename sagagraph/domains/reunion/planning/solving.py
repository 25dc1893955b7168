"""Solving one question exactly: first any plan, then the best, with a proof of its quality, or that there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol

from sagagraph.domains.reunion.plan import Act, ReunionPlan
from sagagraph.domains.reunion.planning.measure import measure
from sagagraph.domains.reunion.planning.model.reach import METRES, is_too_late, most_journeys
from sagagraph.domains.reunion.planning.model.search import Found, Question, search
from sagagraph.domains.reunion.planning.model.situation import Situation, situation_of
from sagagraph.domains.reunion.request import MOST_WITH_SLACK, Objective, ReunionProblem
from sagagraph.planning.budget import Budget
from sagagraph.planning.cp_sat import Status


class Setting(Protocol):
    """The situation in which a problem is to be solved, with at most so many journeys more."""

    def __call__(self, problem: ReunionProblem, journeys: int, *, is_free: bool) -> Situation: ...


FIRST_TRIES: Final = (2, 4, 8, 14)
"""How many journeys more than are fixed a first plan may have: as few as will do, for small models are quick."""
MOST_JOURNEYS: Final = 24
"""More than these are not modelled at once; a proof that would need them is not given."""
SPARE_JOURNEYS: Final = 1
"""For a plan with slack: more than a first plan has. One lets everything be proven best in a second or two, two hardly."""
EFFORT_FOR_SLACK: Final = 0.4
"""In CP-SAT's own measure, which is the same on a busy machine."""
EFFORT: Final = 0.3
"""For each aim after it."""
COUNTED: Final = 200
"""How far the journeys of a plan are counted when asking whether there can be more than that."""
plain: Final[Setting] = situation_of
"""Before anything has happened."""


@dataclass(frozen=True, slots=True)
class Attained:
    """What a plan comes to in an objective (see `measure`), and what no plan goes below."""

    objective: Objective
    value: float
    bound: float


@dataclass(frozen=True, slots=True)
class Solved:
    plan: ReunionPlan
    objectives: tuple[Attained, ...]
    seconds_to_first: float
    """From the beginning of the search to the first plan."""

    @property
    def status(self) -> Status:
        return Status.OPTIMAL if all(each.value == each.bound for each in self.objectives) else Status.FEASIBLE


@dataclass(frozen=True, slots=True)
class Unsolved:
    """`is_proof`: there is no plan; otherwise none was found in time."""

    is_proof: bool


def sought(problem: ReunionProblem) -> ReunionProblem:
    """Return the problem without what is not looked for with so many people."""
    left = tuple(each for each in problem.objectives if each is not Objective.ROBUSTNESS)
    return problem if len(problem.people) <= MOST_WITH_SLACK else problem.model_copy(update={"objectives": left})


def questions_of(problem: ReunionProblem, setting: Setting) -> tuple[Question, Question]:
    """As one would plan it: nothing before the earliest moment stated, and who has met their last goal stays. And, only where
    that leaves no plan, without either."""
    return Question(partial(setting, problem, is_free=False)), Question(partial(setting, problem, is_free=True))


def is_impossible(problem: ReunionProblem, setting: Setting, budget: Budget) -> bool:
    """Whether it is proven that there is no plan: not even if what can be done after all else is over were left out."""
    tasks = (task.model_copy(update={"optional": True}) if task.window.closes is None else task for task in problem.tasks)
    urgent = problem.model_copy(update={"tasks": tuple(tasks)})
    answer = first_plan(questions_of(urgent, setting)[1], budget)
    return isinstance(answer, Unsolved) and answer.is_proof


def solve(problem: ReunionProblem, question: Question, budget: Budget, *, before: tuple[Act, ...] = ()) -> Solved | Unsolved:
    """`before`: what has begun already, and belongs to the plan."""
    started = budget.clock()
    first = first_plan(question, budget)
    if isinstance(first, Unsolved):
        return first
    seconds = budget.clock() - started
    found, is_exact = best_plan(question, first, budget)
    made = ReunionPlan.model_construct(problem=problem.name, actions=(*before, *found.actions))

    def attained(number: int, objective: Objective) -> Attained:
        is_found = number < len(found.values)
        if objective is Objective.ROBUSTNESS:  # of all disturbances that there are, nobody has found that it survives any
            all_of_them = len(problem.people) + len({frozenset((each.here, each.there)) for each in problem.travel_minutes})
            return Attained(objective, found.values[number] if is_found else all_of_them, 0)
        value = measure(problem, made, objective)
        if not is_exact or not is_found:
            return Attained(objective, value, 0)
        gap = found.values[number] - found.bounds[number]
        return Attained(objective, value, value - (gap / METRES if objective is Objective.DISTANCE else gap))

    return Solved(made, tuple(attained(*each) for each in enumerate(problem.objectives)), seconds)


def first_plan(question: Question, budget: Budget) -> tuple[Act, ...] | Unsolved:
    """Any, with as few journeys as will do. That there is none is proven where all were looked at that there can be."""
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


def best_plan(question: Question, first: tuple[Act, ...], budget: Budget) -> tuple[Found, bool]:
    """And whether no journey more would help. What a good plan costs bounds how many journeys a better one has, so that the
    objectives are looked at with few journeys first, and all aims then with as many as that leaves.

    With slack there are few journeys more than it takes, or than are planned: it has its price, but nobody drives about for it.
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
    most = most_journeys(question.outlook(MOST_JOURNEYS), COUNTED, good.values[0] if good.values else None)
    sequence, aims = question.model(max(journeys, min(most, MOST_JOURNEYS)))
    best = search(sequence, aims, budget, start_from=good.actions)
    return best if isinstance(best, Found) and best.values else good, most <= max(journeys, MOST_JOURNEYS)

"""Plans large problems: teams by themselves, then two teams at a time together, as long as that makes the plan better.

(A large neighbourhood search: Shaw, "Using constraint programming and local search methods to solve vehicle routing problems",
1998. The neighbourhood is all that two teams do; the rest of the plan stands.)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import TYPE_CHECKING, Final

from sagagraph.domains.reunion.allotment import allot
from sagagraph.domains.reunion.measure import measure
from sagagraph.domains.reunion.plan import ReunionPlan
from sagagraph.domains.reunion.planner import Unsolved, first_plan, plain, questions_of
from sagagraph.domains.reunion.search import Found, search
from sagagraph.domains.reunion.team import Team, excerpt, teams_of

if TYPE_CHECKING:
    from sagagraph.domains.reunion.plan import Journey, Work
    from sagagraph.domains.reunion.planner import Setting
    from sagagraph.domains.reunion.problem import ReunionProblem
    from sagagraph.domains.reunion.search import Budget

    Action = Journey | Work
    Plans = dict[Team, tuple[Action, ...]]

SECONDS_FIRST: Final = 6.0
"""For the first plan of one team."""
SECONDS_TOGETHER: Final = 4.0
"""For a better plan of one team, or of two."""


@dataclass(frozen=True, slots=True)
class Assembled:
    actions: tuple[Action, ...]
    seconds_to_first: float


def plan_in_teams(problem: ReunionProblem, budget: Budget) -> Assembled | None:
    """None: no plan was found. What it returns is no proof of anything."""
    started = budget.clock()
    plans = _first_plans(problem, budget, plain)
    if plans is None:
        return None
    seconds = budget.clock() - started
    return Assembled(_all_of(_improved(problem, plans, budget)), seconds)


def _all_of(plans: Plans) -> tuple[Action, ...]:
    return tuple(sorted((action for actions in plans.values() for action in actions), key=lambda each: each.start))


def _first_plans(problem: ReunionProblem, budget: Budget, setting: Setting) -> Plans | None:
    """A team that has no plan by itself is joined with the smallest other one."""
    plans: Plans = {}
    waiting = list(allot(problem))
    while waiting:
        team = waiting.pop(0)
        answer = first_plan(questions_of(excerpt(problem, team), setting)[0], budget.part(SECONDS_FIRST))
        if not isinstance(answer, Unsolved):
            plans[team] = answer
            continue
        others = [*plans, *waiting]
        if not others or not budget.left:
            return None
        joined = min(others, key=lambda each: (not each.vehicles, each.size))
        waiting = [each for each in waiting if each != joined] + [team | joined]
        plans.pop(joined, None)
    return plans


def _improved(problem: ReunionProblem, plans: Plans, budget: Budget) -> Plans:
    """Each team by itself, then pairs in random order, until none of them is better together."""
    random = Random(budget.seed)  # noqa: S311 - no secret: the same plan for the same seed
    for team in tuple(plans):
        plans = _replanned(problem, plans, (team,), budget)
    is_better = True
    while is_better and budget.left:
        is_better = False
        pairs = list(combinations(plans, 2))
        random.shuffle(pairs)
        for pair in pairs:
            if all(team in plans for team in pair) and any(team.vehicles for team in pair) and budget.left:
                after = _replanned(problem, plans, pair, budget)
                is_better = is_better or after is not plans
                plans = after
    return plans


def _replanned(problem: ReunionProblem, plans: Plans, teams: tuple[Team, ...], budget: Budget) -> Plans:
    """Planned together, and divided again as they then are; `plans` itself where that is no better."""
    joined = teams[0] if len(teams) == 1 else teams[0] | teams[1]
    known = _all_of({team: plans[team] for team in teams})
    own = excerpt(problem, joined)
    question = questions_of(own, plain)[0]
    sequence, aims = question.model(sum(action.do == "travel" for action in known) + 1)
    found = search(sequence, aims, budget.part(SECONDS_TOGETHER), start_from=known)
    if not isinstance(found, Found) or len(found.values) < len(own.objectives):
        return plans
    others = {team: actions for team, actions in plans.items() if team not in teams}
    divided = {team: tuple(a for a in found.actions if team.takes_part_in(a)) for team in _divided(own, found.actions)}
    after = {**others, **divided}
    return after if _worth(problem, after) < _worth(problem, plans) else plans


def _divided(problem: ReunionProblem, actions: tuple[Action, ...]) -> tuple[Team, ...]:
    """Those who do nothing go with those who stay where they are, so that they are not asked again and again."""
    teams = teams_of(problem, actions)
    idle = [team for team in teams if not any(team.takes_part_in(action) for action in actions)]
    busy = [team for team in teams if team not in idle]
    rest = Team()
    for team in idle:
        rest |= team
    return (*busy, *((rest,) if idle else ()))


def _worth(problem: ReunionProblem, plans: Plans) -> tuple[float, ...]:
    actions = _all_of(plans)
    whole = ReunionPlan.model_construct(problem=problem.name, actions=actions)
    starts = float(sum(action.start for action in actions))
    return (*(measure(problem, whole, each) for each in problem.objectives), starts)

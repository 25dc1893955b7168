"""Teamwork: plans large problems: each team alone, then two teams at a time together, as long as that improves the plan.

(A large neighbourhood search: Shaw, "Using constraint programming and local search methods to solve vehicle routing problems",
1998. The neighbourhood is all that two teams do; the rest of the plan stands.)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import TYPE_CHECKING, Final

from sagagraph.domains.reunion.plan import ReunionPlan
from sagagraph.domains.reunion.planning.measure import measure
from sagagraph.domains.reunion.planning.model.search import Found, search
from sagagraph.domains.reunion.planning.solving import Unsolved, first_plan, plain, questions_of
from sagagraph.domains.reunion.planning.teams.allotment import allot
from sagagraph.domains.reunion.planning.teams.team import Team, excerpt, teams_of

if TYPE_CHECKING:
    from sagagraph.domains.reunion.plan import Journey, Work
    from sagagraph.domains.reunion.planning.model.question import Question
    from sagagraph.domains.reunion.planning.solving import Setting
    from sagagraph.domains.reunion.request import ReunionProblem
    from sagagraph.planning.budget import Budget

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


class Teamwork:
    """On what is not begun in `setting`; `before` is what is, and belongs to the plan."""

    def __init__(
        self, problem: ReunionProblem, budget: Budget, setting: Setting = plain, before: tuple[Action, ...] = ()
    ) -> None:
        self._problem = problem
        self._budget = budget
        self._setting = setting
        self._before = before
        self._also = frozenset(place for each in before if each.do == "travel" for place in (each.from_, each.to))

    def plan(self, bound: float = 0) -> Assembled | None:
        """Until the first objective is at `bound`, or time is up. None: no plan was found, which proves nothing."""
        started = self._budget.clock()
        plans = self._first_plans()
        if plans is None:
            return None
        seconds = self._budget.clock() - started
        return Assembled(_all_of(self._improved(plans, bound)), seconds)

    def _question(self, team: Team) -> Question:
        return questions_of(excerpt(self._problem, team, self._also), self._setting)[0]

    def _first_plans(self) -> Plans | None:
        """Plan each team; one that has no plan alone is joined with the smallest other team."""
        plans: Plans = {}
        waiting = list(allot(self._as_it_is()))
        while waiting:
            team = waiting.pop(0)
            answer = first_plan(self._question(team), self._budget.part(SECONDS_FIRST))
            if not isinstance(answer, Unsolved):
                plans[team] = answer
                continue
            others = [*plans, *waiting]
            if not others or not self._budget.left:
                return None
            joined = min(others, key=lambda each: (not each.vehicles, each.size))
            waiting = [each for each in waiting if each != joined] + [team | joined]
            plans.pop(joined, None)
        return plans

    def _as_it_is(self) -> ReunionProblem:
        """With everybody where they are now."""
        now = self._setting(self._problem, 0, is_free=False)
        at = {each.name: each.place for each in now.travellers}
        cars = {each.name: each.place for each in now.cars}
        return self._problem.model_copy(
            update={
                "people": tuple(each.model_copy(update={"place": at[each.name]}) for each in self._problem.people),
                "vehicles": tuple(each.model_copy(update={"place": cars[each.name]}) for each in self._problem.vehicles),
                "tasks": now.tasks,
            }
        )

    def _improved(self, plans: Plans, bound: float) -> Plans:
        """Plan each team alone, then pairs in random order, until no pair improves."""
        random = Random(self._budget.seed)  # noqa: S311 - no secret: the same plan for the same seed
        for team in tuple(plans):
            plans = self._replanned(plans, (team,))
        is_better = True
        while is_better and self._budget.left and self._worth(plans)[0] > bound:
            is_better = False
            pairs = list(combinations(plans, 2))
            random.shuffle(pairs)
            for pair in pairs:
                if all(team in plans for team in pair) and any(team.vehicles for team in pair) and self._budget.left:
                    after = self._replanned(plans, pair)
                    is_better = is_better or after is not plans
                    plans = after
        return plans

    def _replanned(self, plans: Plans, teams: tuple[Team, ...]) -> Plans:
        """Planned together, and divided again as they then are; `plans` itself where that is no better."""
        joined = teams[0] if len(teams) == 1 else teams[0] | teams[1]
        known = _all_of({team: plans[team] for team in teams})
        sequence, aims = self._question(joined).model(sum(action.do == "travel" for action in known) + 1)
        found = search(sequence, aims, self._budget.part(SECONDS_TOGETHER), start_from=known)
        if not isinstance(found, Found) or len(found.values) < len(self._problem.objectives):
            return plans
        others = {team: actions for team, actions in plans.items() if team not in teams}
        own = excerpt(self._problem, joined, self._also)
        divided = {team: tuple(a for a in found.actions if team.takes_part_in(a)) for team in _divided(own, found.actions)}
        after = {**others, **divided}
        return after if self._worth(after) < self._worth(plans) else plans

    def _worth(self, plans: Plans) -> tuple[float, ...]:
        actions = _all_of(plans)
        whole = ReunionPlan.model_construct(problem=self._problem.name, actions=(*self._before, *actions))
        starts = float(sum(action.start for action in actions))
        return (*(measure(self._problem, whole, each) for each in self._problem.objectives), starts)


def _all_of(plans: Plans) -> tuple[Action, ...]:
    return tuple(sorted((action for actions in plans.values() for action in actions), key=lambda each: each.start))


def _divided(problem: ReunionProblem, actions: tuple[Action, ...]) -> tuple[Team, ...]:
    """Those who do nothing go with those who stay where they are, so that they are not asked again and again."""
    teams = teams_of(problem, actions)
    idle = [team for team in teams if not any(team.takes_part_in(action) for action in actions)]
    busy = [team for team in teams if team not in idle]
    rest = Team()
    for team in idle:
        rest |= team
    return (*busy, *((rest,) if idle else ()))

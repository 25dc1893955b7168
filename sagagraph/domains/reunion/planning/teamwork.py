"""Teamwork: plans large problems: each team alone, then two teams at a time together, as long as that improves the plan.

(A large neighbourhood search: Shaw, "Using constraint programming and local search methods to solve vehicle routing problems",
1998. The neighbourhood is everything that two teams do; the rest of the plan is kept.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Final

from sagagraph.domains.reunion.plan import Act, ReunionPlan, Work
from sagagraph.domains.reunion.planning.drafting import draft
from sagagraph.domains.reunion.planning.measure import measure
from sagagraph.domains.reunion.planning.model.search import Found, Question, search
from sagagraph.domains.reunion.planning.model.situation import Situation
from sagagraph.domains.reunion.planning.solving import Setting, Unsolved, first_plan, questions_of
from sagagraph.domains.reunion.planning.teams import Team, at_home, excerpt, joined, teams_of
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.planning.background import nobody
from sagagraph.planning.budget import Budget

Plans = dict[Team, tuple[Act, ...]]

DRAFT_SHARE: Final = 0.6
"""Of the time."""
SECONDS_FIRST: Final = 6.0
"""For the first plan of one team."""
SECONDS_TO_FIT: Final = 5.0
"""For the plan of one team as it was drafted."""
MOST_TOGETHER: Final = 25
"""How many people are planned together, if there is a plan already."""
SECONDS_TOGETHER: Final = 4.0
"""For a better plan of one team, or of two."""


class Teamwork:
    """Teamwork on what has not begun in `setting`; `before` is what has, and belongs to the plan."""

    def __init__(
        self,
        problem: ReunionProblem,
        budget: Budget,
        setting: Setting,
        before: tuple[Act, ...],
        tell: Callable[[tuple[Act, ...]], None] = nobody,
    ) -> None:
        """Make it. `tell` is called with the first plan, and with each better one."""
        self._tell = tell
        self._problem = problem
        self._budget = budget
        self._setting = setting
        self._before = before

    def begin(self) -> bool:
        """Plan each team; return whether there is a plan. Otherwise none was found, which proves nothing."""
        plans = self._first_plans()
        if plans is not None:
            self._plans = plans
            self._tell(self._whole(plans).actions)
        return plans is not None

    def improved(self, bound: float) -> ReunionPlan:
        """Return the best plan until the first objective is at `bound`, or time is up."""
        return self._whole(self._improved(self._plans, bound))

    def _question(self, team: Team) -> Question:
        return questions_of(excerpt(self._problem, team, self._before), self._setting)[0]

    def _first_plans(self) -> Plans | None:
        """Plan each team; one that has no plan alone is joined with the smallest other team."""
        plans: Plans = {}
        drafts = self._drafts()
        waiting = list(drafts)
        while waiting:
            team = waiting.pop(0)
            answer = self._as_drafted(team, drafts.get(team, ()))
            if isinstance(answer, Unsolved):
                answer = first_plan(self._question(team), self._budget.part(SECONDS_FIRST))
            if not isinstance(answer, Unsolved):
                plans[team] = answer
                continue
            others = [*plans, *waiting]
            if not others or not self._budget.left:
                return None
            smallest = min(others, key=lambda each: (not each.vehicles, len(each.people) + len(each.vehicles)))
            waiting = [each for each in waiting if each != smallest] + [team | smallest]
            plans.pop(smallest, None)
        return plans

    def _as_drafted(self, team: Team, drafted: tuple[Act, ...]) -> tuple[Act, ...] | Unsolved:
        """Make a plan of the draft: as it is, or with as many journeys, at times that keep to all rules."""
        question = self._question(team)
        journeys = sum(action.do == "travel" for action in drafted)
        is_whole = {each.name for each in question.outlook(0).tasks} <= {each.task for each in drafted if isinstance(each, Work)}
        for steps in (drafted if is_whole else (), ()) if drafted else ():
            sequence, aims = replace(question, draft=steps).model(journeys)
            part = self._budget.part(SECONDS_TO_FIT)
            found = search(sequence, aims, part) if steps else search(sequence, (), part, start_from=drafted)
            if isinstance(found, Found):
                return found.actions
        return Unsolved(is_proof=False)

    def _drafts(self) -> dict[Team, tuple[Act, ...]]:
        """Divide everybody into teams, with what the teams of vehicles do first. Those who are already where they are to be
        stay out of it, with what can be done there.
        """
        now = self._setting(self._problem, 0, is_free=False)
        there = self._as_it_is(now)
        teams = teams_of(there)
        home = at_home(there, teams)
        waiting = joined(teams).without(home)
        drafted = draft(now, waiting, self._budget.part(self._budget.left * DRAFT_SHARE))
        teams = teams_of(there, drafted) if drafted else (waiting,)
        drafts = {team.without(home): tuple(filter(team.takes_part_in, drafted)) for team in teams}
        drafts.pop(Team(), None)
        return drafts | ({home: ()} if home.people else {})

    def _as_it_is(self, now: Situation) -> ReunionProblem:
        """Return the problem with everybody where they are now."""
        at = {each.name: each.place for each in now.travellers}
        cars = {each.name: each.place for each in now.cars}
        people = tuple(each.model_copy(update={"place": at[each.name]}) for each in self._problem.people)
        vehicles = tuple(each.model_copy(update={"place": cars[each.name]}) for each in self._problem.vehicles)
        return self._problem.model_copy(update={"people": people, "vehicles": vehicles, "tasks": now.tasks})

    def _improved(self, plans: Plans, bound: float) -> Plans:
        """Plan each team alone, then pairs in random order, until no pair improves."""
        random = Random(self._budget.seed)  # noqa: S311 - no secret: the same plan for the same seed
        for team in tuple(plans) if self._worth(plans)[0] > bound else ():
            plans = self._replanned(plans, (team,))
        is_better = True
        while is_better and self._budget.left and self._worth(plans)[0] > bound:
            is_better = False
            pairs = list(combinations(plans, 2))
            random.shuffle(pairs)
            for pair in pairs:
                if all(team in plans for team in pair) and any(team.vehicles for team in pair) and self._budget.left:
                    after = self._replanned(plans, pair)
                    if after is not plans:
                        is_better = True
                        self._tell(self._whole(after).actions)
                    plans = after
        return plans

    def _replanned(self, plans: Plans, teams: tuple[Team, ...]) -> Plans:
        """Plan these together, and divide them again according to the result; return `plans` itself if that is no better."""
        together = joined(teams)
        if len(together.people) > MOST_TOGETHER or not self._budget.left:
            return plans
        known = _all_of({team: plans[team] for team in teams})
        sequence, aims = self._question(together).model(sum(action.do == "travel" for action in known) + 1)
        found = search(sequence, aims, self._budget.part(SECONDS_TOGETHER), start_from=known)
        if not isinstance(found, Found) or len(found.values) < len(self._problem.objectives):
            return plans
        after = {team: actions for team, actions in plans.items() if team not in teams}
        idle = Team()  # those who do nothing go with those who stay where they are, so that they are not examined again and again
        for team in teams_of(excerpt(self._problem, together, self._before), found.actions):
            actions = tuple(each for each in found.actions if team.takes_part_in(each))
            if actions:
                after[team] = actions
            else:
                idle |= team
        if idle != Team():
            after[idle] = ()
        return after if self._worth(after) < self._worth(plans) else plans

    def _worth(self, plans: Plans) -> tuple[float, ...]:
        whole = self._whole(plans)
        starts = float(sum(action.start for action in _all_of(plans)))
        return (*(measure(self._problem, whole, each) for each in self._problem.objectives), starts)

    def _whole(self, plans: Plans) -> ReunionPlan:
        return ReunionPlan.model_construct(problem=self._problem.name, actions=(*self._before, *_all_of(plans)))


def _all_of(plans: Plans) -> tuple[Act, ...]:
    return tuple(sorted((action for actions in plans.values() for action in actions), key=lambda each: each.start))

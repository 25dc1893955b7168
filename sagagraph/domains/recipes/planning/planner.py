"""Planner: the earliest moment at which a meal can be complete, with a proof; or why it cannot be cooked.

A plan without splitting comes first: it is found at once. If the bound leaves room for improvement, steps are split as well, on
the grid of the data, and then on the finest, on which the proof is made (docs/recipes.md, "How plans are found").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from graphlib import TopologicalSorter
from math import gcd
from typing import Final, Literal

from sagagraph.domains.recipes.plan import Plan
from sagagraph.domains.recipes.planning.model import Planned, calmest, shortest
from sagagraph.domains.recipes.request import Meal, Property, Step, StepKey, Use
from sagagraph.errors import PlannerError
from sagagraph.planning.budget import Budget
from sagagraph.planning.cp_sat import interrupted

FINEST: Final = 30
"""Seconds between possible starts, unless the data need fewer."""
_MOST_SLICES: Final = 2_000
_CALM_S: Final = 1.0
_EACH_S: Final = 3.0
"""Seconds for each question of an explanation."""


@dataclass(frozen=True)
class Situation:
    """Situation in which nothing has been done yet, unless it says so. All times are in seconds."""

    meal: Meal
    since: int = 0
    """Nothing else starts before."""
    past: Plan = ()
    """What has been started, and still counts."""
    state: Mapping[str, Mapping[str, Property]] = field(default_factory=dict)
    """Each object's properties."""
    away: int = 0
    """Until then no cook is available to work, or to start anything."""
    down: Mapping[str, int] = field(default_factory=dict)
    """Until when objects cannot be used."""

    @cached_property
    def grids(self) -> tuple[int, int]:
        """Return the grid of the data, on which plans are found soonest, and the finest, on which they are proven."""
        steps = self.meal.steps.values()
        unit = gcd(*(step.duration for step in steps), *(within for step in steps for within in step.within.values()))
        if self.past and unit % FINEST:
            return FINEST, FINEST  # durations that became known on the way do not require a finer one
        return unit, unit if unit % FINEST else FINEST

    @cached_property
    def exact(self) -> int:
        """Return the grid of everything that has happened: some limits can only be kept on it, so it is tried before a plan is
        ruled out.
        """
        steps = self.meal.steps.values()
        limits = (within for step in steps for within in step.within.values())
        return gcd(self.grids[1], *limits, *(each for step in steps for each in (self.left(step), self.ended(step))))

    def up(self, seconds: int) -> int:
        """Return the next moment on the finest grid."""
        return -(-seconds // self.grids[1]) * self.grids[1]

    @cached_property
    def worked(self) -> Mapping[StepKey, tuple[int, int]]:
        """Return how long each step that has been started was worked at, and when its last piece so far ends."""
        found: dict[StepKey, tuple[int, int]] = {}
        for row in self.past:
            worked, ended = found.get(row.key, (0, 0))
            found[row.key] = worked + row.duration, max(ended, row.end)
        return found

    def left(self, step: Step) -> int:
        """Return how much of it is left to do."""
        return step.duration - self.worked.get(step.key, (0, 0))[0]

    def ended(self, step: Step) -> int:
        """Return when its last piece so far ends; 0: it has not been started."""
        return self.worked.get(step.key, (0, 0))[1]

    def splits(self, step: Step) -> bool:
        """Tell whether a planner splits it. What sets or needs the state of an object is not split, though it might be.

        Nor is a step that another one must follow in time, unless that one also requires it.
        """
        is_plain = not any(use.require or use.update for use in step.uses.values())
        followers = (each for each in self.meal.recipes[step.recipe] if step.number in each.within)
        return step.is_interruptible and is_plain and all(step.number in each.after for each in followers)

    def slice(self, grid: int) -> int:
        """Return the shortest piece into which steps are split, in units of the grid: as on the finest, unless there are too
        many.
        """
        work = sum(step.duration for step in self.meal.steps.values() if self.splits(step)) // grid
        return max(self.grids[1] // grid, 1 + work // _MOST_SLICES) if work else 1

    @cached_property
    def is_exact(self) -> bool:
        """Tell whether the model on the finest grid has every plan on it, however its steps are split."""
        steps = self.meal.steps.values()
        is_split = all(self.splits(step) or not step.is_interruptible for step in steps)
        is_one = self.meal.cooks == 1 or not any(self.splits(step) and step.within for step in steps)
        return self.slice(self.grids[1]) == 1 and is_split and is_one

    @cached_property
    def latest(self) -> int:
        """Return when the meal can be complete if it can be at all: in the best plan there is no moment at which nothing
        happens.
        """
        work = sum(max(0, self.left(step)) + self.grids[0] for step in self.meal.steps.values())
        return max(self.since, self.away, *self.down.values(), *(row.end for row in self.past)) + work


@dataclass(frozen=True, slots=True)
class Wish:
    """Wish that can be left out of a meal. `step` is None for a whole recipe; `about`: a step's number, or an object."""

    kind: Literal["within", "warm", "state"]
    recipe: str
    step: int | None
    about: int | str | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Conflict:
    wishes: tuple[Wish, ...]
    is_irreducible: bool
    """Whether it is proven that they cannot be kept together, and that none of them could be left out of the conflict."""


def plan_or_explain(situation: Situation, budget: Budget) -> Planned | Conflict:
    """Return a plan of what is left of a meal, or why there is none. Raises `PlannerError` if neither is found in time."""
    planned = plan_meal(situation, budget)
    if not planned.plan and not planned.is_infeasible:
        raise PlannerError("no plan was found in time; give it more: --seconds")
    return explain(situation, budget) if planned.is_infeasible else planned


def plan_meal(situation: Situation, budget: Budget) -> Planned:
    """Plan what is left of a meal."""
    floor = makespan_bound(situation)
    coarse, finest = situation.grids
    kinds = list(dict.fromkeys(((coarse, False), (coarse, True), (finest, True), (situation.exact, True))))
    best, how, answer = Planned((), 0), kinds[0], Planned((), 0)
    for place, (grid, splits) in enumerate(kinds):
        if best.plan and (best.makespan <= floor or grid < finest):
            break
        latest = best.makespan - finest if best.plan else situation.latest
        answer = shortest(situation, grid, latest, budget.part(budget.left / (len(kinds) - place)), splits=splits)
        best, how = (answer, (grid, splits)) if answer.plan else (best, how)
    if not best.plan:
        return Planned((), floor, is_infeasible=answer.is_infeasible)
    is_exact = situation.is_exact and how[0] >= finest
    plan = calmest(situation, best.plan, how[0], best.makespan, budget.part(_CALM_S)) if how[1] else best.plan
    is_proven = is_exact and answer.is_infeasible
    bound = best.makespan if is_proven else max(floor, answer.lower_bound) if is_exact else floor
    return Planned(plan, min(bound, best.makespan))


def makespan_bound(situation: Situation) -> int:
    """Return a bound that no plan goes below: the longest chain of steps, and the work of a cook and of each object if all could
    be split.
    """
    meal, left = situation.meal, situation.left
    before = {key: [each.key for each in meal.before(step)] for key, step in meal.steps.items()}
    order = [meal.steps[key] for key in TopologicalSorter(before).static_order()]
    heads, tails = dict.fromkeys(before, 0), dict.fromkeys(before, 0)
    for step in order:
        ends = (heads[key] + left(meal.steps[key]) for key in before[step.key])
        heads[step.key] = max((situation.ended(step), *((situation.since, *ends) if left(step) > 0 else ())))
    for step in reversed(order):
        for key in before[step.key]:
            tails[key] = max(tails[key], tails[step.key] + left(step))
    chain = max(heads[step.key] + left(step) + tails[step.key] for step in order)
    works = [[step for step in order if name in step.uses and not step.uses[name].update] for name in meal.objects]
    by_hand = [step for step in order if not step.is_autonomous]
    works += [by_hand] if meal.cooks == 1 else []
    to_do = ([step for step in work if left(step) > 0] for work in works)
    split = (interrupted((heads[step.key], left(step), tails[step.key]) for step in work) for work in to_do)
    return max(chain, situation.since + -(-sum(left(step) for step in by_hand) // meal.cooks), *split)


def explain(situation: Situation, budget: Budget) -> Conflict:
    """Explain why there is no plan: leave out one wish after the other as long as there is still no plan without it."""
    kept, is_sure = [], situation.is_exact and situation.slice(situation.exact) == 1
    for wish in _wishes_of(situation.meal):
        without = replace(situation, meal=left_out(situation.meal, wish))
        answer = shortest(without, without.exact, without.latest, budget.part(_EACH_S), splits=True)
        if answer.is_infeasible:
            situation = without
        else:
            kept.append(wish)
            is_sure = is_sure and bool(answer.plan)
    return Conflict(tuple(kept), is_sure)


def _wishes_of(meal: Meal) -> Iterator[Wish]:
    for step in meal.steps.values():
        yield from (limit(meal, step, number) for number in step.within)
        for name, use in step.uses.items():
            if use.require:
                what = " and ".join(f"{key} {value}" for key, value in use.require.items())
                yield Wish("state", step.recipe, step.number, name, f"{_named(step)} needs the {name} at {what}")
    for recipe, within in meal.warm.items():
        sentence = f"{recipe} must be ready within {_minutes(within)} of the end of the meal, to be warm"
        yield Wish("warm", recipe, None, None, sentence)


def limit(meal: Meal, step: Step, number: int) -> Wish:
    other, within = _named(meal.steps[step.recipe, number]), _minutes(step.within[number])
    return Wish("within", step.recipe, step.number, number, f"{_named(step)} must start within {within} of the end of {other}")


def left_out(meal: Meal, wish: Wish) -> Meal:
    """Return the meal without the wish."""
    if wish.step is None:
        return replace(meal, warm={recipe: within for recipe, within in meal.warm.items() if recipe != wish.recipe})
    step = meal.steps[wish.recipe, wish.step]
    if isinstance(wish.about, str):
        return meal.changed(step, uses={**step.uses, wish.about: Use(update=step.uses[wish.about].update)})
    return meal.changed(step, within={number: limit for number, limit in step.within.items() if number != wish.about})


def _named(step: Step) -> str:
    return f"{step} ({step.text.rstrip('.')})" if step.text else str(step)


def _minutes(seconds: int) -> str:
    return f"{seconds // 60} min" if seconds % 60 == 0 else f"{seconds} s"

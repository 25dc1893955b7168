"""Lower bound of every plan: the longest chain of steps, and the work of the cooks and of each object if all could be split."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from sagagraph.planning.cp_sat import interrupted

if TYPE_CHECKING:
    from sagagraph.domains.recipes.request import Meal, Step, StepKey


def heads(meal: Meal) -> Mapping[StepKey, int]:
    """When each step could start if cooks and objects were always free."""
    found: dict[StepKey, int] = {}
    for step in in_order(meal):
        found[step.key] = max((found[before.key] + before.duration for before in meal.before(step)), default=0)
    return found


def tails(meal: Meal) -> Mapping[StepKey, int]:
    """How long the meal goes on after each step, at least."""
    found = dict.fromkeys(meal.steps, 0)
    for step in reversed(in_order(meal)):
        for before in meal.before(step):
            found[before.key] = max(found[before.key], found[step.key] + step.duration)
    return found


def in_order(meal: Meal) -> list[Step]:
    """All steps, each behind those that it comes after."""
    before = {key: [each.key for each in meal.before(step)] for key, step in meal.steps.items()}
    return [meal.steps[key] for key in TopologicalSorter(before).static_order()]


def makespan_bound(meal: Meal) -> int:
    begin, go_on = heads(meal), tails(meal)
    steps = meal.steps.values()
    chain = max(begin[step.key] + step.duration + go_on[step.key] for step in steps)
    works = [[step for step in steps if name in step.uses and not _may_coincide(step, name)] for name in _objects(meal)]
    if meal.cooks == 1:
        works.append([step for step in steps if not step.is_autonomous])
    split = (interrupted((begin[step.key], step.duration, go_on[step.key]) for step in work) for work in works)
    shared = -(-sum(step.duration for step in steps if not step.is_autonomous) // meal.cooks)
    return max(chain, shared, *split)


def _objects(meal: Meal) -> set[str]:
    return {name for step in meal.steps.values() for name in step.uses}


def _may_coincide(step: Step, name: str) -> bool:
    return bool(step.uses[name].update)

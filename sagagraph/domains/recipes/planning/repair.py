"""Repair: what was done stands, what goes on alone goes on, and the rest is planned again with the least change.

What can no longer be kept (a limit that has passed, a dish that burnt, work that was broken off) is thrown away and made again,
with all that went into it. What only sets the state of an object, such as heating an oven, did not go into a dish.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from sagagraph.domains.recipes.events import Away, Broken, Burnt, Longer
from sagagraph.domains.recipes.plan import Plan, Row, makespan
from sagagraph.domains.recipes.planning.conflict import Conflict, explain
from sagagraph.domains.recipes.planning.model import least, modelled
from sagagraph.domains.recipes.planning.planner import Planned, plan_meal
from sagagraph.domains.recipes.planning.situation import Situation, state_after

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sagagraph.domains.recipes.events import Event
    from sagagraph.domains.recipes.request import Meal, Step, StepKey
    from sagagraph.planning.budget import Budget

_SLACK: Final = 0.02
"""A repair may end later than the best plan by so much of it, if fewer starts move."""
_CALM_S: Final = 3.0


@dataclass(frozen=True, slots=True)
class Repaired:
    meal: Meal
    """With the durations that are known now."""
    plan: Plan
    """What was done and counts, and what is still to do."""
    waste: Plan
    """What was done, or broken off, in vain."""
    again: tuple[StepKey, ...]
    """The steps that are made again."""
    lower_bound: int
    shortest: Plan
    """The plan that is complete earliest, however much it changes."""
    passed: tuple[str, ...] = ()
    """Limits that could no longer be kept, in words."""


@dataclass(frozen=True, slots=True)
class Stuck:
    conflict: Conflict


def repair(meal: Meal, plan: Plan, events: Iterable[Event], budget: Budget) -> Repaired | Stuck | None:
    """Repair a plan after each of the events in turn. None: nothing was found in time."""
    repaired = Repaired(meal, plan, (), (), 0, plan)
    for event in events:
        answer = _after(repaired, event, budget)
        if not isinstance(answer, Repaired):
            return answer
        repaired = answer
    return repaired


def _after(old: Repaired, event: Event, budget: Budget) -> Repaired | Stuck | None:
    meal = _with_duration(old, event) if isinstance(event, Longer) else old.meal
    begun = tuple(_now(meal, row, event) for row in old.plan if row.start < event.at)
    lost = _lost(meal, begun, event)
    passed: list[str] = []
    while True:
        situation = _situation(meal, begun, lost, event)
        cold = _cold(situation)
        if cold:
            lost |= cold
            continue
        planned = plan_meal(situation, budget)
        if planned.plan is not None:
            calm = _calm(situation, planned, old.plan, budget)
            waste = tuple(_cut(row, event.at) for row in begun if (row.recipe, row.step) in lost)
            again = tuple(sorted({*old.again, *lost}))
            told = (*old.passed, *passed)
            return Repaired(meal, calm, (*old.waste, *waste), again, planned.lower_bound, planned.plan, told)
        if not planned.is_infeasible:
            return None
        conflict = explain(situation, budget)
        gone = [wish for wish in conflict.wishes if wish.kind == "within" and situation.of((wish.recipe, int(wish.about or 0)))]
        if not gone:
            return Stuck(conflict)
        passed.append(gone[0].sentence)
        lost |= _made_of(meal, begun, meal.steps[gone[0].recipe, int(gone[0].about or 0)])


def _with_duration(old: Repaired, event: Longer) -> Meal:
    """What is over by then stays as it was."""
    step = old.meal.steps[event.recipe, event.step]
    begun = [row for row in old.plan if (row.recipe, row.step) == step.key and row.start < event.at]
    if begun and sum(row.duration for row in begun) >= step.duration and max(row.end for row in begun) <= event.at:
        return old.meal
    done = sum(_cut(row, event.at).duration for row in begun)
    longer = replace(step, duration=max(event.duration_s, done + 1))
    steps = tuple(longer if each is step else each for each in old.meal.recipes[step.recipe])
    return replace(old.meal, recipes={**old.meal.recipes, step.recipe: steps})


def _now(meal: Meal, row: Row, event: Event) -> Row:
    """A row as it is after the event: what goes on takes as long as is known now; what can be laid down, is."""
    step = meal.steps[row.recipe, row.step]
    if row.end <= event.at:
        return row
    if isinstance(event, Away) and step.is_interruptible and not step.is_autonomous:
        return _cut(row, event.at)
    if isinstance(event, Longer) and (event.recipe, event.step) == step.key and not step.is_interruptible:
        return row._replace(duration=step.duration)
    return row


def _cut(row: Row, at: int) -> Row:
    return row._replace(duration=min(row.end, at) - row.start)


def _lost(meal: Meal, begun: Plan, event: Event) -> set[StepKey]:
    """The steps whose work the event undoes."""
    going = [meal.steps[row.recipe, row.step] for row in begun if row.end > event.at]
    if isinstance(event, Burnt):
        return _made_of(meal, begun, meal.steps[event.recipe, event.step])
    if isinstance(event, Away):  # who is called away in the middle begins that step again
        return {step.key for step in going if not step.is_autonomous}
    if isinstance(event, Broken):
        spoilt = [_made_of(meal, begun, step) for step in going if event.object in step.uses]
        return set().union(*spoilt)
    return set()


def _made_of(meal: Meal, begun: Plan, step: Step) -> set[StepKey]:
    """A step, all that went into it, and all that was made of it already."""
    keys = {(row.recipe, row.step) for row in begun}
    found, level = {step.key}, [step]
    while level:
        level = [each for step in level for each in meal.before(step) if not _only_sets(each)]
        found |= {each.key for each in level}
    into = {step.key}
    for each in meal.recipes[step.recipe] * len(meal.recipes[step.recipe]):
        if any((each.recipe, number) in into for number in each.after):
            into.add(each.key)
    return (found | into) & keys


def _only_sets(step: Step) -> bool:
    return any(use.update for use in step.uses.values())


def _situation(meal: Meal, begun: Plan, lost: set[StepKey], event: Event) -> Situation:
    past = tuple(row for row in begun if (row.recipe, row.step) not in lost)
    state = state_after(meal, begun)
    away = ((event.at, event.until),) if isinstance(event, Away) else ()
    down = {}
    if isinstance(event, Broken):
        down = {event.object: ((event.at, event.until),)}
        state[event.object] = {}
    return Situation(meal, event.at, past, state, away, down)


def _cold(situation: Situation) -> set[StepKey]:
    """Steps that heated an object for one still to do, and must do so again: it is cold, and nobody else heats it."""
    found: set[StepKey] = set()
    for step in situation.meal.steps.values():
        for name, use in step.uses.items() if situation.left(step) == step.duration else ():
            for key, needed in use.require.items():
                sources = [each for each in situation.meal.steps.values() if each.uses.get(name, use).update.get(key) == needed]
                is_so = situation.state.get(name, {}).get(key) == needed
                if not is_so and sources and not any(situation.left(each) > 0 for each in sources):
                    own = [each for each in sources if each.number in step.after and each.recipe == step.recipe]
                    found.add((own or sources)[0].key)
    return found


def _calm(situation: Situation, planned: Planned, old: Plan, budget: Budget) -> Plan:
    """Return a plan that is nearly as short, with the fewest starts that differ from the old plan."""
    best, grid = planned.plan or (), situation.grids[-1]
    latest = int(makespan(best) * (1 + _SLACK))
    model = modelled(situation, grid, max(makespan(best), latest), splits=True, counts=True)
    was: dict[StepKey, int] = {}
    for row in old:
        if row.start >= situation.since:
            was.setdefault((row.recipe, row.step), row.start)
    moved = []
    for key, work in model.works.items():
        if key in was and was[key] % grid == 0:
            moved.append(model.cp.new_bool_var(""))
            model.cp.add(work.start == was[key] // grid).only_enforce_if(~moved[-1])
    breaks = [each for work in model.works.values() for each in work.breaks]
    answer = least(model, 4 * sum(moved) + sum(breaks), budget.part(_CALM_S))
    return answer.plan or best

"""Repair: what was done stands, what goes on alone goes on, and the rest is planned again with the least change.

What can no longer be kept (a limit that has passed, a dish that burnt, work that was broken off) is thrown away and made again,
with all that went into it. What only sets the state of an object, such as heating an oven, did not go into a dish.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sagagraph.domains.recipes.plan import Plan, Row
from sagagraph.domains.recipes.planning.conflict import Conflict, explain
from sagagraph.domains.recipes.planning.events import Away, Broken, Burnt, Longer
from sagagraph.domains.recipes.planning.model import calmest
from sagagraph.domains.recipes.planning.planner import plan_meal
from sagagraph.domains.recipes.planning.situation import Situation
from sagagraph.domains.recipes.request import VOLUME, Property

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sagagraph.domains.recipes.planning.events import Event
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


def repair(meal: Meal, plan: Plan, events: Iterable[Event], budget: Budget) -> Repaired | Conflict | None:
    """Repair a plan after each of the events in turn: or why there is none any more. None: nothing was found in time."""
    repaired = Repaired(meal, plan, (), (), 0, plan)
    for event in events:
        answer = _after(repaired, event, budget)
        if not isinstance(answer, Repaired):
            return answer
        repaired = answer
    return repaired


def _after(old: Repaired, event: Event, budget: Budget) -> Repaired | Conflict | None:
    meal = _with_duration(old, event) if isinstance(event, Longer) else old.meal
    begun = tuple(_now(meal, row, event) for row in old.plan if row.start < event.at)
    lost = _lost(meal, begun, event)
    passed: list[str] = []
    while True:
        situation = _situation(meal, begun, lost, event)
        if cold := _cold(situation):
            lost |= cold
            continue
        planned = plan_meal(situation, budget)
        if planned.plan is not None:
            was = {row.key: row.start for row in reversed(old.plan) if row.start >= event.at}
            grid, latest = situation.grids[-1], max(planned.makespan, int(planned.makespan * (1 + _SLACK)))
            calm = calmest(situation, planned.plan, grid, latest, budget.part(_CALM_S), was)
            waste = (*old.waste, *(_cut(row, event.at) for row in begun if row.key in lost))
            again, told = tuple(sorted({*old.again, *lost})), (*old.passed, *passed)
            return Repaired(meal, calm, waste, again, planned.lower_bound, planned.plan, told)
        if not planned.is_infeasible:
            return None
        conflict = explain(situation, budget)
        limits = [(wish, meal.steps[wish.recipe, int(wish.about or 0)]) for wish in conflict.wishes if wish.kind == "within"]
        gone = [(wish.sentence, step) for wish, step in limits if situation.left(step) < step.duration]
        if not gone:
            return conflict
        passed.append(gone[0][0])
        lost |= _made_of(meal, begun, gone[0][1])


def _with_duration(old: Repaired, event: Longer) -> Meal:
    """What is over by then stays as it was."""
    step = old.meal.steps[event.recipe, event.step]
    begun = [row for row in old.plan if row.key == step.key and row.start < event.at]
    if begun and sum(row.duration for row in begun) >= step.duration and max(row.end for row in begun) <= event.at:
        return old.meal
    done = sum(_cut(row, event.at).duration for row in begun)
    return old.meal.changed(step, duration=max(event.duration_s, done + 1))


def _now(meal: Meal, row: Row, event: Event) -> Row:
    """A row as it is after the event: what goes on takes as long as is known now; what can be laid down, is."""
    step = meal.steps[row.key]
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
    going = [meal.steps[row.key] for row in begun if row.end > event.at]
    match event:
        case Burnt():
            return _made_of(meal, begun, meal.steps[event.recipe, event.step])
        case Away():  # who is called away in the middle begins that step again
            return {step.key for step in going if not step.is_autonomous}
        case Broken():
            return {key for step in going if event.object in step.uses for key in _made_of(meal, begun, step)}
        case _:
            return set()


def _made_of(meal: Meal, begun: Plan, step: Step) -> set[StepKey]:
    """A step, all that went into it, and all that was made of it already."""
    found, level = {step.key}, [step]
    while level:
        level = [each for step in level for each in meal.before(step) if not _only_sets(each)]
        found |= {each.key for each in level}
    into = {step.key}
    for each in meal.recipes[step.recipe] * len(meal.recipes[step.recipe]):
        if any((each.recipe, number) in into for number in each.after):
            into.add(each.key)
    return (found | into) & {row.key for row in begun}


def _only_sets(step: Step) -> bool:
    return any(use.update for use in step.uses.values())


def _situation(meal: Meal, begun: Plan, lost: set[StepKey], event: Event) -> Situation:
    past = tuple(row for row in begun if row.key not in lost)
    state: dict[str, dict[str, Property]] = {}
    for row in begun:
        for name, use in meal.steps[row.key].uses.items():
            own = state.setdefault(name, {})
            own.update(use.update)
            now, taken = own.get(VOLUME), use.require.get(VOLUME)
            if isinstance(now, int | float) and isinstance(taken, int | float):
                own[VOLUME] = now - taken
    missing: dict[str, Any] = {"away": event.until} if isinstance(event, Away) else {}
    if isinstance(event, Broken):
        missing = {"down": {event.object: event.until}}
        state[event.object] = {}
    return Situation(meal, event.at, past, state, **missing)


def _cold(situation: Situation) -> set[StepKey]:
    """Steps that heated an object for one still to do, and must do so again: it is cold, and nobody else heats it."""
    found: set[StepKey] = set()
    steps = situation.meal.steps.values()
    for step in steps:
        for name, use in step.uses.items() if situation.left(step) == step.duration else ():
            for key, needed in use.require.items():
                sources = [each for each in steps if each.uses.get(name, use).update.get(key) == needed]
                is_so = situation.state.get(name, {}).get(key) == needed
                if not is_so and sources and not any(situation.left(each) > 0 for each in sources):
                    own = [each for each in sources if each.number in step.after and each.recipe == step.recipe]
                    found.add((own or sources)[0].key)
    return found

"""Repair: what was done stands, what goes on alone goes on, and the rest is planned again with the least change.

What can no longer be kept (a limit that has passed, a dish that burnt, work that was broken off) is thrown away and made again,
with all that went into it. What only sets the state of an object, such as heating an oven, did not go into a dish.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import networkx as nx

from sagagraph.domains.recipes.events import Event, as_known, cut
from sagagraph.domains.recipes.plan import Cooked, Plan, Row
from sagagraph.domains.recipes.planning.model import Planned, calmest
from sagagraph.domains.recipes.planning.planner import Conflict, Situation, makespan_bound, plan_or_explain
from sagagraph.domains.recipes.request import VOLUME, Meal, Property, Step, StepKey
from sagagraph.planning.budget import Budget

_SLACK: Final = 0.02
"""A repair may end later than the best plan by so much of it, if fewer starts move."""
_NEAR_S: Final = 1.0
_CALM_S: Final = 3.0


def repair(cooked: Cooked, events: Iterable[Event], budget: Budget, *, keeps: bool = True) -> Cooked | Conflict:
    """Repair a plan after each of the events in turn, or say why there is none any more. Raises `PlannerError`.

    Where it `keeps` nothing, the rest is planned anew: the yardstick for repairs.
    """
    repaired: Cooked | Conflict = cooked
    for event in events:
        if isinstance(repaired, Cooked):
            repaired = _after(repaired, event, budget, keeps=keeps)
    return repaired


def _after(old: Cooked, event: Event, budget: Budget, *, keeps: bool) -> Cooked | Conflict:
    meal = as_known(old.meal, old.plan, event)
    begun = tuple(_now(meal, row, event) for row in old.plan if row.start < event.at)
    was = {row.key: row.start for row in reversed(old.plan) if row.start >= event.at}
    bound = 0 if event.event == "longer" else old.lower_bound  # with limits, longer steps can make a meal shorter
    lost = _lost(meal, begun, event)
    passed: list[str] = []
    while True:
        situation = _situation(meal, begun, lost, event)
        if cold := _cold(situation):
            lost |= cold
            continue
        found = nearest(situation, was, budget, bound) if keeps else plan_or_explain(situation, budget)
        if not isinstance(found, Conflict):
            waste = (*old.waste, *(cut(row, event.at) for row in begun if row.key in lost))
            again, told = tuple(sorted({*old.again, *lost})), (*old.passed, *passed)
            known = {"request": {**old.request, **meal.document()}, "plan": found.plan, "lower_bound": found.lower_bound}
            return old.model_copy(update={**known, "waste": waste, "again": again, "passed": told})
        limits = [(wish, meal.recipes[wish.recipe][int(wish.about or 0)]) for wish in found.wishes if wish.kind == "within"]
        limits += [(wish, meal.recipes[wish.recipe][-1]) for wish in found.wishes if wish.kind == "warm"]
        gone = [(wish.sentence, step) for wish, step in limits if situation.left(step) < step.duration]
        if not gone:
            return found
        passed.append(gone[0][0])
        lost |= _made_of(meal, begun, gone[0][1])


def nearest(situation: Situation, was: Mapping[StepKey, int], budget: Budget, bound: int = 0) -> Planned | Conflict:
    """Of all plans at most 2 % longer than the shortest, return one in which the fewest steps begin at another time than `was`.

    What is so near to a bound that is known already (`bound`, or that of the chain and the work) needs no other plan beside it.
    """
    grid, bound = situation.grids[-1], max(bound, makespan_bound(situation))
    if near := calmest(situation, (), grid, int(bound * (1 + _SLACK)), budget.part(_NEAR_S), was):
        return Planned(near, bound)
    found = plan_or_explain(situation, budget)
    if isinstance(found, Conflict):
        return found
    latest = int(found.makespan * (1 + _SLACK))
    return Planned(calmest(situation, found.plan, grid, latest, budget.part(_CALM_S), was), found.lower_bound)


def _now(meal: Meal, row: Row, event: Event) -> Row:
    """A row as it is after the event: what goes on takes as long as is known now; what can be laid down, is."""
    step = meal.steps[row.key]
    if row.end <= event.at:
        return row
    if event.event == "away" and step.is_interruptible and not step.is_autonomous:
        return cut(row, event.at)
    if event.event == "longer" and (event.recipe, event.step) == step.key and not step.is_interruptible:
        return row._replace(duration=step.duration)
    return row


def _lost(meal: Meal, begun: Plan, event: Event) -> set[StepKey]:
    """The steps whose work the event undoes."""
    going = [meal.steps[row.key] for row in begun if row.end > event.at]
    if event.event == "burnt":
        return _made_of(meal, begun, meal.steps[event.recipe, event.step])
    if event.event == "away":  # who is called away in the middle begins that step again
        return {step.key for step in going if not step.is_autonomous}
    return {key for step in going if event.object in step.uses for key in _made_of(meal, begun, step)}


def _made_of(meal: Meal, begun: Plan, step: Step) -> set[StepKey]:
    """A step, all that went into it, and all that was made of it already."""
    steps = meal.recipes[step.recipe]
    graph = nx.DiGraph((before.key, each.key) for each in steps for before in meal.before(each))
    graph.add_node(step.key)
    made = nx.descendants(graph, step.key)
    heating = [each.key for each in steps if each.key != step.key and any(use.update for use in each.uses.values())]
    into = nx.ancestors(nx.restricted_view(graph, heating, ()), step.key)
    return {step.key, *made, *into} & {row.key for row in begun}


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
    missing: dict[str, Any] = {"away": event.until} if event.event == "away" else {}
    if event.event == "broken":
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

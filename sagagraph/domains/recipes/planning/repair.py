"""Repair: what was done is kept, unattended steps continue, and the rest is planned again with the least change.

What can no longer be used (a limit that has passed, a dish that burnt, work that was interrupted) is thrown away and made again,
with everything that went into it. What only sets the state of an object, such as heating an oven, did not go into a dish.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

import networkx as nx

from sagagraph.domains.recipes.events import Event, as_known, cut
from sagagraph.domains.recipes.plan import Cooked, Plan, Row, makespan, moved
from sagagraph.domains.recipes.planning.dispatch import dispatched
from sagagraph.domains.recipes.planning.model import Planned, calmest
from sagagraph.domains.recipes.planning.planner import makespan_bound, plan_or_explain
from sagagraph.domains.recipes.planning.situation import Situation
from sagagraph.domains.recipes.planning.wishes import Conflict, Wish, limit
from sagagraph.domains.recipes.request import Meal, Property, Step, StepKey
from sagagraph.errors import PlannerError
from sagagraph.planning.budget import Budget

Thinking = Callable[[Situation, Plan, int], Planned | Conflict]
"""Function that plans what is left of a meal, given the plan so far and a known bound."""
_SLACK: Final = 0.02
"""A repair may end later than the best plan by this share of it, if fewer starts move."""
_NEAR_S: Final = 1.0
_CALM_S: Final = 3.0


def first_answer(cooked: Cooked, events: Iterable[Event]) -> Cooked | None:
    """Return a repair in which what has not begun waits, in about a millisecond an event; None: only the solver can repair."""

    def waiting(situation: Situation, known: Plan, bound: int) -> Planned | Conflict:
        plan = dispatched(situation, known)
        return Planned(plan, min(bound, makespan(plan))) if plan else Conflict((), is_irreducible=False)

    answer = repair(cooked, events, Budget.of(0), waiting)
    return answer if isinstance(answer, Cooked) else None


def repair(cooked: Cooked, events: Iterable[Event], budget: Budget, think: Thinking | None = None) -> Cooked | Conflict:
    """Repair a plan after each of the events in turn, or say why no plan is left. Raises `PlannerError`.

    `think` plans what is left of a meal; by default, with the least change.
    """
    repaired: Cooked | Conflict = cooked
    for event in events:
        if isinstance(repaired, Cooked):
            repaired = _after(repaired, event, think or partial(nearest, budget=budget))
    return repaired


def _after(old: Cooked, event: Event, think: Thinking) -> Cooked | Conflict:
    meal = as_known(old.meal, old.plan, event)
    begun = tuple(_now(meal, row, event) for row in old.plan if row.start < event.at)
    bound = 0 if event.event == "longer" else old.lower_bound  # with limits, longer steps can make a meal shorter
    lost = _lost(meal, begun, event)
    passed: list[str] = []
    while True:
        situation = _situation(meal, begun, lost, event)
        if cold := _cold(situation):
            lost.update(key for step in cold for key in _made_of(meal, situation.past, step))
            continue
        late = _passed(situation)
        found = Conflict((late,), is_irreducible=True) if late else think(situation, old.plan, bound)
        if not isinstance(found, Conflict):
            known = old.request if meal is old.meal else {**old.request, **meal.document()}
            waste = (*old.waste, *(cut(row, event.at) for row in begun if row.key in lost))
            fresh = {"request": known, "plan": found.plan, "waste": waste, "passed": (*old.passed, *passed)}
            return Cooked(**{**dict(old), **fresh, "lower_bound": found.lower_bound})
        causes = ((wish, _cause(meal, wish)) for wish in found.wishes)
        gone = next(((wish, step) for wish, step in causes if step and situation.left(step) < step.duration), None)
        if gone is None:
            return found
        passed.append(gone[0].sentence)
        lost |= _made_of(meal, situation.past, gone[1])


def _cause(meal: Meal, wish: Wish) -> Step | None:
    """Return what must be made again because a limit has passed."""
    if wish.kind == "state":
        return None
    return meal.recipes[wish.recipe][int(wish.about or 0) if wish.kind == "within" else -1]


def _passed(situation: Situation) -> Wish | None:
    """Return a limit within which a step cannot be started any more, whatever else is planned."""
    meal, since, ended = situation.meal, situation.since, situation.ended
    working = [row.end for row in situation.past if row.end > since and not meal.steps[row.key].is_autonomous]
    free = max(since, situation.away, min(working) if len(working) == meal.cooks else 0)
    for step in meal.steps.values():
        for number, within in step.within.items():
            cause = meal.steps[step.recipe, number]
            if situation.left(cause) <= 0 < situation.left(step):
                ready = (ended(each) for each in (step, *meal.before(step)))
                if max(free, *ready, *(situation.down.get(name, 0) for name in step.uses)) > ended(cause) + within:
                    return limit(meal, step, number)
    return None


def nearest(situation: Situation, known: Plan, bound: int, budget: Budget) -> Planned | Conflict:
    """Return, of all plans at most 2 % longer than the shortest, one in which the fewest steps begin at another time than known.

    If it is this near to a known bound (`bound`, or that of the chain and the work), no other plan is needed for comparison.
    """
    since, bound = situation.since, max(bound, makespan_bound(situation))
    was = {row.key: row.start for row in reversed(known) if row.start >= since}
    waiting = dispatched(situation, known)

    def calm(found: Plan, least: int, seconds: float) -> Plan:
        latest = int(least * (1 + _SLACK))
        waits = waiting if makespan(waiting) <= latest else ()
        if waits and not moved(known, waits, since):
            return waits
        near = calmest(situation, found, situation.grids[1], latest, budget.part(seconds), was)
        return min(filter(None, (near, waits)), key=lambda plan: moved(known, plan, since), default=())

    if near := calm((), bound, _NEAR_S):
        return Planned(near, bound)
    try:
        best = plan_or_explain(situation, budget)
    except PlannerError:
        if not waiting:
            raise
        return Planned(waiting, bound)
    if isinstance(best, Conflict):
        return Planned(waiting, bound) if waiting else best
    return Planned(calm(best.plan, best.makespan, _CALM_S), best.lower_bound)


def _now(meal: Meal, row: Row, event: Event) -> Row:
    """Return a row as it is after the event: a running step takes as long as is known now; an interruptible one pauses."""
    step = meal.steps[row.key]
    if row.end <= event.at:
        return row
    if event.event == "away" and step.is_interruptible and not step.is_autonomous:
        return cut(row, event.at)
    if event.event == "longer" and (event.recipe, event.step) == step.key and not step.is_interruptible:
        return row._replace(duration=step.duration)
    return row


def _lost(meal: Meal, begun: Plan, event: Event) -> set[StepKey]:
    """Return the steps whose work the event undoes."""
    going = [meal.steps[row.key] for row in begun if row.end > event.at]
    if event.event == "burnt":
        return _made_of(meal, begun, meal.steps[event.recipe, event.step])
    if event.event == "away":  # a cook who is called away in the middle begins that step again
        return {step.key for step in going if not step.is_autonomous}
    return {key for step in going if event.object in step.uses for key in _made_of(meal, begun, step)}


def _made_of(meal: Meal, past: Plan, step: Step) -> set[StepKey]:
    """Return a step, everything made from it, everything that went into that, and so on, as far as it is past and still
    counts.
    """
    known = {row.key for row in past if row.recipe == step.recipe}
    steps = [each for each in meal.recipes[step.recipe] if each.key in known]
    pairs = [(before, each) for each in steps for before in meal.before(each) if before.key in known]
    dish = nx.DiGraph((before.key, each.key) for before, each in pairs)
    dish.add_edges_from((each.key, before.key) for before, each in pairs if not any(use.update for use in before.uses.values()))
    dish.add_nodes_from(known)
    return {step.key, *nx.descendants(dish, step.key)} if step.key in known else set()


def _situation(meal: Meal, begun: Plan, lost: set[StepKey], event: Event) -> Situation:
    """Return the situation. Thrown-away steps have left their objects as they are; but no plan can rely on a step that it no
    longer contains.
    """
    past = tuple(row for row in begun if row.key not in lost)
    state = _state(meal, past)
    if lost:
        really = _state(meal, begun)
        state = {name: dict(own.items() & really[name].items()) for name, own in state.items()}
    missing: dict[str, Any] = {"away": event.until} if event.event == "away" else {}
    if event.event == "broken":
        missing = {"down": {event.object: event.until}}
        state[event.object] = {}
    return Situation(meal, event.at, past, state, **missing)


def _state(meal: Meal, rows: Plan) -> dict[str, dict[str, Property]]:
    state: dict[str, dict[str, Property]] = {}
    for row in rows:
        for name, use in meal.steps[row.key].uses.items():
            use.change(state.setdefault(name, {}))
    return state


def _cold(situation: Situation) -> list[Step]:
    """Return steps that heated an object for one still to do, and must do so again: it is cold, and nobody else heats it."""
    found: list[Step] = []
    steps = situation.meal.steps.values()
    for step in (each for each in steps if each.uses and situation.left(each) == each.duration):
        for name, key, needed in ((name, *each) for name, use in step.uses.items() for each in use.require.items()):
            if situation.state.get(name, {}).get(key) != needed:
                sources = [each for each in steps if name in each.uses and each.uses[name].update.get(key) == needed]
                if sources and not any(situation.left(each) > 0 for each in sources):
                    own = [each for each in sources if each.number in step.after and each.recipe == step.recipe]
                    found.append((own or sources)[0])
    return found

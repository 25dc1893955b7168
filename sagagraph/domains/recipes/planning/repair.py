"""Repair: what was done stands, what goes on alone goes on, and the rest is planned again with the least change.

What can no longer be kept (a limit that has passed, a dish that burnt, work that was broken off) is thrown away and made again,
with all that went into it. What only sets the state of an object, such as heating an oven, did not go into a dish.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from sagagraph.domains.recipes.plan import LATEST, Plan, Row
from sagagraph.domains.recipes.planning.model import calmest
from sagagraph.domains.recipes.planning.planner import Conflict, Situation, plan_or_explain
from sagagraph.domains.recipes.request import VOLUME, Property
from sagagraph.errors import InvalidInputError
from sagagraph.validators.complaints import checked, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sagagraph.domains.recipes.request import Meal, Step, StepKey
    from sagagraph.planning.budget import Budget

_SLACK: Final = 0.02
"""A repair may end later than the best plan by so much of it, if fewer starts move."""
_CALM_S: Final = 3.0
_FIELDS: Final = {
    "longer": {"recipe", "step", "duration_s"},
    "burnt": {"recipe", "step"},
    "away": {"until"},
    "broken": {"object", "until"},
}
Moment = Annotated[int, Field(strict=True, ge=0, le=LATEST)]


class Event(BaseModel):
    """Longer: a step that is not over takes so long in all. Burnt: what a step has made, or is making, is spoilt.

    Away: the cooks are called away until then. Broken: an object fails until then, and is cold when it works again.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    event: Literal["longer", "burnt", "away", "broken"]
    at: Moment
    """Seconds from the beginning of the meal, as `until`. What began before is history."""
    recipe: str = ""
    step: int = -1
    duration_s: Annotated[int, Field(strict=True, gt=0, le=LATEST)] = 1
    object: str = ""
    until: Moment = 0


def parse_events(meal: Meal, listed: list[object]) -> tuple[Event, ...]:
    """Parse what became known, in the order of `at`. Raises `InvalidInputError`: what is wrong first, with its field."""
    found = (_parse(meal, said, f"events[{place}]") for place, said in enumerate(listed))
    return tuple(sorted(found, key=lambda event: event.at))


def _parse(meal: Meal, said: object, field: str) -> Event:
    kind = said.get("event") if isinstance(said, Mapping) else None
    if not isinstance(said, Mapping) or not isinstance(kind, str) or kind not in _FIELDS:
        raise InvalidInputError(f"must be one of {', '.join(_FIELDS)}, not {shown(kind)}", field=f"{field}.event")
    wanted = {"event", "at", *_FIELDS[kind]}
    for name in sorted(wanted ^ set(said)):
        raise InvalidInputError("is missing" if name in wanted else "is not a known field", field=f"{field}.{name}")
    event = checked(Event, said, field=field, is_part=True)
    if "step" in wanted and (event.recipe, event.step) not in meal.steps:
        raise InvalidInputError(f"there is no step {event.step} of {shown(event.recipe)}", field=f"{field}.step")
    if "until" in wanted and event.until < event.at:
        raise InvalidInputError(f"{event.until} is before {event.at}", field=f"{field}.until")
    if kind == "broken" and event.object not in meal.objects:
        raise InvalidInputError(f"nothing needs an object {shown(event.object)}", field=f"{field}.object")
    return event


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


def repair(meal: Meal, plan: Plan, events: Iterable[Event], budget: Budget) -> Repaired | Conflict:
    """Repair a plan after each of the events in turn, or say why there is none any more. Raises `PlannerError`."""
    repaired: Repaired | Conflict = Repaired(meal, plan, (), (), 0, plan)
    for event in events:
        if isinstance(repaired, Repaired):
            repaired = _after(repaired, event, budget)
    return repaired


def _after(old: Repaired, event: Event, budget: Budget) -> Repaired | Conflict:
    meal = _with_duration(old, event) if event.event == "longer" else old.meal
    begun = tuple(_now(meal, row, event) for row in old.plan if row.start < event.at)
    lost = _lost(meal, begun, event)
    passed: list[str] = []
    while True:
        situation = _situation(meal, begun, lost, event)
        if cold := _cold(situation):
            lost |= cold
            continue
        found = plan_or_explain(situation, budget)
        if not isinstance(found, Conflict):
            was = {row.key: row.start for row in reversed(old.plan) if row.start >= event.at}
            latest = int(found.makespan * (1 + _SLACK))
            calm = calmest(situation, found.plan, situation.grids[-1], latest, budget.part(_CALM_S), was)
            waste = (*old.waste, *(_cut(row, event.at) for row in begun if row.key in lost))
            again, told = tuple(sorted({*old.again, *lost})), (*old.passed, *passed)
            return Repaired(meal, calm, waste, again, found.lower_bound, found.plan, told)
        limits = [(wish, meal.steps[wish.recipe, int(wish.about or 0)]) for wish in found.wishes if wish.kind == "within"]
        gone = [(wish.sentence, step) for wish, step in limits if situation.left(step) < step.duration]
        if not gone:
            return found
        passed.append(gone[0][0])
        lost |= _made_of(meal, begun, gone[0][1])


def _with_duration(old: Repaired, event: Event) -> Meal:
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
    if event.event == "away" and step.is_interruptible and not step.is_autonomous:
        return _cut(row, event.at)
    if event.event == "longer" and (event.recipe, event.step) == step.key and not step.is_interruptible:
        return row._replace(duration=step.duration)
    return row


def _cut(row: Row, at: int) -> Row:
    return row._replace(duration=min(row.end, at) - row.start)


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
    found, level = {step.key}, [step]
    while level:
        into = [each for step in level for each in meal.before(step)]
        level = [each for each in into if not any(use.update for use in each.uses.values())]
        found |= {each.key for each in level}
    made = {step.key}
    for each in meal.recipes[step.recipe] * len(meal.recipes[step.recipe]):
        if any((each.recipe, number) in made for number in each.after):
            made.add(each.key)
    return (found | made) & {row.key for row in begun}


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

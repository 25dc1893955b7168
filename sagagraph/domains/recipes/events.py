"""Events: what becomes known while a meal is cooked, and how long steps take by that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from sagagraph.domains.recipes.plan import LATEST, Plan, Row
from sagagraph.domains.recipes.request import Meal
from sagagraph.errors import InvalidInputError
from sagagraph.validators.complaints import checked, shown

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


def parse_events(meal: Meal, listed: Iterable[object]) -> tuple[Event, ...]:
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


def as_known(meal: Meal, plan: Plan, event: Event) -> Meal:
    """The meal with the durations that are known after the event. What is over by then stays as it was."""
    if event.event != "longer":
        return meal
    step = meal.steps[event.recipe, event.step]
    begun = [row for row in plan if row.key == step.key and row.start < event.at]
    if begun and sum(row.duration for row in begun) >= step.duration and max(row.end for row in begun) <= event.at:
        return meal
    done = sum(cut(row, event.at).duration for row in begun)
    return meal.changed(step, duration=max(event.duration_s, done + 1))


def cut(row: Row, at: int) -> Row:
    """The row as far as it had got by then."""
    return row._replace(duration=min(row.end, at) - row.start)

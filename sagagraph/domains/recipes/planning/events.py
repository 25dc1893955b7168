"""Events in a kitchen: what becomes known, and when. (docs/recipes.md, "Repair".)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sagagraph.domains.recipes.plan import LATEST
from sagagraph.domains.recipes.request import Meal
from sagagraph.errors import InvalidInputError
from sagagraph.validators.complaints import in_words, shown

Moment = Annotated[int, Field(strict=True, ge=0, le=LATEST)]


class _Event(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    at: Moment
    """Seconds from the beginning of the meal. What began before is history."""


class Longer(_Event):
    """A step that is not over takes so long in all."""

    event: Literal["longer"] = "longer"
    recipe: str
    step: int
    duration_s: Annotated[int, Field(strict=True, gt=0, le=LATEST)]


class Burnt(_Event):
    """What a step has made, or is making, is spoilt."""

    event: Literal["burnt"] = "burnt"
    recipe: str
    step: int


class Away(_Event):
    """The cooks are called away until then."""

    event: Literal["away"] = "away"
    until: Moment


class Broken(_Event):
    """An object fails until then; when it works again, it is cold."""

    event: Literal["broken"] = "broken"
    object: str
    until: Moment


Event = Longer | Burnt | Away | Broken
_KINDS: Final[dict[str, type[Event]]] = {"longer": Longer, "burnt": Burnt, "away": Away, "broken": Broken}


def parse_events(meal: Meal, listed: list[object]) -> tuple[Event, ...]:
    """Parse what became known, in the order of `at`. Raises `InvalidInputError`: what is wrong first, with its field."""
    found = [_parse(meal, said, f"events[{place}]") for place, said in enumerate(listed)]
    return tuple(sorted(found, key=lambda event: event.at))


def _parse(meal: Meal, said: object, field: str) -> Event:
    kind = said.get("event") if isinstance(said, Mapping) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InvalidInputError(f"must be one of {', '.join(_KINDS)}, not {shown(kind)}", field=f"{field}.event")
    try:
        event = _KINDS[kind].model_validate(said)
    except ValidationError as exc:
        name, message = in_words(exc)[0]
        raise InvalidInputError(message, field=f"{field}.{name}") from exc
    if isinstance(event, Longer | Burnt) and (event.recipe, event.step) not in meal.steps:
        raise InvalidInputError(f"there is no step {event.step} of {shown(event.recipe)}", field=f"{field}.step")
    if isinstance(event, Away | Broken) and event.until < event.at:
        raise InvalidInputError(f"{event.until} is before {event.at}", field=f"{field}.until")
    if isinstance(event, Broken) and event.object not in meal.objects:
        raise InvalidInputError(f"nothing needs an object {shown(event.object)}", field=f"{field}.object")
    return event

"""Events: what becomes known while a meal is cooked, in a file, from a button, or as somebody reports it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, Field

from sagagraph.domains.recipes.plan import LATEST, Cooked, Plan, Row, makespan
from sagagraph.domains.recipes.request import Meal
from sagagraph.errors import InvalidInputError
from sagagraph.language.clock import Clock, Lasting
from sagagraph.language.forms import Forms
from sagagraph.language.tagging import tagged
from sagagraph.validators.complaints import checked, shown

K = TypeVar("K")
SAYS: Final = Forms(__file__, "news")
"""Words in which people report events."""
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_LASTS: Final = 10 * 60
_FIELDS: Final = {
    "longer": {"recipe", "step", "duration_s"},
    "burnt": {"recipe", "step"},
    "away": {"until"},
    "broken": {"object", "until"},
}
Moment = Annotated[int, Field(strict=True, ge=0, le=LATEST)]


class Event(BaseModel, extra="forbid", frozen=True):
    """Event. Longer: a step that is not over takes this long in all. Burnt: what a step has made, or is making, is spoilt.

    Away: the cooks are called away until then. Broken: an object fails until then, and is cold when it works again.
    """

    event: Literal["longer", "burnt", "away", "broken"]
    at: Moment
    """Seconds from the beginning of the meal, like `until`. What began before is history."""
    recipe: str = ""
    step: int = -1
    duration_s: Annotated[int, Field(strict=True, gt=0, le=LATEST)] = 1
    object: str = ""
    until: Moment = 0


def parse_events(meal: Meal, listed: object) -> tuple[Event, ...]:
    """Parse what became known, in the order of `at`. Raises `InvalidInputError`: the first fault, with its field."""
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise InvalidInputError(f"must be a list of events, not {shown(listed)}", field="events")
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
    """Return the meal with the durations that are known after the event. What is over by then stays as it was."""
    if event.event != "longer":
        return meal
    step = meal.steps[event.recipe, event.step]
    begun = [row for row in plan if row.key == step.key and row.start < event.at]
    if begun and sum(row.duration for row in begun) >= step.duration and max(row.end for row in begun) <= event.at:
        return meal
    done = sum(cut(row, event.at).duration for row in begun)
    return meal.changed(step, duration=max(event.duration_s, done + 1))


def cut(row: Row, at: int) -> Row:
    """Return the row as far as it had got by then."""
    return row._replace(duration=min(row.end, at) - row.start)


# -- in words ----------------------------------------------------------------------------------------------------


def event_in(text: str, cooked: Cooked, begins: int) -> dict[str, Any] | None:
    """Return the event; None if the text reports none. `begins`: when cooking did, in seconds since midnight.

    Raises `InvalidInputError`: it reports one, but does not say when, until when, or of which step.
    """
    found = SAYS.what.search(text)
    if found is None:
        return None
    kind = found.lastgroup
    passage = tagged(re.sub(r"(?<=\w)-(?=minute|hour)", " ", text))
    until = [_moment(each.get("time", Clock), begins) for each in passage.take(SAYS.until)]
    at = [round(60 * each.values(Lasting)[0].minutes) for each in passage.take(SAYS.since)]
    at += [_moment(each.get("time", Clock), begins) for each in passage.take(SAYS.at)]
    lasts = next(iter(passage.find(SAYS.lasting)), None)
    seconds = round(60 * lasts.values(Lasting)[0].minutes) if lasts else 0
    if not at or (kind != "burnt" and not until and not seconds):
        asked = "When did that happen? Say a time, as it stands in the plan." if not at else "How long, or until when?"
        raise InvalidInputError(asked, field="text")
    event = {"event": kind, "at": at[0]}
    if kind in ("away", "broken"):
        event["until"] = until[0] if until else at[0] + seconds
        return event | ({"object": _one_of(text, {name: name for name in cooked.meal.objects})} if kind == "broken" else {})
    rows = [row for row in cooked.plan if (row.start < at[0] if kind == "burnt" else row.end > at[0])]
    steps = {row.key: f"{row.recipe}: {cooked.meal.steps[row.key].text}" for row in rows}
    recipe, step = _one_of(passage.said(), steps)
    longer = cooked.meal.steps[recipe, step].duration if lasts and (lasts["more"] or lasts["longer"]) else 0
    return {**event, "recipe": recipe, "step": step, **({"duration_s": seconds + longer} if kind == "longer" else {})}


def _moment(clock: Clock | None, begins: int) -> int:
    """Return seconds from the beginning; a bare `6:30` is the one that comes after it."""
    seconds = ((clock.hour * 60 + clock.minute) * 60 if clock else 0) - begins
    return seconds + 12 * 3600 if seconds < 0 and clock and clock.hour < 12 else seconds % (24 * 3600)


def _one_of(text: str, known: Mapping[K, str]) -> K:
    """Return the one with the most words in the text."""
    said, *names = (
        {word[:4] for word in _WORD.findall(each.casefold())} for each in (text, *known.values())
    )  # heating is to heat
    scores = {key: len(said & words) for key, words in zip(known, names, strict=True)}
    best = [key for key, score in scores.items() if score and score == max(scores.values())]
    if len(best) == 1:
        return best[0]
    raise InvalidInputError(f"Which of these: {'; '.join([known[key] for key in best or known][:6])}?", field="text")


def offered(cooked: Cooked, since: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield events that can happen halfway through what is left, with their sentences."""
    at = (since + makespan(cooked.plan)) // 2 // 60 * 60 + 30
    events: list[dict[str, Any]] = [{"event": "away", "until": at + _LASTS}]
    for row in [row for row in cooked.plan if row.start < at < row.end][:2]:
        step = {"recipe": row.recipe, "step": row.step}
        longer = cooked.meal.steps[row.key].duration + _LASTS
        events += [{"event": "longer", **step, "duration_s": longer}, {"event": "burnt", **step}]
    events += [{"event": "broken", "object": name, "until": at + _LASTS} for name in cooked.meal.objects]
    for event in ({"at": at, **each} for each in events):
        yield in_words(cooked.meal, parse_events(cooked.meal, [event])[0]), event


def in_words(meal: Meal, event: Event) -> str:
    at, until = f"{event.at / 60:g}", f"{event.until / 60:g}"
    text = meal.steps[event.recipe, event.step].text.rstrip(".") if event.recipe else ""
    what = {
        "longer": f"{event.recipe}, “{text}”, takes {event.duration_s / 60:g} minutes in all",
        "burnt": f"{event.recipe}, “{text}”, is burnt",
        "away": f"the cook is away until minute {until}",
        "broken": f"the {event.object} is broken until minute {until}",
    }
    return f"After {at} minutes: {what[event.event]}"

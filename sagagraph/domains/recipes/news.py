"""News: what happens while a meal is cooked, as buttons offer it, and as somebody would report it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

from sagagraph.domains.recipes.events import Event, parse_events
from sagagraph.domains.recipes.plan import Cooked, makespan
from sagagraph.domains.recipes.request import Meal
from sagagraph.errors import InvalidInputError
from sagagraph.language.clock import Clock, Lasting
from sagagraph.language.forms import Forms
from sagagraph.language.tagging import tagged

K = TypeVar("K")
_SAYS: Final = Forms(__file__, "news")
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_LASTS: Final = 10 * 60


def is_served(text: str) -> bool:
    return _SAYS.served.search(text) is not None


def event_in(text: str, cooked: Cooked, begins: int) -> dict[str, Any] | None:
    """Return the event; None if it is no news. `begins`: when cooking did, in seconds since midnight.

    Raises `InvalidInputError`: it is news, but does not say when, until when, or of which step.
    """
    found = _SAYS.what.search(text)
    if found is None:
        return None
    kind = found.lastgroup
    passage = tagged(re.sub(r"(?<=\w)-(?=minute|hour)", " ", text))
    until = [_moment(each.get("time", Clock), begins) for each in passage.take(_SAYS.until)]
    at = [round(60 * each.values(Lasting)[0].minutes) for each in passage.take(_SAYS.since)]
    at += [_moment(each.get("time", Clock), begins) for each in passage.take(_SAYS.at)]
    lasts = next(iter(passage.find(_SAYS.lasting)), None)
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
    """Seconds from the beginning; a bare `6:30` is the one that comes after it."""
    seconds = ((clock.hour * 60 + clock.minute) * 60 if clock else 0) - begins
    return seconds + 12 * 3600 if seconds < 0 and clock and clock.hour < 12 else seconds % (24 * 3600)


def _one_of(text: str, known: Mapping[K, str]) -> K:
    """Return the one of which most words are said."""
    scores = {key: len(_words(text) & _words(words)) for key, words in known.items()}
    best = [key for key, score in scores.items() if score and score == max(scores.values())]
    if len(best) == 1:
        return best[0]
    raise InvalidInputError(f"Which of these: {'; '.join([known[key] for key in best or known][:6])}?", field="text")


def _words(text: str) -> set[str]:
    return {word[:4] for word in _WORD.findall(text.casefold())}  # heating is to heat


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

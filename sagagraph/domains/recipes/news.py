"""News: what happens while a meal is cooked, as buttons offer it, and as somebody would report it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from sagagraph.domains.recipes.events import Event, parse_events
from sagagraph.domains.recipes.plan import Plan, Row, makespan
from sagagraph.domains.recipes.request import Meal, Step
from sagagraph.errors import InvalidInputError
from sagagraph.language.clock import Clock, Lasting
from sagagraph.language.forms import form
from sagagraph.language.passage import Passage
from sagagraph.language.tagging import tagged

_UNTIL: Final = form(r"\b(until|till) {time}")
_AT: Final = form(r"\b(at |around )?{time}")
_SINCE: Final = form(r"\bafter {lasting}")
_LASTING: Final = form(r"(?<more>\banother )?{lasting}(?<longer> (more|longer))?")
_KINDS: Final = {
    "burnt": form(r"\b(burn(t|s|ed)?|spoil(t|s|ed)?|ruined|dropped|on the floor)\b"),
    "broken": form(r"\b(broken?|breaks|fail(s|ed)?|dead|out of order|does ?n'?o?t work|stopped working)\b"),
    "away": form(r"\b(away|have to leave|must leave|door ?bell|phone)\b"),
    "longer": form(r"\b(longer|takes?|needs?|not (done|ready))\b"),
}
_SERVED: Final = form(r"\b(dinner|lunch|everything|the meal|it) is (served|on the table|eaten)\b")
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_LASTS: Final = 10 * 60


def is_served(text: str) -> bool:
    return _SERVED.search(text) is not None


def event_in(text: str, meal: Meal, plan: Plan, begins: int) -> dict[str, Any] | None:
    """Return the event; None if it is no news. `begins`: when cooking did, in seconds since midnight.

    Raises `InvalidInputError`: it is news, but does not say when, until when, or of which step.
    """
    kind = next((kind for kind, words in _KINDS.items() if words.search(text)), None)
    if kind is None:
        return None
    passage = tagged(re.sub(r"(?<=\w)-(?=minute|hour)", " ", text))
    until = [_moment(each.get("time", Clock), begins) for each in passage.take(_UNTIL)]
    since = [round(60 * each.values(Lasting)[0].minutes) for each in passage.take(_SINCE)]
    at = [*since, *(_moment(each.get("time", Clock), begins) for each in passage.take(_AT))]
    if not at:
        raise InvalidInputError("When did that happen? Say a time, as it stands in the plan.", field="text")
    event: dict[str, Any] = {"event": kind, "at": at[0]}
    if kind in ("away", "broken"):
        lasts = [round(60 * each.minutes) for each in passage.values(Lasting)]
        if not until and not lasts:
            raise InvalidInputError("Until when? Say a time, or how long.", field="text")
        event["until"] = until[0] if until else at[0] + lasts[0]
        return event | ({"object": _object(text, meal)} if kind == "broken" else {})
    step = _step(passage.said(), meal, _candidates(kind, plan, at[0]))
    event |= {"recipe": step.recipe, "step": step.number}
    return event | ({"duration_s": _duration(passage, step)} if kind == "longer" else {})


def _moment(clock: Clock | None, begins: int) -> int:
    """Seconds from the beginning; a bare `6:30` is the one that comes after it."""
    seconds = ((clock.hour * 60 + clock.minute) * 60 if clock else 0) - begins
    return seconds + 12 * 3600 if seconds < 0 and clock and clock.hour < 12 else seconds % (24 * 3600)


def _object(text: str, meal: Meal) -> str:
    if found := [name for name in meal.objects if name in text.casefold()]:
        return found[0]
    raise InvalidInputError(f"What is broken: {', '.join(meal.objects)}?", field="text")


def _candidates(kind: str, plan: Plan, at: int) -> list[Row]:
    return [row for row in plan if (row.start < at if kind == "burnt" else row.end > at)]


def _step(text: str, meal: Meal, rows: Iterable[Row]) -> Step:
    """Return the step whose words, and whose dish's name, are said best."""
    said = {word.rstrip("s") for word in _WORD.findall(text.casefold())}
    steps = [meal.steps[key] for key in dict.fromkeys(row.key for row in rows)]
    known = [
        (len(said & {word.rstrip("s") for word in _WORD.findall(str(each).casefold() + each.text.casefold())}), each)
        for each in steps
    ]
    best = [each for score, each in known if score == max(score for score, _each in known) and score]
    if len(best) == 1:
        return best[0]
    told = "; ".join(f"{each.recipe}: {each.text}" for each in (best or steps)[:6])
    raise InvalidInputError(f"Which step is that: {told}?", field="text")


def _duration(passage: Passage, step: Step) -> int:
    for found in passage.find(_LASTING):
        minutes = found.values(Lasting)[0].minutes
        return round(60 * minutes) + (step.duration if found["more"] or found["longer"] else 0)
    raise InvalidInputError("How long does it take now? Say it in minutes.", field="text")


def offered(meal: Meal, plan: Plan, since: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield events that can happen halfway through what is left, with their sentences."""
    at = (since + makespan(plan)) // 2 // 60 * 60
    going = [row for row in plan if row.start < at < row.end]
    for row in going[:2]:
        step = {"recipe": row.recipe, "step": row.step}
        yield _with_sentence(meal, {"event": "longer", "at": at, **step, "duration_s": meal.steps[row.key].duration + _LASTS})
        yield _with_sentence(meal, {"event": "burnt", "at": at, **step})
    for name in sorted({name for row in plan if row.end > at for name in meal.steps[row.key].uses}):
        yield _with_sentence(meal, {"event": "broken", "at": at, "object": name, "until": at + _LASTS})
    yield _with_sentence(meal, {"event": "away", "at": at, "until": at + _LASTS})


def _with_sentence(meal: Meal, event: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return in_words(meal, parse_events(meal, [event])[0]), event


def in_words(meal: Meal, event: Event) -> str:
    at, until = event.at // 60, -(-event.until // 60)
    text = meal.steps[event.recipe, event.step].text.rstrip(".") if event.recipe else ""
    what = {
        "longer": f"{event.recipe}, “{text}”, takes {-(-event.duration_s // 60)} minutes in all",
        "burnt": f"{event.recipe}, “{text}”, is burnt",
        "away": f"the cook is away until minute {until}",
        "broken": f"the {event.object} is broken until minute {until}",
    }
    return f"After {at} minutes: {what[event.event]}"

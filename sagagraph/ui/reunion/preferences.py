"""`less driving`, `home sooner`: which of the plans that are offered is meant, by figures, and what it costs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from sagagraph.domains.reunion.day import DayPlan, parse_request
from sagagraph.domains.reunion.problem import ReunionProblem
from sagagraph.domains.reunion.times import text_of
from sagagraph.domains.reunion.tradeoffs import Tradeoffs, tradeoffs
from sagagraph.saga.model import Saga
from sagagraph.ui.subject import ALONE, Preference

_HOUR: Final = 60


@dataclass(frozen=True, slots=True)
class _Aim:
    """Less of `figure` is better; `best` and `better` name what has least, or less, of it."""

    words: re.Pattern[str]
    figure: Callable[[Tradeoffs], float]
    best: str
    better: str
    shown: Callable[[float], str]
    of: str = ""


def duration(minutes: float) -> str:
    hours, rest = divmod(round(minutes), _HOUR)
    return " ".join([f"{hours} h"] * (hours > 0) + [f"{rest} min"] * (rest > 0)) or "0 min"


def _moment(minutes: float) -> str:
    return text_of(round(minutes))


def _words(text: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{text})\b", re.IGNORECASE)


_AIMS: Final = (
    _Aim(
        _words(
            r"(?:less|no|shorter|fewer|as little) (?:\w+ )?wait(?:ing|s)?|waits? (?:less|shorter)|not (?:have to )?wait so long"
        ),
        lambda each: each.waiting,
        "the least waiting",
        "less waiting",
        duration,
    ),
    _Aim(
        _words(r"fair(?:er|est|ly)?|more even(?:ly)?|evenly|same (?:amount|share) of work|share the (?:driving|work)"),
        lambda each: each.spread,
        "the fairest shares",
        "fairer shares",
        duration,
        " between who does most and who does least",
    ),
    _Aim(
        _words(r"earli(?:er|est)|soon(?:er|est)|fast(?:er|est)|quick(?:er|est)|(?:be |finish |end )early"),
        lambda each: each.ends,
        "the earliest end",
        "an earlier end",
        _moment,
    ),
    _Aim(
        _words(
            r"(?:less|least|shorter|shortest|fewer|as little) (?:\w+ )?"
            r"(?:driv\w*|journeys?|trips?|rides?|distance|kilomet\w+|km|miles)"
            r"|drive less|short(?:er|est)|cheap(?:er|est)|costs? less|less expensive|save (?:money|fuel)"
        ),
        lambda each: each.driving_minutes,
        "the least driving",
        "less driving",
        duration,
    ),
)
_CHEAPER: Final = _words(r"distance|kilomet\w+|km|miles|cheap(?:er|est)|costs?|expensive|save")
_KILOMETRES: Final = _Aim(
    _CHEAPER, lambda each: each.kilometres or 0, "the fewest kilometres", "fewer kilometres", lambda km: f"{km:g} km"
)
_FIGURE: Final = re.compile(r"\d")


def preferred(text: str, saga: Saga) -> Preference | None:
    """None where it is about something else: a time, or somebody by name."""
    problem = parse_request(saga.request).problem
    aim = next((each for each in _AIMS if each.words.search(text)), None)
    if aim is None or _FIGURE.search(text) or any(_words(re.escape(each.name)).search(text) for each in problem.people):
        return None
    if problem.distance_km and _CHEAPER.search(text):
        aim = _KILOMETRES
    shown = _figures(problem, saga.plan.content)
    if not saga.plan.alternatives:
        return Preference(said=ALONE)
    offered = [(_figures(problem, each["plan"]), str(each["plan_hash"])) for each in saga.plan.alternatives]
    found, plan_hash = min(offered, key=lambda each: aim.figure(each[0]))
    if aim.figure(found) >= aim.figure(shown):
        return Preference(said=f"Of all plans that I have found for your wishes, this one has {aim.best}: change one of them.")
    gain = f"{aim.shown(aim.figure(found))} instead of {aim.shown(aim.figure(shown))}{aim.of}"
    prices = "; ".join(_prices(shown, found))
    return Preference(
        plan_hash, said=f"This one has {aim.better}: {gain}. {f'In exchange: {prices}.' if prices else ''}".rstrip()
    )


def _figures(problem: ReunionProblem, plan: object) -> Tradeoffs:
    return tradeoffs(problem, DayPlan.model_validate(plan).plan)


def _prices(shown: Tradeoffs, other: Tradeoffs) -> Iterator[str]:
    """In what the other plan is worse."""
    if other.driving_minutes > shown.driving_minutes:
        yield f"{duration(other.driving_minutes - shown.driving_minutes)} more driving"
    if other.kilometres is not None and shown.kilometres is not None and other.kilometres > shown.kilometres:
        yield f"{other.kilometres - shown.kilometres:g} km more"
    if other.ends > shown.ends:
        yield f"it ends at {text_of(other.ends)} instead of {text_of(shown.ends)}"
    if other.waiting > shown.waiting:
        yield f"{duration(other.waiting - shown.waiting)} more waiting"
    if other.spread > shown.spread:
        yield f"what people do differs by {duration(other.spread)} instead of {duration(shown.spread)}"

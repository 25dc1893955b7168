"""Preferences such as `less driving` and `home sooner`: which of the offered plans is meant, by figures, and what it costs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sagagraph.domains.reunion.day import DayPlan, parse_request
from sagagraph.domains.reunion.planning.measure import Tradeoffs, reasons, tradeoffs
from sagagraph.planning.page import ALONE, Preference, better_offer
from sagagraph.saga.core.state import Saga


@dataclass(frozen=True, slots=True)
class _Aim:
    """Aim: less of `figure` is better; `best` and `better` are the words for a plan that has least, or less, of it."""

    words: re.Pattern[str]
    figure: Callable[[Tradeoffs], float]
    best: str
    better: str


def _words(text: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{text})\b", re.IGNORECASE)


_CHEAPER: Final = r"cheap(?:er|est)|costs? less|less expensive|save (?:money|fuel)"
_LESS: Final = r"(?:less|least|shorter|shortest|fewer|as little)"
_AIMS: Final = (
    _Aim(
        _words(rf"(?:{_LESS}|no) (?:\w+ )?wait(?:ing|s)?|waits? (?:less|shorter)|not (?:have to )?wait so long"),
        lambda each: each.waiting,
        "the least waiting",
        "less waiting",
    ),
    _Aim(
        _words(r"fair(?:er|est|ly)?|more even(?:ly)?|evenly|same (?:amount|share) of work|share the (?:driving|work)"),
        lambda each: each.spread,
        "the fairest shares",
        "fairer shares",
    ),
    _Aim(
        _words(r"earli(?:er|est)|soon(?:er|est)|fast(?:er|est)|quick(?:er|est)|(?:be |finish |end )early"),
        lambda each: each.ends,
        "the earliest end",
        "an earlier end",
    ),
    _Aim(
        _words(rf"{_CHEAPER}|{_LESS} (?:\w+ )?(?:distance|kilomet\w+|km|miles)"),
        lambda each: each.driving_minutes if each.kilometres is None else each.kilometres,
        "the least driving",
        "less driving",
    ),
    _Aim(
        _words(rf"{_LESS} (?:\w+ )?(?:driv\w*|journeys?|trips?|rides?)|drive less|short(?:er|est)"),
        lambda each: each.driving_minutes,
        "the least driving",
        "less driving",
    ),
)
_CLAUSE: Final = re.compile(r"[,.;]|\band\b")
_FIGURE: Final = re.compile(r"\d")


def preferred(text: str, saga: Saga) -> Preference | None:
    """Return the preferred plan; None if the text is about something else, too: a time, somebody by name."""
    problem = parse_request(saga.request).problem
    aim = next((each for each in _AIMS if each.words.search(text)), None)
    clauses = [each for each in _CLAUSE.split(text) if len(each.split()) > 1]
    if (
        aim is None
        or not all(map(aim.words.search, clauses))
        or _FIGURE.search(text)
        or any(_words(re.escape(each.name)).search(text) for each in problem.people)
    ):
        return None
    if not saga.plan.alternatives:
        return Preference(said=ALONE)
    better = better_offer(saga, lambda plan: aim.figure(tradeoffs(problem, DayPlan.model_validate(plan).plan)))
    if better is None:
        return Preference(said=f"Of all plans that I have found for your wishes, this one has {aim.best}: change one of them.")
    plan_hash, found = better
    before, after = (DayPlan.model_validate(each).plan for each in (saga.plan.content, found))
    against = reasons(problem, after, before)[0]
    return Preference(plan_hash, said=f"This one has {aim.better}. Against the one before: {against}.")

"""The comparison of plans in one picture: price against time, and the bigger, the more comfortable. A click chooses one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup

from sagagraph.planning.page import Figures, Page
from sagagraph.saga.core.state import Saga
from sagagraph.ui.html.templates import render

_LEAST, _MOST = 38, 58
"""Pixels across: of the least and the most comfortable plan."""
_EDGE: Final = 10
"""Hundredths of the picture that are left free at each side."""


@dataclass(frozen=True, slots=True)
class Point:
    """Plan in the picture. `x`, `y`: hundredths from its left and its bottom. `hash`: empty for the plan that is shown."""

    number: int
    told: str
    hash: str
    x: float = 0
    y: float = 0
    size: float = _LEAST


@dataclass(frozen=True, slots=True)
class Choice:
    """Plan that can be chosen, with its `number`. `hash`: empty for the plan that is shown. `told`: in words."""

    number: int
    hash: str
    told: str
    figures: Figures | None
    plan: Any
    cost: Mapping[str, Any] | None
    reasons: Sequence[str]


def choices_of(saga: Saga, page: Page) -> list[Choice]:
    """Return the plan that is shown and those on offer, the least of what they are compared by first: whichever is shown, each
    keeps its number.
    """
    plan = saga.plan
    shown = {"plan_hash": "", "plan": plan.content, "cost": plan.cost, "reasons": plan.reasons}
    drawn = [(each, page.figures(saga, each["plan"], each["cost"])) for each in (shown, *plan.alternatives)]
    drawn.sort(key=lambda each: _rank(each[0], each[1], str(plan.hash)))
    return [_choice(number, page, each, figures) for number, (each, figures) in enumerate(drawn, start=1)]


def _rank(offer: Mapping[str, Any], figures: Figures | None, shown: str) -> tuple[list[float], str]:
    values = [float((offer["cost"] or {}).get("total") or 0)] if figures is None else [each.value for each in figures]
    return values, str(offer["plan_hash"]) or shown


def _choice(number: int, page: Page, offer: Mapping[str, Any], figures: Figures | None) -> Choice:
    plan, cost, reasons = offer["plan"], offer["cost"], offer["reasons"]
    words = (page.price(plan, cost), *map(str, reasons[:1])) if figures is None else tuple(each.text for each in figures)
    told = ", ".join(filter(None, words)) or "another plan"
    return Choice(number, str(offer["plan_hash"]), told, figures, plan, cost, reasons)


def comparison(saga: Saga, page: Page) -> Markup:
    """Draw the plan that is shown, and those on offer; empty if there is only one."""
    choices = choices_of(saga, page)
    if len(choices) == 1:
        return Markup("")
    known = [each.figures for each in choices if each.figures is not None]
    if len(known) < len(choices):
        return render("comparison", points=[Point(each.number, each.told, each.hash) for each in choices], axes=())
    points = [_point(each, figures, known) for each, figures in zip(choices, known, strict=True)]
    return render("comparison", points=points, axes=[each.name for each in known[0]])


def _point(choice: Choice, figures: Figures, among: Sequence[Figures]) -> Point:
    cost, time, lack = (_share(figures[place].value, [each[place].value for each in among]) for place in range(3))
    span = 100 - 2 * _EDGE
    size = _MOST - (_MOST - _LEAST) * lack
    x, y = _EDGE + span * time, _EDGE + span * cost
    return Point(choice.number, choice.told, choice.hash, round(x, 1), round(y, 1), round(size, 1))


def _share(value: float, of: Sequence[float]) -> float:
    """Return where a value is between the least and the most of all: 0 to 1, in the middle if all are the same."""
    least, most = min(of), max(of)
    return (value - least) / (most - least) if most > least else 0.5

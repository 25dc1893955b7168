"""The comparison of plans in one picture: price against time, and the bigger, the more comfortable. A click chooses one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup

from sagagraph.money import cost_text
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


def comparison(saga: Saga, page: Page) -> Markup:
    """Draw the plan that is shown, and those on offer; empty if there is only one."""
    plan = saga.plan
    offers = [
        ("", plan.content, plan.cost),
        *((str(each["plan_hash"]), each["plan"], each["cost"]) for each in plan.alternatives),
    ]
    if len(offers) == 1:
        return Markup("")
    figures = [page.figures(saga, content, cost) for _, content, cost in offers]
    known = [each for each in figures if each is not None]
    if len(known) < len(offers):
        told = [_price(cost, each) for (_, _, cost), each in zip(offers, plan_reasons(saga), strict=True)]
        points = [Point(number, words, offer[0]) for number, (words, offer) in enumerate(zip(told, offers, strict=True), start=1)]
        return render("comparison", points=points, axes=())
    points = [_point(number, offers[number][0], each, known) for number, each in enumerate(known)]
    return render("comparison", points=points, axes=[each.name for each in known[0]])


def plan_reasons(saga: Saga) -> list[str]:
    """Return the first reason of the plan that is shown, and of those on offer."""
    reasons = [saga.plan.reasons, *(each["reasons"] for each in saga.plan.alternatives)]
    return [str(each[0]) if each else "" for each in reasons]


def _price(cost: Mapping[str, Any] | None, reason: str) -> str:
    return ", ".join(filter(None, (cost_text(cost), reason))) or "another plan"


def _point(number: int, plan_hash: str, figures: Figures, among: Sequence[Figures]) -> Point:
    cost, time, lack = (_share(figures[place].value, [each[place].value for each in among]) for place in range(3))
    span = 100 - 2 * _EDGE
    told = ", ".join(each.text for each in figures if each.text)
    size = _MOST - (_MOST - _LEAST) * lack
    return Point(number + 1, told, plan_hash, round(_EDGE + span * time, 1), round(_EDGE + span * cost, 1), round(size, 1))


def _share(value: float, of: Sequence[float]) -> float:
    """Return where a value is between the least and the most of all: 0 to 1, in the middle if all are the same."""
    least, most = min(of), max(of)
    return (value - least) / (most - least) if most > least else 0.5

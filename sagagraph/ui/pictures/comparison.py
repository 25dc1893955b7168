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


def comparison(saga: Saga, page: Page) -> Markup:
    """Draw the plan that is shown, and those on offer; empty if there is only one."""
    offers = offers_of(saga, page)
    if len(offers) == 1:
        return Markup("")
    known = [figures for _, _, figures in offers if figures is not None]
    if len(known) < len(offers):
        points = [Point(number, told, own) for number, (own, told, _) in enumerate(offers, start=1)]
        return render("comparison", points=points, axes=())
    points = [_point(number, offers[number], each, known) for number, each in enumerate(known)]
    return render("comparison", points=points, axes=[each.name for each in known[0]])


def offers_of(saga: Saga, page: Page) -> list[tuple[str, str, Figures | None]]:
    """Return the plan that is shown, with an empty hash, and those on offer: each in words, and its figures where it has any."""
    plan = saga.plan
    shown = {"plan_hash": "", "plan": plan.content, "cost": plan.cost, "reasons": plan.reasons}
    return [_offer(saga, page, each) for each in (shown, *plan.alternatives)]


def _offer(saga: Saga, page: Page, offer: Mapping[str, Any]) -> tuple[str, str, Figures | None]:
    figures = page.figures(saga, offer["plan"], offer["cost"])
    if figures is None:
        words = (page.price(offer["plan"], offer["cost"]), *map(str, offer["reasons"][:1]))
    else:
        words = tuple(each.text for each in figures)
    return str(offer["plan_hash"]), ", ".join(filter(None, words)) or "another plan", figures


def _point(number: int, offer: tuple[str, str, Figures | None], figures: Figures, among: Sequence[Figures]) -> Point:
    cost, time, lack = (_share(figures[place].value, [each[place].value for each in among]) for place in range(3))
    span = 100 - 2 * _EDGE
    size = _MOST - (_MOST - _LEAST) * lack
    return Point(number + 1, offer[1], offer[0], round(_EDGE + span * time, 1), round(_EDGE + span * cost, 1), round(size, 1))


def _share(value: float, of: Sequence[float]) -> float:
    """Return where a value is between the least and the most of all: 0 to 1, in the middle if all are the same."""
    least, most = min(of), max(of)
    return (value - least) / (most - least) if most > least else 0.5

"""Text that people and providers wrote stays text."""

from __future__ import annotations

from typing import Any

import pytest
from markupsafe import Markup

from sagagraph.planning.page import Line, PlanView
from sagagraph.saga.engine.views.preview import CancelPreview, UndoneOperation
from sagagraph.ui.html import cards
from sagagraph.ui.html.templates import render, table

pytestmark = pytest.mark.quick

EVIL = "<img src=x onerror=alert(1)> & [click](javascript:alert(1))"


def test_values_of_templates_are_escaped_and_markup_is_not_escaped_twice() -> None:
    inner = cards.note(EVIL)
    assert inner == '<div class="sg-muted">&lt;img src=x onerror=alert(1)&gt; &amp; [click](javascript:alert(1))</div>'
    assert inner in render("replay", told=inner, found="", unchecked=())
    assert "<img" not in render("replay", told=EVIL, found=EVIL, unchecked=(EVIL,))


def test_values_in_attributes_are_escaped() -> None:
    files = render("downloads", folder="/files", names=('"><script>',))
    assert "<script>" not in files
    assert files.count('"') == 8


def test_a_string_that_is_joined_to_markup_is_escaped() -> None:
    assert "<img" not in cards.note("x") + EVIL


def test_cells_of_tables_are_escaped() -> None:
    assert "<img" not in table(("what", EVIL), [(EVIL, Markup("<b>fine</b>"))])
    assert "<b>fine</b>" in table(("what",), [(Markup("<b>fine</b>"),)])


class Evil:
    """A page whose plans hold what somebody may have called a hotel."""

    def view(self, _plan: Any) -> PlanView:
        return PlanView((Line(EVIL, EVIL, EVIL, EVIL),))


@pytest.mark.parametrize(
    "card",
    [
        cards.alternative_card(
            {"cost": {"total": 1, "currency": "USD"}, "plan": {}, "reasons": [EVIL, EVIL], "plan_hash": EVIL}, Evil()
        ),  # type: ignore[arg-type]
        cards.preview_card(
            CancelPreview("s", True, (UndoneOperation(EVIL, EVIL, True, 1, "USD"),), 1, "USD", (EVIL,)), {EVIL: EVIL}
        ),
        cards.preview_card(CancelPreview("s", False, (), 0, None, (EVIL,)), {}),
        cards.note(EVIL),
        cards.problem(EVIL),
    ],
)
def test_no_card_lets_markup_through(card: Markup) -> None:
    assert "<img" not in card
    assert "&lt;img src=x onerror=alert(1)&gt;" in card

"""Text that people and providers wrote stays text."""

from __future__ import annotations

from typing import Any

import pytest

from sagagraph.planning.page import Line
from sagagraph.saga.engine.views.preview import CancelPreview, UndoneOperation
from sagagraph.ui import cards
from sagagraph.ui.markup import Html, element, joined, table
from sagagraph.ui.pictures.palette import shown

EVIL = "<img src=x onerror=alert(1)> & [click](javascript:alert(1))"


def test_children_and_attributes_are_escaped_and_elements_are_not_escaped_twice() -> None:
    inner = element("b", EVIL, title='"><script>')
    assert inner == (
        '<b title="&quot;&gt;&lt;script&gt;">&lt;img src=x onerror=alert(1)&gt; &amp; [click](javascript:alert(1))</b>'
    )
    assert element("p", inner) == f"<p>{inner}</p>"
    assert isinstance(joined(inner, "<"), Html)
    assert joined(inner, "<").endswith("&lt;")


def test_a_string_that_was_joined_to_markup_is_no_markup_any_more() -> None:
    assert not isinstance(element("b", "x") + EVIL, Html)
    assert element("p", element("b", "x") + EVIL).count("<b>") == 0


def test_cells_of_tables_are_escaped() -> None:
    assert "<img" not in table(("what", EVIL), [(EVIL, element("b", "fine"))])
    assert "<b>fine</b>" in table(("what",), [(element("b", "fine"),)])


def test_plotly_is_given_no_tags() -> None:
    assert shown("<b>Ann</b> & <a href='x'>") == "&lt;b&gt;Ann&lt;/b&gt; &amp; &lt;a href='x'&gt;"


class Evil:
    """A subject whose plans hold what somebody may have called a hotel."""

    def lines(self, _plan: Any) -> tuple[Line, ...]:
        return (Line(EVIL, EVIL, EVIL, EVIL),)


@pytest.mark.parametrize(
    "card",
    [
        cards.alternative_card(
            {"cost": {"total": 1, "currency": "USD"}, "plan": {}, "reasons": [EVIL, EVIL], "plan_hash": EVIL}, Evil()
        ),  # type: ignore[arg-type]
        cards.preview_card(CancelPreview("s", True, (UndoneOperation(EVIL, EVIL, True, 1, "USD"),), 1, "USD", (EVIL,))),
        cards.preview_card(CancelPreview("s", False, (), 0, None, (EVIL,))),
        cards.note(EVIL),
        cards.problem(EVIL),
    ],
)
def test_no_card_lets_markup_through(card: Html) -> None:
    assert "<img" not in card
    assert "&lt;img src=x onerror=alert(1)&gt;" in card

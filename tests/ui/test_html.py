"""Text that people and providers wrote stays text."""

from __future__ import annotations

import pytest
from markupsafe import Markup

from sagagraph.planning.fields import Field, Fields, Sheet, Widget
from sagagraph.ui.html import cards
from sagagraph.ui.html.templates import render, table
from sagagraph.ui.pictures.comparison import Point

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


EVIL_FIELD = Field(EVIL, EVIL, EVIL, note=EVIL, suggests=EVIL)
EVIL_SHEET = Sheet(EVIL, (EVIL,), ((EVIL, ((EVIL_FIELD, Field(EVIL, EVIL, EVIL, Widget.CHOICE, ((EVIL, EVIL),))),)),), EVIL)


@pytest.mark.parametrize(
    "card",
    [
        render("comparison", points=[Point(1, EVIL, EVIL), Point(2, EVIL, "")], axes=(EVIL, EVIL, EVIL)),
        render("request", title=EVIL, parts=(EVIL_SHEET, Fields(EVIL, (EVIL_FIELD,))), happened=(), is_fresh=False, turn=EVIL),
        render("preview", possible=True, undo=table(("what",), [(EVIL,)]), fees=EVIL, residue=(EVIL,)),
        cards.note(EVIL),
        cards.problem(EVIL),
    ],
)
def test_no_card_lets_markup_through(card: Markup) -> None:
    assert "<img" not in card
    assert "&lt;img src=x onerror=alert(1)&gt;" in card

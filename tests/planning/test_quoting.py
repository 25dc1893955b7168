"""The words that stand under a field as those in which it was said."""

from __future__ import annotations

import pytest

from sagagraph.domains.reunion.page.page import ReunionPage
from sagagraph.planning.models.quoting import quotes_in
from tests.language.openings.reading import page_of

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("domain", "text", "field", "quote"),
    [
        ("trip", "Rome from Prague, 2 people, 2 nights in July", "stops[0].nights", "2 nights"),
        ("trip", "Rome from Prague, 2 people, 2 nights in July", "travellers", "2 people"),
        ("trip", "Rome from Prague, 2 people, 3 nights in July", "travellers", "2 people"),
        ("trip", "Rome from Prague, Rome for 3 nights in July", "stops[0].city", "Rome"),
        (
            "reunion",
            "Coach Lisa is at home from 8:30 and has a minibus with 8 seats. We meet at the church by 10:30.",
            "vehicles[0].seats",
            "8 seats",
        ),
        ("reunion", "Dinner is at the hall at 6 pm. Ann is at home and drives.", "goals[0].by", "6 pm"),
        ("trip", "A week in Rome from Prague, 2 people in July", "stops[0].nights", "week"),
        (
            "reunion",
            "Lisa is at the station from 3:30 pm, 15 minutes from home. Tom buys wine, 20 minutes, Ben cooks, 30 minutes.",
            "people[0].from",
            "3:30 pm",
        ),
        ("reunion", ReunionPage.examples[0], "tasks[0].minutes", None),
    ],
)
async def test_words_are_quoted_only_where_it_is_clear_which_ones(domain: str, text: str, field: str, quote: str | None) -> None:
    page = page_of(domain)
    quotes = quotes_in(text, page, await page.drafted(None), await page.hear(text, None))
    assert quotes.get(field, (None, None))[1] == quote

"""Differences as they are told: few, each with its name, and with days as people write them."""

from __future__ import annotations

import pytest

from sagagraph.planning.page import Line
from sagagraph.ui.differences import dated, price_change, told
from sagagraph.ui.service import Service

pytestmark = pytest.mark.quick


def test_of_many_differences_the_first_are_told_each_with_its_name() -> None:
    lines = [Line(f"step {number}", f"step {number}", "18:05") for number in range(30)]
    assert told((), lines) == [*(f"new: step {number} · 18:05" for number in range(4)), "and 26 more, in the plan below"]
    assert told(lines, ()) == [*(f"no longer: step {number} · 18:05" for number in range(4)), "and 26 more, in the plan below"]


def test_of_a_long_line_only_what_differs_is_told_and_that_is_short() -> None:
    day = [f"{hour:02}:00 Fran drives" for hour in range(6, 22)]
    later = [*day[:-1], "21:30 Fran drives"]
    assert told([Line("Fran", "Fran", "; ".join(day))], [Line("Fran", "Fran", "; ".join(later))]) == [
        "Fran: 21:00 Fran drives → 21:30 Fran drives"
    ]
    (whole,) = told([Line("Fran", "Fran", "stays")], [Line("Fran", "Fran", "; ".join(day))])
    assert len(whole) < 150
    assert whole.endswith(" Fran drives, …")


def test_a_change_of_cost_counts_its_fees(service: Service) -> None:
    page = service.pages["recipes"]
    before, after = {"total": 2980, "currency": "USD"}, {"total": 2769, "fees": 119.3, "currency": "USD"}
    assert price_change(page, (None, before), (None, after)).endswith(", $91.70 less")


def test_days_are_told_as_people_write_them() -> None:
    assert dated("2026-04-17 to 2026-04-21 has room for 4 nights") == "17 April 2026 to 21 April 2026 has room for 4 nights"
    assert dated("order 2026-99-99") == "order 2026-99-99"

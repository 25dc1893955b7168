"""The monitor's judgement: what is late, how grave that is, and what is told first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sagagraph.planning.monitor import Foreseen, Level, Observed, Thresholds, findings, grave

pytestmark = pytest.mark.quick

TIMES = st.floats(0, 1e6, allow_nan=False)
LEVELS = [Level.NORMAL, Level.WARNING, Level.VIOLATION]


def judged(late: float, slack: float, warning: float = 0.5) -> Level:
    return findings([Observed("it", 100, 100 + late, slack)], 0, Thresholds(horizon=10, warning=warning))[0].level


def test_a_plan_with_room_is_warned_of_first_and_breaks_only_where_the_room_ends() -> None:
    assert [judged(late, 8) for late in (-5, 0, 3, 4, 8, 9)] == [*[Level.NORMAL] * 3, *[Level.WARNING] * 2, Level.VIOLATION]
    assert [judged(late, 0) for late in (0, 1)] == [Level.NORMAL, Level.VIOLATION]
    assert judged(3, 8, warning=0.2) is Level.WARNING


def test_the_gravest_is_told_first_and_what_breaks_sooner_is_more_urgent() -> None:
    soon, far, broken = Observed("soon", 10, 15, 8), Observed("far", 1000, 1005, 8), Observed("broken", 1000, 1009, 8)
    found = findings([far, soon, broken], 5, Thresholds(horizon=10))
    assert [each.what for each in found] == ["broken", "soon", "far"]
    assert found[1].severity == found[2].severity == 0.625
    assert found[1].urgency > found[2].urgency
    assert found[1].impact == pytest.approx(found[1].severity * found[1].urgency, abs=0.001)


def test_what_has_room_enough_is_not_told() -> None:
    found = findings([Observed("calm", 10, 11, 8), Observed("close", 10, 16, 8)], 0, Thresholds(horizon=10))
    judged = {"version": 2, **Foreseen(found, {}).document}
    assert [each.split(" (")[0] for each in grave(judged, 2)] == ["warning: close 6 late, with room for 8"]
    assert grave(judged, 3) == grave(None, 2) == ()


@given(late=TIMES, more=TIMES, slack=TIMES, now=TIMES, later=TIMES)
def test_more_delay_is_never_judged_milder_and_time_makes_it_no_less_urgent(
    late: float, more: float, slack: float, now: float, later: float
) -> None:
    thresholds = Thresholds(horizon=60)
    before, after = (findings([Observed("it", 50, 50 + each, slack)], now, thresholds)[0] for each in (late, late + more))
    assert LEVELS.index(after.level) >= LEVELS.index(before.level)
    assert after.impact >= before.impact
    again = findings([Observed("it", 50, 50 + late, slack)], now + later, thresholds)[0]
    assert (again.level, again.impact >= before.impact) == (before.level, True)
    assert 0 <= again.impact <= 1

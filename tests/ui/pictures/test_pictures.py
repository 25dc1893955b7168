"""Pictures say what the plan says, and fetch nothing."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from sagagraph.planning.page import Bar, Connection, Line, Place, PlanView, Route
from sagagraph.saga.core.status import OperationStatus
from sagagraph.ui.differences import changes
from sagagraph.ui.pictures.dependencies import dependency_graph, layout
from sagagraph.ui.pictures.lanes import lanes
from sagagraph.ui.pictures.palette import STATUSES
from sagagraph.ui.pictures.route import great_circle, mercator, route_map
from sagagraph.workflow.kind import ActionKind
from tests.saga.story import Story, spec

pytestmark = pytest.mark.quick

NOON = datetime(2025, 6, 10, 12)  # noqa: DTZ001 - as a clock on the wall shows it
SFO, TOKYO = Place("San Francisco", -122.4, 37.6), Place("Tokyo", 139.8, 35.6)


def bar(row: str, hours: float, lasts: float = 1, kind: str = "flight") -> Bar:
    return Bar(row, f"{kind} {row}", kind, NOON + timedelta(hours=hours), NOON + timedelta(hours=hours + lasts))


def plan(*bars: Bar) -> PlanView:
    return PlanView(bars=bars)


def shape(drawn: str, of: str) -> list[tuple[float, float]]:
    """Left and width of the bars in one state."""
    found = re.findall(rf'<i class="sg-k\d sg-{of}" style="left:([\d.]+)%;width:([\d.]+)%"', drawn)
    return [(float(left), float(width)) for left, width in found]


def test_lanes_are_a_row_for_each_in_their_order_and_bars_to_scale_with_short_cards() -> None:
    drawn = lanes(plan(bar("b", 0, 2), bar("a", 3), bar("b", 5, 5, kind="hotel")))
    assert re.findall(r"<h4>(.*?)</h4>", drawn) == ["b", "a"]
    assert shape(drawn, "same") == [(0, 20), (50, 50), (30, 10)]
    assert re.findall(r"<small>(.*?)</small> (.*?)</li>", drawn)[0] == ("12:00–14:00", "flight b")
    assert re.findall(r'sg-key sg-k(\d)">(\w+)', drawn) == [("0", "flight"), ("1", "hotel")]


def test_lanes_with_many_bars_are_a_gantt_chart_with_short_names_in_it_and_all_of_them_on_request() -> None:
    drawn = lanes(plan(*(bar("M1", hours) for hours in range(13))))
    assert drawn.count("></i>") == 13, "a long name would be cut off in a narrow bar"
    assert "<summary>All 13 in words</summary>" in drawn
    assert re.findall(r"</small> (.*?)</li>", drawn) == ["flight M1"] * 13


def test_an_empty_plan_has_no_picture() -> None:
    assert lanes(plan()) == ""
    assert route_map(PlanView(route=Route(is_map=True))) == ""


def test_names_are_text_in_pictures() -> None:
    evil = "<b>a</b>"
    route = Route((Connection(Place(evil, 0, 0), Place("b", 1, 1), evil, evil),))
    for drawn in (lanes(plan(bar(evil, 0))), lanes(plan(), plan(bar(evil, 0))), route_map(PlanView(route=route))):
        assert evil not in drawn
        assert "&lt;b&gt;a&lt;/b&gt;" in drawn
        assert "://" not in drawn


def test_a_plan_that_replaces_another_strikes_what_no_longer_holds_on_the_same_picture() -> None:
    before, after = plan(bar("a", 0), bar("b", 0)), plan(bar("a", 0), bar("b", 3))
    drawn = lanes(after, before)
    assert (shape(drawn, "same"), shape(drawn, "new"), shape(drawn, "was")) == ([(0, 25)], [(75, 25)], [(0, 25)])
    assert drawn.count("<s>flight b</s>") == 1
    assert "no longer" not in lanes(after)


def test_a_map_has_land_numbers_its_legs_and_strikes_those_that_were_lost() -> None:
    there, back = Connection(SFO, TOKYO, "flight", "A1"), Connection(TOKYO, SFO, "flight", "A2")
    lost = Connection(TOKYO, SFO, "flight", "A3")
    drawn = route_map(PlanView(route=Route((there, back), is_map=True)), PlanView(route=Route((there, lost), is_map=True)))
    assert re.findall(r"%\">(\d|✕)</b>", drawn) == ["1", "2", "✕"]
    assert "<s>Tokyo → San Francisco</s>" in drawn
    assert len(re.findall(r'<path class="sg-leg', drawn)) == 3
    land = re.search(r'sg-land" d="(.*?)"', drawn)
    assert land is not None
    assert 2_000 < len(land[1]) < 40_000
    assert re.findall(r'<span class="[^"]*"[^>]*>(.*?)</span>', drawn) == ["San Francisco", "Tokyo"]


def test_the_numbers_of_a_way_there_and_back_stand_side_by_side() -> None:
    boston, paris = Place("Boston", -71.0, 42.4), Place("Paris", 2.5, 49.0)
    there, back = Connection(boston, paris, "flight", "A1"), Connection(paris, boston, "flight", "A2")
    lost = Connection(paris, boston, "flight", "A3")
    drawn = route_map(PlanView(route=Route((there, back), is_map=True)), PlanView(route=Route((lost,), is_map=True)))
    spots = re.findall(r'left:calc\(([\d.]+)% \+ (\d+)px\);top:([\d.]+)%">(.)</b>', drawn)
    assert [(right, mark) for _, right, _, mark in spots] == [("0", "1"), ("22", "2"), ("44", "✕")]
    assert len({(left, top) for left, _, top, _ in spots}) == 1


def test_the_way_over_the_pacific_does_not_jump_at_the_date_line() -> None:
    path = great_circle(SFO, TOKYO)
    steps = [abs(there[0] - here[0]) for here, there in pairwise(path)]
    assert max(steps) < 10
    assert path[0][0] == pytest.approx(-122.4)
    assert path[-1][0] == pytest.approx(139.8 - 360)
    assert max(latitude for _, latitude in path) > 45


def test_mercator_is_straight_at_the_equator_and_bounded_at_the_poles() -> None:
    assert mercator(0) == pytest.approx(0)
    assert mercator(1) == pytest.approx(1, abs=0.001)
    assert mercator(90) == mercator(85) < 180


def test_every_status_has_a_name_and_a_colour() -> None:
    assert set(STATUSES) == set(OperationStatus)
    assert len({each.mark for each in STATUSES.values()}) == len(STATUSES)
    assert len({each.name for each in STATUSES.values()}) == len(STATUSES)


def test_steps_stand_below_what_they_wait_for_in_the_colour_of_their_state() -> None:
    story = Story(spec("a"), spec("b", ActionKind.COMPENSATABLE, "a"), spec("c", ActionKind.PIVOT, "a", "b"))
    story.succeed("a")
    story.call("b")
    saga = story.saga
    operations = tuple(saga.in_order())
    nodes = layout(operations)
    assert all(nodes[before].row < nodes[each.id].row for each in saga.in_order() for before in each.spec.depends_on)
    drawn = dependency_graph(operations)
    assert re.findall(r"</span> (\w+) ", drawn) == ["planned", "running", "done"]
    assert re.findall(r'sg-mark sg-(\w+)" style', drawn) == ["good", "busy", "over"]
    assert drawn.count("<path") == 2


@given(st.data())
def test_no_operation_stands_on_a_line_between_two_others(data: st.DataObject) -> None:
    names = [f"o{number}" for number in range(data.draw(st.integers(1, 9)))]
    specs = [
        spec(
            name,
            ActionKind.COMPENSATABLE,
            *data.draw(st.lists(st.sampled_from(names[:place]), unique=True) if place else st.just([])),
        )
        for place, name in enumerate(names)
    ]
    operations = tuple(Story(*specs).saga.in_order())
    nodes = layout(operations)
    waits = nx.transitive_reduction(nx.DiGraph([(a, each.id) for each in operations for a in each.spec.depends_on]))
    for here, there in waits.edges:
        first, last = nodes[here], nodes[there]
        between = [node for node in nodes.values() if first.row < node.row < last.row]
        assert all(node.lane != first.lane for node in between)


def test_what_an_operation_is_called_is_said_once() -> None:
    operations = Story(spec("T1"), replace(spec("assign Ann"), action="assign")).saga.in_order()
    assert re.findall(r'">([^<]*)<small>', dependency_graph(tuple(operations))) == ["T1 · book T1", "assign Ann"]


def test_only_what_differs_is_a_change() -> None:
    same, old, new = Line("a", "train", "Monday"), Line("b", "flight", "Tuesday"), Line("b", "flight", "Friday")
    found = changes([same, old, Line("gone", "x", "y")], [same, new, Line("come", "x", "y")])
    assert [(key, before is None, after is None) for key, before, after in found] == [
        ("b", False, False),
        ("come", True, False),
        ("gone", False, True),
    ]

"""Figures say what the plan says, on bright and dark pages and on phones, and fetch nothing."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from sagagraph.planning.page import Bar, Connection, Line, Place, PlanView, Route
from sagagraph.saga.core.status import OperationStatus
from sagagraph.ui.differences import changes
from sagagraph.ui.pictures.dependencies import dependency_graph, layout
from sagagraph.ui.pictures.palette import STATUSES
from sagagraph.ui.pictures.route import great_circle, mercator, route_map
from sagagraph.ui.pictures.timeline import comparison, timeline
from sagagraph.workflow.kind import ActionKind
from tests.saga.story import Story, spec

pytestmark = pytest.mark.quick

NOON = datetime(2025, 6, 10, 12)  # noqa: DTZ001 - as a clock on the wall shows it
SFO, TOKYO = Place("San Francisco", -122.4, 37.6), Place("Tokyo", 139.8, 35.6)


def bar(row: str, hours: float, lasts: float = 1, kind: str = "flight") -> Bar:
    return Bar(row, f"{kind} {row}", kind, NOON + timedelta(hours=hours), NOON + timedelta(hours=hours + lasts))


def plan(*bars: Bar) -> PlanView:
    return PlanView(bars=bars)


def as_json(figure: Any) -> Any:
    return json.loads(figure.to_json())


def test_a_timeline_has_a_row_for_each_in_their_order_and_bars_where_they_begin_and_end() -> None:
    drawn = as_json(timeline(plan(bar("b", 0, 2), bar("a", 3), bar("b", 5, kind="hotel"))))
    assert [each["name"] for each in drawn["data"]] == ["flight", "hotel"]
    assert drawn["data"][0]["x"] == [7_200_000, 3_600_000]
    assert drawn["layout"]["yaxis"]["categoryarray"] == ["a", "b"]
    assert [each["text"] for each in drawn["layout"]["annotations"]] == ["b", "a"]


def test_what_takes_no_time_can_still_be_seen() -> None:
    (trace,) = as_json(timeline(plan(bar("a", 0, 0), bar("a", 10, 10))))["data"]
    assert trace["x"][0] > 0


def test_an_empty_plan_has_a_picture_too() -> None:
    assert as_json(timeline(plan()))["data"] == []
    assert as_json(route_map(PlanView(route=Route(is_map=True))))["data"]


@pytest.mark.parametrize("figure", [timeline(plan(bar("<b>a</b>", 0))), comparison(plan(bar("<b>a</b>", 0)), plan())])
def test_names_are_text_in_figures(figure: Any) -> None:
    drawn = as_json(figure)
    assert drawn["layout"]["annotations"][0]["text"] == "&lt;b&gt;a&lt;/b&gt;"
    assert "<b>" not in "".join(drawn["data"][0]["hovertext"])


@pytest.mark.parametrize(
    "figure",
    [timeline(plan(bar("a", 0))), route_map(PlanView(route=Route(is_map=True))), comparison(plan(bar("a", 0)), plan())],
)
def test_figures_are_clear_fit_any_width_and_name_no_address(figure: Any) -> None:
    layout_ = as_json(figure)["layout"]
    assert layout_["paper_bgcolor"] == layout_["plot_bgcolor"] == "rgba(0,0,0,0)"
    assert layout_["autosize"] is True
    assert "width" not in layout_
    assert "://" not in json.dumps(as_json(figure)["data"])


def test_the_way_over_the_pacific_does_not_jump_at_the_date_line() -> None:
    path = great_circle(SFO, TOKYO)
    steps = [abs(there[0] - here[0]) for here, there in pairwise(path)]
    assert max(steps) < 10
    assert path[0][0] == pytest.approx(-122.4)
    assert path[-1][0] == pytest.approx(139.8 - 360)
    assert max(latitude for _, latitude in path) > 45


def test_a_way_there_and_back_ends_where_it_began() -> None:
    route = Route((Connection(SFO, TOKYO, "flight", "A1"), Connection(TOKYO, SFO, "flight", "A2")), is_map=True)
    places = as_json(route_map(PlanView(route=route)))["data"][-1]
    assert places["text"] == ["San Francisco", "Tokyo"]


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
    *states, names = as_json(dependency_graph(operations))["data"]
    assert {each["name"] for each in states} == {STATUSES[each.status].name for each in saga.in_order()}
    assert {each["name"] for each in states} == {"committed", "running", "planned"}
    assert sum(len(each["x"]) for each in states) == len(saga.operations) == len(set(names["y"]))


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
    *_states, names = as_json(dependency_graph(tuple(operations)))["data"]
    assert names["text"] == ["T1 · book T1", "assign Ann"]


def test_only_what_differs_is_a_change() -> None:
    same, old, new = Line("a", "train", "Monday"), Line("b", "flight", "Tuesday"), Line("b", "flight", "Friday")
    found = changes([same, old, Line("gone", "x", "y")], [same, new, Line("come", "x", "y")])
    assert [(key, before is None, after is None) for key, before, after in found] == [
        ("b", False, False),
        ("come", True, False),
        ("gone", False, True),
    ]


def test_a_comparison_fills_what_is_and_outlines_what_was() -> None:
    drawn = as_json(comparison(plan(bar("a", 0), bar("b", 0)), plan(bar("a", 0), bar("b", 3))))
    before, after = drawn["data"]
    assert before["marker"]["color"] == "rgba(0,0,0,0)"
    assert after["marker"]["color"][0] != after["marker"]["color"][1]

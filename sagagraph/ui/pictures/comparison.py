"""Before and after a repair: the same rows, what was planned in outline, what is planned now in colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import plotly.graph_objects as go

from sagagraph.planning.page import Bar, Line
from sagagraph.ui.pictures.palette import INK, OTHER_KIND, shown
from sagagraph.ui.pictures.timeline import bars_over_time


@dataclass(frozen=True, slots=True)
class Change:
    """One part of a plan; None where there is none on that side."""

    key: str
    before: Line | None
    after: Line | None


def changes(before: Sequence[Line], after: Sequence[Line]) -> tuple[Change, ...]:
    """What is not the same on both sides, in the order of the new plan, what is gone last."""
    old, new = {each.key: each for each in before}, {each.key: each for each in after}
    keys = dict.fromkeys([*new, *old])
    return tuple(Change(key, old.get(key), new.get(key)) for key in keys if old.get(key) != new.get(key))


def comparison(before: Sequence[Bar], after: Sequence[Bar]) -> go.Figure:
    rows = list(dict.fromkeys(bar.row for bar in (*after, *before)))
    return bars_over_time([_outlines(before), _filled(after, set(before))], rows, bargap=0.55)


def _outlines(bars: Sequence[Bar]) -> go.Bar:
    look = {"color": "rgba(0,0,0,0)", "line": {"color": INK, "width": 1.6}, "cornerradius": 4}
    return _bars("before", bars, look)


def _filled(bars: Sequence[Bar], unchanged: set[Bar]) -> go.Bar:
    colours = ["rgba(125, 133, 144, 0.45)" if bar in unchanged else OTHER_KIND for bar in bars]
    return _bars("after (what changed in colour)", bars, {"color": colours, "cornerradius": 4}, width=0.3)


def _bars(name: str, bars: Sequence[Bar], look: dict[str, object], width: float | None = None) -> go.Bar:
    return go.Bar(
        name=name,
        orientation="h",
        y=[bar.row for bar in bars],
        base=[bar.begins for bar in bars],
        x=[(bar.ends - bar.begins) / timedelta(milliseconds=1) for bar in bars],
        width=width,
        marker=look,
        hovertext=[f"{name}: {shown(bar.label)}<br>{bar.begins:%d %b %H:%M} to {bar.ends:%d %b %H:%M}" for bar in bars],
        hoverinfo="text",
    )

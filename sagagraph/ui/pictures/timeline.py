"""A Gantt chart: one row for each person, vehicle or booking; times as the clocks of the place show them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import plotly.graph_objects as go

from sagagraph.planning.page import Bar
from sagagraph.ui.pictures.palette import GRID, KINDS, OTHER_KIND, ROW_PX, figure, shown

_SHORTEST_SHARE: Final = 0.012
"""Of the whole time: what takes less is still drawn so wide that it can be seen."""

_AROUND_PX: Final = 90
"""Legend and dates."""


def timeline(bars: Sequence[Bar]) -> go.Figure:
    rows = list(dict.fromkeys(bar.row for bar in bars))
    least = _least(bars)
    traces = [_trace([bar for bar in bars if bar.kind == kind], kind, least) for kind in dict.fromkeys(bar.kind for bar in bars)]
    return bars_over_time(traces, rows, bargap=0.62)


def bars_over_time(traces: list[Any], rows: list[str], *, bargap: float) -> go.Figure:
    """One below the other, the first row on top, each with its name above it."""
    return figure(
        traces,
        height_px=_AROUND_PX + ROW_PX * len(rows),
        barmode="overlay",
        bargap=bargap,
        annotations=[row_name(row) for row in rows],
        xaxis={"type": "date", "gridcolor": GRID, "fixedrange": True, "nticks": 6},
        yaxis={
            "categoryorder": "array",
            "categoryarray": rows[::-1],
            "showticklabels": False,
            "showgrid": False,
            "fixedrange": True,
        },
    )


def _least(bars: Sequence[Bar]) -> timedelta:
    if not bars:
        return timedelta()
    return (max(bar.ends for bar in bars) - min(bar.begins for bar in bars)) * _SHORTEST_SHARE


def _trace(bars: Sequence[Bar], kind: str, least: timedelta) -> go.Bar:
    return go.Bar(
        name=shown(kind),
        orientation="h",
        y=[bar.row for bar in bars],
        base=[bar.begins for bar in bars],
        x=[_width_ms(bar, least) for bar in bars],
        marker={"color": KINDS.get(kind, OTHER_KIND), "cornerradius": 4},
        text=[shown(bar.label) for bar in bars],
        textposition="none",
        hovertext=[f"{shown(bar.label)}<br>{_moment(bar.begins)} to {_moment(bar.ends)}" for bar in bars],
        hoverinfo="text",
    )


def _width_ms(bar: Bar, least: timedelta) -> float:
    return max(bar.ends - bar.begins, least) / timedelta(milliseconds=1)


def row_name(row: str) -> dict[str, Any]:
    """Above its bar rather than beside it: a phone has no room for a column of names."""
    where = {"x": 0, "xref": "paper", "xanchor": "left", "y": row, "yref": "y", "yshift": 19}
    return {**where, "text": shown(row), "showarrow": False, "font": {"size": 12}}


def _moment(moment: datetime) -> str:
    return f"{moment:%a} {moment.day} {moment:%b %H:%M}"

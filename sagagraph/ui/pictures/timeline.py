"""Timelines: one row per person, vehicle or booking; times are local to the place."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import plotly.graph_objects as go

from sagagraph.planning.page import Bar, PlanView
from sagagraph.ui.pictures.palette import ACCENT, FAINT, GRID, INK, colours_of, figure, shown

_SHORTEST_SHARE: Final = 0.012
"""Share of the whole time: anything shorter is still drawn this wide, so that it can be seen."""
_AROUND_PX: Final = 90
"""Space for the legend and dates."""
_ROW_PX: Final = 52
_NOT_FILLED: Final = "rgba(0,0,0,0)"


def timeline(plan: PlanView) -> go.Figure:
    least = _least(plan.bars)
    traces = [
        _trace(kind, [bar for bar in plan.bars if bar.kind == kind], {"color": colour}, least)
        for kind, colour in colours_of(plan).items()
    ]
    return _drawn([trace for trace in traces if trace.y], plan.bars, bargap=0.62)


def comparison(before: PlanView, after: PlanView) -> go.Figure:
    """The same rows before and after: the earlier plan in outline, the current one in colour where it changed."""
    kept = set(before.bars)
    colours = [FAINT if bar in kept else ACCENT for bar in after.bars]
    outlines = _trace("before", before.bars, {"color": _NOT_FILLED, "line": {"color": INK, "width": 1.6}})
    filled = _trace("after (what changed in colour)", after.bars, {"color": colours}, width=0.3)
    return _drawn([outlines, filled], (*after.bars, *before.bars), bargap=0.55)


def _drawn(traces: list[go.Bar], bars: Sequence[Bar], *, bargap: float) -> go.Figure:
    """Draws one row below another, the first on top, each with its name above it."""
    rows = list(dict.fromkeys(bar.row for bar in bars))
    return figure(
        traces,
        height_px=_AROUND_PX + _ROW_PX * len(rows),
        barmode="overlay",
        bargap=bargap,
        annotations=[_row_name(row) for row in rows],
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


def _trace(
    name: str, bars: Sequence[Bar], look: dict[str, Any], least: timedelta = timedelta(), width: float | None = None
) -> go.Bar:
    return go.Bar(
        name=shown(name),
        orientation="h",
        y=[bar.row for bar in bars],
        base=[bar.begins for bar in bars],
        x=[max(bar.ends - bar.begins, least) / timedelta(milliseconds=1) for bar in bars],
        width=width,
        marker={**look, "cornerradius": 4},
        hovertext=[f"{shown(bar.label)}<br>{_moment(bar.begins)} to {_moment(bar.ends)}" for bar in bars],
        hoverinfo="text",
    )


def _row_name(row: str) -> dict[str, Any]:
    """Placed above its bar: a phone has no room for a column of names."""
    where = {"x": 0, "xref": "paper", "xanchor": "left", "y": row, "yref": "y", "yshift": 19}
    return {**where, "text": shown(row), "showarrow": False, "font": {"size": 12}}


def _moment(moment: datetime) -> str:
    return f"{moment:%a} {moment.day} {moment:%b %H:%M}"

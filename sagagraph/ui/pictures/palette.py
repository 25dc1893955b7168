"""Colours and layout that read well on a bright and on a dark page, and on a phone."""

from __future__ import annotations

from typing import Any, Final

import plotly.graph_objects as go

from sagagraph.saga.core.status import OperationStatus

INK: Final = "#7d8590"
"""For lines, on white and on nearly black. The page's style gives texts its own colour, bright or dark."""
GRID: Final = "rgba(125, 133, 144, 0.22)"
ROW_PX: Final = 52
_BUTTONS: Final = ("zoom", "pan", "select", "lasso", "zoomIn", "zoomOut", "autoScale", "resetScale", "toImage")
"""Of Plotly's own bar: on a phone they would cover the picture."""

KINDS: Final = {
    "flight": "#4c8dff",
    "train": "#2aa889",
    "hotel": "#c08a2e",
    "journey": "#4c8dff",
    "task": "#2aa889",
    "watch": "#c08a2e",
}
OTHER_KIND: Final = "#8c78d8"

STATUSES: Final = {
    OperationStatus.PLANNED: ("planned", "#8b949e"),
    OperationStatus.STARTED: ("running", "#4c8dff"),
    OperationStatus.SUCCEEDED: ("committed", "#2ea043"),
    OperationStatus.FAILED: ("failed", "#e5534b"),
    OperationStatus.IN_DOUBT: ("in doubt", "#d4a72c"),
    OperationStatus.HELD: ("held", "#e8743b"),
    OperationStatus.COMPENSATING: ("compensating", "#a371f7"),
    OperationStatus.COMPENSATED: ("compensated", "#6e7bb8"),
    OperationStatus.COMPENSATION_FAILED: ("not undone", "#e5534b"),
    OperationStatus.VOIDED: ("voided", "#6e7bb8"),
    OperationStatus.SKIPPED: ("skipped", "#b0b8c1"),
}

MARKS: Final = {
    OperationStatus.PLANNED: "circle-open",
    OperationStatus.STARTED: "circle-dot",
    OperationStatus.SUCCEEDED: "circle",
    OperationStatus.FAILED: "x",
    OperationStatus.IN_DOUBT: "diamond",
    OperationStatus.HELD: "square",
    OperationStatus.COMPENSATING: "triangle-up-open",
    OperationStatus.COMPENSATED: "triangle-up",
    OperationStatus.COMPENSATION_FAILED: "square-x-open",
    OperationStatus.VOIDED: "triangle-down",
    OperationStatus.SKIPPED: "line-ew-open",
}
"""Shapes say the same as colours, for those who do not see these."""


def figure(traces: list[Any], *, height_px: int, **layout: Any) -> go.Figure:
    """`layout`: what differs from the usual."""
    usual: dict[str, Any] = {
        "height": height_px,
        "autosize": True,
        "margin": {"l": 8, "r": 8, "t": 34, "b": 28},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": INK, "size": 12, "family": "system-ui, sans-serif"},
        "legend": {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
        "hoverlabel": {"namelength": -1},
        "dragmode": False,
        "modebar": {"remove": list(_BUTTONS)},
    }
    return go.Figure(traces, {**usual, **layout})


def shown(text: str) -> str:
    """Plotly reads a few HTML tags in texts: names of people and hotels are not meant to be any."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

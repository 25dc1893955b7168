"""The palette: colours and a layout that are legible on light and dark pages, and on a phone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import plotly.graph_objects as go

from sagagraph.planning.page import PlanView
from sagagraph.saga.core.status import OperationStatus

INK: Final = "#7d8590"
"""For lines, on white and on nearly black. Texts take their colour from the page's style, light or dark."""
GRID: Final = "rgba(125, 133, 144, 0.22)"
FAINT: Final = "rgba(125, 133, 144, 0.45)"
_BUTTONS: Final = ("zoom", "pan", "select", "lasso", "zoomIn", "zoomOut", "autoScale", "resetScale", "toImage")
"""Buttons of Plotly's own toolbar that are removed: on a phone they would cover the picture."""

_COLOURS: Final = ("#4c8dff", "#c08a2e", "#2aa889", "#8c78d8")
ACCENT: Final = _COLOURS[-1]


@dataclass(frozen=True, slots=True)
class Look:
    """Shapes repeat what colours say, for readers who cannot tell the colours apart."""

    name: str
    colour: str
    mark: str


STATUSES: Final = {
    OperationStatus.PLANNED: Look("planned", "#8b949e", "circle-open"),
    OperationStatus.STARTED: Look("running", "#4c8dff", "circle-dot"),
    OperationStatus.SUCCEEDED: Look("committed", "#2ea043", "circle"),
    OperationStatus.FAILED: Look("failed", "#e5534b", "x"),
    OperationStatus.IN_DOUBT: Look("in doubt", "#d4a72c", "diamond"),
    OperationStatus.HELD: Look("held", "#e8743b", "square"),
    OperationStatus.COMPENSATING: Look("compensating", "#a371f7", "triangle-up-open"),
    OperationStatus.COMPENSATED: Look("compensated", "#6e7bb8", "triangle-up"),
    OperationStatus.COMPENSATION_FAILED: Look("not undone", "#e5534b", "square-x-open"),
    OperationStatus.VOIDED: Look("voided", "#6e7bb8", "triangle-down"),
    OperationStatus.SKIPPED: Look("skipped", "#b0b8c1", "line-ew-open"),
}


def colours_of(plan: PlanView) -> dict[str, str]:
    """Assigns a colour to each kind of thing in a plan; where there are many kinds, some share one."""
    return {kind: _COLOURS[place % len(_COLOURS)] for place, kind in enumerate(plan.kinds)}


def figure(traces: list[Any], *, height_px: int, **layout: Any) -> go.Figure:
    """`layout`: what differs from the usual layout."""
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
    """Escapes a text: Plotly interprets a few HTML tags, and names in plans are not meant as any."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

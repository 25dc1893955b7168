"""Dependencies: the graph D, one row per operation below what it waits for, coloured and shaped by its state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import networkx as nx
import plotly.graph_objects as go

from sagagraph.saga.core.state import Operation
from sagagraph.saga.core.status import OperationStatus
from sagagraph.ui.pictures.palette import INK, STATUSES, figure, shown
from sagagraph.workflow.wellformed import dependency_digraph

_ROW_PX: Final = 34
_WIDEST: Final = 9.0
"""In lanes: a phone has room for so many next to the names; further lanes are drawn closer together."""
_SIDE: Final = 22.0
"""The picture's margin, in lanes."""
_LONGEST_NAME: Final = 34


@dataclass(frozen=True, slots=True)
class Node:
    operation: Operation
    lane: int
    row: int


def dependency_graph(operations: Sequence[Operation]) -> go.Figure:
    """Draws the graph; `operations` come in the order in which they were planned."""
    nodes = layout(operations)
    lanes = 1 + max((node.lane for node in nodes.values()), default=0)
    step = min(1.0, _WIDEST / lanes)
    traces = [
        _trace(status, [node for node in nodes.values() if node.operation.status is status], step)
        for status in STATUSES
        if any(node.operation.status is status for node in nodes.values())
    ]
    waits = nx.transitive_reduction(_graph_of(operations)).edges
    return figure(
        [*traces, _names(list(nodes.values()), lanes * step)],
        showlegend=True,
        height_px=90 + _ROW_PX * len(nodes),
        shapes=[_line(nodes[here], nodes[there], step) for here, there in waits],
        xaxis={"visible": False, "range": [-0.7, _SIDE], "fixedrange": True},
        yaxis={"visible": False, "range": [-len(nodes) + 0.4, 0.6], "fixedrange": True},
    )


def layout(operations: Sequence[Operation]) -> dict[str, Node]:
    """Gives each operation a row. Whatever waits for it is joined to it along its lane, which stays free until then."""
    whole = _graph_of(operations)
    graph = nx.transitive_reduction(whole)
    known = {each.id: each for each in operations}
    taken: dict[int, set[str]] = {}
    """Occupied lanes, and the operations still to be joined along them."""
    nodes: dict[str, Node] = {}
    planned = {each.id: place for place, each in enumerate(operations)}
    for row, name in enumerate(nx.lexicographical_topological_sort(graph, key=planned.__getitem__)):
        for waiting in taken.values():
            waiting.discard(name)
        taken = {lane: waiting for lane, waiting in taken.items() if waiting}
        lane = next(each for each in range(len(operations)) if each not in taken)
        taken[lane] = set(graph.successors(name))
        nodes[name] = Node(known[name], lane, row)
    return nodes


def _graph_of(operations: Sequence[Operation]) -> nx.DiGraph[str]:
    return dependency_digraph((each.id, each.spec.depends_on) for each in operations)


def _trace(status: OperationStatus, nodes: Sequence[Node], step: float) -> go.Scatter:
    look = STATUSES[status]
    return go.Scatter(
        x=[node.lane * step for node in nodes],
        y=[-node.row for node in nodes],
        mode="markers",
        name=look.name,
        marker={"size": 15, "color": look.colour, "symbol": look.mark, "line": {"width": 1.5, "color": look.colour}},
        hovertext=[shown(_told(node.operation, look.name)) for node in nodes],
        hoverinfo="text",
    )


def _names(nodes: Sequence[Node], x: float) -> go.Scatter:
    """All names in one column that no line crosses."""
    return go.Scatter(
        x=[x] * len(nodes),
        y=[-node.row for node in nodes],
        mode="text",
        text=[_crossed_out(node.operation, shown(_short(label(node.operation)))) for node in nodes],
        textposition="middle right",
        hoverinfo="skip",
        showlegend=False,
    )


def _crossed_out(operation: Operation, text: str) -> str:
    return f"<s>{text}</s>" if operation.removed else text


def _told(operation: Operation, status: str) -> str:
    why = operation.hold or (operation.fault.message if operation.fault else "")
    again = f", {operation.total_attempts} attempts" if operation.total_attempts > 1 else ""
    return f"{operation.id}: {operation.spec.action}, {status}{again}{f' ({why})' if why else ''}"


def label(operation: Operation) -> str:
    """The operation's id, and its action where the id does not name it."""
    action = operation.spec.action.replace("_", " ")
    return operation.id if operation.id.startswith(action) else f"{operation.id} · {action}"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _line(here: Node, there: Node, step: float) -> dict[str, Any]:
    """Runs down the lane of the prerequisite, and crosses into the other lane in the last row."""
    x, to = here.lane * step, there.lane * step
    turn, end = -there.row + 1, -there.row
    path = f"M {x} {-here.row} L {x} {turn} C {x} {turn - 0.6} {to} {end + 0.6} {to} {end}"
    return {"type": "path", "path": path, "layer": "below", "line": {"color": INK, "width": 1.5}, "opacity": 0.7}

"""The dependency graph D, downwards from what comes first, each operation in the colour of its state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import plotly.graph_objects as go

from sagagraph.saga.model import Operation
from sagagraph.saga.status import OperationStatus
from sagagraph.ui.pictures.palette import INK, STATUSES, figure, shown
from sagagraph.workflow.wellformed import dependency_digraph

_LAYER_PX = 74
_LONGEST_NAME = 22


@dataclass(frozen=True, slots=True)
class Node:
    operation: Operation
    x: float
    layer: int


def dependency_graph(operations: Sequence[Operation]) -> go.Figure:
    """`operations` in the order in which they were planned."""
    graph = _graph_of(operations)
    nodes = layout(operations)
    depth = max((node.layer for node in nodes.values()), default=0)
    traces = [
        _trace(status, [node for node in nodes.values() if node.operation.status is status])
        for status in STATUSES
        if any(node.operation.status is status for node in nodes.values())
    ]
    return figure(
        traces,
        showlegend=True,
        height_px=110 + _LAYER_PX * (depth + 1),
        annotations=[_arrow(nodes[a], nodes[b]) for a, b in nx.transitive_reduction(graph).edges],
        xaxis={"visible": False, "range": [-1.25, 2.1], "fixedrange": True},
        yaxis={"visible": False, "range": [-depth - 0.75, 0.5], "fixedrange": True},
    )


def layout(operations: Sequence[Operation]) -> dict[str, Node]:
    """`layer`: how many operations have to come before, one after the other; `x` from -1 to 1 within a layer."""
    layers: dict[int, list[str]] = defaultdict(list)
    depth: dict[str, int] = {}
    graph = _graph_of(operations)
    known = {each.id: each for each in operations}
    for name in nx.lexicographical_topological_sort(graph):
        depth[name] = max((depth[before] + 1 for before in graph.predecessors(name)), default=0)
        layers[depth[name]].append(name)
    return {
        name: Node(known[name], x, layer)
        for layer, names in layers.items()
        for name, x in zip(names, _spread(len(names)), strict=True)
    }


def _graph_of(operations: Sequence[Operation]) -> nx.DiGraph[str]:
    return dependency_digraph((each.id, each.spec.depends_on) for each in operations)


def _spread(count: int) -> list[float]:
    return [0.0] if count == 1 else [2 * place / (count - 1) - 1 for place in range(count)]


def _trace(status: OperationStatus, nodes: Sequence[Node]) -> go.Scatter:
    name, colour = STATUSES[status]
    return go.Scatter(
        x=[node.x for node in nodes],
        y=[-node.layer for node in nodes],
        mode="markers+text",
        name=name,
        marker={"size": 22, "color": colour, "symbol": ["circle-x" if node.operation.removed else "circle" for node in nodes]},
        text=[shown(_short(_label(node.operation))) for node in nodes],
        textposition="middle right",
        hovertext=[shown(_told(node.operation, name)) for node in nodes],
        hoverinfo="text",
    )


def _told(operation: Operation, status: str) -> str:
    why = operation.hold or (operation.fault.message if operation.fault else "")
    again = f", {operation.total_attempts} attempts" if operation.total_attempts > 1 else ""
    return f"{operation.id}: {operation.spec.action}, {status}{again}{f' ({why})' if why else ''}"


def _label(operation: Operation) -> str:
    action = operation.spec.action.replace("_", " ")
    return f" {operation.id}" if action == operation.id else f" {operation.id} {action}"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _arrow(here: Node, there: Node) -> dict[str, Any]:
    ends = {"x": there.x, "y": -there.layer, "ax": here.x, "ay": -here.layer}
    axes = {"xref": "x", "yref": "y", "axref": "x", "ayref": "y"}
    head = {"showarrow": True, "arrowhead": 2, "arrowsize": 1.1, "arrowwidth": 1.2, "arrowcolor": INK, "standoff": 13}
    return {**ends, **axes, **head, "startstandoff": 13, "opacity": 0.6, "text": ""}

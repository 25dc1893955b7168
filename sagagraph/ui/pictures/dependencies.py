"""Dependencies: the graph D, one row per operation below what it waits for, coloured and shaped by its state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from sagagraph.saga.core.state import Operation
from sagagraph.ui.html.templates import render
from sagagraph.ui.pictures.palette import STATUSES
from sagagraph.workflow.wellformed import dependency_digraph

if TYPE_CHECKING:
    import networkx as nx

_ROW_PX: Final = 34
_LANE_PX: Final = 22
_WIDEST_PX: Final = 160
"""The width that a phone has for lanes next to the names; further lanes are drawn closer together."""


@dataclass(frozen=True, slots=True)
class Node:
    operation: Operation
    lane: int
    row: int


def dependency_graph(operations: Sequence[Operation]) -> Markup:
    """Draw the graph; `operations` come in the order in which they were planned."""
    from networkx import transitive_reduction  # slow to import, and the server is to answer soon

    nodes = layout(operations)
    lanes = 1 + max((node.lane for node in nodes.values()), default=0)
    step = min(_LANE_PX, _WIDEST_PX // lanes)
    waits = transitive_reduction(_graph_of(operations)).edges
    rows = [(node, STATUSES[node.operation.status], label(node.operation), _told(node.operation)) for node in nodes.values()]
    paths = [_line(nodes[here], nodes[there], step) for here, there in waits]
    there = {each.status for each in operations}
    looks = [look for status, look in STATUSES.items() if status in there]
    return render("graph", rows=rows, paths=paths, looks=looks, step=step, row=_ROW_PX, edge=lanes * step + _LANE_PX // 2)


def layout(operations: Sequence[Operation]) -> dict[str, Node]:
    """Give each operation a row. Dependents are connected to it along its lane, which stays free until then."""
    from networkx import lexicographical_topological_sort, transitive_reduction

    graph = transitive_reduction(_graph_of(operations))
    known = {each.id: each for each in operations}
    taken: dict[int, set[str]] = {}
    """Occupied lanes, and the operations still to be joined along them."""
    nodes: dict[str, Node] = {}
    planned = {each.id: place for place, each in enumerate(operations)}
    for row, name in enumerate(lexicographical_topological_sort(graph, key=planned.__getitem__)):
        for waiting in taken.values():
            waiting.discard(name)
        taken = {lane: waiting for lane, waiting in taken.items() if waiting}
        lane = next(each for each in range(len(operations)) if each not in taken)
        taken[lane] = set(graph.successors(name))
        nodes[name] = Node(known[name], lane, row)
    return nodes


def _graph_of(operations: Sequence[Operation]) -> nx.DiGraph[str]:
    return dependency_digraph((each.id, each.spec.depends_on) for each in operations)


def _told(operation: Operation) -> str:
    why = operation.hold or (operation.fault.message if operation.fault else "")
    again = f", {operation.total_attempts} attempts" if operation.total_attempts > 1 else ""
    look = STATUSES[operation.status].name
    return f"{operation.id}: {operation.spec.action}, {look}{again}{f' ({why})' if why else ''}"


def label(operation: Operation) -> str:
    """Return the operation's id, and its action if the id does not name it."""
    action = operation.spec.action.replace("_", " ")
    return operation.id if operation.id.startswith(action) else f"{operation.id} · {action}"


def _line(here: Node, there: Node, step: int) -> str:
    """Draw an edge: down the lane of the prerequisite, and across into the other lane in the last row."""
    (x, y), (to, end) = _middle(here, step), _middle(there, step)
    turn = end - _ROW_PX
    return f"M{x} {y}L{x} {turn}C{x} {turn + 20} {to} {end - 20} {to} {end}"


def _middle(node: Node, step: int) -> tuple[int, int]:
    return node.lane * step + _LANE_PX // 2, node.row * _ROW_PX + _ROW_PX // 2

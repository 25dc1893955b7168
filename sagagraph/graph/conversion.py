"""Conversion: a graph that somebody else has written, as a `SagaGraph` with the same nodes and edges."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.prebuilt import ToolNode

from sagagraph.errors import InvalidInputError, NotAllowedError, UnknownOperationError
from sagagraph.graph.compiled import CompiledSagaGraph
from sagagraph.graph.tools import with_undoes
from sagagraph.graph.undone_by import UndoneBy

GIVEN_BY_LANGGRAPH = "__default_error_handler__"
DEFAULTS = ("retry_policy", "cache_policy", "error_handler", "timeout")


def builder_of(graph: Any) -> StateGraph[Any, Any, Any, Any]:
    """Return the builder. Raises `NotAllowedError` for a SagaGraph, and `InvalidInputError` for anything that is not a graph of
    nodes.
    """
    builder = graph.builder if isinstance(graph, CompiledStateGraph) else graph
    if not isinstance(builder, StateGraph):
        raise InvalidInputError(f"{type(graph).__name__} is no StateGraph, compiled or not", field="graph")
    if isinstance(graph, CompiledSagaGraph) or hasattr(builder, "declarations"):
        raise NotAllowedError("it is a SagaGraph: say there how its nodes are undone")
    return builder


def copy_into(
    made: Any,
    builder: StateGraph[Any, Any, Any, Any],
    told: Mapping[str, Mapping[str, Any]],
    undoes: Mapping[str, str | UndoneBy],
) -> None:
    """Add the nodes and edges of `builder` to `made`; `told`: options of `add_node`, each by the names of nodes."""
    _check_undoes(builder, undoes)
    for option, of_nodes in told.items():
        if unknown := set(of_nodes) - set(builder.nodes):
            raise UnknownOperationError(f"{option}= names {min(unknown)!r}, which is not a node of this graph")
    for name, spec in builder.nodes.items():
        if not spec.is_error_handler and name != GIVEN_BY_LANGGRAPH:
            own = {option: of_nodes[name] for option, of_nodes in told.items() if name in of_nodes}
            made.add_node(name, _with_undoes(spec.runnable, undoes), **_said_of(builder, spec), **own)
    defaults = {name: getattr(builder._node_defaults, name) for name in DEFAULTS}
    made.set_node_defaults(**{name: each for name, each in defaults.items() if each is not None})
    for schema in builder.schemas:
        made._add_schema(schema)  # a graph may have more than its nodes have
    made.edges |= builder.edges
    made.waiting_edges |= builder.waiting_edges
    for source, branches in builder.branches.items():
        made.branches[source].update(branches)


def _check_undoes(builder: StateGraph[Any, Any, Any, Any], undoes: Mapping[str, str | UndoneBy]) -> None:
    known = {
        name for spec in builder.nodes.values() if isinstance(spec.runnable, ToolNode) for name in spec.runnable.tools_by_name
    }
    if unknown := set(undoes) - known:
        raise UnknownOperationError(f"undoes= names {min(unknown)!r}; the tools of this graph's ToolNodes are {sorted(known)}")


def _with_undoes(runnable: Any, undoes: Mapping[str, str | UndoneBy]) -> Any:
    """Return a ToolNode whose tools are undone by others, which it then refuses to a model; anything else as it is."""
    if not isinstance(runnable, ToolNode):
        return runnable
    own = {name: by for name, by in undoes.items() if name in runnable.tools_by_name}
    if not own:
        return runnable
    made = copy.copy(runnable)
    made.func, made.afunc = made._func, made._afunc  # a copy's own, not those of the node that was copied
    made._tools_by_name = {each.name: each for each in with_undoes(runnable.tools_by_name.values(), own)}
    return made


def _said_of(builder: StateGraph[Any, Any, Any, Any], spec: Any) -> dict[str, Any]:
    """Return the options of LangGraph's own that `add_node` was given for a node."""
    names = ("defer", "metadata", "input_schema", "retry_policy", "cache_policy", "timeout", "trace_policy")
    handler = builder.nodes.get(spec.error_handler_node) if spec.error_handler_node else None
    said = {name: getattr(spec, name) for name in names} | {"destinations": spec.ends or None}
    return said | ({"error_handler": handler.runnable} if handler else {})

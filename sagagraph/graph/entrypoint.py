"""Entrypoint: LangGraph's functional API, in which each run of a function is a saga."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.func import entrypoint
from langgraph.store.base import BaseStore

from sagagraph.graph.declaration import NodeDeclaration
from sagagraph.graph.pregel import SagaPregel
from sagagraph.graph.running.node import journalled_node
from sagagraph.graph.saga_graph import CONTAINING
from sagagraph.saga.engine.actions import Guarantees
from sagagraph.saga.engine.engine import Engine, SyncEngine
from sagagraph.workflow.kind import ActionKind

Flow = SagaPregel[Any, Any, Any, Any]


def saga_entrypoint(
    engine: Engine | SyncEngine | str,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    *,
    store: BaseStore | None = None,
    context_schema: type | None = None,
    name: str = "",
) -> Callable[[Callable[..., Any]], Flow]:
    """Decorate a function as LangGraph's `entrypoint` does; each run of a thread is a saga, with the id of the thread.

    `engine` and `checkpointer` are those of `SagaGraph.compile`; the names of its actions begin with `name`, the function's by
    default. What the function or its `@task`s do with `current_saga().run(action, request)`, or through a `saga_tool`, are
    operations: done once, however often the function runs from its top, and undone, dependents first, when it raises.

    The function itself is not tried again: attempts belong to its operations (`policy=`) and tasks (`retry_policy=`).
    """

    def decorated(function: Callable[..., Any]) -> Flow:
        flow = entrypoint(checkpointer=checkpointer, store=store, context_schema=context_schema)(function)
        ((node, written),) = flow.nodes.items()
        declaration = NodeDeclaration(node, written.bound, ActionKind.READ_ONLY, CONTAINING, Guarantees())
        flow.nodes = {node: written.copy({"bound": journalled_node(declaration)})}
        flow.name = name or node
        return SagaPregel.from_compiled(flow, {node: declaration}, engine)

    return decorated

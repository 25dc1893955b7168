"""Compiled `SagaGraph`: LangGraph's own, whose invocations are runs of sagas, and its drawing."""

from __future__ import annotations

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.graph import Graph
from langgraph.graph.state import CompiledStateGraph
from langgraph.typing import ContextT, InputT, OutputT, StateT

from sagagraph.graph.declaration import Journalled
from sagagraph.graph.pregel import SagaPregel, _is_inside
from sagagraph.graph.running.run import COMPENSATE

__all__ = ["CompiledSagaGraph", "_is_inside"]  # the second is for programs that run LangGraph's own tests with a SagaGraph

INTERNAL = frozenset({COMPENSATE, "__default_error_handler__"})
"""Nodes that no caller has added."""


class CompiledSagaGraph(SagaPregel[StateT, ContextT, InputT, OutputT], CompiledStateGraph[StateT, ContextT, InputT, OutputT]):
    """Compiled graph. `thread_id` is the id of the saga. The same input again resumes an open thread, and so does None."""

    def get_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Graph:
        """Return the drawing, without the node that waits for the compensation."""
        return _as_written(super().get_graph(config, xray=xray))

    async def aget_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Graph:
        return _as_written(await super().aget_graph(config, xray=xray))


def _as_written(drawn: Graph) -> Graph:
    for name in INTERNAL:
        drawn.nodes.pop(name, None)
    for name, each in drawn.nodes.items():
        if isinstance(each.data, Journalled):
            drawn.nodes[name] = each._replace(data=each.data.written)
    drawn.edges = [each for each in drawn.edges if not {each.source, each.target} & INTERNAL]
    return drawn

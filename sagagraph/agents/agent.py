"""Agent: langchain's `create_agent`, each step of which is an operation of the saga of its thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool

from sagagraph.agents.middleware import IRREVERSIBLE, SagaMiddleware
from sagagraph.agents.undone import says_what_was_undone
from sagagraph.extras import needing
from sagagraph.graph.compiled import CompiledSagaGraph
from sagagraph.graph.running.undone import OnUndone
from sagagraph.graph.saga_graph import RAISE, SagaGraph
from sagagraph.graph.tools import kind_of_tool, with_undoes
from sagagraph.graph.undone_by import UndoneBy
from sagagraph.saga.engine.engine import Engine, SyncEngine
from sagagraph.workflow.kind import ActionKind

with needing("agents"):
    from langchain.agents import create_agent

AnyTool = BaseTool | Callable[..., Any] | dict[str, Any]
"""What `create_agent` takes for a tool."""


def saga_agent(
    model: str | BaseChatModel,
    tools: Iterable[AnyTool] = (),
    *,
    engine: Engine | SyncEngine | None = None,
    checkpointer: Any = None,
    asks_before: str = IRREVERSIBLE,
    middleware: Sequence[Any] = (),
    on_failure: str = RAISE,
    on_undone: OnUndone | None = says_what_was_undone,
    trusts_exceptions: bool = False,
    undoes: Mapping[str, str | UndoneBy] | None = None,
    shows_undoes: bool = False,
    name: str = "agent",
    **options: Any,
) -> CompiledSagaGraph[Any, Any, Any, Any]:
    """Make an agent whose tool calls are undone, dependents first, when it fails or when a person says no.

    Tools with effects are made with `saga_tool`, or named in `undoes` with the tool that undoes them; the model does not see
    that one unless `shows_undoes`. `asks_before`: "irreversible", "effects" or "nothing", see `SagaMiddleware`. The messages say
    what was undone (`on_undone`), and calls without an answer get one. Without an `engine` it is a node of a SagaGraph.
    `options` and the rest are those of `create_agent` and `SagaGraph.compile`; a run is a saga with the id of its thread. Raises
    what the agent raised, after the compensation; `OperationFailedError` if a person said no.
    """
    with_effects: list[BaseTool] = []
    without: list[AnyTool] = []
    for each in with_undoes(tools, undoes or {}, shown=shows_undoes):
        if isinstance(each, BaseTool) and kind_of_tool(each) is not ActionKind.READ_ONLY:
            with_effects.append(each)
        else:
            without.append(each)
    plans = SagaMiddleware(with_effects, asks_before=asks_before)
    made = create_agent(model, without, middleware=[plans, *middleware], name=name, **options)
    told: dict[str, Any] = {"on_failure": on_failure, "on_undone": on_undone, "trusts_exceptions": trusts_exceptions}
    app = SagaGraph.of(made).compile(checkpointer, engine=engine, name=name, **told)
    return app.with_config(made.config) if made.config else app

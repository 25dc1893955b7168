"""SagaGraph runs the plans of unreliable planners as reliable transactions.

The names below are loaded when first used: importing this package costs nothing, and nothing connects at import.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sagagraph.agents.agent import saga_agent as saga_agent
    from sagagraph.agents.middleware import SagaMiddleware as SagaMiddleware
    from sagagraph.context.slice import ContextSlice as ContextSlice
    from sagagraph.errors import Refused as Refused
    from sagagraph.graph.entrypoint import saga_entrypoint as saga_entrypoint
    from sagagraph.graph.planning_graph import planning_graph as planning_graph
    from sagagraph.graph.running.current import current_saga as current_saga
    from sagagraph.graph.saga_graph import SagaGraph as SagaGraph
    from sagagraph.graph.state.offload import offload as offload
    from sagagraph.graph.tools import saga_tool as saga_tool
    from sagagraph.graph.undone_by import UndoneBy as UndoneBy
    from sagagraph.mcp.tools import McpTool as McpTool
    from sagagraph.mcp.tools import mcp_tools as mcp_tools
    from sagagraph.planning.models.llm import init_model as init_model
    from sagagraph.saga.core.call import Call as Call
    from sagagraph.saga.engine.actions import Guarantees as Guarantees
    from sagagraph.saga.engine.actions import action as action
    from sagagraph.saga.engine.call import Probe as Probe
    from sagagraph.saga.engine.call import current_call as current_call
    from sagagraph.saga.engine.engine import Engine as Engine
    from sagagraph.validators.protocol import Validator as Validator
    from sagagraph.validators.verdict import Verdict as Verdict
    from sagagraph.validators.verdict import Violation as Violation
    from sagagraph.workflow.lock import Lock as Lock
    from sagagraph.workflow.policy import Backoff as Backoff
    from sagagraph.workflow.policy import Policy as Policy
    from sagagraph.workflow.policy import Retry as Retry

_HOME = {
    "Backoff": "sagagraph.workflow.policy",
    "Call": "sagagraph.saga.core.call",
    "ContextSlice": "sagagraph.context.slice",
    "Engine": "sagagraph.saga.engine.engine",
    "Guarantees": "sagagraph.saga.engine.actions",
    "Lock": "sagagraph.workflow.lock",
    "McpTool": "sagagraph.mcp.tools",
    "mcp_tools": "sagagraph.mcp.tools",
    "Policy": "sagagraph.workflow.policy",
    "Probe": "sagagraph.saga.engine.call",
    "Refused": "sagagraph.errors",
    "Retry": "sagagraph.workflow.policy",
    "SagaMiddleware": "sagagraph.agents.middleware",
    "SagaGraph": "sagagraph.graph.saga_graph",
    "Validator": "sagagraph.validators.protocol",
    "Verdict": "sagagraph.validators.verdict",
    "Violation": "sagagraph.validators.verdict",
    "action": "sagagraph.saga.engine.actions",
    "current_call": "sagagraph.saga.engine.call",
    "init_model": "sagagraph.planning.models.llm",
    "current_saga": "sagagraph.graph.running.current",
    "offload": "sagagraph.graph.state.offload",
    "planning_graph": "sagagraph.graph.planning_graph",
    "saga_agent": "sagagraph.agents.agent",
    "saga_entrypoint": "sagagraph.graph.entrypoint",
    "saga_tool": "sagagraph.graph.tools",
    "UndoneBy": "sagagraph.graph.undone_by",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


__version__ = "0.3.0"

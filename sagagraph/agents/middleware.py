"""Middleware of langchain's `create_agent`: a person approves the plan of tool calls before anything that cannot be undone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal, NotRequired

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langgraph.types import interrupt
from typing_extensions import TypedDict  # Pydantic reads no other one before Python 3.12

from sagagraph.agents.undone import name_of, unanswered
from sagagraph.errors import InvalidInputError, NotAllowedError, OperationFailedError, Refused
from sagagraph.extras import needing
from sagagraph.graph.running.run import active_scope
from sagagraph.graph.tools import kind_of_tool
from sagagraph.saga.core.events import Via
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import OperationStatus
from sagagraph.workflow.kind import ActionKind

with needing("agents"):
    from langchain.agents.middleware import AgentMiddleware

IRREVERSIBLE = "irreversible"
_FOR_GOOD = frozenset({ActionKind.PIVOT, ActionKind.RETRIABLE})
_ASKED: Mapping[str, frozenset[ActionKind]] = {
    "nothing": frozenset(),
    IRREVERSIBLE: _FOR_GOOD,
    "effects": _FOR_GOOD | {ActionKind.COMPENSATABLE},
}


class Decision(TypedDict):
    """Decision of a person about a plan: approve it, undo the whole run, or reply to the model, which then plans again."""

    type: Literal["approve", "undo", "reply"]
    message: NotRequired[str]


class SagaMiddleware(AgentMiddleware[Any, Any, Any]):
    """Middleware that gives an agent tools with effects: their calls are operations of the saga of the agent's thread.

    Before the first call of a kind in `asks_before` ("irreversible", "effects" or "nothing") it interrupts with the plan: what is
    done, and what comes next. Answer with a `Decision`. An irreversible call runs on its own, when what can be undone has
    succeeded; afterwards nothing may begin that could have to be undone: the model is told so. A provider's refusal is told to
    the model, too. The agent runs in a SagaGraph: `SagaGraph.of(agent).compile(engine=…)`, or as a node of one.
    """

    def __init__(self, tools: Iterable[BaseTool] = (), *, asks_before: str = IRREVERSIBLE) -> None:
        """Take `tools` made with `saga_tool`; do not give them to `create_agent` again."""
        if asks_before not in _ASKED:
            raise InvalidInputError(f"{asks_before!r} is none of {', '.join(_ASKED)}", field="asks_before")
        super().__init__()
        self.tools = list(tools)
        self._kinds = {each.name: kind_of_tool(each) for each in self.tools}
        self._asked = _ASKED[asks_before]

    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:  # noqa: ARG002 - langchain's signature
        saga = _saga()
        calls = unanswered(state["messages"])
        later = self._put_off(saga, [each for each in calls if self._kind(each) is not ActionKind.READ_ONLY])
        now = [each for each in calls if each["id"] not in later]
        told = dict(later)
        if any(self._kind(each) in self._asked for each in now):
            decision = interrupt(self._plan(saga, now), response_schema=Decision)
            if decision["type"] == "undo":
                raise Refused(decision.get("message") or "a person had the run undone", code="undone")
            if decision["type"] == "reply":
                said = decision.get("message") or "no"
                told |= {each["id"]: f"This was not done; a person said: {said}" for each in now}
        answers = [_answer(each, told[each["id"]]) for each in calls if each["id"] in told]
        return {"messages": answers} if answers else None

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        try:
            return await handler(request)
        except OperationFailedError as exc:  # nothing of it is in effect
            if request.tool_call["name"] not in self._kinds or not _was_refused(exc):
                raise
            return _answer(request.tool_call, str(exc).rpartition("failed: ")[2])
        except ToolException as exc:  # as above, in the words that it has for the model
            if request.tool_call["name"] not in self._kinds:
                raise
            return _answer(request.tool_call, str(exc))

    def _kind(self, call: Any) -> ActionKind:
        return self._kinds.get(call["name"], ActionKind.READ_ONLY)

    def _put_off(self, saga: Saga, calls: list[Any]) -> dict[str, str]:
        """Return the calls that are not made now, by their ids, with what the model is told."""
        for_good = [each for each in calls if self._kind(each) in _FOR_GOOD]
        if saga.pivot_has_landed:
            too_late = "Not done: what came before cannot be undone, so only what never has to be may follow. Begin another run."
            return {each["id"]: too_late for each in calls if each not in for_good}
        first = for_good[:1] if len(for_good) == len(calls) else []
        again = "Not done yet: it cannot be undone, and runs on its own. Call it again when the other calls have succeeded."
        return {each["id"]: again for each in for_good if each not in first}

    def _plan(self, saga: Saga, calls: list[Any]) -> dict[str, Any]:
        """Return what a person is shown."""
        done = [each for each in saga.in_order() if each.succeeded and each.has_effect and not each.removed]
        following = [{"name": each["name"], "args": each["args"], "kind": self._kind(each).value} for each in calls]
        return {"type": "plan", "done": [{"id": each.id, "name": name_of(each.id)} for each in done], "next": following}


def _saga() -> Saga:
    scope = active_scope()
    if scope is None:
        raise NotAllowedError("an agent with SagaMiddleware runs in a SagaGraph: SagaGraph.of(agent).compile(engine=engine)")
    return scope.run.saga


def _was_refused(exc: OperationFailedError) -> bool:
    """Tell whether its provider said no. Whatever else it failed with is for the caller of the agent, and not for the model."""
    operation = _saga().operations.get(exc.operation_id or "")
    return operation is None or (operation.status is OperationStatus.FAILED and operation.via is Via.REPLY)


def _answer(call: Any, content: str) -> ToolMessage:
    return ToolMessage(content, tool_call_id=call["id"], name=call["name"], status="error")

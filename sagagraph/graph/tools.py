"""Tools of LangChain as actions: a model's call is an operation of the saga of the node that runs it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Collection, Iterable, Mapping
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, ToolException
from langchain_core.utils.pydantic import get_fields
from langgraph.errors import GraphBubbleUp
from pydantic import PrivateAttr

from sagagraph.context.slice import content_hash
from sagagraph.errors import InvalidInputError, NotAllowedError, SagaGraphError
from sagagraph.graph.declaration import adapted, encoded_result
from sagagraph.graph.running.current import numbered, perform_below
from sagagraph.graph.running.run import LeftOpen, Scope, active_scope
from sagagraph.graph.state.values import decode, encode
from sagagraph.graph.undone_by import UndoneBy, undoing_with
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import DECLARED, Action, Function, Guarantees, check_void, kind_of
from sagagraph.saga.engine.call import Paused, enter_call
from sagagraph.saga.engine.calling.threads import in_thread
from sagagraph.saga.engine.exceptions import FailsOn, check_fails_on, refusal_in
from sagagraph.validators.protocol import Validator
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import DEFAULT_POLICY
from sagagraph.workflow.policy import Policy
from sagagraph.workflow.values import Json


def saga_tool(
    tool: BaseTool,
    *,
    compensate: Function | None = None,
    probe: Function | None = None,
    kind: ActionKind | str | None = None,
    policy: Policy = DEFAULT_POLICY,
    validators: Iterable[Validator] = (),
    guarantees: Guarantees | None = None,
    provider: str = "",
    fails_on: FailsOn = ToolException,
) -> BaseTool:
    """Make `tool` usable by models and `ToolNode`, with each call an operation below the node that makes it.

    `compensate(arguments, output, call)` and `probe(arguments, call)` get the arguments that the model chose and what the tool
    returned, in the tool's own types: `output` is a pair where `response_format` is "content_and_artifact". The same arguments in
    another pass of the node are the same operation, whatever id the model gave to its call; the second of two equal calls in one
    pass is another one. `fails_on`: exceptions of the tool that say that nothing happened; arguments that do not fit its schema
    never reach it. Make it in a module that is imported before a saga is resumed or cancelled: it is registered by its name.
    """
    made = Action(
        name=tool.name,
        version=1,
        kind=kind_of(tool.name, kind, compensate, probe),
        execute=_outside(tool),
        compensate=adapted(compensate, _of_call) if compensate else None,
        probe=adapted(probe, _of_call, encoded_result) if probe else None,
        reverse=None,
        undo_cost=None,
        policy=policy,
        validators=tuple(validators),
        guarantees=_of_types(guarantees or Guarantees()),
        request_type=Any,
        result_type=Any,
        home=f"tool:{tool.name}",
        provider=provider,
        needs_body=_is_injected_into(tool),
        fails_on=fails_on,
    )
    check_void(tool.name, made.guarantees, compensate)
    check_fails_on(tool.name, fails_on)
    DECLARED.add(made)
    return _SagaTool.around(tool, made)


def with_undoes(tools: Iterable[Any], undoes: Mapping[str, str | UndoneBy], *, shown: bool = False) -> list[Any]:
    """Make each tool that `undoes` names one that another of these tools undoes; those are left out unless `shown`.

    Raises `InvalidInputError` for a name that is not a tool's, and for an argument of an undo that nothing fills.
    """
    by_name = {_name_of(each): each for each in tools}
    told = {name: UndoneBy(by) if isinstance(by, str) else by for name, by in undoes.items()}
    for name in (*told, *(by.tool for by in told.values())):
        if not isinstance(by_name.get(name), BaseTool):
            raise InvalidInputError(f"no tool is called {name!r}; there are {', '.join(sorted(by_name))}", field="undoes")
    hidden = set() if shown else {by.tool for by in told.values()}
    made = {name: _undone(by_name[name], by_name[by.tool], by) for name, by in told.items()}
    return [made.get(name, each) for name, each in by_name.items() if name not in hidden]


def action_of(tool: BaseTool) -> Action | None:
    """Return the action that `saga_tool` made of a tool; None for any other tool, whatever its name."""
    return tool.saga_action if isinstance(tool, _SagaTool) else None


def _name_of(tool: Any) -> str:
    return str(getattr(tool, "name", None) or getattr(tool, "__name__", None) or tool)


def _undone(tool: BaseTool, undo: BaseTool, by: UndoneBy) -> BaseTool:
    if isinstance(tool, _SagaTool):
        raise InvalidInputError(f"{tool.name!r} says already how it is undone", field="undoes")
    return saga_tool(tool, compensate=undoing_with(tool, undo, by.arguments, lambda each, given: _call_tool(each, given, {})))


def kind_of_tool(tool: BaseTool) -> ActionKind:
    """Return the kind; read-only for tools that `saga_tool` has not made."""
    return tool._action.kind if isinstance(tool, _SagaTool) else ActionKind.READ_ONLY


def _fields(schema: Any) -> Collection[str]:
    """Return the names of a tool's arguments; arguments that LangGraph injects appear in only one of its schemas."""
    return schema["properties"] if isinstance(schema, dict) else get_fields(schema)


def _is_injected_into(tool: BaseTool) -> bool:
    """Tell whether LangGraph gives it arguments of its own; a schema in JSON, as of an MCP server, has no place for them."""
    if isinstance(tool.args_schema, dict):
        return False
    return set(_fields(tool.get_input_schema())) != set(_fields(tool.tool_call_schema))


def _outside(tool: BaseTool) -> Function:
    """Execute a claim: the effect is made again under its key, only to be undone."""

    async def execute(arguments: Json, _call: Call) -> Any:
        return encode(await _call_tool(tool, decode(arguments), {}))

    return execute


def _of_call(*journalled: Any) -> tuple[object, ...]:
    """Return the arguments and the output of a call in the tool's own types, and the call."""
    return (*(decode(each) for each in journalled[:-1]), journalled[-1])


def _of_types(guarantees: Guarantees) -> Guarantees:
    """Give a void the tool's own types, as a probe gets."""
    void = guarantees.void
    if not callable(void):
        return guarantees
    return replace(guarantees, void=adapted(void, _of_call, encoded_result))


class _SagaTool(BaseTool):
    _tool: BaseTool = PrivateAttr()
    _action: Action = PrivateAttr()

    @classmethod
    def around(cls, tool: BaseTool, action: Action) -> _SagaTool:
        kept = ("name", "description", "args_schema", "return_direct", "response_format", "tags", "metadata", "handle_tool_error")
        made = cls(**{name: getattr(tool, name) for name in kept})
        made._tool, made._action = tool, action
        return made

    @property
    def saga_action(self) -> Action:
        """Return the action of its calls."""
        return self._action

    def _to_args_and_kwargs(self, tool_input: Any, tool_call_id: str | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return self._tool._to_args_and_kwargs(tool_input, tool_call_id)

    def _run(self, *arguments: Any, config: RunnableConfig, **named: Any) -> Any:
        scope = self._scope()
        running = self._arun(*arguments, config=config, scope=scope, **named)
        return asyncio.run_coroutine_threadsafe(running, scope.run.loop).result()

    async def _arun(self, *arguments: Any, config: RunnableConfig, scope: Scope | None = None, **named: Any) -> Any:
        if arguments:
            raise InvalidInputError("a saga_tool takes arguments by name", field=self.name)
        scope = scope or self._scope()
        chosen = encode(self._chosen(named))
        raised: list[Exception] = []
        name = numbered(scope, f"{self.name}-{content_hash(chosen)[:8]}")
        try:
            operation = await perform_below(scope, name, self._made_with(scope, name, named, config, raised), chosen, None)
        except SagaGraphError as exc:
            raise self._failure(scope, exc, raised[-1] if raised else None) from None
        return decode(operation.output)

    def _failure(self, scope: Scope, exc: SagaGraphError, raised: Exception | None) -> Exception:
        """Return what the tool's caller gets: a refusal as such, and as the tool raised it whatever else it failed with."""
        if isinstance(raised, GraphBubbleUp):
            return raised
        if exc.leaves_saga_open:
            return LeftOpen(exc)
        is_refusal = raised is None or refusal_in(raised, self._action.fails_on) is not None
        if raised is None or (is_refusal and not isinstance(raised, ToolException)):
            return exc
        raised.add_note(str(exc))
        scope.run.failed_below.append(raised)
        return raised

    def _scope(self) -> Scope:
        scope = active_scope()
        if scope is None:
            raise NotAllowedError(f"tool {self.name!r} runs only in a node of a SagaGraph")
        return scope

    def _chosen(self, named: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments that the model chose; what LangGraph injects differs from pass to pass, and identifies nothing."""
        fields = _fields(self._tool.tool_call_schema)
        return {key: each for key, each in named.items() if key in fields}

    def _made_with(
        self, scope: Scope, name: str, named: dict[str, Any], config: RunnableConfig, raised: list[Exception]
    ) -> Action:
        """Return the call itself: with what was injected, in the context of the node."""
        context = copy_context()

        async def execute(_arguments: Json, call: Call) -> Any:
            raised.clear()
            context.run(enter_call, call)
            try:
                running = asyncio.get_running_loop().create_task(_call_tool(self._tool, named, config), context=context.copy())
                return encode(await running)
            except GraphBubbleUp as exc:
                raised.append(exc)
                raise Paused(f"it waits for an answer in tool {self.name!r}") from exc
            except Exception as exc:
                raised.append(exc)
                raise

        fails_on = Exception if scope.run.trusts_exceptions else self._action.fails_on
        kind = self._kind_now(scope, name)
        return replace(self._action, kind=kind, execute=execute, fails_on=fails_on, _adapters={})

    def _kind_now(self, scope: Scope, name: str) -> ActionKind:
        """Return the kind. A saga has one pivot: anything else that cannot be undone comes after it, and is repeated until it
        succeeds.
        """
        saga, kind = scope.run.saga, self._action.kind
        is_later = saga.pivot_has_landed and saga.pivot != f"{scope.operation}/{name}"
        return ActionKind.RETRIABLE if kind is ActionKind.PIVOT and is_later else kind


async def _call_tool(tool: BaseTool, named: dict[str, Any], config: RunnableConfig) -> Any:
    """Call the tool's own function, with its injected arguments and without running its callbacks again."""
    is_plain = type(tool)._arun is BaseTool._arun or getattr(tool, "coroutine", tool) is None
    function = tool._run if is_plain else tool._arun
    wants_config = "config" in inspect.signature(function).parameters
    given = {**named, **({"config": config} if wants_config else {})}
    # a thread of our own is known to go on when its time is over, which one of an executor is not
    return await (in_thread(partial(tool._run, **given)) if is_plain else tool._arun(**given))

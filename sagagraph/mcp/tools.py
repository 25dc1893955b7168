"""Tools of an MCP server as operations: a small mapping says what their annotations leave open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException

from sagagraph.errors import InvalidInputError, Refused
from sagagraph.graph.tools import saga_tool
from sagagraph.graph.undone_by import undoing_with
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Guarantees
from sagagraph.saga.engine.call import Probe, current_call
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import DEFAULT_POLICY
from sagagraph.workflow.policy import Policy

FOR_EVER = timedelta(days=36_500)
"""How long a tool with `idempotentHint` remembers: its arguments are its key."""
Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class McpTool:
    """Mapping of one tool: what its server does not say. A `result` is the structured one, or the text if there is none.

    `undo`: another tool of the server (by default what the annotation `undoneBy` names). `undo_with` makes its arguments: a
    function of `(arguments, result, call)`, or a mapping as of `UndoneBy`; without it they are the call's own, by name and type.
    `find`: a read-only tool, `find_with(arguments, call)` makes its arguments, and `found(result)` says as a `Probe` whether the
    effect is there. `key`: the argument that takes an idempotency key, which the model then does not see; `remembers`: how long
    the server knows keys. `refuses`: an error that this tool reports says that nothing happened. `kind`: instead of annotations.
    """

    undo: str = ""
    undo_with: Callable[[Arguments, Any, Call], Arguments] | Mapping[str, str] | None = None
    find: str = ""
    find_with: Callable[[Arguments, Call], Arguments] | None = None
    found: Callable[[Any], Probe] | None = None
    key: str = ""
    remembers: timedelta | None = None
    refuses: bool = False
    kind: ActionKind | str | None = None
    policy: Policy = DEFAULT_POLICY


def mcp_tools(tools: Iterable[BaseTool], mapping: Mapping[str, McpTool]) -> list[BaseTool]:
    """Turn tools of langchain-mcp-adapters into operations of sagas; those with `readOnlyHint` stay as they are.

    A tool with `undo` is compensatable, any other one a pivot, as a server without annotations promises nothing. A hint is
    believed as you believe the server. A tool that undoes another one is left out, unless the mapping names it. Make them before
    a saga is resumed or cancelled: they are registered by name.

    Raises `InvalidInputError` for a name that is not a tool's, and for an argument of an undo that nothing fills.
    """
    by_name = {each.name: each for each in tools}
    for name in [*mapping, *(used for each in mapping.values() for used in (each.undo, each.find) if used)]:
        if name not in by_name:
            raise InvalidInputError(f"the server has no tool {name!r}; it has {', '.join(sorted(by_name))}", field="mapping")
    told = {name: _with_annotation(tool, mapping.get(name, McpTool())) for name, tool in by_name.items()}
    hidden = {each.undo for each in told.values()} - mapping.keys()
    return [_made(tool, told[name], by_name) for name, tool in by_name.items() if name not in hidden]


def _with_annotation(tool: BaseTool, told: McpTool) -> McpTool:
    undone_by = (tool.metadata or {}).get("undoneBy")
    return told if told.undo or not isinstance(undone_by, str) else replace(told, undo=undone_by)


def _made(tool: BaseTool, told: McpTool, by_name: Mapping[str, BaseTool]) -> BaseTool:
    hints = tool.metadata or {}
    kind = told.kind or _kind_of(hints, told)
    if kind == ActionKind.READ_ONLY:
        return tool
    remembers = told.remembers or (FOR_EVER if hints.get("idempotentHint") else None)
    return saga_tool(
        _calling(tool, told),
        compensate=_undoing(tool, by_name[told.undo], told) if told.undo else None,
        probe=_asking(by_name[told.find], told) if told.find else None,
        kind=kind,
        policy=told.policy,
        guarantees=Guarantees(dedup=remembers, refusals_final=told.refuses),
        fails_on=(),  # what a server reports as an error may have happened, unless `refuses` says that it has not
    )


def _kind_of(hints: Mapping[str, Any], told: McpTool) -> ActionKind:
    if told.undo:
        return ActionKind.COMPENSATABLE
    return ActionKind.READ_ONLY if hints.get("readOnlyHint") else ActionKind.PIVOT


def _calling(tool: BaseTool, told: McpTool) -> BaseTool:
    """Return the tool with its key, and with errors that are refusals."""

    async def call(**arguments: Any) -> Any:
        key = {told.key: current_call().idempotency_key} if told.key else {}
        try:
            return await _outcome_of(tool, arguments | key)
        except ToolException as exc:
            raise (Refused(str(exc)) if told.refuses else exc) from exc

    schema = dict(tool.args_schema) if isinstance(tool.args_schema, dict) else tool.tool_call_schema.model_json_schema()  # type: ignore[union-attr]
    shown = {name: each for name, each in schema.get("properties", {}).items() if name != told.key}
    required = [name for name in schema.get("required", ()) if name != told.key]
    made = {**schema, "properties": shown, "required": required}
    return StructuredTool(
        name=tool.name, description=tool.description, args_schema=made, coroutine=call, response_format="content_and_artifact"
    )


async def _outcome_of(tool: BaseTool, arguments: Arguments) -> Any:
    """Return content and artifact. An error that the server reports is raised, not returned as the answer."""
    return await tool.coroutine(**arguments)  # type: ignore[attr-defined]  # the adapter makes StructuredTools


def _undoing(tool: BaseTool, undo: BaseTool, told: McpTool) -> Callable[..., Any]:
    made = told.undo_with
    if not callable(made):
        by_name = undoing_with(tool, undo, made or {}, lambda each, given: _outcome_of(each, given))

        async def undo_by_name(arguments: Arguments, output: Any, call: Call) -> None:
            await by_name(arguments, None if output is None else _result_of(output), call)

        return undo_by_name

    async def undo_as_told(arguments: Arguments, output: Any, call: Call) -> None:
        await _outcome_of(undo, made(arguments, None if output is None else _result_of(output), call))

    return undo_as_told


def _asking(tool: BaseTool, told: McpTool) -> Callable[..., Any]:
    found = told.found
    if found is None:
        raise InvalidInputError(f"say what the answer of {tool.name!r} means", field="found")

    async def probe(arguments: Arguments, call: Call) -> Probe:
        outcome = await _outcome_of(tool, told.find_with(arguments, call) if told.find_with else arguments)
        said = found(_result_of(outcome))
        return Probe(said.answer, (str(said.result), {"structured_content": said.result}) if said.result is not None else None)

    return probe


def _result_of(outcome: Any) -> Any:
    content, artifact = outcome
    if artifact is not None:
        return artifact["structured_content"]
    return content if isinstance(content, str) else "".join(each.get("text", "") for each in content)

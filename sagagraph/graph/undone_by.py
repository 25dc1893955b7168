"""Undoing a tool by another tool: whose arguments come from the call's, from its result, or from a declared mapping.

What cannot be filled is an error when the tool is made: never a guess, and never a model's.
"""

from __future__ import annotations

import typing
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.tools import BaseTool
from pydantic import BaseModel, TypeAdapter

from sagagraph.errors import InvalidInputError
from sagagraph.saga.core.call import Call

Fields = Mapping[str, Any]
"""JSON schemas by name."""
CallTool = Callable[[BaseTool, dict[str, Any]], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class UndoneBy:
    """Which tool undoes another one, and with what: `UndoneBy("cancel_room", {"room": "result.id"})`.

    A source is `result` or `arguments`, either with the path of a value in it, or `key`, the idempotency key of the call. Other
    arguments are taken by name and type from the result, if its type is declared, and then from the arguments of the call.
    """

    tool: str
    arguments: Mapping[str, str] = field(default_factory=dict)


def undoing_with(tool: BaseTool, undo: BaseTool, declared: Mapping[str, str], call_tool: CallTool) -> Callable[..., Any]:
    """Return the compensation of `tool`: a call of `undo`. Raises `InvalidInputError` for an argument that nothing fills."""
    sources = dict(_sources(tool, undo, declared))

    async def compensate(arguments: dict[str, Any], result: Any, call: Call) -> Any:
        known = {"arguments": arguments, "result": _as_mapping(result), "key": call.operation_key}
        return await call_tool(undo, {name: _value_at(known, source, undo) for name, source in sources.items()})

    return compensate


def _sources(tool: BaseTool, undo: BaseTool, declared: Mapping[str, str]) -> typing.Iterator[tuple[str, str]]:
    wanted, required = _arguments_of(undo)
    result, arguments = _result_of(tool), _arguments_of(tool)[0]
    for name in declared:
        if name not in wanted:
            raise InvalidInputError(f"{undo.name!r} has no argument {name!r}", field="undoes")
    for name, schema in wanted.items():
        if name in declared:
            if declared[name].partition(".")[0] not in ("result", "arguments", "key"):
                raise InvalidInputError(f"{declared[name]!r} begins with none of result, arguments and key", field="undoes")
            yield name, declared[name]
        elif _fits(result.get(name), schema):
            yield name, f"result.{name}"
        elif _fits(arguments.get(name), schema):
            yield name, f"arguments.{name}"
        elif name in required:
            raise InvalidInputError(
                f"nothing in a call of {tool.name!r} says what {undo.name!r} needs as {name!r}: declare it, as in "
                f'UndoneBy("{undo.name}", {{"{name}": "result"}})',
                field="undoes",
            )


def _arguments_of(tool: BaseTool) -> tuple[Fields, frozenset[str]]:
    """Return what a model has to say, and which of it is required."""
    schema: Any = tool.tool_call_schema
    told = schema if isinstance(schema, dict) else schema.model_json_schema()
    return told.get("properties", {}), frozenset(told.get("required", ()))


def _result_of(tool: BaseTool) -> Fields:
    """Return the fields of the tool's result, if its function declares a type that has fields."""
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
    try:
        returned = typing.get_type_hints(function).get("return") if function is not None else None
        return TypeAdapter(returned).json_schema().get("properties", {}) if returned not in (None, Any) else {}
    except Exception:  # noqa: BLE001 - a type of which nothing is known has no fields: then a mapping has to say it
        return {}


def _fits(offered: Any, wanted: Any) -> bool:
    return offered is not None and {offered.get("type"), offered.get("$ref")} == {wanted.get("type"), wanted.get("$ref")}


def _as_mapping(result: Any) -> Any:
    return result.model_dump() if isinstance(result, BaseModel) else result


def _value_at(known: Mapping[str, Any], source: str, undo: BaseTool) -> Any:
    value: Any = known
    for part in source.split("."):
        value = value.get(part) if isinstance(value, Mapping) else getattr(value, part, None)
    if value is None:
        raise InvalidInputError(f"the call has no {source!r}, which {undo.name!r} needs", field="undoes")
    return value

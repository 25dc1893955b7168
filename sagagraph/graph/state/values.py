"""Values of a graph as JSON that a journal can hold, and back: plain values stay plain, so that people can read them.

Messages, `Command` and `Send` are written out; anything else goes through LangGraph's own serializer, as in a checkpoint.
"""

from __future__ import annotations

import base64
import json
import math
import uuid
from collections.abc import Callable, Collection
from dataclasses import fields, is_dataclass
from typing import Any

from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
from langgraph._internal._fields import get_update_as_tuples  # what LangGraph takes from a model that a node returns
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.func import entrypoint
from langgraph.types import Command, Send
from pydantic import BaseModel

from sagagraph.context.slice import content_hash
from sagagraph.errors import InvalidInputError
from sagagraph.workflow.values import Json

_MARK = "$"
_SCALARS = frozenset((type(None), bool, int, str))
"""What stays as it is."""
_SERDE = JsonPlusSerializer()
_NAMESPACE = uuid.UUID("c2f5a7c6-0c5b-5a53-9b7f-0a3b8a1f7d10")


def encode(value: object) -> Json:
    """Encode a value. Raises `InvalidInputError` if neither JSON nor LangGraph's serializer can hold it."""
    if value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value)):
        return value
    if type(value) is list:
        return list(value) if _SCALARS.issuperset(map(type, value)) else [encode(each) for each in value]
    if type(value) is dict:
        return _encoded_dict(value)
    for kind, mark, written in _MARKED:
        if isinstance(value, kind):
            return {mark: written(value)}
    if isinstance(value, BaseModel):
        updated = [name for name, _each in get_update_as_tuples(value, list(type(value).model_fields))]
        if len(updated) < len(type(value).model_fields):
            return {"$partial": [*_dumped(value), updated]}
    return {"$value": [*_dumped(value)]}


def _dumped(value: object) -> tuple[str, str]:
    try:
        kind_name, data = _SERDE.dumps_typed(value)
    except Exception as exc:
        raise InvalidInputError(f"a {type(value).__name__} cannot be journalled: {exc}", field="state") from exc
    return kind_name, base64.b64encode(data).decode()


def _encoded_dict(value: dict[object, object]) -> Json:
    if all(type(key) is str and not key.startswith(_MARK) for key in value):
        return {key: encode(each) for key, each in value.items()}
    return {"$dict": [[encode(key), encode(each)] for key, each in value.items()]}


def _message(value: BaseMessage) -> Json:
    return encode(message_to_dict(value))


def _command(value: Command[Any]) -> Json:
    return {"graph": value.graph, "update": encode(value.update), "resume": encode(value.resume), "goto": encode(value.goto)}


def _set(value: set[object] | frozenset[object]) -> Json:
    return sorted((encode(each) for each in value), key=lambda each: json.dumps(each, sort_keys=True))


_MARKED: tuple[tuple[Any, str, Callable[[Any], Any]], ...] = (
    (BaseMessage, "$message", _message),
    (Command, "$command", _command),
    (Send, "$send", lambda value: [value.node, encode(value.arg), *([encode(value.timeout)] if value.timeout else [])]),
    (entrypoint.final, "$final", lambda value: [encode(value.value), encode(value.save)]),
    (frozenset, "$frozenset", _set),
    (set, "$set", _set),
    (tuple, "$tuple", lambda value: [encode(each) for each in value]),
)


def decode(value: Json) -> Any:
    if isinstance(value, list):
        return [decode(each) for each in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        mark, content = next(iter(value.items()))
        if mark in _READ:
            return _READ[mark](content)
    return {key: decode(each) for key, each in value.items()}


def _read_command(content: Json) -> Command[Any]:
    return Command(
        graph=content["graph"],
        update=decode(content["update"]),
        resume=decode(content["resume"]),
        goto=decode(content["goto"]),
    )


def _read_partial(content: Json) -> Any:
    """Read a model of which LangGraph takes only some fields for an update."""
    value = _READ["$value"](content[:2])
    if isinstance(value, BaseModel):
        value.__pydantic_fields_set__ = set(content[2])
    return {name: each for name, each in value.items() if name in content[2]} if isinstance(value, dict) else value


_READ: dict[str, Callable[[Json], Any]] = {
    "$value": lambda content: _SERDE.loads_typed((content[0], base64.b64decode(content[1]))),
    "$partial": _read_partial,
    "$dict": lambda content: {decode(key): decode(each) for key, each in content},
    "$message": lambda content: messages_from_dict([decode(content)])[0],
    "$command": _read_command,
    "$send": lambda content: Send(content[0], decode(content[1]), timeout=decode(content[2]) if content[2:] else None),
    "$final": lambda content: entrypoint.final(value=decode(content[0]), save=decode(content[1])),
    "$frozenset": lambda content: frozenset(decode(each) for each in content),
    "$set": lambda content: {decode(each) for each in content},
    "$tuple": lambda content: tuple(decode(each) for each in content),
}


def encode_state(state: object, *, but_for: Collection[str] = ()) -> Json:
    """Write a state that is a model or a dataclass by its fields; its schema says what it was."""
    if isinstance(state, BaseModel):
        return {name: encode(getattr(state, name)) for name in type(state).model_fields if name not in but_for}
    if is_dataclass(state) and not isinstance(state, type):
        return {each.name: encode(getattr(state, each.name)) for each in fields(state) if each.name not in but_for}
    return encode({key: each for key, each in state.items() if key not in but_for} if isinstance(state, dict) else state)


def decode_state(encoded: Json, schema: Any) -> Any:
    decoded = decode(encoded)
    has_fields = isinstance(schema, type) and (issubclass(schema, BaseModel) or is_dataclass(schema))
    return schema(**decoded) if has_fields and isinstance(decoded, dict) else decoded


def with_message_ids(value: Any, origin: str) -> Any:
    """Give messages without an id one that is the same in every replay: a reducer would invent a new one each time.

    `origin`: the operation that returns them, with its saga.
    """
    count = 0

    def visit(each: object) -> None:
        nonlocal count
        if isinstance(each, BaseMessage):
            count += 1
            each.id = each.id or str(uuid.uuid5(_NAMESPACE, f"{origin}/{count}"))
        elif isinstance(each, dict):
            for inner in each.values():
                visit(inner)
        elif isinstance(each, list | tuple):
            for inner in each:
                visit(inner)
        elif isinstance(each, Command):
            visit(each.update)

    visit(value)
    return value


def hash_of(encoded: Json) -> str:
    """Hash an encoded value as a checkpoint keeps it."""
    return content_hash(as_kept(encoded))


def as_kept(encoded: Json) -> Json:
    """Return the part of an encoded value that is equal after a restart: ids that a reducer gave to messages differ, and tuples
    become lists.
    """
    if isinstance(encoded, list):
        return encoded if _SCALARS.issuperset(map(type, encoded)) else [as_kept(each) for each in encoded]
    if not isinstance(encoded, dict):
        return encoded
    if len(encoded) == 1 and "$tuple" in encoded:
        return as_kept(encoded["$tuple"])
    if "$message" in encoded:
        message = encoded["$message"]
        return {"$message": {**message, "data": {key: each for key, each in message["data"].items() if key != "id"}}}
    return {key: as_kept(each) for key, each in encoded.items()}

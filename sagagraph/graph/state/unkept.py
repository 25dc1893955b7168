"""Unkept values: what LangGraph writes to no checkpoint is not journalled either. A process that dies loses them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph._internal._fields import get_update_as_tuples  # what LangGraph takes from a model that a node returns
from langgraph.channels import UntrackedValue
from langgraph.types import Command, Send
from pydantic import BaseModel


def untracked_keys(channels: Mapping[str, object]) -> frozenset[str]:
    return frozenset(key for key, channel in channels.items() if isinstance(channel, UntrackedValue))


def without(value: Any, keys: Collection[str]) -> Any:
    """Return a state, an update, or a router's answer without those `keys`; itself if it has none of them."""
    if not keys:
        return value
    if isinstance(value, dict):
        return {key: each for key, each in value.items() if key not in keys}
    if isinstance(value, Command):
        return replace(value, update=without(value.update, keys), goto=without(value.goto, keys))
    if isinstance(value, Send):
        return Send(value.node, without(value.arg, keys), timeout=value.timeout)
    if type(value) in (list, tuple):
        return type(value)(without(each, keys) for each in value)
    names = _names_of(value)
    return without(dict(get_update_as_tuples(value, names)), keys) if set(names) & set(keys) else value


def _names_of(value: Any) -> list[str]:
    if isinstance(value, BaseModel):
        return [] if isinstance(value, BaseMessage) else list(type(value).model_fields)
    return [each.name for each in fields(value)] if is_dataclass(value) and not isinstance(value, type) else []

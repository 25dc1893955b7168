"""A list in the state whose items stay in the journal: checkpoints hold a reference for each update, not the items.

`items: Annotated[list[str], offload]` appends, as `operator.add` does. Nodes, routers and results see plain lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from langgraph.channels import BinaryOperatorAggregate

_MARK = "$offloaded"
Reference = tuple[int, int]
"""The number of the thread's run, and the ordinal of the operation in its saga that returned the items."""


def offload(current: Any, update: Any) -> Any:
    """The reducer. What was not returned by an operation of a saga (an input) is kept as it is."""
    return {_MARK: [*_parts(current), *_parts(update)]}


def reference_to(run: int, ordinal: int) -> Any:
    return {_MARK: [[run, ordinal]]}


def is_offloaded(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and _MARK in value


def parts_of(value: Any) -> Iterator[Reference | list[Any]]:
    """In order: a reference, or items that are in the state themselves."""
    for part in value[_MARK]:
        yield part["items"] if isinstance(part, dict) else (int(part[0]), int(part[1]))


def offloaded_keys(channels: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(
        key for key, channel in channels.items() if isinstance(channel, BinaryOperatorAggregate) and channel.operator is offload
    )


def _parts(value: Any) -> list[Any]:
    if is_offloaded(value):
        return list(value[_MARK])
    return [{"items": list(value)}] if value else []

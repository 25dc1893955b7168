"""Off-loading: a list in the state whose items stay in the journal; checkpoints hold a reference for each update.

`items: Annotated[list[str], offload]` appends, as `operator.add` does. Nodes, routers and results see plain lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from langgraph.channels import BinaryOperatorAggregate

from sagagraph.workflow.values import Json

_MARK = "$offloaded"
Reference = tuple[int, int]
"""The number of the thread's run, and the ordinal of the operation in its saga that returned the items."""


def offload(current: Json, update: Json) -> Json:
    """Append, as the list's reducer. Items that no operation of a saga returned (an input's) are kept as they are."""
    return {_MARK: [*_parts(current), *_parts(update)]}


def reference_to(run: int, ordinal: int) -> Json:
    return {_MARK: [[run, ordinal]]}


def is_offloaded(value: object) -> bool:
    return isinstance(value, dict) and len(value) == 1 and _MARK in value


def parts_of(value: Json) -> Iterator[Reference | list[Json]]:
    """Yield the parts in order: references, or items that are in the state themselves."""
    for part in value[_MARK]:
        yield part["items"] if isinstance(part, dict) else (int(part[0]), int(part[1]))


def offloaded_keys(channels: Mapping[str, object]) -> frozenset[str]:
    return frozenset(
        key for key, channel in channels.items() if isinstance(channel, BinaryOperatorAggregate) and channel.operator is offload
    )


def _parts(value: Json) -> list[Json]:
    if is_offloaded(value):
        return list(value[_MARK])
    return [{"items": list(value)}] if value else []

"""Items of off-loaded lists, read back from the journals of their thread's runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagagraph.graph.state.offload import Reference, is_offloaded, parts_of
from sagagraph.graph.state.outputs import output_of, update_of
from sagagraph.graph.state.values import decode
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.engine import Engine


class Items:
    """Items of lists. `current`: the saga in whose state the lists are found; its run's number is in its request."""

    def __init__(self, engine: Engine, current: Callable[[], Saga]) -> None:
        self._engine = engine
        self._current = current
        self._earlier: dict[int, Saga] = {}
        self._known: dict[tuple[Reference, str], list[Any]] = {}

    async def in_place(self, value: Any, key: str = "") -> Any:
        """Return `value` with the items of its off-loaded lists in place. `key`: its key in the state."""
        if is_offloaded(value):
            return [item for part in parts_of(value) for item in await self._items_of(part, key)]
        if not isinstance(value, dict):
            return value
        if not any(isinstance(each, dict) for each in value.values()):
            return dict(value)
        return {name: await self.in_place(each, name) for name, each in value.items()}

    async def in_chunk(self, chunk: Any) -> Any:
        """Do the same for what a stream yields: tuples around what the graph's channels hold."""
        if not isinstance(chunk, tuple):
            return await self.in_place(chunk)
        parts = [await self.in_chunk(each) for each in chunk]
        return type(chunk)(*parts) if hasattr(chunk, "_fields") else tuple(parts)

    async def _items_of(self, part: Reference | list[Any], key: str) -> list[Any]:
        if isinstance(part, list):
            return part
        if (part, key) not in self._known:
            number, ordinal = part
            saga = await self._run(number)
            operation = saga.operations[saga.index.names[ordinal]]
            self._known[part, key] = update_of(decode(output_of(operation.output)))[key]
        return self._known[part, key]

    async def _run(self, number: int) -> Saga:
        current = self._current()
        if number == run_number(current):
            return current
        if number not in self._earlier:
            self._earlier[number] = await self._engine.load(run_id(thread_id(current), number))
        return self._earlier[number]


def run_id(thread: str, number: int) -> str:
    """Return the saga of the thread's `number`-th run, from 1."""
    return thread if number == 1 else f"{thread}/run-{number}"


def run_number(saga: Saga) -> int:
    return int(saga.request["run"])


def thread_id(saga: Saga) -> str:
    number = run_number(saga)
    return saga.id if number == 1 else saga.id.removesuffix(f"/run-{number}")

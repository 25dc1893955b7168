"""Shared reads: one read of a journal for all who ask for it at about the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from sagagraph.saga.core.events import Entry

_GATHERING_S: Final = 0.02
"""How long after the first who asks others are waited for: followers of a saga are woken together."""

Read = Callable[[str], Awaitable[tuple[Entry, ...]]]


class SharedReads:
    """Reads, each for everybody who asked before it began: nobody gets a journal that is older than the question."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._gathering: dict[str, asyncio.Task[tuple[Entry, ...]]] = {}

    async def __call__(self, saga_id: str) -> tuple[Entry, ...]:
        if saga_id not in self._gathering:
            self._gathering[saga_id] = asyncio.create_task(self._gathered(saga_id))
        return await asyncio.shield(self._gathering[saga_id])

    async def _gathered(self, saga_id: str) -> tuple[Entry, ...]:
        try:
            await asyncio.sleep(_GATHERING_S)
        finally:
            del self._gathering[saga_id]
        return await self._read(saga_id)

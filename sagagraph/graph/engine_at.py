"""Engine by its URL: opened when a graph first runs, for servers that import graphs before they have an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextvars import Context
from weakref import WeakKeyDictionary

from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.commits import Commits

Opened = tuple[Engine, AsyncGenerator[Engine, None]]
_OPENED: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Task[Opened]]] = WeakKeyDictionary()


async def engine_at(url: str) -> Engine:
    """Return the engine of this event loop on the store at `url`, the same for all graphs; it is closed with the loop.

    Raises what `Engine.open` raises; the next call tries again.
    """
    of_loop = _OPENED.setdefault(asyncio.get_running_loop(), {})
    opening = of_loop.get(url)
    if opening is None or (opening.done() and (opening.cancelled() or opening.exception() is not None)):
        opening = of_loop[url] = asyncio.get_running_loop().create_task(_opened(url), context=Context())
    engine, _kept = await asyncio.shield(opening)
    return engine


async def _opened(url: str) -> Opened:
    keeping = _keep(url)
    return await anext(keeping), keeping


async def _keep(url: str) -> AsyncGenerator[Engine, None]:
    """Keep it open until the loop ends, which closes the generators that it has begun."""
    async with Engine.open(url) as engine:
        if isinstance(engine.store, Commits):
            engine.store.spares_loop = True  # a server has other runs to handle, and may refuse whatever blocks its loop
        yield engine

"""`Engine.open`: an engine on a store, for code with an event loop or without."""

from __future__ import annotations

from typing import Any

from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.urls import open_store


class EngineOpening:
    """What `Engine.open` returns: enter it with `async with`, or with `with` from code without an event loop."""

    def __init__(self, store_url: str, options: dict[str, Any]) -> None:
        self._url = store_url
        self._options = options
        self._engine: Engine | None = None
        self._sync: Any = None

    async def __aenter__(self) -> Engine:
        self._engine = Engine(await open_store(self._url), **self._options)
        return self._engine

    async def __aexit__(self, *_exc: object) -> None:
        if self._engine is not None:
            await self._engine.close()

    def __enter__(self) -> Any:
        from sagagraph.saga.engine.synchronous import SyncEngine

        self._sync = SyncEngine(self)
        return self._sync

    def __exit__(self, *_exc: object) -> None:
        self._sync.close()

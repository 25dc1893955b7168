"""Turn a store's URL into a store."""

from __future__ import annotations

from pathlib import Path

from sagagraph.errors import InvalidInputError
from sagagraph.saga.ports import SagaStore

_SQLITE = "sqlite:///"


async def open_store(url: str) -> SagaStore:
    """`sqlite:///FILE` (`sqlite:////FILE` for an absolute path) or `memory:`. Raises `InvalidInputError`, `StoreError`."""
    if url == "memory:":
        from sagagraph.saga.stores.memory import MemorySagaStore

        return MemorySagaStore()
    if url.startswith(_SQLITE) and len(url) > len(_SQLITE):
        from sagagraph.saga.stores.sqlite import SqliteSagaStore

        return await SqliteSagaStore.open(sqlite_path(url))
    raise InvalidInputError(f"{url!r} is not a store; use sqlite:///FILE or memory:", field="--store")


def sqlite_path(url: str) -> Path:
    return Path(url.removeprefix(_SQLITE)).expanduser()

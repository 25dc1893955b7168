"""Checkpointers: where LangGraph keeps its checkpoints, alongside the journal, which stays authoritative."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

import aiosqlite
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from sagagraph.errors import StoreError
from sagagraph.files import sqlite_path
from sagagraph.saga.stores.sqlite_file import BUSY_TIMEOUT_S
from sagagraph.saga.stores.urls import is_postgres

P = ParamSpec("P")
T = TypeVar("T")
Saver = BaseCheckpointSaver[str]


def open_checkpointer(store_url: str) -> AbstractAsyncContextManager[Saver]:
    """Open a saver in the same place as the store: in memory, in the store's SQLite file, or in its PostgreSQL database.

    Raises `StoreError` for a database that cannot be used.
    """
    if store_url == "memory:":
        return _in_memory()
    if is_postgres(store_url):
        from sagagraph.graph.checkpoints.postgres_checkpointer import open_postgres_checkpointer

        return open_postgres_checkpointer(store_url)
    return _in_sqlite(store_url)


@asynccontextmanager
async def _in_memory() -> AsyncIterator[Saver]:
    yield InMemorySaver()


@asynccontextmanager
async def _in_sqlite(store_url: str) -> AsyncIterator[Saver]:
    path = sqlite_path(store_url)
    try:
        # the store exists already: a file that has vanished since is not created again
        connection = await aiosqlite.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=BUSY_TIMEOUT_S)
    except aiosqlite.Error as exc:
        raise StoreError(f"the checkpoints of {path} cannot be used: {exc}") from exc
    try:
        yield _SqliteSaver(connection)
    finally:
        await connection.close()


def _telling(method: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    @wraps(method)
    async def told(*arguments: P.args, **options: P.kwargs) -> T:
        try:
            return await method(*arguments, **options)
        except aiosqlite.Error as exc:
            raise StoreError(f"the checkpoint cannot be kept: {exc}") from exc

    return told


class _SqliteSaver(AsyncSqliteSaver):
    """Saver that raises every failure of a graph's call as a `StoreError`."""

    aget_tuple = _telling(AsyncSqliteSaver.aget_tuple)  # type: ignore[assignment, arg-type]
    aput = _telling(AsyncSqliteSaver.aput)  # type: ignore[assignment, arg-type]
    aput_writes = _telling(AsyncSqliteSaver.aput_writes)  # type: ignore[assignment, arg-type]

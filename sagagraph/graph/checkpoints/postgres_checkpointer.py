"""LangGraph's PostgreSQL saver, on a pool that makes a lost connection again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from sagagraph.errors import StoreError
from sagagraph.saga.stores.postgres_connection import RECONNECT_S, SESSION, is_lost, name_of, parameters_of, why

T = TypeVar("T")
Connection = psycopg.AsyncConnection[DictRow]
Pool = AsyncConnectionPool[Connection]

_LOCK = 0x5A6A_C4EC
"""Of PostgreSQL's advisory locks, the one for making LangGraph's tables."""
_PAUSE_S = 0.05


@asynccontextmanager
async def open_postgres_checkpointer(store_url: str) -> AsyncIterator[AsyncPostgresSaver]:
    """Makes LangGraph's tables where they are missing; safe to do in several processes at once."""
    options = {**parameters_of(store_url), "autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    try:
        async with await Connection.connect(**options) as connection:
            await _set_up(connection)
    except psycopg.Error as exc:
        raise StoreError(f"the checkpoints of {name_of(store_url)} can not be used: {why(exc)}") from exc
    # One connection, for LangGraph's saver does one thing at a time whatever it is given.
    async with Pool(kwargs=options, min_size=1, max_size=1, open=False, configure=_configure, timeout=_wait_s()) as pool:
        yield _Saver(pool)


def _wait_s() -> float:
    """Twice as long as an outage may last: while a database is away, a pool tries it less and less often."""
    return 2 * RECONNECT_S


async def _configure(connection: Connection) -> None:
    await connection.execute(SESSION, prepare=False)


async def _set_up(connection: Connection) -> None:
    """Not under a lock that is waited for: a migration builds indexes, and that waits for whoever waits."""
    while not await _is_set_up(connection):
        if await _one(connection, f"SELECT pg_try_advisory_lock({_LOCK}) AS one"):
            await AsyncPostgresSaver(connection).setup()
            return
        await asyncio.sleep(_PAUSE_S)


async def _is_set_up(connection: Connection) -> bool:
    if await _one(connection, "SELECT to_regclass('checkpoint_migrations') AS one") is None:
        return False
    latest = len(AsyncPostgresSaver.MIGRATIONS) - 1
    return bool(await _one(connection, "SELECT max(v) AS one FROM checkpoint_migrations") == latest)


async def _one(connection: Connection, statement: str) -> Any:
    row = await (await connection.execute(statement.encode())).fetchone()
    return row and row["one"]


class _Saver(AsyncPostgresSaver):
    """What goes wrong is a `StoreError`; what only a lost connection spoiled is done again: all of it may be repeated."""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await self._insist(lambda: super(_Saver, self).aget_tuple(config))

    async def aput(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: ChannelVersions
    ) -> RunnableConfig:
        return await self._insist(lambda: super(_Saver, self).aput(config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await self._insist(lambda: super(_Saver, self).aput_writes(config, writes, task_id, task_path))

    async def _insist(self, work: Callable[[], Awaitable[T]]) -> T:
        give_up_at: float | None = None
        while True:
            try:
                return await work()
            except psycopg.Error as exc:
                give_up_at = give_up_at or time.monotonic() + RECONNECT_S
                if not is_lost(exc) or time.monotonic() >= give_up_at:
                    raise StoreError(f"the checkpoint can not be kept: {why(exc)}") from exc

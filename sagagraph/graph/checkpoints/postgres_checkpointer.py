"""PostgreSQL checkpointer: LangGraph's saver, on a connection that is opened again when it is lost."""

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

from sagagraph.errors import StoreError
from sagagraph.saga.stores.postgres_connection import RECONNECT_S, SESSION, name_of, parameters_of, why

T = TypeVar("T")
Connection = psycopg.AsyncConnection[DictRow]

_LOCK = 0x5A6A_C4EC
"""The advisory lock of PostgreSQL under which LangGraph's tables are created."""
_PAUSE_S = 0.05
_FROZEN_S = 5
_END_FROZEN = """
SELECT pg_terminate_backend(pid) AS one FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND datname = current_database() AND usename = current_user
  AND application_name = current_setting('application_name')
  AND state = 'active' AND wait_event = 'ClientRead' AND xact_start < now() - interval '{seconds} seconds'
"""
"""Ends sessions of ours whose worker froze between a statement of a pipeline and the pipeline's end. The server's own limit, for
idle transactions, does not apply there, so the locks of such a session would be held until the worker goes on or dies."""


@asynccontextmanager
async def open_postgres_checkpointer(store_url: str) -> AsyncIterator[AsyncPostgresSaver]:
    """Open the saver, and create LangGraph's tables if they are missing; safe to run in several processes at once."""
    saver: _Saver | None = None
    try:
        try:
            saver = _Saver(store_url, await _connected(store_url))
            await _set_up(saver, store_url)
        except psycopg.Error as exc:
            raise StoreError(f"the checkpoints of {name_of(store_url)} cannot be used: {why(exc)}") from exc
        yield saver
    finally:
        if saver is not None:
            await saver.conn.close()


async def _connected(store_url: str) -> Connection:
    connection = await Connection.connect(**parameters_of(store_url), autocommit=True, prepare_threshold=0, row_factory=dict_row)
    await connection.execute(SESSION, prepare=False)
    return connection


async def _set_up(saver: _Saver, store_url: str) -> None:
    """Create the tables. It polls for the lock instead of waiting for it: a migration builds indexes, which would wait for the
    waiting connection.
    """
    while not await _is_set_up(saver.conn):
        async with await _connected(store_url) as locking:
            if await _one(locking, f"SELECT pg_try_advisory_lock({_LOCK}) AS one"):
                await saver.setup()
                return
        await asyncio.sleep(_PAUSE_S)


async def _is_set_up(connection: Connection) -> bool:
    if await _one(connection, "SELECT to_regclass('checkpoint_migrations') AS one") is None:
        return False
    return bool(await _one(connection, "SELECT max(v) AS one FROM checkpoint_migrations") == len(_Saver.MIGRATIONS) - 1)


async def _one(connection: Connection, statement: str) -> Any:
    row = await (await connection.execute(statement.encode())).fetchone()
    return row and row["one"]


class _Saver(AsyncPostgresSaver):
    """Saver that raises failures as `StoreError`, and repeats statements whose connection was lost: every one may be repeated.

    It has one connection, because LangGraph's saver does one thing at a time anyway.
    """

    conn: Connection

    def __init__(self, store_url: str, connection: Connection) -> None:
        super().__init__(connection)
        self._store_url = store_url

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
                await self._reconnect()
                return await work()
            except psycopg.errors.LockNotAvailable as exc:
                if not await self._end_frozen():
                    raise StoreError(f"the checkpoint cannot be kept: {why(exc)}") from exc
            except psycopg.Error as exc:
                give_up_at = give_up_at or time.monotonic() + RECONNECT_S
                if not self.conn.closed or time.monotonic() >= give_up_at:
                    raise StoreError(f"the checkpoint cannot be kept: {why(exc)}") from exc
            await asyncio.sleep(_PAUSE_S)

    async def _end_frozen(self) -> bool:
        async with self.lock:
            return bool(await _one(self.conn, _END_FROZEN.format(seconds=_FROZEN_S)))

    async def _reconnect(self) -> None:
        async with self.lock:
            if self.conn.closed:
                self.conn = await _connected(self._store_url)

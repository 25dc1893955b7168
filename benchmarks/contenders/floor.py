"""The floor: the driver and nothing else, one row and one commit for the bytes of one operation."""

from __future__ import annotations

import sqlite3
import statistics
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any

import psycopg

from benchmarks.contender import Commands

_SQLITE = "sqlite:///"


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Commands]:
    insert, close = _sqlite(url.removeprefix(_SQLITE)) if url.startswith(_SQLITE) else _postgres(url)

    async def commits(count: int, size: int) -> dict[str, Any]:
        payload = "x" * size
        times: list[float] = []
        begun = perf_counter()
        for _ in range(count):
            at = perf_counter()
            insert(payload)
            times.append(perf_counter() - at)
        return {"seconds": perf_counter() - begun, "operations": count, "median_s": statistics.median(times)}

    yield {"commits": commits}
    close()


def _sqlite(path: str) -> tuple[Callable[[str], None], Callable[[], None]]:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE floor (number INTEGER PRIMARY KEY, data TEXT)")

    def insert(payload: str) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO floor (data) VALUES (?)", (payload,))
        connection.execute("COMMIT")

    return insert, connection.close


def _postgres(url: str) -> tuple[Callable[[str], None], Callable[[], None]]:
    connection = psycopg.connect(url, autocommit=True)
    connection.execute("CREATE TABLE floor (number BIGSERIAL PRIMARY KEY, data TEXT)")

    def insert(payload: str) -> None:
        connection.execute("INSERT INTO floor (data) VALUES (%s)", (payload,))

    return insert, connection.close

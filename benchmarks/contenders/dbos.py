"""DBOS, in both of its forms: workflows on threads and workflows on an event loop.

On SQLite its file is put into WAL beforehand (it keeps that; its own default, a rollback journal, is slower); synchronous stays
FULL. Workflows on threads get four a core: its default, a thread for each workflow, is slower where there are many. Telemetry is
off and only errors are logged; everything else is its default (20 connections on PostgreSQL).
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any

from dbos import DBOS, DBOSConfig

from benchmarks.contender import Commands
from benchmarks.work import TO, result_of

_SQLITE = "sqlite:///"
_THREADS = 4 * (os.cpu_count() or 1)


@DBOS.step()
def step(number: int, to: str) -> dict[str, str]:
    return result_of(number, to)


@DBOS.step()
async def step_async(number: int, to: str) -> dict[str, str]:
    return result_of(number, to)


@DBOS.workflow()
def chain(length: int) -> int:
    return len([step(number, TO) for number in range(length)])


@DBOS.workflow()
async def chain_async(length: int) -> int:
    return len([await step_async(number, TO) for number in range(length)])


@DBOS.workflow()
async def fan(width: int) -> int:
    return len(await asyncio.gather(*(step_async(number, TO) for number in range(width))))


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Commands]:
    if url.startswith(_SQLITE):
        connection = sqlite3.connect(url.removeprefix(_SQLITE))
        connection.execute("PRAGMA journal_mode = WAL")
        connection.close()
    config: DBOSConfig = {
        "name": "bench",
        "system_database_url": url,
        "log_level": "ERROR",
        "executor_id": f"worker-{os.getpid()}",
        "enable_otlp": False,
        "max_executor_threads": _THREADS,
    }
    DBOS(config=config)
    await asyncio.to_thread(DBOS.launch)
    yield {"sequential": sequential, "parallel": parallel, "many": many}
    await asyncio.to_thread(DBOS.destroy)


async def sequential(operations: int, form: str) -> dict[str, Any]:
    begun = perf_counter()
    if form == "async":
        await chain_async(operations)
    else:
        await asyncio.to_thread(chain, operations)
    return {"seconds": perf_counter() - begun, "operations": operations}


async def parallel(operations: int, runs: int) -> dict[str, Any]:
    begun = perf_counter()
    for _ in range(runs):
        await fan(operations)
    return {"seconds": perf_counter() - begun, "operations": operations * runs}


async def many(sagas: int, steps: int, form: str) -> dict[str, Any]:
    begun = perf_counter()
    if form == "async":
        await asyncio.gather(*(chain_async(steps) for _ in range(sagas)))
    else:
        await asyncio.to_thread(_many_on_threads, sagas, steps)
    return {"seconds": perf_counter() - begun, "operations": sagas * steps}


def _many_on_threads(sagas: int, steps: int) -> None:
    handles = [DBOS.start_workflow(chain, steps) for _ in range(sagas)]
    for handle in handles:
        handle.get_result()

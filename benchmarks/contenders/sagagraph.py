"""SagaGraph, door 1: `engine.saga` and `saga.run`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import count
from time import perf_counter
from typing import Any

from benchmarks.contender import Commands
from benchmarks.fold import Row, measure
from benchmarks.work import TO, result_of
from sagagraph import Call, Engine, Guarantees, action
from sagagraph.saga.core.codec import encode
from sagagraph.saga.engine.actions import Action

Request = dict[str, Any]


async def _undo(request: Request, result: Any, call: Call) -> None:
    del request, result, call


@action(compensate=_undo, guarantees=Guarantees(dedup=timedelta(days=1)))
async def keyed(request: Request, call: Call) -> dict[str, str]:
    """In doubt it settles itself, by its key: its outcome may share a commit with the next intent."""
    del call
    return result_of(request["n"], request["to"])


@action(compensate=_undo)
async def unkeyed(request: Request, call: Call) -> dict[str, str]:
    """Its provider promises nothing: its outcome must commit alone."""
    del call
    return result_of(request["n"], request["to"])


_ACTIONS: dict[str, Action] = {"keyed": keyed, "unkeyed": unkeyed}


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Commands]:
    async with Engine.open(url) as engine:
        runs = _Runs(engine)
        yield {
            "sequential": runs.sequential,
            "parallel": runs.parallel,
            "grow": runs.grow,
            "many": runs.many,
        }


class _Runs:
    """`seconds` is the whole saga, from its beginning to its commit; `inside_s` its operations alone."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._numbers = count(1)

    def _new_id(self) -> str:
        """Of this process: several work on one store."""
        return f"bench-{os.getpid()}-{next(self._numbers)}"

    async def sequential(self, operations: int, form: str) -> dict[str, Any]:
        name, begun = self._new_id(), perf_counter()
        async with self._engine.saga(name) as saga:
            inside = perf_counter()
            for number in range(operations):
                await saga.run(_ACTIONS[form], {"n": number, "to": TO})
            inside_s = perf_counter() - inside
        return {"seconds": perf_counter() - begun, "inside_s": inside_s, "operations": operations, "saga": name}

    async def parallel(self, operations: int, runs: int, form: str) -> dict[str, Any]:
        seconds = inside_s = 0.0
        for _ in range(runs):
            begun = perf_counter()
            async with self._engine.saga(self._new_id()) as saga:
                inside = perf_counter()
                await asyncio.gather(
                    *(saga.run(_ACTIONS[form], {"n": each, "to": TO}, id=f"T{each}") for each in range(operations))
                )
                inside_s += perf_counter() - inside
            seconds += perf_counter() - begun
        return {"seconds": seconds, "inside_s": inside_s, "operations": operations * runs}

    async def grow(self, operations: int, form: str, limit_s: float, fold_rounds: int) -> dict[str, Any]:
        """One long saga, or as far as it comes within `limit_s`; and its journal, folded."""
        name, done, begun = self._new_id(), 0, perf_counter()
        async with self._engine.saga(name) as saga:
            while done < operations and perf_counter() - begun < limit_s:
                await saga.run(_ACTIONS[form], {"n": done, "to": TO})
                done += 1
            inside_s = perf_counter() - begun
        seconds = perf_counter() - begun
        rows = [Row(each.version, each.epoch, each.at, encode(each.event)) for each in await self._engine.journal(name)]
        json_s, fold_s = zip(*measure(rows, fold_rounds).runs, strict=True)
        return {
            "seconds": seconds,
            "inside_s": inside_s,
            "operations": done,
            "saga": name,
            "json_s": json_s,
            "fold_s": fold_s,
        }

    async def many(self, sagas: int, steps: int, form: str) -> dict[str, Any]:
        async def one(name: str) -> None:
            async with self._engine.saga(name) as saga:
                for number in range(steps):
                    await saga.run(_ACTIONS[form], {"n": number, "to": TO})

        begun = perf_counter()
        await asyncio.gather(*(one(self._new_id()) for _ in range(sagas)))
        return {"seconds": perf_counter() - begun, "operations": sagas * steps}

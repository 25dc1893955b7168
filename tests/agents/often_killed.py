"""An agent that is killed three times on its way: three tools with truthful probes, and half of the runs fail at the third.

`python -m tests.agents.often_killed --runs 200` runs it with `settles` and with no promise at all. A ledger outside the sagas
judges.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Annotated, Any

import typer
from langchain_core.tools import BaseTool, tool

from sagagraph import Engine, Guarantees, Probe, current_call, saga_agent, saga_tool
from sagagraph.errors import UnknownSagaError
from sagagraph.saga.core.doubt.remedies import remedy_of
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.testing.models import ScriptedModel

KILLS = 3
_TOOLS = ("flight", "hotel", "car")
_SLOWLY_S = 0.03
_WITHIN_S = 0.6
PROMISES = {"settles": Guarantees(settles=timedelta(seconds=1)), "nothing": Guarantees()}


@dataclass(frozen=True)
class Run:
    status: SagaStatus
    faults: tuple[str, ...]


@contextmanager
def _ledger(folder: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(folder / "ledger.db", timeout=30, isolation_level=None)
    try:
        connection.execute("create table if not exists entries (number integer primary key, name, key, is_undone)")
        yield connection
    finally:
        connection.close()


def _write(folder: Path, name: str, key: str, *, is_undone: bool) -> None:
    time.sleep(_SLOWLY_S)
    with _ledger(folder) as ledger:
        ledger.execute("insert into entries (name, key, is_undone) values (?, ?, ?)", (name, key, is_undone))
    time.sleep(_SLOWLY_S)


def _made(folder: Path, name: str, guarantees: Guarantees, *, fails: bool) -> BaseTool:
    def book(city: str) -> str:
        """Book it."""
        if fails:
            raise RuntimeError("no seats")
        _write(folder, name, current_call().idempotency_key, is_undone=False)
        return name

    def cancel(_arguments: Any, _output: Any, call: Any) -> None:
        _write(folder, name, call.operation_key, is_undone=True)

    def find(_arguments: Any, call: Any) -> Probe:
        with _ledger(folder) as ledger:
            rows = [undone for (undone,) in ledger.execute("select is_undone from entries where key = ?", (call.operation_key,))]
        if any(rows):
            return Probe.undone()
        return Probe.multiple(rows) if len(rows) > 1 else Probe.landed(name) if rows else Probe.absent()

    book.__name__ = name
    return saga_tool(tool(book), compensate=cancel, probe=find, guarantees=guarantees)


async def _agent(folder: Path, promise: str, *, fails: bool) -> None:
    model = ScriptedModel.saying(*([(each, {"city": "Rome"})] for each in _TOOLS), "Done")
    async with Engine.open(_store(folder)) as engine:
        tools = [_made(folder, each, PROMISES[promise], fails=fails and each == "car") for each in _TOOLS]
        agent = saga_agent(model, tools, engine=engine)
        with suppress(UnknownSagaError):
            if (await engine.status("trip")).status.is_final:
                return
        with suppress(Exception):  # the ledger judges
            await agent.ainvoke({"messages": [("user", "Rome, please")]}, {"configurable": {"thread_id": "trip"}})


def _store(folder: Path) -> str:
    return f"sqlite:///{folder}/saga.db"


def _process(folder: Path, promise: str, *, fails: bool) -> int:
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(_agent(folder, promise, fails=fails))
        finally:
            os._exit(0)
    return child


def often_killed(promise: str, number: int) -> Run:
    """Return how a run ended that was killed three times and then left alone."""
    random, fails = Random(f"{promise} {number}"), number % 2 == 1
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for _each in range(KILLS):
            child = _process(folder, promise, fails=fails)
            time.sleep(random.uniform(0.05, _WITHIN_S))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        for _each in range(2):
            os.waitpid(_process(folder, promise, fails=fails), 0)
        saga = asyncio.run(_loaded(folder))
        with _ledger(folder) as ledger:
            entries = list(ledger.execute("select name, is_undone from entries order by number"))
    status = status_of(saga)
    return Run(status, tuple(_faults(saga, status, entries, fails=fails)))


async def _loaded(folder: Path) -> Saga:
    async with Engine.open(_store(folder)) as engine:
        return await engine.load("trip")


def _faults(saga: Saga, status: SagaStatus, entries: list[tuple[str, int]], *, fails: bool) -> Iterator[str]:
    landed = [name for name, is_undone in entries if not is_undone]
    undone = [name for name, is_undone in entries if is_undone]
    if len(set(landed)) < len(landed):
        yield f"landed twice: {landed}"
    match status:
        case SagaStatus.COMMITTED if fails or landed != [*_TOOLS] or undone:
            yield f"committed with {landed}, and {undone} undone"
        case SagaStatus.COMPENSATED if undone != landed[::-1]:
            yield f"compensated with {landed}, and {undone} undone"
        case SagaStatus.HELD:
            held = [each for each in saga.in_order() if each.status is OperationStatus.HELD and each.spec.action in _TOOLS]
            if not held or any(remedy_of(saga, each) is None for each in held):
                yield f"held without a remedy: {[each.id for each in held]}"
            if undone != landed[::-1][: len(undone)]:
                yield f"held with {landed}, and {undone} undone"
        case SagaStatus.COMMITTED | SagaStatus.COMPENSATED:
            pass
        case _:
            yield f"it ends {status.value}"


def main(
    runs: Annotated[int, typer.Option(min=1)] = 200,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at once; each waits most of its time.")] = 4,
) -> None:
    is_sound = True
    for promise in PROMISES:
        with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
            ended = list(pool.map(partial(often_killed, promise), range(runs)))
        ends = Counter(each.status.value for each in ended)
        faults = [f"{number}: {fault}" for number, each in enumerate(ended) for fault in each.faults]
        if promise == "settles" and ends["held"]:
            faults.append("held, where everything settles")
        told = ", ".join(f"{times} {end}" for end, times in sorted(ends.items()))
        sys.stdout.write(f"{promise}: {runs} runs, {KILLS * runs} kills: {told}; {len(faults)} faults\n")
        sys.stdout.writelines(f"FAULT {each}\n" for each in faults)
        is_sound = is_sound and not faults
    raise typer.Exit(0 if is_sound else 1)


if __name__ == "__main__":
    typer.run(main)

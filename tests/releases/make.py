"""Writes the stores of a release, each with what stood outside at that moment: run with release 0.2.0, and never again for it.

Copy this folder into a checkout of the release and run `python -m tests.releases.make RELEASE` there. The sagas are real: the
command line, a body and a LangGraph graph ran them, and two processes were killed. What they wrote is not changed afterwards, for
journals carry checksums: so they run in a folder, and as if on a machine, with names that say nothing.
"""

# mypy: ignore-errors
# ruff: noqa: I001
# Modules have the names that they had in that release, and imports stand as they were sorted there.

from __future__ import annotations

import asyncio
import gzip
import json
import multiprocessing
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

from sagagraph import Call, Engine, cli
from sagagraph.bootstrap import account
from sagagraph.domains.travel.domain import Travel
from sagagraph.domains.travel.provider import HttpReservationProvider
from sagagraph.graph.checkpointer import open_checkpointer
from sagagraph.graph.planning import planning_graph
from sagagraph.saga import owner
from sagagraph.saga.stores.migration import upgrade
from sagagraph.saga.stores.urls import open_store
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from sagagraph.testing.postgres import postgres_server
from sagagraph.testing.trips import REQUEST
from tests.releases.seats import THREAD, Seats, run_body, trip_graph

HERE = Path(__file__).parent
FORKS = multiprocessing.get_context("fork")
SCRATCH = Path("/tmp/release")
LATE = {"at": "13:00", "event": "delayed", "person": "James", "from": "16:00"}
FAILS = {"kind": "hotel", "call": "book", "nth": 1, "fault": "before"}
EVERYTHING = frozenset({"dedup", "void", "deadline", "refusals"})


class Stand:
    """A store and what is beside it, in a folder: where the commands of one release are called."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self.sandbox = folder / "sandbox.db"
        self.seats = folder / "seats.db"
        (folder / "request.json").write_text(json.dumps(REQUEST))
        (folder / "late.json").write_text(json.dumps(LATE))

    @property
    def outbox(self) -> Path:
        beside = (self.folder / "saga.db.outbox", *(self.folder / "data" / "sagagraph").glob("*/outbox"))
        (found,) = [each / "messages.db" for each in beside if (each / "messages.db").exists()]
        return found

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "XDG_DATA_HOME": str(self.folder / "data"), "SAGAGRAPH_STORE": self.url}

    def __call__(self, *words: str | Path, code: int = 0) -> None:
        """Run a command that must end with this code, in a process of its own, as all that follows."""
        self._apart(code, _command, [str(each) for each in words])

    def dies(self, function: Callable[..., Awaitable[None]], *arguments: str) -> None:
        """Run this, which ends with its process."""
        self._apart(-signal.SIGKILL, _awaited, function, self, *arguments)

    def _apart(self, code: int, function: Callable[..., None], *arguments: Any) -> None:
        process = FORKS.Process(target=_in_environment, args=(self.environment, function, *arguments))
        process.start()
        process.join()
        assert process.exitcode == code, (arguments, process.exitcode)

    @contextmanager
    def service(self, *faults: dict[str, Any], withheld: frozenset[str] = frozenset()) -> Iterator[str]:
        file = self.folder / "faults.json"
        file.write_text(json.dumps(faults))
        with EmbeddedSandbox(SandboxSettings(self.sandbox, file, withheld=withheld)) as running:
            yield running.url

    def trip(self, saga_id: str, provider: str) -> tuple[str | Path, ...]:
        return ("trip", "--request", self.folder / "request.json", "--saga-id", saga_id, "--provider", provider)


def write(stand: Stand) -> None:
    upgrade(stand.url)
    with stand.service() as provider:
        stand(*stand.trip("committed", provider), "--yes")
        stand(*stand.trip("awaiting", provider))
        stand(*stand.trip("reversed", provider), "--yes")
        stand("cancel", "reversed", "--provider", provider)
        stand(*stand.trip("amended", provider), "--yes")
        stand("change", "amended", "only 4 stars, please", "--yes", "--provider", provider)
    with stand.service(FAILS, withheld=EVERYTHING) as provider:
        stand(*stand.trip("held", provider), "--yes", code=1)
    stand("reunion", "begin", "--shipped", "thanksgiving", "--saga-id", "day", "--day", "2026-11-26", "--yes")
    stand("reunion", "event", "day", stand.folder / "late.json", "--yes")
    with stand.service() as provider:
        stand.dies(killed_trip, "compensated", provider)
        stand("cancel", "compensated", "--provider", provider)
        stand.dies(killed_trip, "killed", provider)
    stand.dies(killed_body)
    asyncio.run(interrupted(stand))


def _in_environment(environment: dict[str, str], function: Callable[..., None], *arguments: Any) -> None:
    os.environ.update(environment)
    function(*arguments)


def _command(words: list[str]) -> None:
    sys.argv = ["sagagraph", *words]
    cli.main()


def _awaited(function: Callable[..., Awaitable[None]], *arguments: Any) -> None:
    asyncio.run(function(*arguments))


async def killed_body(stand: Stand) -> None:
    async with Engine.open(stand.url) as engine:
        await run_body(engine, Seats(stand.seats, dies_at="hotel"))


async def killed_trip(stand: Stand, saga_id: str, url: str) -> None:
    """Ends with the process: a hotel was booked, and nobody heard."""

    @asynccontextmanager
    async def until_booked(call: Call) -> AsyncIterator[None]:
        yield
        if call.operation_id == "T2":
            os.kill(os.getpid(), signal.SIGKILL)

    async with HttpReservationProvider(url) as provider, open_checkpointer(stand.url) as checkpointer:
        travel = await Travel.connect(provider, stand.folder / "outbox")
        engine = Engine(await open_store(stand.url), actions=travel.actions, account=account, around_call=until_booked)
        graph = planning_graph(domain=travel, engine=engine, checkpointer=checkpointer)
        await graph.start(saga_id, REQUEST, approved_by="maker")


async def interrupted(stand: Stand) -> None:
    async with Engine.open(stand.url) as engine, open_checkpointer(stand.url) as checkpointer:
        graph = trip_graph(Seats(stand.seats)).compile(engine=engine, checkpointer=checkpointer)
        await graph.ainvoke({}, {"configurable": {"thread_id": THREAD}})


# -- as text -----------------------------------------------------------------------------------------------------------------


def _dump(file: Path) -> str:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("VACUUM")
        return "\n".join(connection.iterdump()) + "\n"


def _pg_dump(url: str) -> str:
    words = ("pg_dump", "--inserts", "--no-owner", "--no-privileges", url)
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return "\n".join(line for line in text.splitlines() if line and not line.startswith(("\\", "--"))) + "\n"


def _keep(stand: Stand, folder: Path, store: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "made_at").write_text(f"{time.time():.0f}\n")
    texts = {"store": store, "sandbox": _dump(stand.sandbox), "outbox": _dump(stand.outbox), "seats": _dump(stand.seats)}
    for name, text in texts.items():
        (folder / f"{name}.sql.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


@contextmanager
def _scratch() -> Iterator[Path]:
    SCRATCH.mkdir()
    try:
        yield SCRATCH
    finally:
        shutil.rmtree(SCRATCH)


def main(release: str) -> None:
    with _scratch() as folder:
        stand = Stand(f"sqlite:///{folder}/saga.db", folder)
        write(stand)
        _keep(stand, HERE / release / "sqlite", _dump(folder / "saga.db"))
    with _scratch() as folder, postgres_server() as server:
        stand = Stand(server.create_database("fixture"), folder)
        write(stand)
        _keep(stand, HERE / release / "postgres", _pg_dump(stand.url))


if __name__ == "__main__":
    owner._machine = lambda: "host/boot"
    main(sys.argv[1])

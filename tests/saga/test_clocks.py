"""Clocks that are behind, ahead, or set while a saga runs: the store's decides, and the ledger judges."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path

import pytest

from sagagraph import Backoff, Engine, Guarantees, Retry
from sagagraph.errors import OperationHeldError
from sagagraph.saga.core.doubt.settling import is_final
from sagagraph.saga.core.state import Operation
from sagagraph.saga.engine import clock as clocks
from sagagraph.saga.engine.clock import StoreClock
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.workflow.operation import OperationSpec
from tests.saga.cases import COMPENSATABLE
from tests.saga.service import Land, Service, lands_but_is_lost, quick
from tests.saga.workers import EVERY_STORE, NewStore, OpenEngine, until

HOUR_S = 3600.0
on_every_store = pytest.mark.parametrize("store_kind", EVERY_STORE)


class Clock:
    """What the machine of the store shows; `s` is added to it."""

    def __init__(self) -> None:
        self.s = 0.0

    def __call__(self) -> float:
        return time.time() + self.s

    def off_by(self, seconds: float) -> Callable[[], float]:
        return lambda: self() + seconds


@pytest.fixture
async def store_clock(store_kind: str, memory: MemorySagaStore) -> Clock:
    clock = Clock()
    memory._clock = clock
    return clock


async def booked(engine: Engine, service: Service) -> None:
    patient = quick(retry=Retry(max_attempts=9), backoff=Backoff(base_s=0.01, cap_s=0.01))
    async with engine.saga("trip") as saga:
        await saga.run(service.action("flight", dedup=timedelta(minutes=30), policy=patient))


@on_every_store
@pytest.mark.parametrize("behind_s", [HOUR_S, -HOUR_S, 0.0])
async def test_rule_3a_a_worker_whose_clock_is_wrong_does_not_count_on_a_key_that_is_forgotten(
    open_engine: OpenEngine, new_store: NewStore, store_clock: Clock, behind_s: float
) -> None:
    """One worker dies; 20 minutes later another goes on, and 40 minutes later the provider has forgotten the key."""
    service = Service(remembers_keys=False)

    async def hangs(_land: Land) -> None:
        await asyncio.sleep(HOUR_S)

    async def takes_long(_land: Land) -> None:
        store_clock.s += 40 * 60
        raise ConnectionError("the line went dead")

    async def is_under_way() -> bool:
        return len(service.calls) == 2

    service.on("do flight", lands_but_is_lost, hangs, takes_long)
    async with open_engine(await new_store(store_clock)) as engine:
        dies = asyncio.create_task(booked(engine, service))
        await until(is_under_way)
    await asyncio.gather(dies, return_exceptions=True)
    store_clock.s += 20 * 60
    async with open_engine(await new_store(store_clock), clock=store_clock.off_by(-behind_s)) as engine:
        with pytest.raises(OperationHeldError, match="does not promise to remember"):
            await booked(engine, service)
    assert len(service.ledger) == 1
    assert len(service.calls) == 3


@on_every_store
@pytest.mark.parametrize("behind_s", [HOUR_S, -HOUR_S])
async def test_a_call_has_its_whole_time_and_its_deadline_is_the_stores(
    open_engine: OpenEngine, new_store: NewStore, store_clock: Clock, service: Service, behind_s: float
) -> None:
    async with open_engine(await new_store(store_clock), clock=store_clock.off_by(-behind_s)) as engine:
        await booked(engine, service)
    (_name, call), *_ = service.received
    assert 0 < call.deadline.timestamp() - store_clock() < 6


def test_what_a_provider_s_clock_may_be_off_by_is_declared() -> None:
    promised = Guarantees(deadline=True, clock_margin=timedelta(seconds=30))
    assert promised.terms.clock_margin_s == 30
    planned = Operation(OperationSpec("T1", "book", COMPENSATABLE, None, guarantees=promised.terms), 1, 1)
    assert not is_final(planned, 29.9)
    assert is_final(planned, 30.1)


def test_a_clock_that_is_set_while_an_engine_lives_is_not_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = StoreClock()
    before = clock()
    monkeypatch.setattr(clocks.time, "time", lambda: before - 10 * HOUR_S)
    assert 0 <= clock() - before < 5
    clock.told(before + HOUR_S)
    assert 0 <= clock() - before - HOUR_S < 5


# -- real processes on machines whose clocks are wrong ------------------------------------------------------------------

_WORKER = """
import asyncio, json, sys
from datetime import timedelta
from sagagraph import Backoff, Engine, Guarantees, Policy, action
from sagagraph.errors import Refused

async def main(url, port):
    async def book(request, call):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(port))
        writer.write(json.dumps([call.idempotency_key, call.deadline.timestamp()]).encode() + b"\\n")
        answer = await reader.readline()
        writer.close()
        if answer == b"too late\\n":
            raise Refused("too late")
        if not answer:
            raise ConnectionError("no answer")
        return "booked"

    promised = Guarantees(dedup=timedelta(minutes=30), deadline=True)
    policy = Policy(backoff=Backoff(base_s=0.01), timeout_s=5.0)
    offered = action(book, compensate=lambda *_: None, guarantees=promised, policy=policy, provider="the provider")
    async with Engine.open(url) as engine, engine.saga("trip") as saga:
        for name in ("flight", "hotel"):
            await saga.run(offered, name, id=name)

asyncio.run(main(*sys.argv[1:]))
"""


class TrueClock:
    """A provider whose clock is right: it lands no key twice, and nothing that comes after its deadline."""

    def __init__(self) -> None:
        self.landed: Counter[str] = Counter()
        self.left_s: list[float] = []
        """How much time each call had left."""
        self.first: Callable[[], Awaitable[None]] | None = None
        """What happens when the first call has landed; it is not answered then."""

    async def called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        key, deadline = json.loads(await reader.readline())
        self.left_s.append(deadline - time.time())
        if self.left_s[-1] > 0:
            self.landed[key] = 1
        if (first := self.first) is not None:
            self.first = None
            await first()
        else:
            writer.write(b"done\n" if self.left_s[-1] > 0 else b"too late\n")
        writer.close()


@pytest.fixture
async def provider() -> AsyncIterator[tuple[TrueClock, int]]:
    made = TrueClock()
    server = await asyncio.start_server(made.called, "127.0.0.1", 0)
    yield made, server.sockets[0].getsockname()[1]
    server.close()


def faked(clock: Path) -> dict[str, str]:
    """The environment of a process whose clock is off by what the file says, also when that changes."""
    found = find_spec("libfaketime")
    if found is None or not found.submodule_search_locations:
        pytest.skip("libfaketime is not installed, which is there for Linux only")
    library = next(Path(found.submodule_search_locations[0]).rglob("libfaketime.so.1"))
    return os.environ | {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "DONT_FAKE_MONOTONIC": "1",
    }


def started(clock: Path, off_s: float, url: str, port: int) -> Awaitable[Process]:
    clock.write_text(f"{off_s:+.0f}")
    command = (sys.executable, "-c", _WORKER, url, str(port))
    return asyncio.create_subprocess_exec(*command, env=faked(clock), stdout=PIPE, stderr=PIPE)


@pytest.mark.parametrize("off_s", [HOUR_S, -HOUR_S])
async def test_two_machines_whose_clocks_are_hours_apart_book_once_and_in_time(
    database: str, provider: tuple[TrueClock, int], tmp_path: Path, off_s: float, watchdog: None
) -> None:
    """The first is killed when its flight has landed; the second goes on. Both take their time from the database's server."""
    ledger, port = provider
    worker = await started(tmp_path / "one", off_s, database, port)

    async def killed() -> None:
        worker.kill()
        await worker.wait()

    ledger.first = killed
    await worker.wait()
    other = await started(tmp_path / "other", -off_s, database, port)
    assert await other.wait() == 0, await other.communicate()
    assert ledger.landed == {"trip/flight/1": 1, "trip/hotel/1": 1}
    assert len(ledger.left_s) == 3
    assert all(0 < each < 6 for each in ledger.left_s), ledger.left_s


@pytest.mark.parametrize("store_kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("off_s", [HOUR_S, -HOUR_S])
async def test_a_machine_whose_clock_is_set_while_a_saga_runs_books_in_time(
    request: pytest.FixtureRequest, provider: tuple[TrueClock, int], tmp_path: Path, store_kind: str, off_s: float, watchdog: None
) -> None:
    url = request.getfixturevalue("database") if store_kind == "postgres" else f"sqlite:///{request.getfixturevalue('journal')}"
    ledger, port = provider
    clock = tmp_path / "clock"

    async def is_set() -> None:
        clock.write_text(f"{off_s:+.0f}")

    ledger.first = is_set
    worker = await started(clock, 0.0, url, port)
    assert await worker.wait() == 0, await worker.communicate()
    assert ledger.landed == {"trip/flight/1": 1, "trip/hotel/1": 1}
    assert all(0 < each < 6 for each in ledger.left_s), ledger.left_s

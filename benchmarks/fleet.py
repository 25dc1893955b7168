"""A fleet on one PostgreSQL: sagas a second, takes a saga and CPU a saga at one, two and four workers, and how late things are.

`python -m benchmarks.fleet` measures the built-in workers, Temporal, the loop that there was before, and DBOS, in one run, and
writes docs/benchmarks/fleet.md. `--sagas` says how many.
"""

from __future__ import annotations

import argparse
import asyncio
import heapq
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import psutil

from benchmarks.markdown import prose, table
from sagagraph import Call, Engine, Guarantees, Policy, Refused, action
from sagagraph.errors import SagaGraphError
from sagagraph.fleet.port import Fleet
from sagagraph.fleet.store_fleet import StoreFleet
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.state import Stage
from sagagraph.saga.stores.port import RequestKind
from sagagraph.workflow.policy import Backoff
from tests.support.postgres import PostgresServer, postgres_server
from tests.support.temporal import temporal

OUT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "fleet.md"
WORKERS = (1, 2, 4)
SLOTS = 16
STEPS = 5
CALL_S = 0.05
QUEUE = "bench"
_LATE = 20
_HARMED = 5
_BACKOFF_S = 2.0
_WAKES = 100
_SETTLED_S = 15.0
"""Longer than a sweep of what was overdue takes to come again."""
_WATCHED_S = 20.0
_MEASURED: dict[str, str] = {
    "store": "built-in workers",
    "temporal": "Temporal, its server on SQLite",
    "loop": "`resume --all` in a loop, as before",
    "dbos": "DBOS",
}


async def _nothing(request: dict[str, Any], result: str, call: Call) -> None: ...


@action(name="bench.book", compensate=_nothing, guarantees=Guarantees(dedup=timedelta(days=1)))
async def book(request: dict[str, Any], call: Call) -> str:  # noqa: ARG001 - the form of an action
    await asyncio.sleep(CALL_S)
    return "booked"


@action(name="bench.waits", compensate=_nothing, policy=Policy(backoff=Backoff(base_s=_BACKOFF_S, cap_s=_BACKOFF_S, jitter=0.0)))
async def waits(request: dict[str, Any], call: Call) -> str:  # noqa: ARG001 - the form of an action
    if call.attempt == 1:
        raise Refused("try again later", code="busy", transient=True)
    return "booked"


@action(name="bench.holds", compensate=_nothing)
async def holds(request: dict[str, Any], call: Call) -> str:  # noqa: ARG001 - the form of an action
    raise ConnectionError("nobody can say what became of it")


ACTIONS = [book, waits, holds]
CHAIN = tuple(book.spec(f"o{each}", {}, (f"o{each - 1}",) if each else ()) for each in range(STEPS))


async def begin(engine: Engine, name: str, specs: tuple[Any, ...] = CHAIN) -> None:
    begun = e.SagaBegun(e.Driver.WORKFLOW, QUEUE, {})
    lease = await engine.store.create(name, begun, stage=Stage.PLANNING, owner="client", ttl_s=0.0)
    await engine.store.release(lease)
    await engine._record(name, (c.AcceptPlan(specs),))


# -- workers, each a process -----------------------------------------------------------------------------------------------


async def fleet_of(kind: str, engine: Engine) -> Fleet:
    if kind == "store":
        return StoreFleet(engine.store)
    from sagagraph.fleet.temporal.temporal_fleet import TemporalFleet, connect

    return TemporalFleet(await connect(kind), engine.store)


async def work(kind: str, url: str) -> None:
    if kind == "dbos":
        await _work_as_dbos(url)
        return
    async with Engine.open(url, actions=ACTIONS) as engine:
        if kind == "loop":
            await _loop(engine)
        else:
            await (await fleet_of(kind, engine)).serve(engine.drive, [QUEUE], SLOTS, "")


async def _loop(engine: Engine) -> None:
    """What `resume --all` did: every worker walks through the same list, and waits for each saga."""
    room = asyncio.Semaphore(SLOTS)

    async def one(saga_id: str) -> None:
        async with room:
            with suppress(SagaGraphError):
                await engine.resume(saga_id, wait=True)

    while True:
        await asyncio.gather(*(one(each.saga_id) for each in await engine.open_sagas()))
        await asyncio.sleep(0.05)


async def _work_as_dbos(url: str) -> None:
    from dbos import DBOS

    @DBOS.step()
    async def step() -> str:
        await asyncio.sleep(CALL_S)
        return "booked"

    @DBOS.workflow(name="chain")
    async def chain() -> int:
        return len([await step() for _ in range(STEPS)])

    name = f"worker-{os.getpid()}"
    DBOS(
        config={"name": QUEUE, "system_database_url": url, "log_level": "ERROR", "executor_id": name, "application_version": "1"}
    )
    await asyncio.to_thread(DBOS.launch)
    await asyncio.to_thread(DBOS.register_queue, QUEUE, worker_concurrency=SLOTS, polling_interval_sec=0.1)
    await asyncio.Event().wait()


# -- how fast --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Speed:
    per_second: float
    takes: float
    cpu_ms: float
    """Of all workers, a saga."""


@contextmanager
def working(kind: str, url: str, workers: int) -> Iterator[list[psutil.Process]]:
    words = [sys.executable, "-m", "benchmarks.fleet", "--work", kind, url]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = [subprocess.Popen(words, **quiet) for _ in range(workers)]  # type: ignore[call-overload]  # noqa: S603 - ourselves
    try:
        yield [psutil.Process(each.pid) for each in running]
    finally:
        for each in running:
            each.kill()
            each.wait()


async def timed(kind: str, url: str, workers: int, sagas: int, done: Callable[[], int]) -> tuple[float, float]:
    """Return sagas a second between the first that was seen to end and the last, and milliseconds of the workers' CPU a saga."""
    with working(kind, url, workers) as processes:
        first: tuple[float, int] | None = None
        while (ended := done()) < sagas:
            if first is None and ended:
                first = time.perf_counter(), ended
            await asyncio.sleep(0.05)
        took_s = time.perf_counter() - (first[0] if first else 0.0)
        cpu_s = sum(sum(each.cpu_times()[:2]) for each in processes)
    return (sagas - (first[1] if first else 0)) / took_s, cpu_s / sagas * 1000


async def speed(server: PostgresServer, kind: str, address: str, workers: int, sagas: int) -> Speed:
    name = f"{kind}{workers}"
    url = server.create_database(name)
    if kind == "dbos":
        return await _speed_of_dbos(server, name, url, workers, sagas)
    async with Engine.open(url, actions=ACTIONS) as engine:
        names = [f"{name}-{number}" for number in range(sagas)]
        for start in range(0, sagas, 50):
            await asyncio.gather(*(begin(engine, each) for each in names[start : start + 50]))
        if kind == "temporal":
            fleet = await fleet_of(address, engine)
            await asyncio.gather(*(fleet.wake(each, QUEUE) for each in names))
        count = "SELECT count(*) FROM sagas WHERE stage = 'committed'"
        per_second, cpu_ms = await timed(
            address if kind == "temporal" else kind, url, workers, sagas, lambda: server.execute(count, database=name)[0][0]
        )
    taken = server.execute("SELECT count(*) FROM events WHERE type = 'LeaseTaken'", database=name)[0][0]
    return Speed(per_second, (taken - sagas) / sagas, cpu_ms)  # its plan was accepted under a lease of the client's


async def _speed_of_dbos(server: PostgresServer, name: str, url: str, workers: int, sagas: int) -> Speed:
    from dbos import DBOSClient

    client = DBOSClient(system_database_url=url)
    with working("dbos", url, 1):  # makes the tables
        while not _is_enqueued(client, "first"):  # noqa: ASYNC110 - another process makes them
            await asyncio.sleep(0.5)
        await asyncio.sleep(2.0)
    for number in range(sagas):
        _is_enqueued(client, str(number))
    count = "SELECT count(*) FROM dbos.workflow_status WHERE status = 'SUCCESS'"
    per_second, cpu_ms = await timed("dbos", url, workers, sagas, lambda: server.execute(count, database=name)[0][0])
    client.destroy()
    return Speed(per_second, 1.0, cpu_ms)


def _is_enqueued(client: Any, name: str) -> bool:
    """Enqueue a workflow. Nothing can be while the first worker still makes its tables."""
    try:
        client.enqueue({"queue_name": QUEUE, "workflow_name": "chain", "app_version": "1", "workflow_id": name})
    except Exception:  # noqa: BLE001 - a driver's, of many kinds
        return False
    return True


# -- how late --------------------------------------------------------------------------------------------------------------


async def lateness(server: PostgresServer, kind: str, address: str) -> dict[str, list[float]]:
    """Return seconds from a request to the intent that follows, by which a timer is late, and from a kill to the takeover."""
    name = f"late_{kind}"
    url = server.create_database(name)
    found: dict[str, list[float]] = {"request": [], "timer": []}
    words = address if kind == "temporal" else kind
    async with Engine.open(url, actions=ACTIONS) as engine:
        fleet = await fleet_of(words, engine)
        names = [f"{name}-{number}" for number in range(_LATE)]
        with working(words, url, 2):
            for each in names:
                await begin(engine, f"h{each}", (holds.spec("a", {}, ()),))
                await begin(engine, f"w{each}", (waits.spec("a", {}, ()),))
                await fleet.wake(f"h{each}", QUEUE)
                await fleet.wake(f"w{each}", QUEUE)
            for each in names:
                ended = await _events(engine, f"w{each}", e.AttemptStarted, 2)
                failed = next(x.at for x in await engine.journal(f"w{each}") if isinstance(x.event, e.AttemptRefused))
                found["timer"].append(ended[1] - failed - _BACKOFF_S)
                await _events(engine, f"h{each}", e.OperationHeld, 1)
            await asyncio.sleep(1.0)
            for each in names:
                asked_at = time.time()
                data = {"operation": "a", "resolution": "absent"}
                await engine.store.ask(f"h{each}", RequestKind.RESOLVE, "bench", data)
                await fleet.wake(f"h{each}", QUEUE)
                found["request"].append((await _events(engine, f"h{each}", e.AttemptStarted, 2))[1] - asked_at)
        for harm in (signal.SIGKILL, signal.SIGSTOP):
            names = [f"{harm.name}-{number}-{name}" for number in range(_HARMED)]
            found[harm.name] = [await takeover(engine, fleet, words, url, each, harm) for each in names]
    return found


async def takeover(engine: Engine, fleet: Fleet, kind: str, url: str, saga: str, harm: signal.Signals) -> float:
    """Return the seconds from a harm of the worker that has the saga to the moment at which the other one takes it."""
    specs = tuple(book.spec(f"o{each}", {}, (f"o{each - 1}",) if each else ()) for each in range(60))
    with working(kind, url, 2) as workers:
        await begin(engine, saga, specs)
        await fleet.wake(saga, QUEUE)
        await _events(engine, saga, e.AttemptStarted, 3)
        headline = await engine.store.headline(saga)
        next(each for each in workers if f"|{each.pid}|" in str(headline and headline.owner)).send_signal(harm)
        harmed_at = time.time()
        return (await _events(engine, saga, e.LeaseTaken, 3))[2] - harmed_at


async def _events(engine: Engine, saga_id: str, kind: type, many: int) -> list[float]:
    """Return when these events happened, once there are so many."""
    while True:
        found = [each.at for each in await engine.journal(saga_id) if isinstance(each.event, kind)]
        if len(found) >= many:
            return found
        await asyncio.sleep(0.01)


# -- how fair ---------------------------------------------------------------------------------------------------------------


async def passed_by(server: PostgresServer, kind: str, address: str, large: int = 1000, small: int = 10) -> int:
    """Return how many sagas of a tenant that has many are begun until the last of one that has few, and comes later, is."""
    words = address if kind == "temporal" else kind
    name = f"fair_{kind}"
    url = server.create_database(name)
    async with Engine.open(url, actions=ACTIONS) as engine:
        fleet = await fleet_of(words, engine)
        names = [f"large:{number}-{name}" for number in range(large)], [f"small:{number}-{name}" for number in range(small)]
        with working(words, url, 2):
            for tenant in names:
                for start in range(0, len(tenant), 50):
                    await asyncio.gather(*(begin(engine, each) for each in tenant[start : start + 50]))
                    await asyncio.gather(*(fleet.wake(each, QUEUE) for each in tenant[start : start + 50]))
            for each in names[1]:
                await _events(engine, each, e.LeaseTaken, 2)
    at = "at > (SELECT max(at) FROM events WHERE version <= 3 AND saga_id LIKE 'small:%')"  # when all of the few were due
    taken = f"SELECT saga_id FROM events WHERE type = 'LeaseTaken' AND version > 3 AND {at} ORDER BY at"  # noqa: S608 - our text
    order = [row[0].partition(":")[0] for row in server.execute(taken, database=name)]
    last = max((place for place, tenant in enumerate(order) if tenant == "small"), default=0)
    return order[:last].count("large")


# -- what waits for a person ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Waiting:
    """Of one worker: CPU in milliseconds a second without sagas and beside held ones, and memory in MB before and after it is
    woken for one of them, over and over.
    """

    idle_ms: float
    held_ms: float
    before_mb: float
    after_mb: float


async def waiting(server: PostgresServer, kind: str, address: str, held: int) -> Waiting:
    words = address if kind == "temporal" else kind
    name = f"held_{kind}"
    url = server.create_database(name)
    count = "SELECT count(*) FROM events WHERE type = 'OperationHeld'"
    async with Engine.open(url, actions=ACTIONS) as engine:
        fleet = await fleet_of(words, engine)
        names = [f"{name}-{number}" for number in range(held)]
        with working(words, url, 1) as (worker,):
            await asyncio.sleep(_SETTLED_S)
            idle_ms = await _cpu_ms(worker)
            for start in range(0, held, 50):
                await asyncio.gather(*(begin(engine, each, (holds.spec("a", {}, ()),)) for each in names[start : start + 50]))
                await asyncio.gather(*(fleet.wake(each, QUEUE) for each in names[start : start + 50]))
            while server.execute(count, database=name)[0][0] < held:  # noqa: ASYNC110 - other processes hold them
                await asyncio.sleep(0.5)
            await asyncio.sleep(_SETTLED_S)
            held_ms = await _cpu_ms(worker)
            await _wake_often(fleet, names[0])
            before_mb = worker.memory_full_info().pss / 2**20
            await _wake_often(fleet, names[0])
            return Waiting(idle_ms, held_ms, before_mb, worker.memory_full_info().pss / 2**20)


async def _wake_often(fleet: Fleet, saga_id: str) -> None:
    for _ in range(_WAKES):
        await fleet.wake(saga_id, QUEUE)
        await asyncio.sleep(0.25)


async def _cpu_ms(worker: psutil.Process) -> float:
    before = sum(worker.cpu_times()[:2])
    await asyncio.sleep(_WATCHED_S)
    return (sum(worker.cpu_times()[:2]) - before) / _WATCHED_S * 1000


# -- at scale, by simulation -----------------------------------------------------------------------------------------------


def waits_ms(stores: int, per_second: float, write_ms: float, random: Random, seconds: float = 4.0) -> tuple[float, float]:
    """Return the median and the 95th percentile of how long a commit waits, in a queue for each store; one connection each."""
    free_at, waited, now = [0.0] * stores, [], 0.0
    while now < seconds:
        now += random.expovariate(per_second)
        store = random.randrange(stores)
        begins = max(now, free_at[store])
        waited.append((begins - now) * 1000)
        free_at[store] = begins + random.expovariate(1000 / write_ms)
    ranked = heapq.nlargest(len(waited) // 20 + 1, waited)
    return statistics.median(waited), ranked[-1]


# -- the page --------------------------------------------------------------------------------------------------------------


async def measure(sagas: int, held: int) -> None:
    speeds: dict[str, list[Speed]] = {kind: [] for kind in _MEASURED}
    late: dict[str, dict[str, list[float]]] = {}
    passed: dict[str, int] = {}
    waited: dict[str, Waiting] = {}
    with postgres_server() as server, temporal() as temporals:
        for workers in WORKERS:
            for kind in speeds:
                many = sagas // 2 if kind == "temporal" else sagas
                speeds[kind].append(await speed(server, kind, temporals.address, workers, many))
                sys.stderr.write(f"{kind} {workers} {speeds[kind][-1]}\n")
        for kind in ("store", "temporal"):
            late[kind] = await lateness(server, kind, temporals.address)
            passed[kind] = await passed_by(server, kind, temporals.address)
            sys.stderr.write(f"{kind} {late[kind]} {passed[kind]}\n")
        for kind in late:
            waited[kind] = await waiting(server, kind, temporals.address, held)
            sys.stderr.write(f"{kind} {waited[kind]}\n")
        stored = _bytes_a_saga(server, "store4", sagas)
    OUT.write_text(page(speeds, late, [_passed(passed), _waited(waited, held)], stored, sagas))


def _bytes_a_saga(server: PostgresServer, database: str, sagas: int) -> float:
    tables = "SELECT sum(pg_total_relation_size(c)) FROM unnest(ARRAY['sagas', 'events']::regclass[]) AS c"
    return float(server.execute(tables, database=database)[0][0]) / sagas


def page(
    speeds: dict[str, list[Speed]],
    late: dict[str, dict[str, list[float]]],
    others: list[str],
    stored: float,
    sagas: int,
) -> str:
    return (
        "\n\n".join(
            (
                "# A fleet of workers",
                prose(
                    f"Written by `python -m benchmarks.fleet`; do not edit it. {sagas} sagas of {STEPS} operations that take"
                    f" {CALL_S * 1000:.0f} ms each (half as many on Temporal), {SLOTS} slots a worker, {os.cpu_count()} cores for"
                    " the workers, PostgreSQL and the server of Temporal together; in memory, so that no disk decides. All in one"
                    " run: compare columns, not days. Others used the machine too: its load was"
                    f" {os.getloadavg()[0]:.1f} at the end."
                ),
                table(
                    ["sagas a second, workers:", *map(str, WORKERS), "2 : 1", "4 : 1"], [_row(*each) for each in speeds.items()]
                ),
                table(
                    ["at four workers", "takes a saga", "CPU of the workers, ms a saga"],
                    [[_MEASURED[kind], f"{found[-1].takes:.2f}", f"{found[-1].cpu_ms:.1f}"] for kind, found in speeds.items()],
                ),
                prose(
                    "DBOS leases nothing: a workflow belongs to the worker that dequeued it, and nobody takes over from a dead"
                    " one without its Conductor. Temporal's server writes to one SQLite file here, which is what limits it: add"
                    " workers and it stays where it is. A cluster of it does not have that limit; measure yours."
                ),
                table(
                    ["seconds", "built-in: median", "95 %", "Temporal: median", "95 %"],
                    [_late(what, key, late) for what, key in _LATENESS.items()],
                ),
                *others,
                "## At scale, on paper and by simulation",
                prose(*_scale(speeds["store"], stored)),
            )
        )
        + "\n"
    )


def _passed(passed: dict[str, int]) -> str:
    return prose(
        "Tenants take turns: while one has 1,000 sagas waiting and another asks for 10, so many of the first one's are begun"
        f" until the last of the ten is: built-in {passed['store']}, Temporal {passed['temporal']}."
    )


def _waited(waited: dict[str, Waiting], held: int) -> str:
    rows = [
        [_MEASURED[kind], f"{each.idle_ms:.0f}", f"{each.held_ms:.0f}", f"{each.before_mb:.1f}", f"{each.after_mb:.1f}"]
        for kind, each in waited.items()
    ]
    head = ["a worker", "CPU, ms a second", f"beside {held:,} held sagas", f"MB, woken {_WAKES} times", f"{2 * _WAKES} times"]
    return table(head, rows)


_LATENESS = {
    "from a request to the intent that follows": "request",
    "a timer is late by": "timer",
    "from kill -9 to the takeover (lease: 4 s)": signal.SIGKILL.name,
    "from SIGSTOP to the takeover (lease: 4 s)": signal.SIGSTOP.name,
}


def _row(kind: str, found: list[Speed]) -> list[str]:
    one, two, four = (each.per_second for each in found)
    return [_MEASURED[kind], *(f"{each:.0f}" for each in (one, two, four)), f"{two / one:.2f}", f"{four / one:.2f}"]


def _late(what: str, key: str, late: dict[str, dict[str, list[float]]]) -> list[str]:
    cells = [what]
    for kind in ("store", "temporal"):
        ranked = sorted(late[kind][key])
        cells += [f"{statistics.median(ranked):.2f}", f"{ranked[int(len(ranked) * 0.95)] if len(ranked) > 4 else ranked[-1]:.2f}"]
    return cells


def _scale(found: list[Speed], stored: float) -> Iterator[str]:
    wanted, random = 10_000, Random(1)  # noqa: S311 - no secret
    cpu_s = found[-1].cpu_ms / STEPS / 1000 * wanted
    write_ms = 1000 / (found[-1].per_second * STEPS)
    yield (
        f"What grows with what. Workers grow with operations: {found[-1].cpu_ms / STEPS:.1f} ms of CPU each, so {wanted:,} a"
        f" second need {cpu_s:.0f} cores of workers. Stores grow with commits: here one carried"
        f" {found[-1].per_second * STEPS:.0f} operations a second beside its clients on two cores, so count {write_ms:.1f} ms of"
        f" a store for each. Disk grows with sagas that are kept: {stored / 1000:.0f} kB each in the journal and its indexes,"
        f" {stored * 1e6 / 1e9:.0f} GB for a million, less what `db retire` archives. Looks grow with what is due, not with what"
        " is open: a million parked sagas are entries of an index that nobody reads."
    )
    for stores in (16, 24, 32, 64):
        median, most = waits_ms(stores, wanted, write_ms, random)
        yield (
            f"With {stores} stores by tenant ({wanted / stores * write_ms / 10:.0f} % busy) a commit waits {median:.1f} ms,"
            f" 95 % less than {most:.0f}."
        )
    yield (
        "Where the design ends: a saga lives in one store, so one tenant is as large as one PostgreSQL; the tenants take turns by"
        " a sort of what is due, which a backlog of 100,000 makes slow (milliseconds for each 10,000); and a server of Temporal"
        " needs some fifteen writes for each wake-up, so that beyond a few hundred wake-ups a second it is a cluster of its own."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--sagas", type=int, default=500)
    parser.add_argument("--held", type=int, default=10_000, help="sagas that wait for a person")
    parser.add_argument("--work", nargs=2)
    given = parser.parse_args()
    asyncio.run(work(*given.work) if given.work else measure(given.sagas, given.held))

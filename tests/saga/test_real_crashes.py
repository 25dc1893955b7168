"""Real processes, killed or stopped at exact places; an outside ledger says what they did."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sagagraph.errors import BusyError, OperationHeldError
from sagagraph.saga.core.events import OperationSucceeded, Via
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.sqlite import SqliteSagaStore

from .crash_worker import BOOKED, LEASE_TTL_S, PROVIDERS, SAGA, SCENARIOS, body
from .ledger import Ledger

TAKEOVER_S = 5.0


def worker(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.saga.crash_worker", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_ENVIRONMENT)


_IN_MEMORY = Path("/dev/shm")
_ENVIRONMENT = {**os.environ, **({"TMPDIR": str(_IN_MEMORY)} if os.access(_IN_MEMORY, os.W_OK) else {})}
"""Processes die here, not machines: nothing needs to wait for a disk."""


@pytest.fixture(scope="module")
def sweeps() -> Iterator[dict[str, subprocess.Popen[str]]]:
    """All of them at once: they mostly wait for the disk."""
    running = {name: worker("sweep", name, "sqlite", "1") for name in SCENARIOS}
    yield running
    for each in running.values():
        each.kill()
        each.communicate()


@pytest.mark.parametrize(
    ("name", "outcomes", "stuck_at_most"),
    [
        ("the body runs again", {"committed"}, 0),
        ("the body fails and runs again", {"compensated"}, 0),
        ("it is resumed without its body", {"compensated"}, 0),
        ("nothing is guaranteed", {"compensated", "stuck"}, 14),
        ("it settles", {"committed"}, 0),
        ("it settles, and the body fails", {"compensated"}, 0),
        ("its undoing copes", {"committed", "compensated"}, 0),
        ("its undoing copes, and the body fails", {"compensated"}, 0),
    ],
)
def test_a_saga_killed_anywhere_goes_on_and_does_nothing_twice(
    sweeps: dict[str, subprocess.Popen[str]], name: str, outcomes: set[str], stuck_at_most: int
) -> None:
    told, problems = sweeps[name].communicate(timeout=240)
    cases: list[dict[str, Any]] = [json.loads(line) for line in told.splitlines()]
    assert sweeps[name].returncode == 0, problems
    assert [each for each in cases if each["judgement"]["faults"]] == []
    assert {each["judgement"]["outcome"] for each in cases} - {"never begun"} == outcomes
    assert sum(each["judgement"]["outcome"] == "stuck" for each in cases) <= stuck_at_most
    killed = " ".join(each["place"] for each in cases)
    places = ["the action of", "the compensation of"] if SCENARIOS[name].fails else []  # of others too few are met here
    for place in ("journal append", *places):
        assert place in killed


def test_rule_12_on_postgresql_too_the_store_keeps_the_locks_that_the_journals_say_wherever_it_is_killed() -> None:
    sweep = worker("sweep", "the body fails and runs again", "postgresql", "3")
    told, problems = sweep.communicate(timeout=240)
    cases: list[dict[str, Any]] = [json.loads(line) for line in told.splitlines()]
    assert (sweep.returncode, len(cases) > 3) == (0, True), problems
    assert [each for each in cases if each["judgement"]["faults"]] == []


@pytest.fixture
def frozen(journal: Path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """A worker that was stopped in the middle of its first call."""
    started: list[subprocess.Popen[str]] = []

    def freeze(provider: str) -> subprocess.Popen[str]:
        ledger = Ledger(journal.parent / "ledger.db", **PROVIDERS[provider])
        ledger.prepare()
        process = worker("freeze", str(journal.parent), provider)
        started.append(process)
        give_up_at = time.monotonic() + 20
        while not ledger.calls("do flight"):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < give_up_at
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGSTOP)
        return process

    yield freeze
    for each in started:
        each.kill()
        each.communicate()


def wake(process: subprocess.Popen[str]) -> str:
    """What it says when it has ended."""
    os.kill(process.pid, signal.SIGCONT)
    told, problems = process.communicate(timeout=20)
    assert process.returncode == 0, problems
    return told.strip()


async def test_rule_6_a_stopped_worker_that_wakes_appends_nothing_more(
    frozen: Callable[[str], subprocess.Popen[str]], journal: Path, watchdog: None
) -> None:
    process = frozen("remembers")
    ledger = Ledger(journal.parent / "ledger.db")
    engine = Engine(await SqliteSagaStore.open(journal), lease_ttl_s=LEASE_TTL_S)
    try:
        began = time.monotonic()
        await body(engine, ledger)
        assert time.monotonic() - began < TAKEOVER_S
        before = await engine.journal(SAGA)
        assert wake(process) == "SupersededError"
        assert await engine.journal(SAGA) == before
        assert (await engine.status(SAGA)).status is SagaStatus.COMMITTED
    finally:
        await engine.close()
    assert (ledger.live(), ledger.faults()) == (BOOKED, ())
    assert ledger.calls("do flight") == 2  # under one key


async def test_rule_6_what_a_stopped_worker_still_learns_is_adopted(
    frozen: Callable[[str], subprocess.Popen[str]], journal: Path, watchdog: None
) -> None:
    process = frozen("forgets")
    ledger = Ledger(journal.parent / "ledger.db", remembers_keys=False)
    engine = Engine(await SqliteSagaStore.open(journal), lease_ttl_s=LEASE_TTL_S)
    try:
        with pytest.raises(OperationHeldError):
            await body(engine, ledger)
        assert wake(process) == "SupersededError"
        await body(engine, ledger)
        events = [each.event for each in await engine.journal(SAGA)]
    finally:
        await engine.close()
    assert (ledger.live(), ledger.faults()) == (BOOKED, ())
    flight = next(each for each in events if isinstance(each, OperationSucceeded) and each.operation == "flight-1")
    assert (flight.via, ledger.calls("do flight")) == (Via.EVIDENCE, 1)


async def test_rule_3a_absence_is_a_fact_only_once_the_sender_is_known_to_be_dead(
    frozen: Callable[[str], subprocess.Popen[str]], journal: Path, watchdog: None
) -> None:
    """It was stopped before its call landed: it may land when it wakes, and never when it has been killed."""
    process = frozen("settles")
    ledger = Ledger(journal.parent / "ledger.db", **PROVIDERS["settles"])
    engine = Engine(await SqliteSagaStore.open(journal), lease_ttl_s=LEASE_TTL_S)
    try:
        with pytest.raises(OperationHeldError, match="may still be alive"):
            await body(engine, ledger)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(timeout=5)
        await body(engine, ledger)
        assert (await engine.status(SAGA)).status is SagaStatus.COMMITTED
    finally:
        await engine.close()
    assert (ledger.live(), ledger.faults(), ledger.calls("do flight")) == (BOOKED, (), 2)


async def test_rule_6_the_saga_of_a_killed_worker_is_taken_over_at_once(
    frozen: Callable[[str], subprocess.Popen[str]], journal: Path, watchdog: None
) -> None:
    """Its death can be seen from beside it: nobody waits for a lease of another hour."""
    process = frozen("remembers")
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=5)
    store = await SqliteSagaStore.open(journal)
    await _prolong_its_lease(journal)
    engine = Engine(store)
    try:
        began = time.monotonic()
        await body(engine, ledger := Ledger(journal.parent / "ledger.db"))
        assert time.monotonic() - began < 2
    finally:
        await engine.close()
    assert (ledger.live(), ledger.faults()) == (BOOKED, ())


async def _prolong_its_lease(journal: Path) -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(journal)) as connection, connection:
        assert connection.execute("UPDATE sagas SET lease_until = lease_until + 3600 WHERE owner IS NOT NULL").rowcount == 1


# -- living workers ---------------------------------------------------------------------------------------------------------

_CORRECTED_CLOCK = """
import psutil, runpy, sys
create_time = psutil.Process.create_time
psutil.Process.create_time = lambda process: create_time(process) + 1.0
sys.argv = sys.argv[1:]
runpy.run_module("tests.saga.crash_worker", run_name="__main__")
"""
ELSEWHERE = {
    "in another PID namespace": [
        "unshare",
        "--user",
        "--map-root-user",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
        sys.executable,
        "-m",
    ],
    "started before the clock was corrected": [sys.executable, "-c", _CORRECTED_CLOCK],
}


@pytest.mark.parametrize("place", ELSEWHERE)
async def test_rule_6_a_living_worker_is_not_known_to_be_dead(place: str, journal: Path, watchdog: None) -> None:
    ledger = Ledger(journal.parent / "ledger.db")
    ledger.prepare()
    command = [*ELSEWHERE[place], "tests.saga.crash_worker", "freeze", str(journal.parent), "remembers"]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_ENVIRONMENT)
    while not ledger.calls("do flight") and process.returncode is None:  # noqa: ASYNC110 - another process sets no event here
        await asyncio.sleep(0.01)
    engine = Engine(await SqliteSagaStore.open(journal))
    try:
        with pytest.raises(BusyError):
            await engine.resume(SAGA, wait=False)
        told, problems = await process.communicate()
        assert (process.returncode, told.strip()) == (0, b"committed"), problems
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        await engine.close()
    assert (ledger.live(), ledger.faults(), ledger.calls("do flight")) == (BOOKED, (), 1)

"""Actions that do not behave: they swallow cancellation, never return, raise what no future can hold, return what JSON cannot."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from sagagraph import Call, Engine, Guarantees, Probe, Retry, action
from sagagraph.errors import InvalidInputError, OperationHeldError
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.actions import Action
from sagagraph.workflow.policy import CompensationPolicy

from .ledger import Ledger
from .service import A_DAY, quick

pytestmark = pytest.mark.quick

ONCE = quick(retry=Retry(max_attempts=1), timeout_s=0.2, compensation=CompensationPolicy(max_attempts=1, timeout_s=0.2))
PATIENT = quick(timeout_s=20.0)


class Provider:
    """Lands effects under keys, from any thread."""

    def __init__(self) -> None:
        self.landed: list[str] = []
        self.undone: list[str] = []

    def find(self, request: Any, call: Call) -> Probe:
        return Probe.landed("kept") if call.operation_key in self.landed else Probe.absent()

    def cancel(self, request: Any, result: Any, call: Call) -> None:
        self.undone.append(call.operation_key)


@pytest.fixture
def provider() -> Provider:
    return Provider()


async def forever() -> None:
    """Not even cancelling ends this."""
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            continue


# -- their time begins when they do ---------------------------------------------------------------------------------------


async def test_no_call_waits_for_the_thread_of_another_while_its_time_runs(engine: Engine, provider: Provider) -> None:
    together = threading.Barrier(50)

    @action(compensate=provider.cancel, policy=quick(timeout_s=4.0))
    def book(request: int, call: Call) -> None:
        provider.landed.append(call.idempotency_key)
        together.wait()

    async with engine.saga("trip") as saga:
        await asyncio.gather(*(saga.run(book, number, id=f"T{number}") for number in range(50)))
    assert sorted(provider.landed) == sorted(f"trip/T{number}/1" for number in range(50))
    assert (await engine.status("trip")).status is SagaStatus.COMMITTED


async def test_a_thread_that_the_system_does_not_give_is_a_refusal_and_nothing_happened(
    engine: Engine, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    @action(compensate=provider.cancel, policy=quick())
    def book(request: None, call: Call) -> None:
        provider.landed.append(call.idempotency_key)

    start = threading.Thread.start
    refusals = iter([RuntimeError("can't start new thread")])

    def starts(thread: threading.Thread) -> None:
        if thread.name == "sagagraph-call" and (refusal := next(refusals, None)):
            raise refusal
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", starts)
    async with engine.saga("trip") as saga:
        await saga.run(book)
    assert provider.landed == ["trip/book-1/2"]


# -- they do not end -------------------------------------------------------------------------------------------------------


async def test_an_action_that_swallows_cancellation_is_in_doubt_after_its_time(engine: Engine, provider: Provider) -> None:
    @action(compensate=provider.cancel, policy=ONCE)
    async def book(request: None, call: Call) -> None:
        provider.landed.append(call.idempotency_key)
        await forever()

    async with asyncio.timeout(10):
        with pytest.raises(OperationHeldError, match=r"book-1.*it does not stop"):
            async with engine.saga("trip") as saga:
                await saga.run(book)
    assert provider.landed == ["trip/book-1/1"]


async def test_a_compensation_that_swallows_cancellation_leaves_its_saga_stuck(engine: Engine, provider: Provider) -> None:
    async def cancel(request: None, result: None, call: Call) -> None:
        await forever()

    @action(compensate=cancel, policy=ONCE)
    async def book(request: None, call: Call) -> None:
        provider.landed.append(call.idempotency_key)

    async with asyncio.timeout(10):
        with pytest.raises(ZeroDivisionError):
            async with engine.saga("trip") as saga:
                await saga.run(book)
                raise ZeroDivisionError
    assert (await engine.status("trip")).status is SagaStatus.STUCK


@pytest.mark.parametrize("kind", ["a coroutine", "a thread"])
async def test_an_engine_closes_beside_a_call_that_never_ends(provider: Provider, kind: str, watchdog: None) -> None:
    def in_vain(request: None, call: Call) -> None:
        provider.landed.append(call.idempotency_key)
        threading.Event().wait()

    async def in_vain_too(request: None, call: Call) -> None:
        provider.landed.append(call.idempotency_key)
        await forever()

    book = action(in_vain if kind == "a thread" else in_vain_too, compensate=provider.cancel, policy=PATIENT, name="book")
    async with asyncio.timeout(10):
        async with Engine.open("memory:") as engine:

            async def body() -> None:
                async with engine.saga("trip") as saga:
                    await saga.run(book)

            running = asyncio.create_task(body())
            while not provider.landed:  # noqa: ASYNC110 - a thread sets no event
                await asyncio.sleep(0.01)
        await asyncio.wait([running])
    assert isinstance(running.exception(), BaseException)


_PROGRAM = """
import asyncio, sys, threading
from pathlib import Path
from sagagraph import Engine, action
from sagagraph.errors import OperationHeldError
from tests.saga.ledger import Ledger
from tests.saga.test_stubborn_actions import ONCE, forever

folder, kind = Path(sys.argv[1]), sys.argv[2]
ledger = Ledger(folder / "ledger.db")
ledger.prepare()

def hangs(request: None, call) -> None:
    ledger._land("flight", call.idempotency_key)
    threading.Event().wait()

async def swallows(request: None, call) -> None:
    ledger._land("flight", call.idempotency_key)
    await forever()

book = action(swallows if kind == "a coroutine" else hangs, name="flight", compensate=lambda *_: None, policy=ONCE)

async def main() -> None:
    async with Engine.open(f"sqlite:///{folder}/journal.db") as engine:
        async with engine.saga("trip") as saga:
            await saga.run(book)

def script() -> None:
    with Engine.open(f"sqlite:///{folder}/journal.db") as engine, engine.saga("trip") as saga:
        saga.run(book)

try:
    script() if kind == "a script" else asyncio.run(main())
except OperationHeldError as exc:
    print("held")
"""


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["a coroutine", "a thread", "a script"])
async def test_a_process_ends_although_one_of_its_calls_does_not(kind: str, journal: Path, watchdog: None) -> None:
    command = [sys.executable, "-c", _PROGRAM, str(journal.parent), kind]
    ended = await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, timeout=20, env=os.environ | {"PYTHONPATH": str(Path.cwd())}
    )
    assert (ended.returncode, ended.stdout) == (0, "held\n"), ended.stderr
    ledger = Ledger(journal.parent / "ledger.db")
    assert (ledger.live(), ledger.faults()) == ({"flight": 1}, ())
    async with Engine.open(f"sqlite:///{journal}", actions=[ledger.action("flight")]) as engine:
        await engine.resolve("trip", "flight-1", "landed")
        assert (await engine.resume("trip")).status is SagaStatus.COMPENSATED
    assert ledger.live() == {}


# -- what they raise and return --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("raised", [StopIteration, StopAsyncIteration, GeneratorExit, asyncio.CancelledError])
async def test_what_no_future_can_hold_is_in_doubt_like_any_other_exception(
    engine: Engine, provider: Provider, raised: type[BaseException]
) -> None:
    @action(compensate=provider.cancel, probe=provider.find, policy=PATIENT, guarantees=Guarantees(dedup=A_DAY))
    def book(request: None, call: Call) -> str:
        provider.landed.append(call.idempotency_key)
        raise raised

    async with asyncio.timeout(8), engine.saga("trip") as saga:
        assert await saga.run(book) == "kept"
    assert provider.landed == ["trip/book-1/1"]


def colliding(provider: Provider) -> Action:
    @action(compensate=provider.cancel, policy=ONCE)
    async def book(request: Any, call: Call) -> dict[Any, str]:
        provider.landed.append(call.idempotency_key)
        return {1: "the seat", "1": "the meal"}

    return book


async def test_a_result_whose_keys_collide_as_json_is_in_doubt_and_loses_nothing_in_silence(
    engine: Engine, provider: Provider
) -> None:
    with pytest.raises(OperationHeldError, match="two keys are both '1' as JSON"):
        async with engine.saga("trip") as saga:
            await saga.run(colliding(provider))
    assert provider.landed == ["trip/book-1/1"]


async def test_a_request_whose_keys_collide_as_json_is_refused_before_anything_is_written(
    engine: Engine, provider: Provider
) -> None:
    with pytest.raises(InvalidInputError, match="two keys are both 'None' as JSON"):
        async with engine.saga("trip") as saga:
            await saga.run(colliding(provider), {None: 1, "None": 2})
    assert provider.landed == []
    assert not (await engine.load("trip")).operations

"""The synchronous form, for scripts."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sagagraph import Call, Engine, action
from sagagraph.errors import InvalidInputError, OperationFailedError, OperationHeldError, SagaClosedError, StoreError
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.actions import DECLARED
from sagagraph.saga.engine.engine import SyncEngine
from sagagraph.saga.engine.views.preview import CancelPreview

from .service import Service, is_lost, refuses

pytestmark = pytest.mark.quick


@pytest.fixture
def url(journal: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(DECLARED, "_actions", {})
    return f"sqlite:///{journal}"


@pytest.fixture
def script(url: str) -> Iterator[SyncEngine]:
    with Engine.open(url) as engine:
        yield engine


def test_a_script_runs_a_saga(script: SyncEngine, service: Service) -> None:
    with script.saga("trip") as saga:
        flight = saga.run(service.action("flight"), {"to": "Oslo"})
        saga.run(service.action("hotel"), after=[flight])
    assert flight == {"booked": "flight", "key": "trip/flight-1/1"}
    assert script.status("trip").status is SagaStatus.COMMITTED
    assert script.status("trip").operations[1].depends_on == ("flight-1",)


def test_a_script_run_again_gets_its_stored_results(url: str, service: Service) -> None:
    results = []
    for _process in range(2):
        with Engine.open(url) as engine, engine.saga("trip") as saga:
            results.append(saga.run(service.action("flight"), id="out"))
    assert results[0] == results[1]
    assert service.calls == ["do flight"]


def test_an_exception_compensates_and_reaches_the_script(script: SyncEngine, service: Service) -> None:
    with pytest.raises(ZeroDivisionError) as raised, script.saga("trip") as saga:
        saga.run(service.action("flight"))
        saga.run(service.action("hotel"))
        1 / 0  # noqa: B018
    assert service.calls[2:] == ["undo hotel", "undo flight"]
    assert "saga 'trip' is compensated" in raised.value.__notes__


def test_a_script_may_catch_a_failure(script: SyncEngine, service: Service) -> None:
    service.on("do flight", refuses)
    with script.saga("trip") as saga:
        try:
            saga.run(service.action("flight"))
        except OperationFailedError:
            saga.run(service.action("train"))
    assert service.live == ["train"]


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_script_can_be_run_again(url: str, service: Service, interruption: type[BaseException]) -> None:
    with pytest.raises(interruption), Engine.open(url) as engine, engine.saga("trip") as saga:
        saga.run(service.action("flight"))
        raise interruption
    with Engine.open(url) as engine, engine.saga("trip") as saga:
        saga.run(service.action("flight"))
    assert (service.calls, service.live) == (["do flight"], ["flight"])


def test_functions_run_in_another_thread_than_the_script(script: SyncEngine) -> None:
    @action
    def where(request: Any, call: Call) -> int:
        return threading.get_ident()

    with script.saga("trip") as saga:
        assert saga.run(where) != threading.get_ident()


def test_a_person_cancels_previews_resolves_and_resumes(script: SyncEngine, service: Service) -> None:
    service.on("do hotel", is_lost)
    with pytest.raises(OperationHeldError), script.saga("trip") as saga:
        saga.run(service.action("flight"))
        saga.run(service.action("hotel"))
    preview = script.cancel("trip", preview=True)
    assert isinstance(preview, CancelPreview)
    assert [each.id for each in preview.undo] == ["hotel-1", "flight-1"]
    assert script.resolve("trip", "hotel-1", "compensated", by="Ada").status is not SagaStatus.HELD
    cancelled = script.cancel("trip", by="Ada")
    assert not isinstance(cancelled, CancelPreview)
    assert (cancelled.status, service.live) == (SagaStatus.COMPENSATED, [])
    assert script.resume("trip").status is SagaStatus.COMPENSATED
    with pytest.raises(SagaClosedError), script.saga("trip"):
        pytest.fail("the body ran")


def test_a_store_that_cannot_be_opened_leaves_no_thread_behind(tmp_path: Path) -> None:
    before = threading.active_count()
    for _attempt in range(3):
        with pytest.raises(StoreError), Engine.open(f"sqlite:///{tmp_path}"):
            pytest.fail("opened a folder")
        with pytest.raises(InvalidInputError), Engine.open("nothing:"):
            pytest.fail("opened nothing")
    until = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < until:  # threads of an earlier test may still be ending
        time.sleep(0.05)
    assert threading.active_count() <= before


async def test_the_synchronous_form_does_not_need_the_loop_of_its_caller(url: str, service: Service) -> None:
    def script() -> str:
        with Engine.open(url) as engine, engine.saga("trip") as saga:
            return str(saga.run(service.action("flight"))["booked"])

    assert await asyncio.to_thread(script) == "flight"

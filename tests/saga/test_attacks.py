"""Misuse, freezes and races that once broke a rule: each test is one way in that was found and closed."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from sagagraph import Call, Engine, action
from sagagraph.cli.operating import settling
from sagagraph.cli.operating.settling import cancel, resume, resume_all
from sagagraph.cli.options import Options
from sagagraph.errors import InvalidInputError, NotAllowedError, OperationFailedError, OperationHeldError, SagaClosedError
from sagagraph.saga.core.commands import CallKind
from sagagraph.saga.core.events import CancelRequested, Driver, Entry, SagaBegun, SagaCommitted, SagaTurnedBack
from sagagraph.saga.core.state import Stage
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.engine.views.view import SagaView
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.port import Note
from sagagraph.saga.stores.sqlite import SqliteSagaStore

from .service import Gate, Land, Service, answers, is_lost, lands_but_is_lost, quick
from .workers import OpenEngine


async def status(engine: Engine, saga_id: str = "trip") -> SagaStatus:
    return (await engine.status(saga_id)).status


async def cancelled(engine: Engine) -> SagaView:
    view = await engine.cancel("trip")
    assert isinstance(view, SagaView)
    return view


class NoHolidayError(Exception):
    pass


# -- calls --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [asyncio.CancelledError, GeneratorExit])
async def test_rule_3a_a_call_that_cancels_itself_is_in_doubt_and_nobody_waits_for_ever(
    engine: Engine, service: Service, end: type[BaseException]
) -> None:
    async def ends(land: Land) -> Any:
        land()
        raise end

    service.on("do flight", ends)
    async with asyncio.timeout(5), engine.saga("trip") as saga:
        await saga.run(service.action("flight", probe=True))
    assert (await status(engine), service.live) == (SagaStatus.COMMITTED, ["flight"])
    assert service.calls[:2] == ["do flight", "ask flight"]


async def test_a_loop_that_something_else_cancels_leaves_nobody_waiting(engine: Engine, service: Service) -> None:
    gate = Gate()
    service.on("do flight", gate)
    with pytest.raises(NotAllowedError):
        async with asyncio.timeout(5), engine.saga("trip") as saga:
            running = asyncio.create_task(saga.run(service.action("flight")))
            await gate.arrived.wait()
            next(each for each in asyncio.all_tasks() if each.get_name() == "saga trip").cancel()
            await running
    assert await status(engine) is SagaStatus.RUNNING


async def test_rule_1_a_call_whose_time_ran_out_while_its_worker_was_frozen_does_not_start(
    open_engine: OpenEngine, service: Service
) -> None:
    frozen_s = 0.0

    class Freezing(MemorySagaStore):
        async def append(self, lease: Any, entries: Any, **options: Any) -> None:
            nonlocal frozen_s
            await super().append(lease, entries, **options)
            if any(type(each.event).__name__ == "AttemptStarted" for each in entries):
                frozen_s += 3600

    async with open_engine(Freezing(), clock=lambda: time.time() + frozen_s) as engine:
        with pytest.raises(OperationFailedError, match="its time was over"):
            async with engine.saga("trip") as saga:
                await saga.run(service.action("flight", probe=True))
    assert "do flight" not in service.calls


async def test_rule_3a_absent_before_the_deadline_says_nothing_about_after_it_however_late_the_answer_comes(
    engine: Engine, service: Service
) -> None:
    async def lands_late(land: Land) -> Any:
        await asyncio.sleep(1.3)
        asyncio.get_running_loop().call_later(0.6, land)  # at 1.9 s, before its deadline at 2.0 s
        raise ConnectionError

    async def answers_late(look: Land) -> Any:
        said = look()
        await asyncio.sleep(1.8)  # until 3.1 s, when the deadline with its margin is over
        return said

    forgetful = Service(remembers_keys=False)
    forgetful.on("do flight", lands_late)
    forgetful.on("ask flight", answers_late)
    async with engine.saga("trip") as saga:
        await saga.run(forgetful.action("flight", probe=True, deadline=True, policy=quick(timeout_s=2.0)))
    assert (await status(engine), forgetful.live, forgetful.count("do flight")) == (SagaStatus.COMMITTED, ["flight"], 1)


async def test_rule_3a_evidence_of_a_void_counts_for_the_generation_that_it_voided(engine: Engine, service: Service) -> None:
    flight = service.action("flight", void=True, probe=True)
    service.on("do flight", is_lost, is_lost)
    service.on("ask flight", *[is_lost] * 60)  # it does not answer either: a later question could tell more
    with pytest.raises(OperationHeldError):
        async with engine.saga("trip") as saga:
            await saga.run(flight)
    await engine.resolve("trip", "flight-1", "absent")  # and the second generation is lost as well
    with pytest.raises(OperationHeldError):
        async with engine.saga("trip") as saga:
            await saga.run(flight)
    await engine.store.note("trip", Note("flight-1", CallKind.VOID, "trip/flight-1/1", {"cancelled": "the first"}))
    gate = Gate()
    service.on("void flight", gate)
    cancelling = asyncio.create_task(engine.cancel("trip"))
    await gate.arrived.wait()
    cancelling.cancel()
    await asyncio.wait([cancelling])
    assert (await engine.resume("trip")).status is SagaStatus.COMPENSATED
    assert service.voided == {"trip/flight-1/2"}


# -- what is handed over ------------------------------------------------------------------------------------------------


async def test_rule_4_a_body_that_changes_a_result_does_not_change_what_is_undone(engine: Engine) -> None:
    told: list[Any] = []

    async def unbook(request: Any, result: Any, call: Call) -> None:
        told.append((request, result))

    @action(compensate=unbook)
    async def book_changed(request: Any, call: Call) -> dict[str, Any]:
        request["people"].pop()
        return {"id": 1, "seats": ["1A"]}

    with pytest.raises(NoHolidayError):
        async with engine.saga("trip") as saga:
            booked = await saga.run(book_changed, {"people": ["Alex", "Pat"]})
            booked["id"] = 2
            booked["seats"].clear()
            raise NoHolidayError
    assert told == [({"people": ["Alex", "Pat"]}, {"id": 1, "seats": ["1A"]})]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
async def test_a_number_that_json_has_not_is_refused_before_any_effect(engine: Engine, service: Service, number: float) -> None:
    with pytest.raises(InvalidInputError, match="cannot be journalled"):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"), {"price": number})
    assert service.calls == []


async def test_rule_3a_a_result_with_such_a_number_is_in_doubt_and_not_changed_silently(engine: Engine, service: Service) -> None:
    service.on("do flight", answers({"price": float("nan")}))
    with pytest.raises(OperationHeldError, match="NaN cannot be journalled"):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))


async def test_each_operation_is_undone_by_the_action_that_did_it_although_another_has_its_name(engine: Engine) -> None:
    one, other = Service(), Service()
    with pytest.raises(NoHolidayError):
        async with engine.saga("trip") as saga:
            await saga.run(one.action("flight"), id="outward")
            await saga.run(other.action("flight"), id="back")
            raise NoHolidayError
    assert (await status(engine), one.live, other.live) == (SagaStatus.COMPENSATED, [], [])


# -- bodies -------------------------------------------------------------------------------------------------------------


async def test_rule_2_a_saga_object_that_is_entered_again_counts_its_runs_from_the_beginning(
    engine: Engine, service: Service
) -> None:
    trip = engine.saga("trip")
    service.on("do hotel", is_lost)
    for _attempt in range(2):
        with suppress(OperationHeldError):
            async with trip:
                await trip.run(service.action("flight"))
                await trip.run(service.action("hotel", probe=True))
    assert service.count("do flight") == 1


async def test_a_saga_object_is_not_entered_twice_at_once(engine: Engine, service: Service) -> None:
    async with engine.saga("trip") as trip:
        await trip.run(service.action("flight"))
        with pytest.raises(NotAllowedError, match="entered already"):
            async with trip:
                pass
    assert (await status(engine), service.live) == (SagaStatus.COMMITTED, ["flight"])


async def test_rule_8_a_run_that_its_body_cancelled_and_did_without_is_undone(engine: Engine, service: Service) -> None:
    gate = Gate()
    service.on("do flight", gate)
    async with engine.saga("trip") as saga:
        try:
            async with asyncio.timeout(0.05):
                await saga.run(service.action("flight"))
        except TimeoutError:
            gate.opened.set()
            await saga.run(service.action("train"))
    assert (await status(engine), service.live) == (SagaStatus.COMMITTED, ["train"])


async def test_a_run_that_was_cancelled_and_is_asked_for_again_counts(engine: Engine, service: Service) -> None:
    gate = Gate()
    service.on("do flight", gate)
    async with engine.saga("trip") as saga:
        with suppress(TimeoutError):
            async with asyncio.timeout(0.05):
                await saga.run(service.action("flight"), id="flight")
        gate.opened.set()
        await saga.run(service.action("flight"), id="flight")
    assert (await status(engine), service.live, service.count("do flight")) == (SagaStatus.COMMITTED, ["flight"], 1)


async def test_a_held_operation_in_a_task_group_leaves_the_saga_open(engine: Engine, service: Service) -> None:
    service.on("do flight", is_lost)
    with pytest.raises(ExceptionGroup):
        async with engine.saga("trip") as saga, asyncio.TaskGroup() as group:
            group.create_task(saga.run(service.action("flight", probe=True)))
    assert await status(engine) is SagaStatus.HELD


async def test_a_group_of_errors_compensates_if_one_of_them_does(engine: Engine, service: Service) -> None:
    with pytest.raises(ExceptionGroup):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            raise ExceptionGroup("both", [OperationHeldError("waits"), NoHolidayError()])
    assert (await status(engine), service.live) == (SagaStatus.COMPENSATED, [])


async def test_rule_9_nothing_starts_while_the_last_check_before_the_commit_is_out(engine: Engine, service: Service) -> None:
    check = Gate()
    service.on("ask flight", check)
    late: list[Any] = []

    async def stray(saga: Any) -> None:
        await check.arrived.wait()
        late.append(await asyncio.gather(saga.run(service.action("hotel", probe=True)), return_exceptions=True))
        check.opened.set()

    async with engine.saga("trip") as saga:
        await saga.run(service.action("flight", probe=True))
        task = asyncio.create_task(stray(saga))
    await task
    assert isinstance(late[0][0], SagaClosedError)
    assert service.live == ["flight"]
    assert isinstance((await engine.journal("trip"))[-1].event, SagaCommitted)


async def test_rule_8_a_body_that_takes_another_branch_after_it_had_ended_is_refused(engine: Engine, service: Service) -> None:
    check = Gate()
    service.on("ask flight", check)

    async def first() -> None:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight", probe=True))

    ending = asyncio.create_task(first())
    await check.arrived.wait()
    ending.cancel()  # it is through, and not committed yet
    await asyncio.wait([ending])
    with pytest.raises(SagaClosedError, match="its body has ended"):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("hotel", probe=True))
    assert ((await engine.resume("trip")).status, service.live) == (SagaStatus.COMMITTED, ["flight"])


# -- reversals ----------------------------------------------------------------------------------------------------------


async def test_rule_5_a_reversal_cannot_be_cancelled(engine: Engine, service: Service) -> None:
    async with engine.saga("trip") as saga:
        await saga.run(service.action("flight"))
    service.on("undo flight", is_lost)
    assert (await cancelled(engine)).status is SagaStatus.STUCK
    with pytest.raises(NotAllowedError, match="can only go on"):
        await engine.cancel("trip~reversal")
    await engine.resolve("trip~reversal", "undo flight-1", "absent")
    assert ((await engine.resume("trip")).status, service.live) == (SagaStatus.COMPENSATED, [])


async def test_rule_9_a_reversal_waits_for_what_is_held_and_may_have_landed(engine: Engine, service: Service) -> None:
    async def unanswered(_look: Land) -> Any:
        raise ConnectionError

    async def undo(request: Any, result: Any, call: Call) -> Any:
        for each in service.ledger:
            each.undone = each.undone or each.key == call.operation_key

    service.on("do mail", lands_but_is_lost)
    service.on("ask mail", *[unanswered] * 20)
    mail = service.action("mail", kind="retriable", undoable=False, probe=True, reverse=undo)
    with pytest.raises(OperationHeldError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("pay", kind="pivot", undoable=False, reverse=undo))
            await saga.run(mail)
    held = await cancelled(engine)
    assert (held.status, service.live) == (SagaStatus.HELD, ["mail", "pay"])
    assert held.operations[1].status is OperationStatus.HELD
    service.on("ask mail", *[unanswered] * 3)
    await engine.resolve("trip", "mail-1", "landed")
    assert (await status(engine), service.live) == (SagaStatus.COMPENSATED, [])


# -- names --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("odd", [5, "", "\ud800"])
async def test_an_id_that_is_no_text_is_refused_before_it_is_journalled(engine: Engine, service: Service, odd: Any) -> None:
    with pytest.raises(InvalidInputError, match="saga_id"):
        engine.saga(odd)
    async with engine.saga("trip") as saga:
        with pytest.raises(InvalidInputError, match="id"):
            await saga.run(service.action("flight"), id=odd)
    assert await status(engine) is SagaStatus.COMMITTED


async def test_the_id_of_a_reversal_is_not_taken_by_another_saga(engine: Engine) -> None:
    with pytest.raises(InvalidInputError, match="reversals"):
        async with engine.saga("trip~reversal"):
            pass


def test_the_name_of_a_reversing_action_is_not_taken_by_another() -> None:
    with pytest.raises(InvalidInputError, match="reversals"):

        @action(name="book:undo")
        async def book_undo(request: Any, call: Call) -> None:
            raise AssertionError


# -- the command line ---------------------------------------------------------------------------------------------------


async def test_a_journal_that_cannot_be_read_does_not_keep_the_other_sagas_from_being_resumed(
    fresh_journal: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = Path(shutil.copy(fresh_journal, tmp_path / "damaged.db"))
    store = await SqliteSagaStore.open(journal)
    for saga_id in ("damaged", "other"):
        begun = SagaBegun(Driver.WORKFLOW, "travel", {})
        lease = await store.create(saga_id, begun, stage=Stage.PLANNING, owner="nobody", ttl_s=0.0)
        back = [Entry(2, 1, 1.0, CancelRequested("user")), Entry(3, 1, 1.0, SagaTurnedBack("cancelled"))]
        await store.append(lease, back, stage=Stage.COMPENSATING)
        await store.release(lease)
    await store.close()
    with closing(sqlite3.connect(journal)) as connection, connection:
        connection.execute("UPDATE events SET type = 'FromTheFuture' WHERE saga_id = 'damaged' AND version = 2")
    assert await resume_all(Options(f"sqlite:///{journal}", as_json=True), wait=False) == 3
    said = capsys.readouterr()
    assert "event 2 was changed" in said.err
    assert [(each["saga_id"], each["status"]) for each in json.loads(said.out)] == [("other", "compensated")]


@pytest.mark.parametrize(("command", "advice"), [(resume, "sagagraph resume trip"), (cancel, "sagagraph cancel trip")])
async def test_whoever_interrupts_a_command_is_told_how_to_go_on(
    command: Callable[..., Any],
    advice: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def interrupted(*_arguments: Any, **_options: Any) -> str:
        raise asyncio.CancelledError

    monkeypatch.setattr(settling, "domain_of", interrupted)  # the first thing that each of them asks
    options = {"wait": True} if command is resume else {"preview": False}
    with pytest.raises(asyncio.CancelledError):
        await command(Options("memory:"), "trip", **options)
    assert advice in capsys.readouterr().err

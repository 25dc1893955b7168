"""Rule 3: what ends without a definite answer is in doubt, and nothing is silently done twice."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import Any

import pytest

from sagagraph import Call, Engine, Probe, Retry, action
from sagagraph.errors import OperationFailedError, OperationHeldError
from sagagraph.saga.core.status import OperationStatus, SagaStatus

from .service import A_DAY, ONCE, Gate, Landing, Service, answers, hangs, is_lost, is_too_busy, lands_but_is_lost, quick, refuses
from .workers import EVERY_STORE, OpenEngine

pytestmark = pytest.mark.quick


@pytest.fixture(params=EVERY_STORE)
def store_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def operation(engine: Engine, name: str) -> Any:
    return next(each for each in (await engine.status("trip")).operations if each.id == name)


async def book(engine: Engine, *actions: Any) -> Any:
    async with engine.saga("trip") as saga:
        for each in actions:
            result = await saga.run(each)
    return result


# -- going on -----------------------------------------------------------------------------------------------------------


async def test_rule_3a_a_probe_that_finds_it_landed_is_adopted(engine: Engine, service: Service) -> None:
    service.on("do flight", lands_but_is_lost)
    assert await book(engine, service.action("flight", probe=True)) == {"booked": "flight", "key": "trip/flight-1/1"}
    assert service.count("do flight") == 1
    assert (await engine.status("trip")).status is SagaStatus.COMMITTED


async def test_rule_3a_absent_within_dedup_is_tried_again_under_the_same_key(engine: Engine, service: Service) -> None:
    service.on("do flight", is_lost)
    await book(engine, service.action("flight", probe=True, dedup=A_DAY))
    assert service.keys("do flight") == ["trip/flight-1/1"] * 2
    assert service.calls[:3] == ["do flight", "ask flight", "do flight"]


async def test_rule_3a_without_a_probe_dedup_alone_allows_the_same_key_again(engine: Engine, service: Service) -> None:
    service.on("do flight", lands_but_is_lost)
    await book(engine, service.action("flight", dedup=A_DAY))
    assert service.keys("do flight") == ["trip/flight-1/1"] * 2
    assert service.live == ["flight"]


async def test_rule_3a_a_key_that_may_be_forgotten_by_then_is_not_used_again(engine: Engine, service: Service) -> None:
    service.on("do flight", is_lost)
    with pytest.raises(OperationHeldError):
        await book(engine, service.action("flight", probe=True, dedup=timedelta(seconds=5)))  # the timeout alone is as long
    assert service.count("do flight") == 1


async def test_rule_3a_absent_without_guarantees_is_held_and_named(engine: Engine, service: Service) -> None:
    service.on("do flight", is_lost)
    with pytest.raises(OperationHeldError, match=r"flight-1.*absent.*the line went dead") as raised:
        await book(engine, service.action("flight", probe=True))
    assert (raised.value.saga_id, raised.value.operation_id) == ("trip", "flight-1")
    assert service.calls == ["do flight", "ask flight"]
    held = await operation(engine, "flight-1")
    assert ((await engine.status("trip")).status, held.status) == (SagaStatus.HELD, OperationStatus.HELD)
    assert (held.error["code"], "absent" in held.note) == ("ConnectionError", True)


async def test_only_a_held_operation_and_its_dependents_wait(engine: Engine, service: Service) -> None:
    service.on("do flight", is_lost)
    gate = Gate()
    service.on("do hotel", gate)
    with pytest.raises(OperationHeldError):
        async with engine.saga("trip") as saga:
            hotel = asyncio.create_task(saga.run(service.action("hotel"), after=()))
            with pytest.raises(OperationHeldError):
                await saga.run(service.action("flight"), after=())
            gate.opened.set()
            await hotel
            await saga.run(service.action("spa"))
    assert {each.id: each.status.value for each in (await engine.status("trip")).operations} == {
        "hotel-1": "succeeded",
        "flight-1": "held",
        "spa-1": "succeeded",
    }
    assert "undo hotel" not in service.calls


async def test_a_held_operation_is_looked_at_again_when_its_body_is_run_again(open_engine: OpenEngine, service: Service) -> None:
    service.on("do flight", is_lost)
    for _process in range(2):
        async with open_engine() as engine:
            with pytest.raises(OperationHeldError):
                await book(engine, service.action("flight", probe=True))
    service.ledger.append(late := Landing("flight", "trip/flight-1/1"))
    async with open_engine() as engine:
        await book(engine, service.action("flight", probe=True))
    assert (service.count("do flight"), service.ledger) == (1, [late])


async def test_rule_3a_more_than_one_landing_is_held(engine: Engine, service: Service) -> None:
    service.on("do flight", lands_but_is_lost)
    service.on("ask flight", answers(Probe.multiple(["a", "b"])))
    with pytest.raises(OperationHeldError, match="multiple"):
        await book(engine, service.action("flight", probe=True, dedup=A_DAY))


async def test_rule_3a_a_probe_that_does_not_know_is_asked_again_and_then_it_is_held(engine: Engine, service: Service) -> None:
    service.on("do flight", lands_but_is_lost)
    service.on("ask flight", is_lost, answers(Probe.unknown("later")), answers("not a probe"))
    with pytest.raises(OperationHeldError, match="unknown"):
        await book(engine, service.action("flight", probe=True, dedup=A_DAY))
    assert (service.count("ask flight"), service.count("do flight")) == (3, 1)


async def test_a_probe_that_knows_at_the_second_time_settles_it(engine: Engine, service: Service) -> None:
    service.on("do flight", lands_but_is_lost)
    service.on("ask flight", is_lost)
    await book(engine, service.action("flight", probe=True))
    assert service.live == ["flight"]


async def test_a_time_out_is_in_doubt(engine: Engine, service: Service) -> None:
    service.on("do flight", hangs)
    with pytest.raises(OperationHeldError, match="no answer in time"):
        await book(engine, service.action("flight", policy=quick(timeout_s=0.05)))
    assert (await operation(engine, "flight-1")).error["code"] == "TimeoutError"


async def test_a_threaded_function_that_times_out_is_in_doubt_and_its_landing_is_found(engine: Engine, service: Service) -> None:
    landed: list[str] = []

    def ask(request: Any, call: Call) -> Probe:
        while not landed:
            time.sleep(0.01)
        return Probe.landed(landed[0])

    @action(compensate=lambda request, result, call: None, probe=ask, policy=quick(timeout_s=0.5))
    def slow(request: Any, call: Call) -> str:
        if not landed:
            time.sleep(0.6)
        landed.append(call.idempotency_key)
        return call.idempotency_key

    assert await book(engine, slow) == "trip/slow-1/1"
    assert landed == ["trip/slow-1/1"]


async def test_what_only_reads_is_simply_read_again(engine: Engine) -> None:
    asked: list[int] = []

    @action(policy=quick())
    async def look(request: Any, call: Call) -> int:
        asked.append(call.attempt)
        if len(asked) < 3:
            raise ConnectionError
        return len(asked)

    assert await book(engine, look) == 3


async def test_attempts_end_where_the_policy_says(engine: Engine, service: Service) -> None:
    service.on("do flight", *[is_lost] * 9)
    with pytest.raises(OperationHeldError):
        await book(engine, service.action("flight", probe=True, dedup=A_DAY, policy=quick(retry=Retry(max_attempts=3))))
    assert service.count("do flight") == 3


async def test_an_error_that_the_policy_does_not_retry_is_tried_once(engine: Engine, service: Service) -> None:
    service.on("do flight", is_lost)
    with pytest.raises(OperationHeldError):
        policy = quick(retry=Retry(retry_on=("TimeoutError",)))
        await book(engine, service.action("flight", probe=True, dedup=A_DAY, policy=policy))
    assert service.count("do flight") == 1


# -- refusals -----------------------------------------------------------------------------------------------------------


async def test_rule_2_after_a_transient_refusal_the_next_generations_key_is_used(engine: Engine, service: Service) -> None:
    service.on("do flight", is_too_busy, is_too_busy)
    await book(engine, service.action("flight"))
    assert service.keys("do flight") == ["trip/flight-1/1", "trip/flight-1/2", "trip/flight-1/3"]
    assert len(service.ledger) == 1


async def test_transient_refusals_end_where_the_policy_says(engine: Engine, service: Service) -> None:
    service.on("do flight", is_too_busy, is_too_busy)
    with pytest.raises(OperationFailedError, match="try again later"):
        await book(engine, service.action("flight", policy=quick(retry=Retry(max_attempts=2))))
    assert (await engine.status("trip")).status is SagaStatus.COMPENSATED


async def test_rule_3a_a_refusal_after_a_lost_call_is_not_definite(engine: Engine, service: Service) -> None:
    """The first call may still land although the second one was refused."""
    service.on("do flight", is_lost, refuses)
    with pytest.raises(OperationHeldError, match="still land"):
        await book(engine, service.action("flight", dedup=A_DAY))


async def test_rule_3a_it_is_definite_where_refusals_are_final(engine: Engine, service: Service) -> None:
    service.on("do flight", is_lost, refuses)
    with pytest.raises(OperationFailedError, match="sold out"):
        await book(engine, service.action("flight", dedup=A_DAY, refusals_final=True))
    assert (await engine.status("trip")).status is SagaStatus.COMPENSATED


# -- giving up ----------------------------------------------------------------------------------------------------------


async def test_rule_3b_what_is_given_up_is_voided_where_the_provider_can(engine: Engine, service: Service) -> None:
    service.on("do flight", lands_but_is_lost)
    with pytest.raises(OperationFailedError):
        await book(engine, service.action("flight", void=True, dedup=A_DAY, policy=ONCE))
    assert (service.calls, service.live) == (["do flight", "void flight"], [])
    assert (await operation(engine, "flight-1")).status is OperationStatus.VOIDED
    assert service.keys("void flight") == service.keys("do flight")


async def test_rule_3b_a_saga_that_goes_back_claims_what_is_in_doubt_and_undoes_it(engine: Engine, service: Service) -> None:
    """Executed again under the same key, the call finds out what it landed; then it is compensated."""
    service.on("do flight", is_lost)
    with pytest.raises(OperationHeldError):
        await book(engine, service.action("flight", dedup=A_DAY, policy=ONCE))
    view = await engine.cancel("trip")
    assert (view.status, service.live) == (SagaStatus.COMPENSATED, [])
    assert service.keys("do flight") == ["trip/flight-1/1"] * 2
    assert service.calls == ["do flight", "do flight", "undo flight"]


async def test_rule_3b_absent_alone_never_closes_anything(engine: Engine, service: Service) -> None:
    service.on("do flight", is_lost)
    with pytest.raises(OperationHeldError):
        await book(engine, service.action("hotel"), service.action("flight", probe=True))
    view = await engine.cancel("trip")
    assert (view.status, service.live) == (SagaStatus.STUCK, ["hotel"])
    assert "may still land" in (await operation(engine, "flight-1")).note


# -- compensations that do not answer ----------------------------------------------------------------------------------


async def test_rule_4_a_compensation_without_an_answer_is_repeated_only_under_a_key_that_is_remembered(
    engine: Engine, service: Service
) -> None:
    service.on("undo flight", lands_but_is_lost)
    with pytest.raises(ZeroDivisionError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight", dedup=A_DAY))
            1 / 0  # noqa: B018
    assert service.keys("undo flight") == ["trip/flight-1/1/undo/1"] * 2
    assert (await engine.status("trip")).status is SagaStatus.COMPENSATED


async def test_rule_4_otherwise_evidence_closes_it(engine: Engine, service: Service) -> None:
    service.on("undo flight", lands_but_is_lost)
    with pytest.raises(ZeroDivisionError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight", probe=True))
            1 / 0  # noqa: B018
    assert service.count("undo flight") == 1
    assert (await engine.status("trip")).status is SagaStatus.COMPENSATED


async def test_rule_4_or_it_is_stuck_and_blocks_its_ancestors_only(engine: Engine, service: Service) -> None:
    service.on("undo hotel", is_lost)
    with pytest.raises(ZeroDivisionError) as raised:
        async with engine.saga("trip") as saga:
            flight = await saga.run(service.action("flight"))
            await saga.run(service.action("car"), after=())
            await saga.run(service.action("hotel"), after=[flight])
            1 / 0  # noqa: B018
    assert raised.value.__notes__ == ["saga 'trip' is stuck"]
    view = await engine.status("trip")
    assert view.status is SagaStatus.STUCK
    assert {each.id: each.status.value for each in view.operations} == {
        "flight-1": "succeeded",
        "car-1": "compensated",
        "hotel-1": "compensation_failed",
    }
    assert service.count("undo hotel") == 1


async def test_a_refused_compensation_is_stuck(engine: Engine, service: Service) -> None:
    service.on("undo flight", refuses)
    with pytest.raises(ZeroDivisionError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            1 / 0  # noqa: B018
    assert ((await engine.status("trip")).status, service.live) == (SagaStatus.STUCK, ["flight"])


async def test_a_compensation_that_is_told_to_wait_is_repeated_under_the_next_key(engine: Engine, service: Service) -> None:
    service.on("undo flight", is_too_busy)
    with pytest.raises(ZeroDivisionError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            1 / 0  # noqa: B018
    assert service.keys("undo flight") == ["trip/flight-1/1/undo/1", "trip/flight-1/1/undo/2"]
    assert (await engine.status("trip")).status is SagaStatus.COMPENSATED


# -- rule 9 -----------------------------------------------------------------------------------------------------------


async def test_rule_9_a_probe_that_contradicts_the_journal_keeps_the_saga_open(engine: Engine, service: Service) -> None:
    service.on("ask flight", answers(Probe.absent()))
    with pytest.raises(OperationHeldError, match="the last check found it absent"):
        await book(engine, service.action("flight", probe=True))
    assert (await engine.status("trip")).status is SagaStatus.HELD


async def test_rule_9_and_so_does_one_that_finds_something_left(engine: Engine, service: Service) -> None:
    service.on("undo flight", answers("done"))  # says so, and does nothing
    with pytest.raises(ZeroDivisionError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight", probe=True))
            1 / 0  # noqa: B018
    view = await engine.status("trip")
    assert (view.status, view.operations[0].status) == (SagaStatus.STUCK, OperationStatus.COMPENSATION_FAILED)


async def test_rule_9_what_cannot_be_asked_is_listed_as_unverified(engine: Engine, service: Service) -> None:
    service.on("ask hotel", is_lost)
    await book(engine, service.action("flight"), service.action("hotel", probe=True), service.action("car", probe=True))
    view = await engine.status("trip")
    assert (view.status, sorted(view.unverified)) == (SagaStatus.COMMITTED, ["flight-1", "hotel-1"])

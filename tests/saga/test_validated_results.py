"""Validators of an action's output: INVALID undoes it, an outage of a validator says nothing about it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from sagagraph import ContextSlice, Engine, Verdict, Violation
from sagagraph.errors import OperationFailedError, OperationHeldError
from sagagraph.saga.core import events as e
from sagagraph.saga.core.events import OperationSucceeded
from sagagraph.saga.core.status import OperationStatus, SagaStatus

from .service import A_DAY, Service, answers, is_lost, lands_but_is_lost

pytestmark = pytest.mark.quick


class Judge:
    """Answers what its script says, then VALID; `seen` keeps what it was shown."""

    name = "judge"
    version = 3

    def __init__(self, *script: Verdict | Exception) -> None:
        self._script = list(script)
        self.seen: list[tuple[Any, ContextSlice]] = []

    def validate(self, artifact: Any, context: ContextSlice) -> Verdict:
        self.seen.append((artifact, context))
        said = self._script.pop(0) if self._script else Verdict.of([])
        if isinstance(said, Exception):
            raise said
        return said


INVALID = Verdict.of([Violation(code="TOO_DEAR", message="it costs too much")])
OUTAGE = RuntimeError("out of memory")


async def test_a_valid_output_counts_and_its_certificate_is_journalled(engine: Engine, service: Service) -> None:
    judge = Judge()
    async with engine.saga("trip") as saga:
        await saga.run(service.action("flight"), {"to": "Oslo"})
        await saga.run(service.action("hotel", validators=[judge]), {"nights": 3})
    ((artifact, context),) = judge.seen
    assert artifact == {"booked": "hotel", "key": "trip/hotel-1/1"}
    assert context.facts == {"inputs": {"nights": 3}, "output of flight-1": {"booked": "flight", "key": "trip/flight-1/1"}}
    succeeded = [each.event for each in await engine.journal("trip") if isinstance(each.event, OperationSucceeded)]
    certificate = succeeded[1].verdicts[0]["certificate"]
    assert (certificate["validator"], certificate["version"], certificate["slice_hash"]) == ("judge", 3, context.hash)


async def test_an_invalid_output_is_compensated_and_its_operation_fails(engine: Engine, service: Service) -> None:
    with pytest.raises(OperationFailedError, match="it costs too much"):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("train"))
            await saga.run(service.action("flight", validators=[Judge(INVALID)]))
    assert service.live == []
    assert {"undo flight", "undo train"} <= set(service.calls)
    assert (await engine.status("trip")).status is SagaStatus.COMPENSATED


async def test_a_body_may_go_on_after_an_invalid_output_and_be_run_again(engine: Engine, service: Service) -> None:
    interruptions = [asyncio.CancelledError]

    async def body() -> None:
        async with engine.saga("trip") as saga:
            try:
                await saga.run(service.action("flight", validators=[Judge(INVALID)]))
            except OperationFailedError as exc:
                assert "it costs too much" in str(exc)  # noqa: PT017 - the body is meant to go on
                await saga.run(service.action("train"))
            if interruptions:
                raise interruptions.pop()

    with pytest.raises(asyncio.CancelledError):
        await body()
    await body()
    view = await engine.status("trip")
    assert (service.live, view.status) == (["train"], SagaStatus.COMMITTED)
    assert [each.status for each in view.operations] == [OperationStatus.COMPENSATED, OperationStatus.SUCCEEDED]
    assert service.count("do flight") == service.count("undo flight") == 1


async def test_an_invalid_output_that_cannot_be_undone_keeps_the_saga_open(engine: Engine, service: Service) -> None:
    service.on("undo flight", is_lost)
    with pytest.raises(OperationHeldError, match="flight-1"):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight", validators=[Judge(INVALID)]))
    assert ((await engine.status("trip")).status, service.live) == (SagaStatus.HELD, ["flight"])


async def test_an_invalid_pivot_is_held(engine: Engine, service: Service) -> None:
    with pytest.raises(OperationHeldError, match="it costs too much"):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("pay", undoable=False, kind="pivot", validators=[Judge(INVALID)]))


async def test_an_outage_is_never_a_violation_and_the_operation_is_judged_again(engine: Engine, service: Service) -> None:
    judge = Judge(OUTAGE, Verdict.unknown("the model is down"))
    async with engine.saga("trip") as saga:
        await saga.run(service.action("flight", probe=True, validators=[judge]))
    assert (service.live, len(judge.seen)) == (["flight"], 3)
    assert service.count("do flight") == 1


async def test_after_a_lasting_outage_the_operation_is_held_and_still_stands(engine: Engine, service: Service) -> None:
    with pytest.raises(OperationHeldError, match="out of memory"):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight", probe=True, validators=[Judge(*[OUTAGE] * 9)]))
    assert (service.live, service.count("undo flight")) == (["flight"], 0)
    assert not [each for each in await engine.journal("trip") if isinstance(each.event, e.OperationRejected)]


async def test_what_a_probe_adopts_is_judged_too(engine: Engine, service: Service) -> None:
    service.on("do flight", lands_but_is_lost)
    with pytest.raises(OperationFailedError, match="it costs too much"):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight", probe=True, validators=[Judge(INVALID)]))
    assert service.live == []


@pytest.mark.parametrize("order", [lambda pair: pair, reversed])
async def test_one_violation_outweighs_an_outage(engine: Engine, service: Service, order: Callable[[Any], Any]) -> None:
    judges = list(order([Judge(OUTAGE), Judge(INVALID)]))
    with pytest.raises(OperationFailedError, match="it costs too much"):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight", validators=judges))


async def test_inputs_that_do_not_fit_the_slice_leave_the_output_unjudged(engine: Engine, service: Service) -> None:
    judge = Judge()
    service.on("ask flight", *[answers(None)] * 3)
    with pytest.raises(OperationHeldError, match="critical fact 'inputs'"):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight", dedup=A_DAY, validators=[judge]), "x" * 10_000)
    assert judge.seen == []


# -- augmentation and feedback -----------------------------------------------------------------------------------------


class Completing:
    """Adds a seat and another name; the name is there already."""

    name, version = "completing", 1

    def validate(self, artifact: Any, context: ContextSlice) -> Verdict:
        additions = {"seat": "12A", "booked": "something else"} if "seat" not in artifact else {}
        return Verdict.of([]).model_copy(update={"additions": additions, "notes": ("seats are often missing",)})


async def test_what_an_output_lacks_is_filled_in_before_it_is_journalled_and_nothing_is_overridden(
    engine: Engine, service: Service
) -> None:
    async with engine.saga("trip") as saga:
        flight = await saga.run(service.action("flight", validators=[Completing()]))
    assert flight == {"booked": "flight", "key": "trip/flight-1/1", "seat": "12A"}
    (succeeded,) = [each.event for each in await engine.journal("trip") if isinstance(each.event, OperationSucceeded)]
    assert succeeded.output == flight
    assert succeeded.verdicts[0]["notes"] == ["seats are often missing"]


async def test_an_output_that_was_filled_in_replays(engine: Engine, service: Service) -> None:
    async with engine.saga("trip") as saga:
        await saga.run(service.action("flight", validators=[Completing()]))
    replayed = await engine.replay("trip")
    assert (replayed.validators, replayed.differences, replayed.unchecked) == (1, (), ())


async def test_nothing_is_filled_in_that_another_validator_would_not_accept(engine: Engine, service: Service) -> None:
    class NoSeats:
        name, version = "no seats", 1

        def validate(self, artifact: Any, context: ContextSlice) -> Verdict:
            return INVALID if "seat" in artifact else Verdict.of([])

    async with engine.saga("trip") as saga:
        flight = await saga.run(service.action("flight", validators=[Completing(), NoSeats()]))
    assert flight == {"booked": "flight", "key": "trip/flight-1/1"}

"""Bodies that run again with another order: what was journalled and what the body says now both count when it is undone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sagagraph import Engine
from sagagraph.errors import ConflictError
from sagagraph.saga.core import events as e
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.body import BodySaga

from .service import Service
from .workers import EVERY_STORE, OpenEngine

pytestmark = pytest.mark.quick

Body = Callable[[BodySaga], Awaitable[Any]]


@pytest.fixture(params=EVERY_STORE)
def store_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class NoHolidayError(Exception):
    pass


async def interrupted(engine: Engine, body: Body) -> None:
    with pytest.raises(asyncio.CancelledError):
        async with engine.saga("trip") as saga:
            await body(saga)
            raise asyncio.CancelledError


async def fails(engine: Engine, body: Body) -> None:
    with pytest.raises(NoHolidayError):
        async with engine.saga("trip") as saga:
            await body(saga)
            raise NoHolidayError
    assert (await engine.status("trip")).status is SagaStatus.COMPENSATED


class Slowly:
    """A call that takes its time, and sees what stands when it lands."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.seen: list[str] = []

    async def __call__(self, land: Callable[[], Any]) -> Any:
        await asyncio.sleep(0.05)
        self.seen = self._service.live
        return land()


def undone(service: Service) -> list[str]:
    """What the provider was asked to undo, in order: the names, with the key of the operation where names repeat."""
    return [call.operation_key for name, call in service.received if name.startswith("undo")]


async def test_rule_4_other_prerequisites_of_a_known_operation_are_journalled_and_undone_in_the_new_order(
    open_engine: OpenEngine, service: Service
) -> None:
    async def before(saga: BodySaga) -> None:
        await saga.run(service.action("hotel"), id="hotel", after=())
        await saga.run(service.action("flight"), id="flight", after=())

    async def edited(saga: BodySaga) -> None:
        await saga.run(service.action("flight"), id="flight", after=())
        await saga.run(service.action("hotel"), id="hotel", after=["flight"])
        await saga.run(service.action("spa"), id="spa", after=["hotel"])

    async with open_engine() as engine:
        await interrupted(engine, before)
    service.on("undo hotel", standing := Slowly(service))
    async with open_engine() as engine:
        await fails(engine, edited)
        added = [each.event for each in await engine.journal("trip") if isinstance(each.event, e.PrerequisitesAdded)]
    assert added == [e.PrerequisitesAdded("hotel", ("flight",))]
    assert undone(service) == ["trip/spa/1", "trip/hotel/1", "trip/flight/1"]
    assert (standing.seen, service.live) == (["flight", "hotel"], [])


async def test_rule_4_an_order_against_the_journal_is_a_conflict_and_leaves_everything_standing(
    open_engine: OpenEngine, service: Service
) -> None:
    async def before(saga: BodySaga) -> None:
        await saga.run(service.action("flight"), id="flight")
        await saga.run(service.action("hotel"), id="hotel", after=["flight"])

    async def edited(saga: BodySaga) -> None:
        await saga.run(service.action("hotel"), id="hotel", after=())
        await saga.run(service.action("flight"), id="flight", after=["hotel"])

    async with open_engine() as engine:
        await interrupted(engine, before)
    async with open_engine() as engine:
        with pytest.raises(ConflictError, match=r"'flight' cannot come after 'hotel' any more.*use another id"):
            async with engine.saga("trip") as saga:
                await edited(saga)
        assert service.live == ["flight", "hotel"]
        await fails(engine, before)
    assert undone(service) == ["trip/hotel/1", "trip/flight/1"]


async def test_rule_5_nothing_that_can_be_undone_is_moved_behind_the_pivot(open_engine: OpenEngine, service: Service) -> None:
    pay = service.action("pay", undoable=False, kind="pivot")

    async def before(saga: BodySaga) -> None:
        await saga.run(service.action("flight"), id="flight")
        await saga.run(pay, id="pay", after=())

    async with open_engine() as engine:
        await interrupted(engine, before)
        with pytest.raises(ConflictError, match="behind the pivot"):
            async with engine.saga("trip") as saga:
                await saga.run(pay, id="pay", after=())
                await saga.run(service.action("flight"), id="flight", after=["pay"])
    assert service.live == ["flight", "pay"]


async def test_the_same_body_run_again_journals_no_prerequisites(open_engine: OpenEngine, service: Service) -> None:
    async def body(saga: BodySaga) -> None:
        flight = await saga.run(service.action("flight"))
        await asyncio.gather(saga.run(service.action("hotel")), saga.run(service.action("car"), after=[flight]))
        await saga.run(service.action("visa"))

    for _run in range(3):
        async with open_engine() as engine:
            await interrupted(engine, body)
    async with open_engine() as engine:
        events = [each.event for each in await engine.journal("trip")]
    assert not [each for each in events if isinstance(each, e.PrerequisitesAdded)]
    assert service.calls == ["do flight", "do hotel", "do car", "do visa"]


@pytest.mark.parametrize("says", ["after=", "the order of its lines"])
@pytest.mark.parametrize("first", ["flight", "hotel"])
async def test_rule_2_numbers_do_not_depend_on_which_task_asks_first(
    open_engine: OpenEngine, service: Service, first: str, says: str
) -> None:
    """Two tasks run the same action with the same request, each after its own booking; the second run is scheduled otherwise."""

    async def one(saga: BodySaga, name: str, pause_s: float) -> str:
        await asyncio.sleep(pause_s)
        booked = await saga.run(service.action(name), after=())
        await asyncio.sleep(pause_s)
        insured = await saga.run(service.action("insurance"), **({"after": [booked]} if says == "after=" else {}))
        return str(insured["key"])

    async def body(saga: BodySaga) -> list[str]:
        pauses = {"flight": 0.0, "hotel": 0.05} if order == "flight" else {"flight": 0.05, "hotel": 0.0}
        return await asyncio.gather(*(one(saga, name, pause) for name, pause in pauses.items()))

    order, keys = first, []
    async with open_engine() as engine:
        await interrupted(engine, lambda saga: _kept(keys, body(saga)))
    order = "hotel" if first == "flight" else "flight"
    async with open_engine() as engine:
        await fails(engine, lambda saga: _kept(keys, body(saga)))
    assert keys[0] == keys[1]
    assert service.count("do insurance") == 2
    insurance = dict(zip(("flight", "hotel"), keys[0], strict=True))
    for name in ("flight", "hotel"):
        assert undone(service).index(insurance[name]) < undone(service).index(f"trip/{name}-1/1")


async def _kept(keys: list[list[str]], running: Awaitable[list[str]]) -> None:
    keys.append(await running)


async def test_rule_4_a_number_that_falls_to_another_chain_is_undone_before_that_chain(
    open_engine: OpenEngine, service: Service
) -> None:
    """Killed after the first insurance; in the edited body that insurance belongs to the hotel."""

    async def before(saga: BodySaga) -> None:
        await saga.run(service.action("flight"))
        await saga.run(service.action("insurance"))

    async def edited(saga: BodySaga) -> None:
        await saga.run(service.action("hotel"))
        await saga.run(service.action("insurance"))
        await saga.run(service.action("flight"), after=())

    async with open_engine() as engine:
        await interrupted(engine, before)
    service.on("undo insurance", standing := Slowly(service))
    async with open_engine() as engine:
        await fails(engine, edited)
    assert (standing.seen, service.live) == (["flight", "hotel", "insurance"], [])

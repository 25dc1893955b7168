"""Upgrading to a release in which actions have other names: what an earlier one journalled goes on (docs/protocol.md rule 10)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from sagagraph import Call, action
from sagagraph.errors import ConflictError, InvalidInputError, UnknownActionError
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.actions import DECLARED, Action, ActionRegistry
from sagagraph.saga.engine.engine import Engine

from .service import A_DAY, Gate, Service, lands_but_is_lost
from .workers import OpenEngine

Upgrade = Callable[[], None]


@pytest.fixture
def upgrade(monkeypatch: pytest.MonkeyPatch) -> Upgrade:
    """A new release is installed: the old one's actions are not in it."""

    def installed() -> None:
        monkeypatch.setattr(DECLARED, "_actions", {})
        monkeypatch.setattr(DECLARED, "_renamed", {})

    return installed


async def killed_in(engine: Engine, service: Service, *before: Action, during: Action) -> None:
    """The process ends while the call of `during` is out."""
    gate = Gate()
    service.on(f"do {during.name}", gate)

    async def body() -> None:
        async with engine.saga("trip") as saga:
            for each in (*before, during):
                await saga.run(each, {"to": "Oslo"})

    running = asyncio.create_task(body())
    await gate.arrived.wait()
    running.cancel()
    await asyncio.wait([running])


async def test_rule_10_a_body_goes_on_under_the_new_names(open_engine: OpenEngine, service: Service, upgrade: Upgrade) -> None:
    async with open_engine() as engine:
        await killed_in(engine, service, service.action("train"), during=service.action("flight", dedup=A_DAY, probe=True))
    upgrade()
    rail = service.action("rail", formerly=("train",))
    seat = service.action("seat", dedup=A_DAY, probe=True, formerly=("flight@1",))
    async with open_engine() as engine:
        async with engine.saga("trip") as saga:
            first = await saga.run(rail, {"to": "Oslo"})
            await saga.run(seat, {"to": "Oslo"})
            await saga.run(seat, {"to": "Bergen"})
        view = await engine.status("trip")
        assert first == {"booked": "train", "key": "trip/train-1/1"}
        assert view.status is SagaStatus.COMMITTED
        assert [each.id for each in view.operations] == ["train-1", "flight-1", "seat-2"]
        async with engine.saga("trip") as saga:  # and finds all of it again
            assert await saga.run(rail, {"to": "Oslo"}) == first
            await saga.run(seat, {"to": "Oslo"})
            await saga.run(seat, {"to": "Bergen"})
    assert service.count("do train") == 1
    assert service.count("do rail") == 0
    assert service.keys("do seat") == ["trip/flight-1/1", "trip/seat-2/1"]


async def test_rule_10_what_the_old_name_did_the_new_one_undoes(
    open_engine: OpenEngine, service: Service, upgrade: Upgrade
) -> None:
    async with open_engine() as engine:
        await killed_in(engine, service, service.action("train"), during=service.action("flight", void=True))
    upgrade()
    renamed = [service.action("rail", formerly=("train",)), service.action("seat", void=True, formerly=("flight",))]
    async with open_engine(actions=renamed) as engine:
        assert (await engine.resume("trip")).status is SagaStatus.COMPENSATED
    assert service.live == []
    assert {"void seat", "undo rail"} <= set(service.calls)


async def test_rule_10_a_reversal_begun_under_the_old_names_ends_under_the_new_ones(
    open_engine: OpenEngine, service: Service, upgrade: Upgrade
) -> None:
    async def refund(request: Any, result: Any, call: Call) -> Any:
        return await service._answer("refund", call, lambda: service._undo(call))

    service.on("undo flight", lands_but_is_lost, *[lands_but_is_lost] * 9)
    async with open_engine() as engine:
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"))
            await saga.run(service.action("pay", undoable=False, kind="pivot", reverse=refund))
        assert (await engine.cancel("trip")).status is SagaStatus.STUCK
        assert (await engine.status("trip~reversal")).operations[-1].action == "flight:undo"
    upgrade()
    renamed = [
        service.action("seat", formerly=("flight",)),
        service.action("charge", undoable=False, kind="pivot", reverse=refund, formerly=("pay",)),
    ]
    async with open_engine(actions=renamed) as engine:
        await engine.resolve("trip~reversal", "undo flight-1", "absent")
        assert (await engine.resume("trip")).status is SagaStatus.COMPENSATED
    assert service.live == []
    assert service.count("undo seat") == 1


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [({}, "journalled as action 'flight' version 1"), ({"version": 2, "name": "flight"}, "version 1")],
)
async def test_rule_2_another_action_or_version_under_the_same_id_is_a_conflict(
    engine: Engine, service: Service, changes: dict[str, Any], wrong: str
) -> None:
    with pytest.raises(asyncio.CancelledError):
        async with engine.saga("trip") as saga:
            await saga.run(service.action("flight"), id="there")
            raise asyncio.CancelledError
    other = service.action(changes.pop("name", "seat"), **changes)
    with pytest.raises(ConflictError, match=wrong) as raised:
        async with engine.saga("trip") as saga:
            await saga.run(other, id="there")
    assert "formerly=('flight@1',)" in str(raised.value)
    assert service.live == ["flight"]
    renamed = service.action(other.name, version=other.version, formerly=("flight",))
    async with engine.saga("trip") as saga:
        await saga.run(renamed, id="there")
    assert service.calls == ["do flight"]


async def test_an_action_of_that_very_name_goes_before_a_renamed_one(service: Service) -> None:
    flight, seat = service.action("flight"), service.action("seat", formerly=("flight", "flight@3"))
    registry = ActionRegistry([seat])
    assert registry.find("flight", 1) is registry.find("flight", 3) is seat
    registry.add(flight)
    assert registry.find("flight", 1) is flight
    with pytest.raises(UnknownActionError, match="formerly="):
        registry.find("flight", 2)


@pytest.mark.parametrize("given", ["flight", ("",), ("flight@",), ("@1",), ("flight@new",), ("flight:undo",)])
def test_a_former_name_is_a_name_or_a_name_and_a_version(given: Any) -> None:
    with pytest.raises(InvalidInputError, match="formerly"):

        @action(formerly=given)
        async def seat(request: Any, call: Call) -> None:
            raise AssertionError

"""Rule 2a for a program's own actions: what was begun with one provider is neither asked of another one nor undone there."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any

import pytest

from sagagraph.errors import OperationHeldError, ProviderMismatchError
from sagagraph.saga.core import events as e
from sagagraph.saga.core.decide.providers import ProviderHere, origin_of, recognised
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.engine.actions import Action

from .service import A_DAY, Gate, Service
from .workers import EVERY_STORE, OpenEngine

pytestmark = pytest.mark.quick


@pytest.fixture(params=EVERY_STORE)
def store_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def booking(service: Service, provider: str, name: str = "flight") -> Action:
    return service.action(name, probe=True, dedup=A_DAY, **({"provider": provider} if provider else {}))


async def leave_in_doubt(open_engine: OpenEngine, service: Service, provider: str) -> None:
    """A worker dies while its call is out; the call lands."""
    gate = Gate()
    service.on("do flight", gate)

    async with open_engine() as engine:

        async def body() -> None:
            async with engine.saga("trip") as saga:
                await saga.run(booking(service, provider), None)

        running = asyncio.create_task(body())
        await gate.arrived.wait()
        service._land("flight", service.received[0][1])
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def test_rule_2a_another_provider_is_neither_asked_nor_called(open_engine: OpenEngine) -> None:
    a, b = Service(), Service()
    await leave_in_doubt(open_engine, a, "a")
    async with open_engine() as engine:
        there = booking(b, "b")
        with pytest.raises(ProviderMismatchError, match=r"'a'.*'b'"):
            async with engine.saga("trip") as saga:
                await saga.run(there, None)
        before = (await engine.status("trip")).status
        for asking in (engine.resume("trip"), engine.cancel("trip"), engine.cancel("trip", preview=True)):
            with pytest.raises(ProviderMismatchError, match=r"'a'.*'b'"):
                await asking
        assert (b.calls, (await engine.status("trip")).status) == ([], before)
    async with open_engine() as engine:
        async with engine.saga("trip") as saga:
            assert (await saga.run(booking(a, "a"), None))["booked"] == "flight"
        assert ((await engine.status("trip")).status, a.live, len(a.ledger)) == ("committed", ["flight"], 1)


async def test_rule_2a_what_a_body_leaves_out_is_not_undone_elsewhere(open_engine: OpenEngine) -> None:
    a, b = Service(), Service()
    await leave_in_doubt(open_engine, a, "a")
    async with open_engine() as engine:
        booking(b, "b")  # the flight, as this program has it
        with pytest.raises(OperationHeldError):
            async with engine.saga("trip") as saga:
                await saga.run(booking(b, "b", "hotel"), None)
        assert (b.live, [each for each in b.calls if "flight" in each]) == (["hotel"], [])
        assert "'a'" in (await engine.status("trip")).operations[0].note


async def test_a_person_states_that_two_names_are_one_provider(open_engine: OpenEngine) -> None:
    a = Service()
    await leave_in_doubt(open_engine, a, "http://old:80")
    async with open_engine() as engine:
        await engine.same_provider("trip", "http://old:80", "http://new:80", by="ada")
        async with engine.saga("trip") as saga:
            await saga.run(booking(a, "http://new:80"), None)
        assert ((await engine.status("trip")).status, len(a.ledger)) == ("committed", 1)
        stated = [each.event for each in await engine.journal("trip") if isinstance(each.event, e.SameProviderStated)]
        assert stated == [e.SameProviderStated("http://old:80", "http://new:80", "ada")]


async def test_what_names_no_provider_yet_may_name_one(open_engine: OpenEngine) -> None:
    """A journal of an earlier release, or a program that names its provider from now on."""
    a = Service()
    await leave_in_doubt(open_engine, a, "")
    async with open_engine() as engine:
        async with engine.saga("trip") as saga:
            await saga.run(booking(a, "a"), None)
        assert ((await engine.status("trip")).status, len(a.ledger)) == ("committed", 1)


async def test_effects_without_a_provider_are_reported_once_where_a_saga_can_be_resumed(
    open_engine: OpenEngine, store_kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    a = Service()
    bare = a.action(f"bare on {store_kind}")
    with caplog.at_level(logging.WARNING, logger="sagagraph"):
        async with open_engine() as engine:
            for name in ("one", "two"):
                async with engine.saga(name) as saga:
                    await saga.run(bare, None)
                    await saga.run(booking(a, "a"), None)
    told = [each.message for each in caplog.records if "names no provider" in each.message]
    assert [bare.name in each for each in told] == ([] if store_kind == "memory" else [True])


# -- the decision ------------------------------------------------------------------------------------------------------


def known(provider: str, url: str = "", *more: Any) -> Any:
    begun = e.SagaBegun(e.Driver.WORKFLOW, "travel", None, "", provider, url)
    return fold("trip", [e.Entry(n, 1, 1.0, event) for n, event in enumerate((begun, *more), 1)])


NEW_ID, OLD, NEW = "sandbox-1", "http://old:1", "http://new:2"


@pytest.mark.parametrize(
    ("provider", "url", "here", "stated_by", "told"),
    [
        (NEW_ID, OLD, ProviderHere(NEW_ID, OLD), "", []),
        (NEW_ID, OLD, ProviderHere(NEW_ID, NEW), "", ["NameProvider"]),  # it states its id at the new address
        (OLD, OLD, ProviderHere(NEW_ID, OLD), "", ["NameProvider"]),  # at the old address it states an id by now
        (OLD, OLD, ProviderHere(NEW, NEW), "ada", ["StateSameProvider", "NameProvider"]),
        ("", "", ProviderHere(NEW_ID, NEW), "", ["NameProvider"]),
        (OLD, OLD, ProviderHere(NEW, NEW), "", None),
        (NEW_ID, OLD, ProviderHere("sandbox-2", OLD), "", None),
        (NEW_ID, OLD, ProviderHere("sandbox-2", NEW), "ada", None),  # both state ids: no statement makes them one
        (NEW_ID, OLD, ProviderHere(OLD, OLD), "", None),  # a proxy that answers 404 in its place
    ],
)
def test_a_provider_is_recognised_by_its_id_then_by_its_address(
    provider: str, url: str, here: ProviderHere, stated_by: str, told: list[str] | None
) -> None:
    saga = known(provider, url)
    if told is None:
        with pytest.raises(ProviderMismatchError) as refused:
            recognised(saga, here, stated_by=stated_by)
        assert (refused.value.known, refused.value.found, refused.value.exit_code) == (provider, here.identity, 2)
    else:
        assert [type(each).__name__ for each in recognised(saga, here, stated_by=stated_by)] == told


def test_what_is_the_same_as_the_same_is_the_same() -> None:
    saga = known("c", "", e.SameProviderStated("a", "b"), e.SameProviderStated("c", "d"), e.SameProviderStated("b", "c"))
    assert {saga.same_providers.get(each, each) for each in "abcd"} == {"a"}


def test_an_origin_is_scheme_host_and_port() -> None:
    assert origin_of("https://Ada:secret@Example.com/v1") == "https://example.com:443"
    assert origin_of("http://[::1]:8700") == "http://[::1]:8700"
    assert origin_of("") == ""

"""A trip waits for a provider that is away, or asks to be left alone, instead of being repaired or given up."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from msgspec.structs import replace

from sagagraph.domains.travel.actions import actions
from sagagraph.domains.travel.actions.actions import PATIENCE_S, patient
from sagagraph.domains.travel.domain import Travel, account_of
from sagagraph.domains.travel.page.page import TravelPage
from sagagraph.domains.travel.provider.provider import HttpReservationProvider
from sagagraph.graph.planning_graph import PlanningGraph, planning_graph
from sagagraph.saga.core import events as e
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.views.waits import WaitView, waits_of
from sagagraph.saga.stores.urls import open_store
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from sagagraph.ui.chat.narration import narrate
from sagagraph.workflow.policy import Backoff
from tests.support.today import TODAY
from tests.support.trips import REQUEST

pytestmark = pytest.mark.quick

HURRIED = replace(patient(PATIENCE_S), backoff=Backoff(base_s=0.01, cap_s=6.0, jitter=0.5))
"""The shipped policy, ten times as fast."""


class _Line(httpx2.AsyncHTTPTransport):
    """The network: calls to paths that begin with `cut` fail so many times more."""

    def __init__(self) -> None:
        super().__init__()
        self.cut, self.times = "nothing", 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self.times and request.url.path.startswith(self.cut):
            self.times -= 1
            raise httpx2.ConnectError("the line is cut")
        return await super().handle_async_request(request)


class _Trip:
    def __init__(self, engine: Engine, graph: PlanningGraph, line: _Line, waits: list[WaitView], told: list[str]) -> None:
        self.engine, self.graph, self.line, self.waits = engine, graph, line, waits
        self.told = told
        """What the app says while it waits."""

    async def book(self) -> Any:
        return await self.graph.start("trip", REQUEST, approved_by="test")

    async def events(self, kind: type[Any]) -> list[e.Entry]:
        return [each for each in await self.engine.journal("trip") if isinstance(each.event, kind)]


@asynccontextmanager
async def a_trip(folder: Path, *faults: dict[str, Any]) -> AsyncIterator[_Trip]:
    file = folder / "faults.json"
    file.write_text(json.dumps(faults))
    line, waits = _Line(), []
    with EmbeddedSandbox(SandboxSettings(folder / "sandbox.db", file, TODAY)) as service:
        async with HttpReservationProvider(service.url, transport=line) as provider:
            travel = await Travel.connect(provider, folder / "outbox")
            told: list[str] = []
            page = TravelPage(travel, None)

            def observe(saga: Saga, _entries: object) -> None:
                waits.extend(waits_of(saga))
                told.extend([narrate(saga, page)] if waits_of(saga) else [])

            observers = [observe]
            engine = Engine(await open_store("memory:"), account=account_of, observers=observers)
            try:
                yield _Trip(engine, planning_graph(domain=travel, engine=engine), line, waits, told)
            finally:
                await engine.close()


@pytest.mark.parametrize("path", ["/offers/", "/reservations", "/payments"])
async def test_a_hiccup_of_ten_seconds_is_waited_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """Scaled to one second: at the price check, at the bookings, at the payment; four attempts were over before that."""
    monkeypatch.setattr(actions, "POLICY", HURRIED)
    async with a_trip(tmp_path) as trip:
        planned = await trip.graph.start("trip", REQUEST)
        trip.line.cut, trip.line.times = path, 7
        view = await trip.graph.decide("trip", approved=True, by="test", plan_hash=planned.plan_hash)
        assert (view.status, view.plan_version) == ("committed", 1)
        assert await trip.events(e.PlanDisrupted) == []
        assert len(await trip.events(e.AttemptLost)) >= 4


async def test_a_price_check_that_gets_no_answer_at_all_is_held_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "POLICY", patient(0.2))
    async with a_trip(tmp_path) as trip:
        planned = await trip.graph.start("trip", REQUEST)
        trip.line.cut, trip.line.times = "/offers/", 1000
        held = await trip.graph.decide("trip", approved=True, by="test", plan_hash=planned.plan_hash)
        assert held.status == "held"
        assert [each.id for each in held.operations if each.status == "held"] == ["check"]
        trip.line.times = 0
        assert (await trip.graph.resume("trip")).status == "committed"


@pytest.mark.parametrize("fault", [429, "before"])
async def test_the_provider_is_left_alone_for_as_long_as_it_asks_and_it_is_said_why(tmp_path: Path, fault: Any) -> None:
    async with a_trip(tmp_path, {"kind": "flight", "call": "book", "nth": 1, "fault": fault, "retry_after": 1.5}) as trip:
        assert (await trip.book()).status == "committed"
        (first,) = await trip.events(e.AttemptRefused if fault == 429 else e.AttemptLost)
        assert first.event.retry_at - first.at >= 2  # the header has whole seconds
        again = [each for each in await trip.events(e.AttemptStarted) if each.event.operation == "T1"][1]
        assert again.at >= first.event.retry_at
        told = trip.waits[0]
        assert (told.operation, told.seconds >= 1) == ("T1", True)
        assert ("too many calls" if fault == 429 else "not available") in told.reason
        assert f" waits: {told.reason}; it is tried again at" in trip.told[0]


def test_pauses_grow_to_a_minute_and_last_an_hour_on_average() -> None:
    policy = patient(PATIENCE_S)
    pauses = [policy.backoff.delay_s(n, 0.5) for n in range(1, policy.retry.max_attempts)]
    assert max(policy.backoff.delay_s(n, 0.0) for n in range(1, policy.retry.max_attempts)) == 60
    assert PATIENCE_S <= sum(pauses) < PATIENCE_S + 60

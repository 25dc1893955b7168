"""Asking is not telling: questions about a booking change nothing, neither in the chat nor over REST; the ledger judges."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
import pytest_asyncio

from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from sagagraph.settings import Settings
from sagagraph.ui.server.app import create_app
from sagagraph.ui.server.options import ServerOptions
from sagagraph.ui.server.routes.api import PREFIX
from sagagraph.ui.service import Service, open_service
from tests.support.today import TODAY
from tests.ui.books import books_of
from tests.ui.chat import Chat, last_said, status

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.quick]

TRIP = "From Boston to Lisbon for 5 nights in May 2025, at most $4,000"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    with EmbeddedSandbox(SandboxSettings(tmp_path_factory.mktemp("asking") / "sandbox.db", today=TODAY)) as sandbox:
        yield sandbox


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory, world: EmbeddedSandbox) -> AsyncIterator[Service]:
    store: Path = tmp_path_factory.mktemp("asking") / "saga.db"
    async with open_service(Settings(store=f"sqlite:///{store}", provider_url=world.url)) as opened:
        yield opened


@pytest.mark.parametrize(
    "asked", ["has the hotel been cancelled?", "was the hotel in Lisbon cancelled", "is my flight to Lisbon overbooked?"]
)
async def test_asking_whether_something_was_cancelled_cancels_nothing(
    service: Service, world: EmbeddedSandbox, asked: str
) -> None:
    chat = Chat(service)
    await chat.say(TRIP)
    booked = await chat.say("yes, book it")
    assert booked.saga is not None
    before = books_of(world.url, booked.saga.id)
    after = await chat.say(asked)
    assert (status(after), books_of(world.url, booked.saga.id)) == ("committed", before)
    assert "confirmed" in last_said(after)
    assert "Yes" not in last_said(after), "what was asked is whether it is lost"


async def test_asking_over_rest_cancels_nothing(service: Service, world: EmbeddedSandbox) -> None:
    app = create_app(service, ServerOptions())
    transport = httpx2.ASGITransport(app=app)  # type: ignore[arg-type]
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost" + PREFIX, timeout=30) as browser:
        await browser.get("/sagas")
        saga_id = (await browser.post("/sagas", json={"text": TRIP})).json()["saga_id"]
        await browser.get(f"/sagas/{saga_id}/events")
        plan_hash = (await browser.get(f"/sagas/{saga_id}")).json()["plan_hash"]
        await browser.post(f"/sagas/{saga_id}/approve", json={"plan_hash": plan_hash})
        await browser.get(f"/sagas/{saga_id}/events")
        before = books_of(world.url, saga_id)
        told = await browser.post(f"/sagas/{saga_id}/disruptions", json={"text": "has the hotel been cancelled?"})
        assert (told.status_code, books_of(world.url, saga_id)) == (422, before), told.text
        assert "asks" in told.json()["error"]["message"]
        assert (await browser.get(f"/sagas/{saga_id}")).json()["status"] == "committed"

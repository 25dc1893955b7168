"""A trip paid at Stripe, by the command line: what is said before it is approved, what is charged, and what cancelling leaves."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import TypeAdapter
from typer.testing import CliRunner

from sagagraph.cli.app import app
from sagagraph.domains.travel.actions.actions import POLICY
from sagagraph.domains.travel.actions.payer import Payer, payer_of
from sagagraph.domains.travel.domain import Travel
from sagagraph.domains.travel.page.page import TravelPage
from sagagraph.domains.travel.provider.provider import HttpReservationProvider
from sagagraph.settings import Settings
from tests.services.servers import Server, StripeServer

SECRET = "sk_test_canary51"
Command = Callable[..., str]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sandbox: Server, stripe: StripeServer) -> Command:
    config = tmp_path / "config.toml"
    lines = (
        f'store = "sqlite:///{tmp_path / "trips.db"}"',
        f'provider_url = "http://127.0.0.1:{sandbox.port}"',
        f'[payments]\nsecret = "{SECRET}"\npayment_method = "pm_card_visa"\nurl = "{stripe.url}"',
    )
    config.write_text("\n".join(lines))
    monkeypatch.setenv("SAGAGRAPH_CONFIG", str(config))

    def run(*words: str) -> str:
        told = CliRunner().invoke(app, words)
        assert told.exit_code == 0, told.output
        assert SECRET not in told.output
        return told.output

    return run


def wish() -> str:
    day = datetime.now(UTC) + timedelta(days=60)
    return f"One person from Boston to Lisbon for 3 nights on {day:%-d %B %Y}, at most $6,000"


def charged(stripe: StripeServer, saga: str) -> list[tuple[str, int, int]]:
    """The payments of a saga: each with its status, what was taken, and what was given back."""
    headers = {"Authorization": f"Bearer {SECRET}"}
    with httpx2.Client(base_url=stripe.url, headers=headers) as client:
        rows = client.get("/v1/payment_intents", params={"limit": 100}).json()["data"]
        own = [each for each in rows if each["metadata"]["saga"] == saga]
        return [(each["status"], each["amount_received"], _back(client, each["id"])) for each in own]


def _back(client: httpx2.Client, intent: str) -> int:
    found = client.get("/v1/refunds", params={"payment_intent": intent, "limit": 100}).json()["data"]
    return sum(each["amount"] for each in found)


def test_a_trip_is_charged_as_it_was_said_and_cancelled_as_it_was_previewed(command: Command, stripe: StripeServer) -> None:
    saga = f"trip-{uuid.uuid4().hex[:8]}"
    planned = command("trip", wish(), "--plan-only", "--saga-id", f"{saga}-look")
    assert f"is held on pm_card_visa at Stripe ({stripe.url}, test mode)" in " ".join(planned.split())
    assert charged(stripe, f"{saga}-look") == []

    command("trip", wish(), "--yes", "--saga-id", saga)
    ((status, taken, back),) = charged(stripe, saga)
    total = json.loads(command("status", saga, "--json"))["cost"]["total"]
    assert (status, taken, back) == ("succeeded", round(total * 100), 0)

    previewed = json.loads(command("cancel", saga, "--preview", "--json"))
    assert {"payment", "hold"} <= {each["id"] for each in previewed["undo"]}
    view = json.loads(command("cancel", saga, "--json"))
    assert charged(stripe, saga) == [("succeeded", taken, taken)]
    assert view["status"] == "compensated"
    assert view["cost"]["fees"] == previewed["fees"]


async def test_the_page_and_the_plan_say_what_is_charged_and_the_settings_decide(sandbox: Server, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{sandbox.port}"
    account = {"secret": SECRET, "payment_method": "pm_card_visa"}
    payer = payer_of(TypeAdapter(Settings).validate_python({"provider_url": url, "payments": account}), POLICY)
    async with HttpReservationProvider(url) as provider:
        paying, free = [await Travel.connect(provider, tmp_path, payer=each) for each in (payer, Payer())]
        request: Any = (await TravelPage(paying).read(wish(), None)).request
        proposed = await paying.propose(request)
        assert isinstance(proposed, tuple)
        plan = proposed[0].plan
        lines = TravelPage(paying).view(plan).lines
        assert [each.what for each in lines if each.kind == "payment"] == [proposed[0].reasons[-1]]
        assert "pm_card_visa at Stripe (https://api.stripe.com, test mode)" in lines[-1].what
        verdict = await free.validate(request, plan, {"now": datetime.now(UTC).isoformat(), "quotes": []})
        assert [each.code for each in verdict.violations] == ["OTHER_PAYER"]
        assert SECRET not in str(proposed)

"""A domain that is installed as a package of its own has its place in the app, without an edit in ours."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
import pytest_asyncio

from sagagraph import registry
from sagagraph.planning.page import NOTHING_KNOWN
from sagagraph.settings import Settings
from sagagraph.ui.html import cards
from sagagraph.ui.html.templates import render
from sagagraph.ui.server.app import create_app
from sagagraph.ui.server.options import ServerOptions
from sagagraph.ui.service import Service, open_service
from tests.toy_domain.test_toy_domain import Installed
from tests.ui.chat import Chat, all_said, plan_hash, status, wishes

pytestmark = pytest.mark.quick

FRUIT = "3 apples and 2 pears under $5"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest_asyncio.fixture
async def service(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Service]:
    Installed(folder)
    monkeypatch.syspath_prepend(folder / "site")
    _forget_domains()
    async with open_service(Settings(store=f"sqlite:///{folder / 'saga.db'}")) as opened:
        yield opened
    _forget_domains()


def _forget_domains() -> None:
    registry._points.cache_clear()
    registry.entry_of.cache_clear()


async def test_it_is_offered_planned_bought_shown_changed_and_cancelled_in_the_chat(service: Service) -> None:
    assert next(iter(service.pages)) == "travel"
    assert "market" in service.pages
    chat = Chat(service, "market")
    shown = await chat.say(FRUIT)
    assert status(shown) == "awaiting_approval"
    assert list(wishes(shown).values()) == ["3 apples", "2 pears", "under $5.00"]
    assert shown.shown is not None
    proposal = cards.plan_card(shown.shown, shown.page)
    assert "3 apples from Ann" in proposal
    assert "2 pears from Bob" in proposal
    changed = await chat.say("3 pears")
    assert (status(changed), plan_hash(changed) != plan_hash(shown)) == ("awaiting_approval", True)
    bought = await chat.say("yes")
    assert (status(bought), plan_hash(bought)) == ("committed", plan_hash(changed))
    assert "Done: everything is bought for $4.50." in all_said(bought)
    assert bought.shown is not None
    assert "3 pears from Bob" in cards.plan_card(bought.shown, bought.page)
    assert (await service.preview(chat.visitor, bought.shown.id)).possible
    await service.cancel(chat.visitor, bought.shown.id)
    assert status(await chat.quiet()) == "compensated"


async def test_what_is_refused_is_bought_elsewhere_after_another_approval(service: Service, folder: Path) -> None:
    outbox = folder / "saga.db.outbox"
    outbox.mkdir(exist_ok=True)
    (outbox / "closed.txt").write_text("Ann")
    chat = Chat(service, "market")
    first = await chat.say(FRUIT)
    repaired = await chat.say("yes")
    assert (status(repaired), plan_hash(repaired) != plan_hash(first)) == ("awaiting_approval", True)
    assert "The plan had to change" in all_said(repaired)
    assert status(await chat.say("yes")) == "committed"


async def test_a_wish_is_removed_and_what_is_missing_is_asked_for(service: Service) -> None:
    chat = Chat(service, "market")
    asked = await chat.say("please, quickly")
    assert asked.conversation.messages[-1].text == "What fruit shall it be, and how many?"
    await chat.say(FRUIT)
    assert "under $5.00" not in wishes(await chat.remove("budget")).values()


async def test_its_board_comes_from_its_model_and_what_is_filled_in_is_bought(service: Service) -> None:
    page = service.pages["market"]
    empty = render("request", title=page.title, parts=page.fields(NOTHING_KNOWN), happened=(), is_fresh=True, turn=0)
    assert [f'name="{name}"' in empty for name in ("fruit.*", "budget", "fruit.apples")] == [True, True, False]
    chat = Chat(service, "market")
    first = await chat.reword("fruit.*", "apples")
    assert (status(first), first.conversation.draft.request["fruit"]) == ("awaiting_approval", {"apples": 1})
    filled = render("request", title=page.title, parts=page.fields(first.conversation.draft), happened=(), is_fresh=False, turn=1)
    assert 'name="fruit.apples"' in filled
    more = await chat.reword("fruit.apples", "3")
    assert "Now: fruit: apples: 1 → 3." in all_said(more)
    assert "2 pears from Bob" not in all_said(more)
    assert [each.plan.hash for each in more.versions] == [plan_hash(first), plan_hash(more)]
    assert status(await chat.say("yes")) == "committed"


async def test_it_is_planned_over_rest(service: Service) -> None:
    transport = httpx2.ASGITransport(app=create_app(service, ServerOptions()))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost/api/v1", timeout=30) as browser:
        begun = await browser.post("/sagas", json={"domain": "market", "text": FRUIT})
        assert (begun.status_code, begun.json()["domain"]) == (202, "market")
        saga_id = begun.json()["saga_id"]
        await browser.get(f"/sagas/{saga_id}/events")
        assert (await browser.get(f"/sagas/{saga_id}")).json()["status"] == "awaiting_approval"
        unknown = await browser.post("/sagas", json={"domain": "moon", "text": FRUIT})
        assert (unknown.status_code, "market" in unknown.json()["error"]["message"]) == (422, True)

"""A person as a provider: a link that works once, and what nobody answers; while somebody thinks, nothing is kept busy."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette

from sagagraph.errors import OperationFailedError
from sagagraph.fleet.store_fleet import StoreFleet
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.port import SagaStore
from sagagraph.services import person
from sagagraph.services.catalogue import service_of
from sagagraph.services.contract.check import Bench, check
from sagagraph.services.person import Answer, Task, Tasks, ask_action
from sagagraph.services.person_page import task_route
from tests.services.servers import Server
from tests.services.test_contract import asking_by_mail

SAGA = "move"


class Desk:
    """A saga that asks for the van, and whoever is asked, with a browser."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.letters: list[str] = []
        self.tasks = Tasks(engine.store, lambda: datetime.now(UTC))
        page = Starlette(routes=[task_route(lambda _request: self.tasks)])
        self.browser = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=page))
        self.answers: list[Answer] = []

    async def hand_over(self, _task: Task, _subject: str, text: str, _key: str) -> None:
        self.letters.append(text)

    async def body(self, *, every_s: float = 3600.0, within_s: float = 3600.0) -> None:
        ask = ask_action(self.tasks, "https://x", self.hand_over, looks_every_s=every_s)
        async with self.engine.saga(SAGA) as saga:
            task = Task(to="Alex", subject="The van?", text="Can you lend <us> the van?", within_s=within_s)
            self.answers.append(await saga.run(ask, task))

    async def link(self) -> str:
        while not self.letters:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        return re.findall(r"https://\S+", self.letters[0])[0]

    async def press(self, said: str, text: str = "") -> httpx2.Response:
        return await self.browser.post(await self.link(), data={"said": said, "text": text})

    async def is_done(self) -> bool:
        return (await self.engine.status(SAGA)).status == "committed"

    async def outcomes(self) -> list[Any]:
        return list(await self.engine.store.documents(SAGA, "person.outcome"))


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    async with Engine.open("memory:") as engine:
        made = Desk(engine)
        yield made
        await made.browser.aclose()


async def test_looking_changes_nothing_and_an_answer_is_kept_once(desk: Desk) -> None:
    asking = asyncio.create_task(desk.body(every_s=0.1))
    link = await desk.link()
    for method in ("GET", "GET", "HEAD"):
        looked = await desk.browser.request(method, link)
        assert looked.status_code == 200
        assert looked.headers["cache-control"] == "no-store"
    assert "Can you lend &lt;us&gt; the van?" in (await desk.browser.get(link)).text
    assert (await desk.press("withdrawn")).status_code == 400
    assert (await desk.press("answered", "x" * 4001)).status_code == 400
    assert await desk.outcomes() == []
    pressed = await asyncio.gather(*(desk.press("answered", f"from {hour}") for hour in range(5)))
    assert {200} <= {each.status_code for each in pressed} <= {200, 410}
    await asking
    (kept,) = await desk.outcomes()
    assert [each.text for each in desk.answers] == [kept.data["text"]]
    assert (await desk.browser.get(link)).status_code == 410
    for no_link in ("guessed", f"%2F{SAGA}%2Fask-1%2F1", "/"):
        assert (await desk.browser.get(f"https://x/task/{no_link}")).status_code == 404


@pytest.mark.parametrize(
    ("within_s", "code", "said"), [(3600.0, "person_refused", "I need it"), (0.3, "person_expired", "The van?")]
)
async def test_a_refusal_and_no_answer_in_time_turn_the_saga_back(desk: Desk, within_s: float, code: str, said: str) -> None:
    asking = asyncio.create_task(desk.body(every_s=0.1, within_s=within_s))
    if code == "person_refused":
        await desk.press("refused", "I need it")
    with pytest.raises(OperationFailedError, match=said):
        await asking
    view = await desk.engine.status(SAGA)
    assert view.status == "compensated"
    assert [(each.error or {})["code"] for each in view.operations] == [code]
    late = await desk.press("answered", "after all")
    assert "answered" not in late.text
    assert [each.data["said"] for each in await desk.outcomes()] == [code.removeprefix("person_")]


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        while not await holds():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.05)


async def parked(store: SagaStore, before: int) -> bool:
    """Whether a worker has taken the saga, and let go of it."""
    headline = await store.headline(SAGA)
    return headline is not None and headline.owner is None and headline.version > before


async def test_while_somebody_thinks_neither_a_lease_nor_a_slot_is_kept_and_an_answer_wakes_the_saga(desk: Desk) -> None:
    desk.engine.drives("", lambda _saga_id: desk.body())
    begun = asyncio.create_task(desk.body())
    await desk.link()
    begun.cancel()
    with suppress(asyncio.CancelledError):
        await begun
    store = desk.engine.store
    before = len(await store.read(SAGA))
    serving = asyncio.create_task(StoreFleet(store).serve(desk.engine.drive, [""], 1, "1"))
    try:
        await until(lambda: parked(store, before))
        written = len(await store.read(SAGA))
        await asyncio.sleep(1.0)
        assert len(await store.read(SAGA)) == written
        assert (await desk.engine.status(SAGA)).status == "running"
        await desk.press("answered", "yes")
        await until(desk.is_done)  # an hour, if it were not woken
    finally:
        serving.cancel()
    assert [each.text for each in desk.answers] == ["yes"]


async def test_what_is_withdrawn_cannot_be_answered_and_whoever_was_asked_hears_so(desk: Desk) -> None:
    asking = asyncio.create_task(desk.body(every_s=0.1))
    await desk.link()
    await desk.engine.store.ask(SAGA, "cancel", "Ann", None)  # type: ignore[arg-type]
    with pytest.raises(Exception, match="cancelled"):
        await asking
    assert "withdrawn" in (await desk.press("answered", "yes")).text
    assert "not needed any more" in desk.letters[-1]
    assert (await desk.engine.status(SAGA)).status == "compensated"


async def test_a_link_is_nowhere_but_in_the_letter(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    asking = asyncio.create_task(desk.body(every_s=0.1))
    secret = (await desk.link()).rpartition("/")[2]
    assert len(secret) > 40
    await desk.press("refused", "no")
    with suppress(OperationFailedError):
        await asking
    kept = json.dumps(await desk.engine.store.dump(SAGA), default=str) + str(await desk.engine.status(SAGA))
    hashed = await desk.engine.store.documents(person.owner_of(secret))
    assert len(hashed) == 1
    assert secret not in kept + str(hashed) + " ".join(
        each.getMessage() for each in caplog.records if "HTTP" not in each.getMessage()
    )


# -- planted mistakes ----------------------------------------------------------------------------------------------------


class ToldBeforehand(Tasks):
    """Writes down that somebody was told before anything was sent."""

    async def open(self, task: Task, call: Call) -> person.Asked:
        await self.told(await super().open(task, call))
        return replace(await super().open(task, call), is_told=False)


class ForgetsWithdrawals(Tasks):
    async def withdraw(self, _saga_id: str, _key: str) -> None:
        pass


@pytest.mark.parametrize("planted", [ToldBeforehand, ForgetsWithdrawals])
async def test_the_contract_finds_a_planted_mistake(
    planted: type[Tasks], mails: Server, mail_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(person, "Tasks", planted)
    monkeypatch.setattr("sagagraph.services.contract.check._PATIENCE_S", 3.0)
    account = asking_by_mail(mails, mail_folder, tmp_path)
    report = await check(service_of("person"), Bench(account), f"trial-{uuid.uuid4().hex[:8]}", sample=1, most=1)
    assert report.broken

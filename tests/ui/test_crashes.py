"""Servers of the app that die: what a visitor was told stays true, nothing happens twice, and everything is picked up."""

from __future__ import annotations

import asyncio
import resource
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sagagraph.saga.stores.port import RequestKind
from sagagraph.saga.stores.urls import open_store
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from sagagraph.ui.server.auth import COOKIE
from sagagraph.ui.server.routes.api import PREFIX
from sagagraph.ui.visitors import guest
from tests.support.databases import databases
from tests.support.today import TODAY
from tests.ui.crashing.visitor import trip
from tests.ui.crashing.weather import Forecast, weather
from tests.ui.nursery import PATIENCE_S, Nursery, Victim

TOKEN = "the-cookie-of-one-visitor-0123456789"


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as opened:
        yield opened


@dataclass
class Place:
    """One store and one reservation service; servers come and go."""

    nursery: Nursery
    folder: Path
    sandbox: str
    begun: int = 0

    @property
    def store(self) -> str:
        return f"sqlite:///{self.folder / 'saga.db'}"

    @asynccontextmanager
    async def server(self) -> AsyncIterator[tuple[Victim, httpx2.AsyncClient]]:
        """With a browser on it; killed at the end."""
        self.begun += 1
        victim = self.nursery.server(self.store, self.folder / f"{self.begun}.log", "--provider", self.sandbox)
        try:
            assert await victim.listens()
            cookie = {"cookie": f"{COOKIE}={TOKEN}"}
            async with httpx2.AsyncClient(base_url=victim.url + PREFIX, headers=cookie, timeout=PATIENCE_S) as browser:
                yield victim, browser
        finally:
            victim.signal(signal.SIGKILL)
            await victim.ends()
            assert (self.folder / f"{self.begun}.log").read_text() == ""

    async def books(self) -> dict[str, Any]:
        async with httpx2.AsyncClient() as asking:
            found: dict[str, Any] = (await asking.get(f"{self.sandbox}/ledger")).json()
        return found


@pytest.fixture
def place(nursery: Nursery, tmp_path: Path) -> Iterator[Place]:
    with EmbeddedSandbox(SandboxSettings(tmp_path / "sandbox.db", today=TODAY)) as sandbox:
        yield Place(nursery, tmp_path, sandbox.url)


async def until_quiet(browser: httpx2.AsyncClient, saga_id: str) -> dict[str, Any]:
    give_up_at = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up_at:
        standing: dict[str, Any] = (await browser.get(f"/sagas/{saga_id}")).json()
        if not standing["is_busy"]:
            return standing
        await asyncio.sleep(0.05)
    raise AssertionError(f"saga {saga_id} does not come to rest")


async def planned(browser: httpx2.AsyncClient) -> dict[str, Any]:
    begun = await browser.post("/sagas", json={"request": trip("Boston", "Lisbon", 5)})
    assert begun.status_code == 202, begun.text
    standing = await until_quiet(browser, begun.json()["saga_id"])
    assert standing["status"] == "awaiting_approval", standing
    return standing


async def booked(browser: httpx2.AsyncClient) -> dict[str, Any]:
    standing = await planned(browser)
    await browser.post(f"/sagas/{standing['saga_id']}/approve", json={"plan_hash": standing["plan_hash"]})
    standing = await until_quiet(browser, standing["saga_id"])
    assert standing["status"] == "committed", standing
    return standing


async def test_servers_that_are_killed_under_visitors_who_do_everything_lose_and_repeat_nothing(
    nursery: Nursery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with databases("sqlite") as made:
        done = await weather(nursery, made, Forecast("a sample", visitors=3, servers=2, acts=8))
    assert done.faults == []
    assert sum(times for harm, times in done.harms.items() if "killed" in harm) >= 3
    assert done.ends.total() >= 3


@pytest.mark.parametrize("act", ["begin", "approve", "reject", "choose", "change", "cancel"])
async def test_what_was_answered_with_202_is_true_after_the_server_is_killed_at_once(place: Place, act: str) -> None:
    async with place.server() as (victim, browser):
        asked, body = "/sagas", {"request": trip("London", "Rome", 3)}
        standing = {} if act == "begin" else await planned(browser)
        if act != "begin":
            asked = f"/sagas/{standing['saga_id']}/{act}"
            body = {"plan_hash": standing["plan_hash"]}
        if act == "change":
            body = {"text": "3 nights in Porto instead"}
        if act == "choose":
            offered = (await browser.get(f"/sagas/{standing['saga_id']}/plan")).json()["alternatives"]
            body = {"plan_hash": offered[0]["plan_hash"]}
        answer = await browser.post(asked, json=None if act == "cancel" else body)
        victim.signal(signal.SIGKILL)
    assert answer.status_code == 202, answer.text
    async with place.server() as (_victim, browser):
        now = await until_quiet(browser, answer.json()["saga_id"])
        plan = (await browser.get(f"/sagas/{now['saga_id']}/plan")).json()["shown"]["plan"]
    ends = {"approve": "committed", "reject": "rejected", "cancel": "compensated"}
    assert now["status"] == ends.get(act, "awaiting_approval")
    assert now["problem"] == ""
    if act == "choose":
        assert now["plan_hash"] == body["plan_hash"]
    if act == "change":
        assert "Porto" in str(plan)


async def test_a_paid_trip_that_is_cancelled_or_changed_goes_on_with_that_after_a_kill(place: Place) -> None:
    async with place.server() as (victim, browser):
        cancelled, changed = await booked(browser), await booked(browser)
        stay = next(each["id"] for each in changed["operations"] if each["action"] == "book_hotel")
        lost = await browser.post(f"/sagas/{changed['saga_id']}/disruptions", json={"key": stay})
        undone = await browser.post(f"/sagas/{cancelled['saga_id']}/cancel")
        victim.signal(signal.SIGKILL)
    assert (lost.status_code, undone.status_code) == (202, 202)
    async with place.server() as (_victim, browser):
        assert (await until_quiet(browser, cancelled["saga_id"]))["status"] == "compensated"
        now = await until_quiet(browser, changed["saga_id"])
    assert now["amendments"] == [f"{changed['saga_id']}~amendment-1"]
    states = [each["state"] for each in (await place.books())["reservations"] if each["saga_id"] == cancelled["saga_id"]]
    assert states == ["cancelled"] * len(states)


async def test_a_cancel_that_nobody_heard_is_seen_to_when_a_server_starts(place: Place) -> None:
    async with place.server() as (_victim, browser):
        standing = await booked(browser)
    store = await open_store(place.store)  # as a server leaves it that dies right after it has written the request down
    await store.ask(standing["saga_id"], RequestKind.CANCEL, guest(TOKEN).name, None)
    await store.close()
    async with place.server() as (_victim, browser):
        assert (await until_quiet(browser, standing["saga_id"]))["status"] == "compensated"
    assert {each["state"] for each in (await place.books())["reservations"]} == {"cancelled"}


async def test_two_servers_that_are_asked_for_the_same_at_once_do_it_once(place: Place) -> None:
    async with place.server() as (_one, browser), place.server() as (_other, another):
        standing = await planned(browser)
        path, body = f"/sagas/{standing['saga_id']}/approve", {"plan_hash": standing["plan_hash"]}
        answers = await asyncio.gather(*(each.post(path, json=body) for each in (browser, another, browser, another)))
        assert [each.status_code for each in answers] == [202] * 4
        give_up_at = time.monotonic() + PATIENCE_S
        while (now := await until_quiet(another, standing["saga_id"]))["status"] != "committed":
            assert time.monotonic() < give_up_at, now
            await asyncio.sleep(0.1)
        log = (await another.get(f"/sagas/{standing['saga_id']}/log")).json()["events"]
    assert [each["type"] for each in log].count("PlanApproved") == 1
    assert len((await place.books())["reservations"]) == 3


async def test_a_disk_without_space_is_told_in_one_line_and_nothing_is_half_said(place: Place) -> None:
    async with place.server() as (victim, browser):
        standing = await planned(browser)
        path, body = f"/sagas/{standing['saga_id']}/approve", {"plan_hash": standing["plan_hash"]}
        before = resource.prlimit(victim.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(victim.pid, resource.RLIMIT_FSIZE, (4096, before[1]))
        refused = await browser.post(path, json=body)
        begun = await browser.post("/sagas", json={"request": trip("London", "Rome", 3)})
        shown = (await browser.get(f"/sagas/{standing['saga_id']}")).json()
        listed = (await browser.get("/sagas")).json()["sagas"]
        resource.prlimit(victim.pid, resource.RLIMIT_FSIZE, before)
        for answer in (refused, begun):
            assert answer.status_code == 503
            assert answer.json()["error"]["message"].startswith("the journal could not be written")
        assert (shown["status"], shown["problem"]) == ("awaiting_approval", "")
        assert [each["saga_id"] for each in listed] == [standing["saga_id"]]
        assert (await browser.post(path, json=body)).status_code == 202
        assert (await until_quiet(browser, standing["saga_id"]))["status"] == "committed"


async def test_a_cancel_from_elsewhere_while_it_is_planned_is_no_problem_of_the_plan(place: Place) -> None:
    """As the command line asks for it beside the app, or a server that died before anybody heard it."""
    async with place.server() as (_victim, browser):
        begun = (await browser.post("/sagas", json={"request": trip("Boston", "Lisbon", 5)})).json()
        store = await open_store(place.store)
        await store.ask(begun["saga_id"], RequestKind.CANCEL, guest(TOKEN).name, None)
        await store.close()
        standing = await until_quiet(browser, begun["saga_id"])
        if standing["status"] == "awaiting_approval":  # planning was quicker: whoever looks next sees to it
            await browser.post(f"/sagas/{begun['saga_id']}/resume")
            standing = await until_quiet(browser, begun["saga_id"])
        assert (standing["status"], standing["problem"]) == ("compensated", "")

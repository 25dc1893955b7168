"""A day whose parts are sent by mail and into calendars, to be killed at every boundary: the mail server's Maildir and the
calendars are the ledger.

`python -m sagagraph.testing tests.services.delivered_day:DAYS` sweeps it. What is one case's bears the name of its folder.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from mailbox import Maildir
from pathlib import Path
from typing import Any

import httpx2

from sagagraph.domains.reunion.actions.delivery import open_delivery
from sagagraph.domains.reunion.domain import Reunion
from sagagraph.errors import UnknownSagaError
from sagagraph.graph.planning_graph import PlanningGraph, planning_graph
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.urls import open_store
from sagagraph.services import caldav
from sagagraph.services.event import is_cancelled, read
from sagagraph.settings import Settings
from sagagraph.testing.crash import CrashPoint
from sagagraph.testing.scenario import Judgement, store_of
from tests.domains.reunion.scripted import LATE, Script, outbox_in, request, standing

SAGA = "dinner-1"
MAILED = ("Ann", "Bob", "Cleo")
IN_CALENDAR = ("Ann", "Dan")


@dataclass(frozen=True)
class DeliveredDay:
    """`event`: what happens to a day that is open; `cancels`: it is called off. Without either, the day is begun."""

    name: str
    event: dict[str, Any] | None = None
    cancels: bool = False

    @contextmanager
    def world(self, folder: Path) -> Iterator[None]:
        yield

    async def prepare(self, folder: Path) -> None:
        async with httpx2.AsyncClient() as client:
            for each in IN_CALENDAR:
                await client.request("MKCALENDAR", f"{os.environ['DAY_CALENDARS']}{folder.name}-{each}/")
        if self.event or self.cancels:
            async with _opened(folder, None) as (_engine, graph):
                await graph.start(SAGA, _request(folder), approved_by="Ann")

    async def run(self, folder: Path, crash: CrashPoint) -> None:
        async with _opened(folder, crash) as (engine, graph):
            if self.cancels:
                await engine.cancel(SAGA, by="Ann")
            elif self.event:
                await graph.change(SAGA, _request(folder, events=[self.event]), by="Ann", approved_by="Ann")
            else:
                await graph.start(SAGA, _request(folder), approved_by="Ann")

    async def resume(self, folder: Path) -> None:
        async with _opened(folder, None) as (_engine, graph):
            with suppress(UnknownSagaError):
                await graph.resume(SAGA)

    async def judge(self, folder: Path) -> Judgement:
        engine = Engine(await open_store(store_of(folder)))
        try:
            status = (await engine.status(SAGA)).status.value
            told = standing(await outbox_in(folder, engine.store).messages(SAGA))
        except UnknownSagaError:
            status, told = "never begun", {}
        finally:
            await engine.close()
        due = {"running": 1, "compensated": 0, "never begun": 0}.get(status)
        if due is None:
            return Judgement(status, (f"it is {status}",))
        mails, events = _mailed(folder.name), await _events(folder.name)
        faults = [f"{status}, and {who} has {sorted(mails.get(who, ()))}" for who in MAILED if len(mails.get(who, ())) != due]
        faults += [f"{status}, and the calendar of {who} has {events[who]}" for who in IN_CALENDAR if len(events[who]) != due]
        for who, texts in (*mails.items(), *events.items()):
            faults += [f"{who} is told {text!r}" for text in texts if text not in told.get(who, "")]
        return Judgement(status, tuple(faults))


def _request(folder: Path, **more: Any) -> dict[str, Any]:
    wanted = request(**more)
    for person in wanted["problem"]["people"]:
        if person["name"] in MAILED:
            person["mail"] = f"{person['name']}@{folder.name}.example.org"
    return wanted


def _mailed(case: str) -> dict[str, list[str]]:
    """Return what the calendars of those who got mail hold, by person: for each UID, what has the highest SEQUENCE."""
    latest: dict[tuple[str, str], Any] = {}
    for mail in Maildir(os.environ["DAY_MAILS"], create=False):
        who, _at, host = str(mail["To"]).partition("@")
        for part in mail.walk():
            if host == f"{case}.example.org" and part.get_content_type() == "text/calendar":
                event = read(part.get_payload(decode=True).decode())
                key = (who, str(event["uid"]))
                if key not in latest or int(event["sequence"]) >= int(latest[key]["sequence"]):
                    latest[key] = event
    found: dict[str, list[str]] = {}
    for (who, _uid), event in latest.items():
        if not is_cancelled(event):
            found.setdefault(who, []).append(str(event["description"]))
    return found


async def _events(case: str) -> dict[str, list[str]]:
    found = {}
    async with httpx2.AsyncClient() as client:
        for who in IN_CALENDAR:
            url = f"{os.environ['DAY_CALENDARS']}{case}-{who}/"
            answer = await client.request("REPORT", url, content=caldav._QUERY, headers={"Depth": "1"})
            events = [read(text) for text in caldav._objects(answer.raise_for_status().text)]
            found[who] = [str(each["description"]) for each in events if each and not is_cancelled(each)]
    return found


def _settings(folder: Path) -> Settings:
    told = {
        "provider_url": "http://127.0.0.1:9",
        "mail": {"url": os.environ["DAY_MAIL"], "sender": "host@example.org"},
        "calendars": {"url": os.environ["DAY_CALENDARS"], "of": {each: f"{folder.name}-{each}" for each in IN_CALENDAR}},
    }
    return Settings.model_validate(told)


@asynccontextmanager
async def _opened(folder: Path, crash: CrashPoint | None) -> AsyncIterator[tuple[Engine, PlanningGraph]]:
    store, script = await open_store(store_of(folder)), Script()
    if crash is None:
        engine = Engine(store)
    else:
        store = crash.around_store(store)
        engine = Engine(store, around_call=crash.around_call, lease_ttl_s=crash.lease_ttl_s)
    async with open_delivery(_settings(folder)) as delivery:
        try:
            domain = Reunion(script, outbox_in(folder, store), script.judge, delivery)
            yield engine, planning_graph(domain=domain, engine=engine)
        finally:
            await engine.close()


DAYS = (DeliveredDay("begun"), DeliveredDay("an event", event=LATE), DeliveredDay("called off", cancels=True))

"""A day whose parts are sent by mail and into calendars, to be killed at every boundary: the mail server's Maildir and the
calendars are the ledger.

`python -m sagagraph.testing tests.services.delivered_day:DAYS` sweeps it. What is one case's bears the name of its folder.
"""

from __future__ import annotations

import os
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from mailbox import Maildir
from pathlib import Path
from typing import Any

import httpx2
from pydantic import TypeAdapter

from sagagraph.domains.reunion.actions.delivery import Delivery, open_delivery
from sagagraph.services import caldav
from sagagraph.services.event import is_cancelled, read
from sagagraph.settings import Settings
from tests.domains.reunion.killed_days import DayScenario
from tests.domains.reunion.scripted import LATE, request

MAILED = ("Ann", "Bob", "Cleo")
IN_CALENDAR = ("Ann", "Dan")


@dataclass(frozen=True)
class DeliveredDay(DayScenario):
    async def prepare(self, folder: Path) -> None:
        async with httpx2.AsyncClient() as client:
            for each in IN_CALENDAR:
                await client.request("MKCALENDAR", f"{os.environ['DAY_CALENDARS']}{folder.name}-{each}/")
        await super().prepare(folder)

    def request(self, folder: Path, **more: Any) -> dict[str, Any]:
        wanted = request(**more)
        for person in wanted["problem"]["people"]:
            if person["name"] in MAILED:
                person["mail"] = f"{person['name']}@{folder.name}.example.org"
        return wanted

    def delivery(self, folder: Path) -> AbstractAsyncContextManager[Delivery]:
        told = {
            "provider_url": "http://127.0.0.1:9",
            "mail": {"url": os.environ["DAY_MAIL"], "sender": "host@example.org"},
            "calendars": {"url": os.environ["DAY_CALENDARS"], "of": {each: f"{folder.name}-{each}" for each in IN_CALENDAR}},
        }
        return open_delivery(TypeAdapter(Settings).validate_python(told))

    async def sent_amiss(self, folder: Path, status: str, told: dict[str, str]) -> list[str]:
        due = {"running": 1, "compensated": 0, "never begun": 0}.get(status)
        mails, events = _mailed(folder.name), await _events(folder.name)
        faults = [f"{status}, and {who} has {sorted(mails.get(who, ()))}" for who in MAILED if len(mails.get(who, ())) != due]
        faults += [f"{status}, and the calendar of {who} has {events[who]}" for who in IN_CALENDAR if len(events[who]) != due]
        for who, texts in (*mails.items(), *events.items()):
            faults += [f"{who} is told {text!r}" for text in texts if text not in told.get(who, "")]
        return faults


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


DAYS = (DeliveredDay("begun"), DeliveredDay("an event", event=LATE), DeliveredDay("called off", cancels=True))

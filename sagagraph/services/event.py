"""Event of a calendar, and what is said of it: an object in a calendar (RFC 5545), or an invitation to it (iTIP, RFC 5546)."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from typing import Final

from pydantic import BaseModel

from sagagraph.extras import needing

with needing("mail"):
    import icalendar

PRODUCT: Final = "-//SagaGraph//Services//EN"


class Event(BaseModel):
    """Event. Times without an offset are those of the place (floating). `said_at` is when this was said first (DTSTAMP); by
    default when it is written.

    `uid`: as other calendars know it; by default it is made from the key of the operation.
    """

    summary: str
    begins: datetime
    ends: datetime
    said_at: datetime | None = None
    location: str = ""
    description: str = ""
    organizer: str = ""
    attendee: str = ""
    uid: str = ""


class Method(StrEnum):
    """Methods of iTIP; an object in a calendar has none (RFC 4791, section 4.1)."""

    REQUEST = "REQUEST"
    CANCEL = "CANCEL"


def name_of(key: str) -> str:
    """Return a name made from a key, for what bears it where names are short."""
    return sha256(key.encode()).hexdigest()[:40]


def uid_of(event: Event, key: str) -> str:
    return event.uid or f"{name_of(key)}@sagagraph"


def written(
    event: Event, key: str, now: datetime, *, sequence: int = 0, is_cancelled: bool = False, method: Method | None = None
) -> str:
    """Return the event as text: the same input gives the same bytes. `X-SAGAGRAPH-KEY` says which operation wrote it."""
    calendar = icalendar.Calendar()
    calendar.add("prodid", PRODUCT)
    calendar.add("version", "2.0")
    if method is not None:
        calendar.add("method", method.value)
    said = icalendar.Event()
    said.add("uid", uid_of(event, key))
    said.add("sequence", sequence)
    said.add("dtstamp", (event.said_at or now).astimezone(UTC))
    for name, moment in (("dtstart", event.begins), ("dtend", event.ends)):
        said.add(name, moment if moment.tzinfo is None else moment.astimezone(UTC))
    for name in ("summary", "location", "description"):
        if getattr(event, name):
            said.add(name, getattr(event, name))
    for name in ("organizer", "attendee"):
        if getattr(event, name):
            said.add(name, icalendar.vCalAddress(f"mailto:{getattr(event, name)}"))
    said.add("status", "CANCELLED" if is_cancelled else "CONFIRMED")
    said.add("x-sagagraph-key", name_of(key))
    calendar.add_component(said)
    return str(calendar.to_ical().decode())


def read(text: str) -> icalendar.Component | None:
    """Return the event in an object of a calendar; None if there is none, or none that can be read."""
    try:
        events: list[icalendar.Component] = icalendar.Calendar.from_ical(text).walk("VEVENT")
        return next(iter(events), None)
    except ValueError:
        return None


def is_cancelled(event: icalendar.Component) -> bool:
    return str(event.get("status", "")).upper() == "CANCELLED"


def is_by(event: icalendar.Component, key: str) -> bool:
    """Tell whether the operation with this key was the last to write it."""
    return str(event.get("x-sagagraph-key", "")) == name_of(key)

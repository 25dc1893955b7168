"""Invitations as calendar files (RFC 5545, iTIP of RFC 5546): a part of a day, and its withdrawal. Same input, same bytes."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from icalendar import Calendar, Event, vCalAddress

from sagagraph.domains.reunion.parts import Part
from sagagraph.domains.reunion.times import is_dated, text_of

PRODUCT: Final = "-//SagaGraph//Reunion//EN"


def invitation_ics(part: Part, uid: str, *, sent: datetime, is_tentative: bool = False) -> bytes:
    """Return one event from the first step to the end of the last: a request may contain no more than one (RFC 5546, 3.2.2).

    `is_tentative`: of a plan that nobody has approved; the invitation has the same `uid`, and replaces it.
    """
    return _file(part, uid, "PUBLISH" if is_tentative else "REQUEST", sequence=0, sent=sent)


def withdrawal_ics(part: Part, uid: str, *, sent: datetime) -> bytes:
    """Return a file that removes the invitation of this `uid` from calendars (RFC 5546, 3.2.5)."""
    return _file(part, uid, "CANCEL", sequence=1, sent=sent)


def part_text(part: Part) -> str:
    """Return the text of the event and of the message: a line for each step."""
    return "\n".join(f"{text_of(step.start)} to {text_of(step.end)}: {step.what}" for step in part.steps)


def message_text(part: Part) -> str:
    """Return what somebody is told of the part, wherever it is read."""
    return f"{part.who}, your part of {part.reunion} on {part.day}:\n{part_text(part)}"


def span_of(part: Part) -> tuple[datetime, datetime]:
    """Return when the first step begins and the last one ends."""
    begins, ends = min(step.start for step in part.steps), max(step.end for step in part.steps)
    return _instant(begins, part.day), _instant(ends, part.day)


def _file(part: Part, uid: str, method: str, *, sequence: int, sent: datetime) -> bytes:
    calendar = Calendar()
    calendar.add("prodid", PRODUCT)
    calendar.add("version", "2.0")
    calendar.add("method", method)
    event = Event()
    event.add("uid", uid)
    event.add("sequence", sequence)
    event.add("dtstamp", sent.astimezone(UTC))
    for name, moment in zip(("dtstart", "dtend"), span_of(part), strict=True):
        event.add(name, moment)
    event.add("summary", part.reunion)
    event.add("location", part.steps[0].place)
    event.add("description", part_text(part))
    event.add("status", {"CANCEL": "CANCELLED", "PUBLISH": "TENTATIVE"}.get(method, "CONFIRMED"))
    event.add("organizer", vCalAddress("urn:sagagraph:organizer"))
    if method == "PUBLISH":  # it invites nobody (RFC 5546, 3.2.1)
        calendar.add_component(event)
        return bytes(calendar.to_ical())
    attendee = vCalAddress("urn:sagagraph:attendee")  # no address is known here: whoever delivers it knows them by the name
    attendee.params["CN"] = part.who
    event.add("attendee", attendee)
    calendar.add_component(event)
    return bytes(calendar.to_ical())


def _instant(moment: int, day: date) -> datetime:
    """Format dated moments in UTC; times of day on `day`, in local time (floating, RFC 5545 3.3.5)."""
    if is_dated(moment):
        return datetime.fromtimestamp(moment * 60, UTC)
    return datetime.combine(day, time()) + timedelta(minutes=moment)

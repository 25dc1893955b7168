"""CalDAV: events in somebody's calendar (RFC 4791), each under a name that is made from its key.

What is created must not be there yet, and what is changed must be as it was read (RFC 9110, section 13.1): a second call changes
nothing. What is undone stays as a cancelled event: it keeps the name, so that a call that arrives late creates nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urljoin
from uuid import uuid4

from pydantic import BaseModel

from sagagraph.errors import InvalidInputError, Refused
from sagagraph.extras import needing
from sagagraph.refusals import http_refused
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action, Guarantees, action
from sagagraph.saga.engine.body import BodySaga
from sagagraph.saga.engine.call import Probe
from sagagraph.services.event import Event, is_by, is_cancelled, name_of, read, uid_of, written
from sagagraph.services.service import FOREVER, POLICY, Account, Now, Opened, Trial, now_in_utc

with needing("caldav"):
    import httpx2

_PRECONDITION_FAILED: Final = 412
_TYPE: Final = {"Content-Type": "text/calendar; charset=utf-8"}


class NewEvent(BaseModel):
    event: Event
    calendar: str = ""
    """The path of the calendar, relative to the account's URL; by default that URL is the calendar."""


class ChangedEvent(BaseModel):
    """Change of the event in the object `path`, as it was read: `etag` and `body`."""

    path: str
    etag: str
    body: str
    event: Event


class Stored(BaseModel):
    path: str
    etag: str
    uid: str


class Calendars:
    """Calendars of one account."""

    def __init__(self, account: Account, now: Now = now_in_utc) -> None:
        if not account.url.startswith(("http://", "https://")):
            raise InvalidInputError("the http or https address of a calendar", field="--url")
        auth = httpx2.BasicAuth(account.user, account.secret) if account.user else None
        self._base = account.address if account.address.endswith("/") else f"{account.address}/"
        self._client = httpx2.AsyncClient(auth=auth, timeout=POLICY.timeout_s)
        self.identity = account.identity
        self.now = now

    async def close(self) -> None:
        await self._client.aclose()

    def path(self, calendar: str, key: str) -> str:
        return f"{calendar.strip('/')}/{name_of(key)}.ics".lstrip("/")

    async def get(self, path: str) -> tuple[str, str]:
        """Return the object and its ETag; empty texts if there is none."""
        answer = await self._client.get(urljoin(self._base, path))
        if answer.status_code == httpx2.codes.NOT_FOUND:
            return "", ""
        answer.raise_for_status()
        return answer.text, answer.headers.get("ETag", "")

    async def put(self, path: str, body: str, etag: str) -> bool:
        """Write an object that is there with this ETag, or (if that is empty) is not there; tell whether it was so."""
        condition = {"If-Match": etag} if etag else {"If-None-Match": "*"}
        answer = await self._client.put(urljoin(self._base, path), content=body, headers=_TYPE | condition)
        if answer.status_code == _PRECONDITION_FAILED:
            return False
        answer.raise_for_status()
        return True

    async def request(self, method: str, path: str, **rest: Any) -> httpx2.Response:
        return (await self._client.request(method, urljoin(self._base, path), **rest)).raise_for_status()

    async def cancel(self, path: str, event: Event, key: str) -> None:
        """Leave the event cancelled, whether or not it has come: its name is taken from then on."""
        for _attempt in range(3):
            body, etag = await self.get(path)
            found = read(body)
            if found is not None and is_cancelled(found):
                return
            sequence = int(found.get("sequence", 0)) + 1 if found is not None else 1
            if await self.put(path, written(event, key, self.now(), sequence=sequence, is_cancelled=True), etag):
                return
        raise Refused("the event changes all the time", code="changed_since", transient=True)


def calendar_actions(calendars: Calendars) -> tuple[Action, ...]:
    return (_put_action(calendars), _change_action(calendars))


def _put_action(calendars: Calendars) -> Action:
    async def put_event(request: NewEvent, call: Call) -> Stored:
        path = calendars.path(request.calendar, call.idempotency_key)
        if not await calendars.put(path, written(request.event, call.idempotency_key, calendars.now()), ""):
            found = read((await calendars.get(path))[0])
            if found is None or is_cancelled(found):
                raise Refused("the event was cancelled before it came", code="voided")
        return await stored(path, uid_of(request.event, call.idempotency_key))

    async def cancel(request: NewEvent, _stored: Stored, call: Call) -> None:
        await calendars.cancel(calendars.path(request.calendar, call.operation_key), request.event, call.operation_key)

    async def void(request: NewEvent, call: Call) -> None:
        await calendars.cancel(calendars.path(request.calendar, call.operation_key), request.event, call.operation_key)

    async def find(request: NewEvent, call: Call) -> Probe:
        path = calendars.path(request.calendar, call.operation_key)
        body, etag = await calendars.get(path)
        found = read(body)
        if found is None:
            return Probe.absent()
        return Probe.undone() if is_cancelled(found) else Probe.landed(Stored(path=path, etag=etag, uid=str(found["uid"])))

    async def stored(path: str, uid: str) -> Stored:
        return Stored(path=path, etag=(await calendars.get(path))[1], uid=uid)

    return action(
        put_event,
        compensate=cancel,
        probe=find,
        policy=POLICY,
        guarantees=Guarantees(dedup=FOREVER, void=void),
        fails_on=http_refused,
        provider=calendars.identity,
    )


def _change_action(calendars: Calendars) -> Action:
    """Make the action that changes an event. Whoever has it in the calendar sees the next SEQUENCE, also when it is undone."""

    async def change_event(request: ChangedEvent, call: Call) -> Stored:
        body = _changed(request, call.idempotency_key, calendars.now())
        await calendars.put(request.path, body, request.etag)
        now, etag = await calendars.get(request.path)
        found = read(now)
        if found is None or not is_by(found, call.idempotency_key):
            raise Refused("others have changed this event since it was read", code="changed_since")
        return Stored(path=request.path, etag=etag, uid=str(found["uid"]))

    async def restore(request: ChangedEvent, _stored: Stored, call: Call) -> None:
        await void(request, call)

    async def void(request: ChangedEvent, call: Call) -> None:
        """Write the event as it was, with a new ETag in any case, so that a change that comes late is refused."""
        now, etag = await calendars.get(request.path)
        found = read(now)
        if found is None or is_by(found, _undoing(call)):
            return
        is_untouched = etag == request.etag
        if not is_untouched and not is_by(found, call.operation_key):
            raise Refused("others have changed this event since", code="changed_since")
        if not await calendars.put(request.path, _restored(request, int(found.get("sequence", 0)) + 1, _undoing(call)), etag):
            raise Refused("the event was changed just now", code="changed_since", transient=True)

    async def find(request: ChangedEvent, call: Call) -> Probe:
        now, etag = await calendars.get(request.path)
        found = read(now)
        if found is not None and is_by(found, call.operation_key):
            return Probe.landed(Stored(path=request.path, etag=etag, uid=str(found["uid"])))
        if found is not None and is_by(found, _undoing(call)):
            return Probe.undone()
        return Probe.absent() if etag == request.etag else Probe.unknown("others have changed this event since")

    return action(
        change_event,
        compensate=restore,
        probe=find,
        policy=POLICY,
        guarantees=Guarantees(dedup=FOREVER, void=void),
        fails_on=http_refused,
        provider=calendars.identity,
    )


def _undoing(call: Call) -> str:
    return f"{call.operation_key}/undone"


def _changed(request: ChangedEvent, key: str, now: datetime) -> str:
    before = read(request.body)
    sequence, uid = (0, "") if before is None else (int(before.get("sequence", 0)), str(before["uid"]))
    return written(request.event.model_copy(update={"uid": uid}), key, now, sequence=sequence + 1)


def _restored(request: ChangedEvent, sequence: int, key: str) -> str:
    with needing("caldav"):
        import icalendar
    calendar = icalendar.Calendar.from_ical(request.body)
    for each in calendar.walk("VEVENT"):
        for name, value in (("sequence", sequence), ("x-sagagraph-key", name_of(key))):
            each.pop(name, None)
            each.add(name, value)
    return str(calendar.to_ical().decode())


# -- the service -----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def open_account(account: Account) -> AsyncIterator[Opened]:
    calendars = Calendars(account)
    try:
        yield Opened(actions := calendar_actions(calendars), _trial(calendars, actions))
    finally:
        await calendars.close()


_TRIAL_CALENDAR: Final = f"sagagraph-trial-{uuid4().hex[:8]}"


def _trial(calendars: Calendars, actions: tuple[Action, ...]) -> Trial:
    put, change = actions

    async def book(saga: BodySaga, name: str) -> None:
        event = _sample(name, "here")
        made = await saga.run(put, NewEvent(event=event, calendar=_TRIAL_CALENDAR))
        body = written(event.model_copy(update={"uid": made.uid}), "", calendars.now())
        before = {"path": made.path, "etag": made.etag, "body": body}
        await saga.run(change, ChangedEvent(**before, event=_sample(name, "there")))

    async def standing(name: str) -> list[str]:
        answer = await calendars.request("REPORT", f"{_TRIAL_CALENDAR}/", content=_QUERY, headers={"Depth": "1"})
        found = [read(text) for text in _objects(answer.text)]
        return [str(each["location"]) for each in found if each and each["summary"] == name and not is_cancelled(each)]

    @asynccontextmanager
    async def around() -> AsyncIterator[None]:
        await calendars.request("MKCALENDAR", f"{_TRIAL_CALENDAR}/")
        try:
            yield
        finally:
            await calendars.request("DELETE", f"{_TRIAL_CALENDAR}/")

    return Trial(standing, done=["there"], undone=[], book=book, around=around)


def _sample(name: str, place: str) -> Event:
    moment = datetime(2030, 1, 1, 12, tzinfo=UTC)
    return Event(summary=name, begins=moment, ends=moment.replace(hour=13), said_at=moment, location=place)


def _objects(multistatus: str) -> list[str]:
    from xml.etree import ElementTree as ET

    root = ET.fromstring(multistatus)  # noqa: S314 - of the account that is tried
    return [each.text or "" for each in root.iter("{urn:ietf:params:xml:ns:caldav}calendar-data")]


_QUERY: Final = """<?xml version="1.0"?>
<c:calendar-query xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:prop><d:getetag/><c:calendar-data/></d:prop>
<c:filter><c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT"/></c:comp-filter></c:filter></c:calendar-query>"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import pytest
from icalendar import Calendar

from sagagraph.domains.reunion.actions.calendar import invitation_ics, withdrawal_ics
from sagagraph.domains.reunion.actions.outbox import Draft, Message, MessageKind, Outbox
from sagagraph.domains.reunion.day import DayPlan, parse_request
from sagagraph.domains.reunion.parts import Part, parts_of
from sagagraph.errors import Refused
from sagagraph.saga.stores.port import SagaStore
from sagagraph.saga.stores.urls import open_store

from .scripted import AS_PLANNED, clock, outbox_in, plan_of, request

pytestmark = pytest.mark.quick


def parts() -> dict[str, Part]:
    plan = DayPlan.of(plan_of(AS_PLANNED), parse_request(request()))
    return {each.who: each for each in parts_of(plan)}


def draft(key: str, *, withdraws: str | None = None) -> Draft:
    def made(at: datetime) -> Message:
        kind = MessageKind.INVITATION if withdraws is None else MessageKind.WITHDRAWAL
        sequence = 0 if withdraws is None else 1
        return Message(key, kind, "dinner", "assign Bob", "Bob", "uid", sequence, "text", "ics", at.isoformat(), withdraws)

    return made


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SagaStore]:
    urls = {"memory": "memory:", "sqlite": f"sqlite:///{tmp_path / 'saga.db'}"}
    opened = await open_store(urls.get(request.param) or request.getfixturevalue("database"))
    yield opened
    await opened.close()


@pytest.fixture
def outbox(tmp_path: Path, store: SagaStore) -> Outbox:
    return outbox_in(tmp_path, store)


async def test_what_is_posted_twice_under_one_key_stands_once(outbox: Outbox) -> None:
    assert await outbox.post("dinner", "k", draft("k")) == await outbox.post("dinner", "k", draft("k"))
    assert [each.key for each in await outbox.messages("dinner")] == ["k"]


async def test_what_is_taken_back_twice_is_taken_back_once(outbox: Outbox) -> None:
    await outbox.post("dinner", "k", draft("k"))
    first = await outbox.withdraw("dinner", "k", draft("w", withdraws="k"))
    assert await outbox.withdraw("dinner", "k", draft("another", withdraws="k")) == first
    assert len(await outbox.messages("dinner")) == 2


async def test_a_voided_key_is_refused_for_good(outbox: Outbox) -> None:
    assert await outbox.void("dinner", "k", lambda _landed: draft("w", withdraws="k")) is None
    with pytest.raises(Refused):
        await outbox.post("dinner", "k", draft("k"))
    assert await outbox.messages("dinner") == ()


async def test_a_void_takes_back_what_had_landed_once(outbox: Outbox) -> None:
    await outbox.post("dinner", "k", draft("k"))
    first = await outbox.void("dinner", "k", lambda _landed: draft("w", withdraws="k"))
    assert first is not None
    assert await outbox.void("dinner", "k", lambda _landed: draft("again", withdraws="k")) == first


async def test_a_lost_file_is_written_again_from_its_row(outbox: Outbox) -> None:
    message = await outbox.post("dinner", "k", draft("k"))
    outbox.file_of(message).unlink()
    outbox.write_file(message)
    assert outbox.file_of(message).read_text() == "ics"


async def test_the_clock_of_a_day_never_goes_back(outbox: Outbox) -> None:
    assert await outbox.clock("dinner") is None
    for moment in (60, 90, 70):
        await outbox.advance("dinner", moment)
    assert await outbox.clock("dinner") == 90


async def test_an_id_does_not_lead_out_of_the_folder(outbox: Outbox) -> None:
    def made(at: datetime) -> Message:
        return Message("k", "invitation", "../../x", "../y", "Bob", "uid", 0, "", "ics", at.isoformat())

    assert outbox.folder in outbox.file_of(await outbox.post("../../x", "k", made)).resolve().parents


_EARLIER = """
CREATE TABLE message (
    key TEXT PRIMARY KEY, kind TEXT NOT NULL, saga_id TEXT NOT NULL, operation_id TEXT NOT NULL, person TEXT NOT NULL,
    uid TEXT NOT NULL, sequence INTEGER NOT NULL, text TEXT NOT NULL, calendar TEXT NOT NULL, created_at TEXT NOT NULL,
    withdraws TEXT UNIQUE
);
CREATE TABLE voided (key TEXT PRIMARY KEY);
CREATE TABLE clock (saga_id TEXT PRIMARY KEY, moment INTEGER NOT NULL);
INSERT INTO message VALUES ('dinner/a/1', 'invitation', 'dinner', 'a', 'Ann', 'u', 0, 'come', 'ics', '2026-11-20', NULL);
INSERT INTO message VALUES ('dinner/b/1', 'invitation', 'dinner', 'b', 'Bob', 'v', 0, 'come', 'ics', '2026-11-20', NULL);
INSERT INTO message VALUES
    ('dinner/a/1/withdrawn', 'withdrawal', 'dinner', 'a', 'Ann', 'u', 1, 'stay', 'ics', '2026-11-21', 'dinner/a/1');
INSERT INTO voided VALUES ('dinner/a/1'), ('dinner/c d/1');
INSERT INTO clock VALUES ('dinner', 75);
"""
"""As release 0.2.0 kept them."""


async def test_what_release_0_2_0_kept_in_a_file_is_brought_in_once(outbox: Outbox) -> None:
    outbox.folder.mkdir()
    with sqlite3.connect(outbox.folder / "messages.db") as earlier:
        earlier.executescript(_EARLIER)
    found = await outbox.messages("dinner")
    assert [(each.person, each.kind, each.withdraws) for each in found] == [
        ("Ann", "invitation", None),
        ("Bob", "invitation", None),
        ("Ann", "withdrawal", "dinner/a/1"),
    ]
    assert await outbox.clock("dinner") == 75
    assert await outbox.withdrawal_of("dinner", "dinner/a/1") == found[2]
    for voided in ("dinner/a/1", "dinner/c d/1"):
        with pytest.raises(Refused):
            await outbox.post("dinner", voided, draft(voided))
    assert [each.name for each in outbox.folder.iterdir()] == ["messages.db.imported"]
    assert await outbox.messages("dinner") == found


async def test_a_key_is_voided_while_it_is_posted_and_one_of_the_two_wins(outbox: Outbox) -> None:
    for number in range(10):
        key = f"k{number}"
        posting = outbox.post("dinner", key, draft(key))
        voiding = outbox.void("dinner", key, lambda landed: draft("w", withdraws=landed.key))
        posted, taken_back = await asyncio.gather(posting, voiding, return_exceptions=True)
        assert isinstance(posted, Refused) is (taken_back is None)
        with pytest.raises(Refused):
            await outbox.post("dinner", key, draft(key))


def test_an_invitation_holds_the_whole_part_and_its_withdrawal_takes_just_that_back() -> None:
    part = parts()["Ann"]
    invitation, withdrawal = (Calendar.from_ical(make(part, "uid@x", sent=clock())) for make in (invitation_ics, withdrawal_ics))
    assert (invitation["METHOD"], withdrawal["METHOD"]) == ("REQUEST", "CANCEL")
    (told,), (taken_back,) = invitation.walk("VEVENT"), withdrawal.walk("VEVENT")
    assert told["UID"] == taken_back["UID"] == "uid@x"
    assert taken_back["SEQUENCE"] == told["SEQUENCE"] + 1
    assert told["DTSTART"].dt == datetime(2026, 11, 26, 11, 30)  # noqa: DTZ001 - a floating time, as clocks there show it
    assert told["DTEND"].dt == datetime(2026, 11, 26, 12, 30)  # noqa: DTZ001
    assert told["ATTENDEE"].params["CN"] == "Ann"
    assert "drive car from Station to Home, with Bob" in told["DESCRIPTION"]


def test_a_rider_is_not_told_who_else_rides_and_a_driver_is() -> None:
    ann, bob = parts()["Ann"], parts()["Bob"]
    assert ann.steps[1].what == "drive car from Station to Home, with Bob"
    assert bob.steps[0].what == "ride from Station to Home in car, with Ann"


def test_a_vehicle_that_brings_its_driver_is_told_too() -> None:
    taxi = plan_of([{**AS_PLANNED[1], "vehicle": "taxi", "driver": None, "riders": ["Ann", "Bob"]}])
    told = {each.who: each for each in parts_of(DayPlan.of(taxi, parse_request(request())))}
    assert told["taxi"].steps[0].what == "drive taxi from Station to Home, with Ann and Bob"
    assert told["Bob"].steps[0].what == "ride from Station to Home in taxi"

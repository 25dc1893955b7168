from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from icalendar import Calendar

from sagagraph.domains.reunion.actions.calendar import invitation_ics, withdrawal_ics
from sagagraph.domains.reunion.actions.outbox import Draft, Message, MessageKind, Outbox
from sagagraph.domains.reunion.day import DayPlan, parse_request
from sagagraph.domains.reunion.parts import Part, parts_of
from sagagraph.errors import Refused

from .scripted import AS_PLANNED, clock, outbox_in, plan_of, request


def parts() -> dict[str, Part]:
    plan = DayPlan.of(plan_of(AS_PLANNED), parse_request(request()))
    return {each.who: each for each in parts_of(plan)}


def draft(key: str, *, withdraws: str | None = None) -> Draft:
    def made(at: datetime) -> Message:
        kind = MessageKind.INVITATION if withdraws is None else MessageKind.WITHDRAWAL
        sequence = 0 if withdraws is None else 1
        return Message(key, kind, "dinner", "assign Bob", "Bob", "uid", sequence, "text", "ics", at.isoformat(), withdraws)

    return made


@pytest.fixture
def outbox(tmp_path: Path) -> Outbox:
    return outbox_in(tmp_path)


def test_what_is_posted_twice_under_one_key_stands_once(outbox: Outbox) -> None:
    assert outbox.post("k", draft("k")) == outbox.post("k", draft("k"))
    assert [each.key for each in outbox.messages("dinner")] == ["k"]


def test_what_is_taken_back_twice_is_taken_back_once(outbox: Outbox) -> None:
    outbox.post("k", draft("k"))
    first = outbox.withdraw("k", draft("w", withdraws="k"))
    assert outbox.withdraw("k", draft("another", withdraws="k")) == first
    assert len(outbox.messages("dinner")) == 2


def test_a_voided_key_is_refused_for_good(outbox: Outbox) -> None:
    assert outbox.void("k", lambda _landed: draft("w", withdraws="k")) is None
    with pytest.raises(Refused):
        outbox.post("k", draft("k"))
    assert outbox.messages("dinner") == ()


def test_a_void_takes_back_what_had_landed_once(outbox: Outbox) -> None:
    outbox.post("k", draft("k"))
    first = outbox.void("k", lambda _landed: draft("w", withdraws="k"))
    assert first is not None
    assert outbox.void("k", lambda _landed: draft("again", withdraws="k")) == first


def test_a_lost_file_is_written_again_from_its_row(outbox: Outbox) -> None:
    message = outbox.post("k", draft("k"))
    outbox.file_of(message).unlink()
    outbox.write_file(message)
    assert outbox.file_of(message).read_text() == "ics"


def test_the_clock_of_a_day_never_goes_back(outbox: Outbox) -> None:
    assert outbox.clock("dinner") is None
    for moment in (60, 90, 70):
        outbox.advance("dinner", moment)
    assert outbox.clock("dinner") == 90


def test_an_id_does_not_lead_out_of_the_folder(outbox: Outbox) -> None:
    def made(at: datetime) -> Message:
        return Message("k", "invitation", "../../x", "../y", "Bob", "uid", 0, "", "ics", at.isoformat())

    assert outbox.folder in outbox.file_of(outbox.post("k", made)).resolve().parents


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

"""`cancel` and `cancel --preview`, before, during and after the booking."""

from __future__ import annotations

import pytest

from tests.cli.commands import BOOKINGS, CommandLine
from tests.cli.conftest import OpenService


def test_cancelling_a_committed_trip_leaves_nothing_booked_and_nothing_paid(command: CommandLine) -> None:
    command.trip("undo", "--yes")
    told = command("cancel", "undo", "--json")
    assert (told.code, told.json["status"]) == (0, "compensated")
    ledger = command.ledger()
    assert (ledger.standing, ledger.repeated) == ((0, 0), [])
    assert [len(ledger.rows[name]) for name in ("reservations", "payments", "cancellations", "refunds")] == [5, 1, 5, 1]
    fees = sum(row["fee"] for row in ledger.rows["cancellations"])
    assert told.json["cost"] == {"total": 0, "currency": "USD", "fees": pytest.approx(fees)}
    assert {each["id"]: each["status"] for each in told.json["operations"]} == {
        "check": "succeeded",
        **dict.fromkeys(BOOKINGS, "compensated"),
        "payment": "compensated",
        "itinerary": "succeeded",
    }


def test_cancelling_twice_undoes_once(command: CommandLine) -> None:
    command.trip("undo", "--yes")
    first = command("cancel", "undo", "--json")
    before = command.ledger().rows
    second = command("cancel", "undo", "--json")
    assert (second.code, second.json) == (0, first.json)
    assert command.ledger().rows == before
    assert command("resume", "undo", "--json").json == first.json
    assert command.ledger().rows == before


def test_the_preview_names_what_would_be_undone_and_does_nothing(command: CommandLine) -> None:
    command.trip("think", "--yes")
    journal, ledger = command.journal("think"), command.ledger().rows
    told = command("cancel", "think", "--preview", "--json")
    assert told.code == 0
    preview = told.json
    assert preview["possible"] is True
    assert next(each["id"] for each in preview["undo"]) == "payment"
    assert {each["id"] for each in preview["undo"]} == {*BOOKINGS, "payment"}
    assert preview["fees"] > 0
    assert preview["fees"] == pytest.approx(sum(each["fee"] for each in preview["undo"]))
    assert any(each.startswith("itinerary:") for each in preview["residue"])
    assert any(each.startswith("T1: a cancellation fee of $") for each in preview["residue"])
    assert command.journal("think") == journal
    assert command.ledger().rows == ledger
    said = command("cancel", "think", "--preview")
    assert said.code == 0
    assert "would undo T1 (book_flight), fee " in said.out
    assert "fees: " in said.out
    assert "residue: itinerary" in said.out


def test_the_fees_are_those_that_the_preview_named(command: CommandLine) -> None:
    command.trip("think", "--yes")
    preview = command("cancel", "think", "--preview", "--json").json
    told = command("cancel", "think", "--json").json
    assert told["cost"]["fees"] == pytest.approx(preview["fees"])
    assert set(told["residue"]) == set(preview["residue"])


def test_a_trip_that_waits_is_cancelled_without_a_trace(command: CommandLine) -> None:
    command.trip("waits")
    preview = command("cancel", "waits", "--preview", "--json").json
    assert (preview["undo"], preview["fees"], preview["residue"]) == ([], 0, [])
    told = command("cancel", "waits", "--json")
    assert (told.code, told.json["status"], told.json["cost"]["total"]) == (0, "compensated", 0)
    assert command.ledger().landed == 0


def test_what_has_been_undone_already_is_not_undone_again(command: CommandLine, open_service: OpenService) -> None:
    with open_service([{"kind": "payment", "call": "capture", "fault": "refuse"}]) as service:
        command.provider = service.url
        assert command.trip("bad", "--yes")["status"] == "compensated"
        before = command.ledger().rows
        assert command("cancel", "bad", "--preview", "--json").json["undo"] == []
        assert command("cancel", "bad").code == 0
        assert command.ledger().rows == before


def test_a_saga_that_never_booked_has_nothing_to_cancel(command: CommandLine) -> None:
    command("trip", "--request", command.request_file(budget=100), "--saga-id", "poor")
    told = command("cancel", "poor", "--json")
    assert (told.code, told.json["status"]) == (1, "infeasible")
    command.trip("no")
    command("reject", "no")
    assert command("cancel", "no", "--json").json["status"] == "rejected"
    assert command("cancel", "no", "--preview", "--json").json["possible"] is False

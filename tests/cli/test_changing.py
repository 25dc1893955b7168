"""`sagagraph change` after the commit: the contract of its output, its exit codes, and what it leaves behind."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.cli.commands import CommandLine
from tests.cli.conftest import OpenService
from tests.cli.contract import Saga

BAD = {
    (): "TEXT",
    ("only 4 stars", "--request", "some.json"): "TEXT",
    ("--lost", "T9"): "no operation 'T9'",
    ("--lost", "payment"): "is no reservation",
}


@pytest.fixture
def booked(command: CommandLine, open_service: OpenService) -> Any:
    with open_service() as service:
        command.provider = service.url
        assert command.trip("trip", "--yes")["status"] == "committed"
        yield command


def withdraw(command: CommandLine, operation: str) -> None:
    (row,) = [row for row in command.ledger().rows["reservations"] if row["operation_id"] == operation]
    httpx2.post(f"{command.provider}/reservations/{row['id']}/withdraw", timeout=60).raise_for_status()


def test_a_reservation_that_fell_through_is_replaced(booked: CommandLine) -> None:
    withdraw(booked, "T3")
    told = booked("change", "trip", "--lost", "T3", "--yes", "--json")
    saga = Saga.model_validate(told.json)
    assert (told.code, saga.status, told.json["plan_version"]) == (0, "committed", 2)
    assert told.json["amendments"] == ["trip~amendment-1"]
    assert (booked.ledger().standing, booked.ledger().repeated) == ((5, 1), [])
    assert saga.cost.total == booked.ledger().rows["payments"][-1]["amount"]
    assert booked("status", "trip", "--json").json == told.json
    assert [each["type"] for each in booked.journal("trip")][-1] == "SagaAmended"
    assert "SagaAmended saga=trip~amendment-1" in booked("log", "trip").out
    assert booked("status").out == "trip: committed\n  trip~amendment-1: committed\n"
    assert booked("replay", "trip").code == booked("replay", "trip~amendment-1").code == 0
    assert booked("trip", "--saga-id", "trip", "--json").json == told.json, "a finished one prints its outcome"
    assert booked("graph", "trip").code == booked("db", "project").code == 0


def test_a_change_is_shown_approved_and_cancelled_with_the_trip(booked: CommandLine) -> None:
    waiting = booked("change", "trip", "only 4 stars, please")
    assert waiting.code == 0
    assert "approve it with: sagagraph approve trip --plan" in waiting.out
    shown = booked("status", "trip", "--json").json
    assert (shown["status"], shown["plan_version"], shown["amendment"]) == ("awaiting_approval", 1, "trip~amendment-1")
    assert "changed by" in booked("cancel", "trip").complaint
    assert booked("approve", "trip", "--plan", "0" * 16).code == 2
    told = booked("approve", "trip", "--plan", shown["plan_hash"], "--json")
    assert (told.code, told.json["plan_version"], told.json["plan_hash"]) == (0, 2, shown["plan_hash"])
    assert booked.ledger().standing == (5, 1)
    gone = booked("cancel", "trip", "--json")
    assert (gone.code, gone.json["status"]) == (0, "compensated")
    assert (booked.ledger().standing, booked.ledger().repeated) == ((0, 0), [])


def test_what_cannot_be_met_or_understood_changes_nothing(booked: CommandLine) -> None:
    before = booked("status", "trip", "--json").json
    for words, said in BAD.items():
        bad = booked("change", "trip", *words)
        assert (bad.code, said in bad.complaint) == (2, True), bad.err
    assert booked("status", "trip", "--json").json == before
    told = booked("change", "trip", "at most $300", "--json")
    assert (told.code, told.json["status"], told.json["plan_version"]) == (1, "committed", 1)
    assert told.json["operations"] == before["operations"]
    assert "ended infeasible" in told.json["reason"]
    assert booked("resume", "trip").code == 0
    assert booked.ledger().standing == (5, 1)


def test_a_late_train_is_a_warning_first_and_the_connection_is_booked_anew_before_it_is_missed(
    command: CommandLine, open_service: OpenService, tmp_path: Path
) -> None:
    stops = [{"city": "Cologne", "nights": 0}, {"city": "Paris", "nights": 2}]
    wish = {"origin": "Berlin", "stops": stops, "window": {"first": "2025-06-02", "last": "2025-06-20"}}
    (tmp_path / "wish.json").write_text(json.dumps(wish))
    with open_service() as service:
        command.provider = service.url
        begun = command("trip", "--request", tmp_path / "wish.json", "--saga-id", "trip", "--yes", "--json")
        assert begun.json["status"] == "committed"
        legs = command.journal("trip")[1]["data"]["plan"]["legs"]
        arrives, leaves = (
            datetime.fromisoformat(moment) for moment in (legs[0]["offer"]["arrives"], legs[1]["offer"]["departs"])
        )
        assert (legs[0]["offer"]["kind"], legs[1]["offer"]["origin_city"]) == ("train", "Cologne")

        def foreseen(moment: datetime) -> Any:
            (tmp_path / "news.json").write_text(json.dumps({"late": {"T1": moment.isoformat()}}))
            return command("watch", "trip", "--foreseen", tmp_path / "news.json", "--json").json

        standing = command.ledger().standing
        told = [foreseen(arrives + share * (leaves - arrives)) for share in (0.25, 0.75)]
        assert [(each["level"], each["saga"]["status"]) for each in told] == [("normal", "committed"), ("warning", "committed")]
        late = leaves + timedelta(hours=2)  # 20 minutes before the next flight, too late to board it
        told = foreseen(late)
        assert (told["level"], told["saga"]["status"]) == ("violation", "awaiting_approval")
        assert command.ledger().standing == standing, "nothing is booked for a guess"
        assert command("status", "trip", "--json").json["monitor"]["level"] == "violation"
        assert command("approve", "trip", "--json").json["status"] == "committed"
        changed = next(e["data"]["plan"] for e in command.journal("trip~amendment-1") if "legs" in (e["data"].get("plan") or {}))
        labels, onwards = [leg["label"] for leg in changed["legs"]], changed["legs"][1]["offer"]
        assert labels[2:] == ["T3", "T4"], "what comes later is kept"
        change = timedelta(hours=1) if onwards["kind"] == "flight" else timedelta(0)
        assert labels[0] != "T1" or datetime.fromisoformat(onwards["departs"]) >= late + change
        (tmp_path / "news.json").write_text('{"late": {"T3": "2025-06-09T20:00:00+02:00"}}')
        assert "T3 is no journey" in command("watch", "trip", "--foreseen", tmp_path / "news.json").complaint

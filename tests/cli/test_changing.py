"""`sagagraph change` after the commit: the contract of its output, its exit codes, and what it leaves behind."""

from __future__ import annotations

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
    httpx2.post(f"{command.provider}/reservations/{row['id']}/withdraw").raise_for_status()


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

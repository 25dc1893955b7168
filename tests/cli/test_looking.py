"""`status`, `log`, `graph`, `db upgrade`: they tell, and change nothing."""

from __future__ import annotations

import sqlite3

import pytest

from sagagraph.cli.operating import looking
from tests.cli.commands import BOOKINGS, CommandLine
from tests.cli.contract import Saga

pytestmark = pytest.mark.quick


@pytest.fixture
def booked(command: CommandLine) -> CommandLine:
    command.trip("booked", "--yes")
    return command


def test_one_saga_stands_where_its_command_left_it(booked: CommandLine) -> None:
    told = booked("status", "booked", "--json")
    assert (told.code, Saga.model_validate(told.json).status) == (0, "committed")
    said = booked("status", "booked")
    assert said.code == 0
    assert all(name in said.out for name in BOOKINGS)


def test_all_sagas_are_listed(booked: CommandLine) -> None:
    booked.trip("waits")
    told = booked("status", "--json")
    assert told.code == 0
    assert {each["saga_id"]: each["status"] for each in told.json["sagas"]} == {
        "booked": "committed",
        "waits": "awaiting_approval",
    }
    assert all(set(each) >= {"saga_id", "domain", "status"} for each in told.json["sagas"])
    assert sorted(booked("status").out.splitlines()) == ["booked: committed", "waits: awaiting_approval"]


def test_a_list_shows_the_latest_sagas_and_says_how_to_see_more(booked: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "SAGAS_ON_A_PAGE", 1)
    booked.trip("waits")
    assert booked("status").out.splitlines() == ["waits: awaiting_approval", "there are older sagas: sagagraph status --page 2"]
    told = booked("status", "--page", "2", "--json").json
    assert ([each["saga_id"] for each in told["sagas"]], "next_page" in told) == (["booked"], False)
    assert booked("status", "--json").json["next_page"] == 2
    assert booked("status", "--page", "3").out == "there is no page 3\n"


def test_a_fresh_store_has_no_sagas(command: CommandLine) -> None:
    assert command("db", "upgrade").code == 0
    assert command("status", "--json").json == {"sagas": []}
    assert (command("status").code, command("status").out) == (0, "there are no sagas in this store\n")
    assert (command("resume", "--all", "--json").code, command("resume", "--all", "--json").json) == (0, [])
    assert command("resume", "--all").out == "no saga is open: there is nothing to resume\n"


def test_looking_needs_no_provider(booked: CommandLine) -> None:
    booked.provider = "http://127.0.0.1:9"
    assert booked("status", "booked").code == 0
    assert booked("status").code == 0
    assert booked("log", "booked").code == 0
    assert booked("graph", "booked").code == 0


def test_a_saga_that_ended_badly_can_still_be_looked_at(command: CommandLine) -> None:
    command.trip("gone")
    command("cancel", "gone")
    assert [command(word, "gone").code for word in ("status", "log", "graph")] == [0, 0, 0]


def test_the_log_is_the_journal(booked: CommandLine) -> None:
    events = booked.journal("booked")
    assert [each["version"] for each in events] == list(range(1, len(events) + 1))
    assert all(set(each) >= {"version", "epoch", "at", "type", "data"} for each in events)
    assert (events[0]["type"], events[-1]["type"]) == ("SagaBegun", "SagaCommitted")
    for name in BOOKINGS:
        mine = [each["type"] for each in events if each["data"].get("operation") == name]
        assert mine == ["AttemptStarted", "OperationSucceeded"]
    said = booked("log", "booked")
    lines = said.out.splitlines()
    assert (said.code, len([line for line in lines if not line.startswith(" ")])) == (0, len(events))
    assert sum(" agent, search, shown " in line for line in lines) == 5


def test_the_graph_is_in_mermaid_or_json(booked: CommandLine) -> None:
    told = booked("graph", "booked")
    assert told.code == 0
    assert told.out.startswith("flowchart LR\n")
    assert all(f"{name}<br/>" in told.out for name in BOOKINGS)
    document = booked("graph", "booked", "--format", "json").json
    assert booked("graph", "booked", "--json").json == document
    assert [node["id"] for node in document["nodes"]] == ["check", *BOOKINGS, "payment", "itinerary"]
    edges = {(edge["from"], edge["to"]) for edge in document["edges"]}
    assert {("check", "T1"), ("T1", "T2"), ("T1", "T3"), ("T3", "T4"), ("T3", "T5"), ("payment", "itinerary")} <= edges
    assert {(name, "payment") for name in BOOKINGS} <= edges


def test_the_graph_of_a_trip_that_waits_is_empty(command: CommandLine) -> None:
    command.trip("waits")
    assert command("graph", "waits", "--json").json == {"saga_id": "waits", "nodes": [], "edges": []}
    assert command("graph", "waits").out == "flowchart LR\n"


def test_looking_changes_nothing(booked: CommandLine) -> None:
    before = booked.journal("booked")
    for words in (("status", "booked"), ("status",), ("log", "booked"), ("graph", "booked"), ("cancel", "booked", "--preview")):
        assert booked(*words).code == 0
    assert booked.journal("booked") == before


def test_upgrading_makes_the_tables_and_may_be_repeated(command: CommandLine) -> None:
    for _ in range(2):
        told = command("db", "upgrade", "--json")
        assert (told.code, told.json) == (0, {"store": command.store, "status": "up to date"})
    with sqlite3.connect(command.store_file) as store:
        tables = {name for (name,) in store.execute("SELECT name FROM sqlite_master")}
    store.close()
    assert {"sagas", "events"} <= tables
    assert command("db", "upgrade").out == f"{command.store} is up to date\n"


def test_upgrading_keeps_what_is_there(booked: CommandLine) -> None:
    before = booked.journal("booked")
    assert booked("db", "upgrade").code == 0
    assert booked.journal("booked") == before


def test_the_version_and_the_help_are_no_errors(command: CommandLine) -> None:
    told = command.bare("--help")
    assert told.code == 0
    assert all(word in told.out for word in ("trip", "approve", "reject", "resume", "cancel", "resolve", "sandbox", "db"))
    assert command.bare().code == 0
    for word in ("trip", "approve", "reject", "resume", "cancel", "resolve", "status", "log", "graph", "sandbox"):
        told = command.bare(word, "--help")
        assert told.code == 0
        assert "--json" in told.out


def test_a_plan_that_waits_is_shown_to_whoever_is_to_approve_it(command: CommandLine) -> None:
    begun = command("trip", "--request", command.request_file(), "--saga-id", "waits")
    seen = command("status", "waits")
    plan_hash = command("status", "waits", "--json").json["plan_hash"]
    for told in (begun, seen):
        assert "BER" in told.out or "Berlin" in told.out
        assert f"sagagraph approve waits --plan {plan_hash}" in told.out
    assert command("approve", "waits", "--plan", plan_hash).code == 0
    assert "approve it with" not in command("status", "waits").out

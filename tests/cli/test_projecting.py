"""`db project`: the tables follow the journals when they are told to."""

from __future__ import annotations

import sqlite3
from typing import Any

from tests.cli.commands import BOOKINGS, CommandLine


def asked(command: CommandLine, sql: str) -> list[Any]:
    with sqlite3.connect(command.store_file) as connection:
        return connection.execute(sql).fetchall()


def test_all_that_have_moved_on_are_projected_and_then_none(command: CommandLine) -> None:
    command.trip("booked", "--yes")
    command.trip("waits")
    told = command("db", "project", "--json")
    assert told.code == 0
    assert [each["saga_id"] for each in told.json["projected"]] == ["booked", "waits"]
    assert asked(command, "SELECT saga_id, status FROM saga_state ORDER BY saga_id") == [
        ("booked", "committed"),
        ("waits", "awaiting_approval"),
    ]
    assert command("db", "project", "--json").json == {"projected": [], "forgotten": []}
    command("approve", "waits")
    said = command("db", "project")
    version = len(command.journal("waits"))
    assert (said.code, said.out) == (0, f"waits: projected up to version {version}\n")
    live = "SELECT count(*) FROM resource_allocations WHERE state = 'taken' AND operation LIKE 'T%' GROUP BY saga_id"
    assert [count >= len(BOOKINGS) for (count,) in asked(command, live)] == [True, True]


def test_one_saga_is_projected(command: CommandLine) -> None:
    command.trip("booked", "--yes")
    command.trip("waits")
    told = command("db", "project", "waits", "--json")
    assert told.json["projected"] == [{"saga_id": "waits", "version": len(command.journal("waits"))}]
    assert asked(command, "SELECT saga_id FROM saga_state") == [("waits",)]


def test_an_unknown_saga_is_named(command: CommandLine) -> None:
    assert command("db", "upgrade").code == 0
    told = command("db", "project", "nobody")
    assert told.code == 2
    assert "nobody" in told.complaint


def test_a_store_without_tables_is_refused(command: CommandLine) -> None:
    told = command("db", "project", "--store", "memory:")
    assert told.code == 2
    assert "no tables" in told.complaint


def test_a_damaged_journal_does_not_keep_the_others_back(command: CommandLine) -> None:
    command.trip("damaged")
    command.trip("waits")
    change = "UPDATE events SET epoch = epoch + ? WHERE saga_id = 'damaged' AND version = 2"
    with sqlite3.connect(command.store_file) as connection:
        connection.execute(change, (1,))
    told = command("db", "project", "--json")
    with sqlite3.connect(command.store_file) as connection:
        connection.execute(change, (-1,))
    assert told.code == 3
    assert "damaged" in told.complaint
    assert [each["saga_id"] for each in told.json["projected"]] == ["waits"]

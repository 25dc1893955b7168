"""The commands on a PostgreSQL store: booked, cancelled, killed, and resumed by two at once."""

from __future__ import annotations

import pytest

from sagagraph.sandbox.server import EmbeddedSandbox
from tests.cli.commands import CommandLine
from tests.cli.conftest import OpenService
from tests.cli.test_resume import HANGS, assert_booked_once, wait_for_booking
from tests.support.postgres import PostgresServer


@pytest.fixture
def command(command: CommandLine, database: str) -> CommandLine:
    command.store = database
    return command


def test_a_trip_is_booked_looked_at_and_cancelled(command: CommandLine, service: EmbeddedSandbox) -> None:
    command.provider = service.url
    assert command.trip("undo", "--yes")["status"] == "committed"
    assert_booked_once(command)
    assert [each["saga_id"] for each in command("status", "--json").json["sagas"]] == ["undo"]
    assert command("cancel", "undo", "--preview", "--json").json["possible"] is True
    told = command("cancel", "undo", "--json")
    assert (told.code, told.json["status"]) == (0, "compensated")
    assert (command.ledger().standing, command.ledger().repeated) == ((0, 0), [])


def test_without_a_provider_a_service_runs_on_a_file_in_the_users_folder(command: CommandLine) -> None:
    assert command.trip("plain", "--yes")["status"] == "committed"
    assert command.trip("plain", "--yes")["status"] == "committed"
    assert len(list(command.folder.glob("data/sagagraph/*/sandbox.db"))) == 1


def test_a_new_database_is_made_ready(command: CommandLine, empty_database: str) -> None:
    command.store = empty_database
    assert command("db", "upgrade").code == 0
    assert command("status", "--json").json == {"sagas": []}


def test_rule_3_sagas_of_dead_workers_are_resumed_by_two_at_once_and_booked_once(
    command: CommandLine, open_service: OpenService
) -> None:
    names = ("one", "two")
    with open_service([HANGS, {**HANGS, "nth": 2}]) as service:
        command.provider = service.url
        running = [command.spawn("trip", "--request", command.request_file(), "--saga-id", each, "--yes") for each in names]
        for name, each in zip(names, running, strict=True):
            wait_for_booking(command, name)
            each.kill()
    with open_service() as service:
        command.provider = service.url
        told = [each.ended() for each in [command.spawn("resume", "--all", "--json") for _worker in range(2)]]
        assert all("Traceback" not in each.err for each in told)
        assert {each.code for each in told} <= {0, 3}
        assert {name: command("status", name, "--json").json["status"] for name in names} == dict.fromkeys(names, "committed")
        assert (command.ledger().standing, command.ledger().repeated) == ((10, 2), [])


def test_a_database_that_is_not_there_is_one_clear_line(command: CommandLine, postgres: PostgresServer) -> None:
    command.store = postgres.url("nowhere")
    told = command("status")
    assert told.code == 3
    assert 'database "nowhere" does not exist' in told.complaint
    assert command.store.split(":")[2].split("@")[0] not in told.err


def test_no_command_shows_the_password_of_its_store(command: CommandLine) -> None:
    password = command.store.split(":")[2].split("@")[0]
    assert len(password) > 8
    for words in (("db", "upgrade"), ("db", "upgrade", "--json"), ("status",), ("trip", "to nowhere")):
        told = command(*words)
        assert password not in told.out + told.err

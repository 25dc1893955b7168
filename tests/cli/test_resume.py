"""`resume`: after Ctrl-C, after a death, beside another worker; and `resolve`, where only a person can help."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.cli.commands import BOOKINGS, CommandLine, Ended, ended, spawned
from tests.cli.conftest import OpenService
from tests.cli.processes import in_a_terminal

HANGS = {"kind": "hotel", "call": "book", "nth": 1, "fault": "hang", "seconds": 30}
PATIENCE_S = 30.0


def wait_for_booking(command: CommandLine, saga_id: str, operation: str = "T2") -> None:
    """Until the call of that operation is out."""
    give_up_at = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up_at:
        said = command("log", saga_id)
        if said.code == 0 and f"AttemptStarted operation={operation}" in said.out:
            return
        time.sleep(0.1)
    raise AssertionError(f"{operation} was never called")


def assert_booked_once(command: CommandLine) -> None:
    ledger = command.ledger()
    assert (ledger.standing, ledger.repeated) == ((5, 1), [])


def test_ctrl_c_leaves_a_saga_that_resume_finishes(command: CommandLine, open_service: OpenService) -> None:
    with open_service([HANGS]) as service:
        command.provider = service.url
        words = command.arguments("trip", "--request", command.request_file(), "--saga-id", "stopped", "--yes")
        running = spawned(*words)
        wait_for_booking(command, "stopped")
        running.send_signal(signal.SIGINT)
        told = ended(running)
        assert told.code == 130
        assert "Traceback" not in told.err
        said = re.search(r"go on with: sagagraph (resume stopped)", told.err)
        assert said is not None
    with open_service([HANGS]) as service:  # what hung is given up with the service that hung
        command.provider = service.url
        resumed = command(*said[1].split(), "--json")
        assert (resumed.code, resumed.json["status"]) == (0, "committed")
        assert_booked_once(command)


def test_a_saga_whose_call_still_hangs_is_resumed_to_a_clean_end(command: CommandLine, open_service: OpenService) -> None:
    with open_service([{**HANGS, "seconds": 6}]) as service:
        command.provider = service.url
        running = command.spawn("trip", "--request", command.request_file(), "--saga-id", "stopped", "--yes", "--json")
        wait_for_booking(command, "stopped")
        running.send_signal(signal.SIGINT)
        told = running.ended()
        assert (told.code, "Traceback" in told.err) == (130, False)
        assert told.json["error"]["exit_code"] == 130
        resumed = command("resume", "stopped", "--json").json
        standing = (5, 1) if resumed["status"] == "committed" else (0, 0)
        assert resumed["status"] in ("committed", "compensated")
        time.sleep(6)  # what hung is answered, and must not land now
        assert (command.ledger().standing, command.ledger().repeated) == (standing, [])


def test_a_worker_that_is_told_to_stop_ends_what_is_out_and_starts_nothing_new(
    command: CommandLine, open_service: OpenService
) -> None:
    with open_service([{**HANGS, "seconds": 2}]) as service:
        command.provider = service.url
        running = command.spawn("trip", "--request", command.request_file(), "--saga-id", "told", "--yes", "--json")
        wait_for_booking(command, "told")
        running.send_signal(signal.SIGTERM)
        told = running.ended()
        assert (told.code, told.json["error"]["exit_code"]) == (143, 143)
        assert "Traceback" not in told.err
        assert "go on with: sagagraph resume told" in told.err
        stands = {each["id"]: each["status"] for each in command("status", "told", "--json").json["operations"]}
        assert stands["T2"] == "succeeded"
        assert set(stands.values()) <= {"succeeded", "planned"}
        before = command.ledger().rows["reservations"]
        resumed = command("resume", "--all", "--no-wait", "--json")
        assert (resumed.code, resumed.json[0]["status"]) == (0, "committed")
        assert command.ledger().rows["reservations"][: len(before)] == before
        assert_booked_once(command)


def test_ctrl_c_at_the_question_ends_at_once_and_leaves_the_plan_to_approve(command: CommandLine) -> None:
    words = command.arguments("trip", "--request", command.request_file(), "--saga-id", "asked")
    told = in_a_terminal(words, "Go ahead?", signal.SIGINT)
    assert told.code == 130
    assert "Go ahead? [y/N]" in told.out
    assert "go on with: sagagraph resume asked" in told.out
    assert "Traceback" not in told.out
    assert command("approve", "asked").code == 0
    assert command.ledger().standing == (5, 1)


@pytest.mark.parametrize(
    ("answer", "status", "code"), [("y\n", "committed", 0), ("\n", "rejected", 1), ("\x04", "awaiting_approval", 0)]
)
def test_a_person_at_a_terminal_is_asked(command: CommandLine, answer: str, status: str, code: int) -> None:
    words = command.arguments("trip", "--request", command.request_file(), "--saga-id", "asked")
    told = in_a_terminal(words, "Go ahead?", answer)
    assert told.code == code
    assert command("status", "asked", "--json").json["status"] == status


def test_a_process_that_was_killed_is_resumed(command: CommandLine, open_service: OpenService) -> None:
    with open_service([HANGS]) as service:
        command.provider = service.url
        running = command.spawn("trip", "--request", command.request_file(), "--saga-id", "killed", "--yes", "--json")
        wait_for_booking(command, "killed")
        running.kill()
    with open_service([HANGS]) as service:
        command.provider = service.url
        told = command("resume", "killed", "--no-wait", "--json")
        assert (told.code, told.json["status"]) == (0, "committed")
        assert_booked_once(command)


def test_a_saga_that_another_process_holds_is_busy_and_nothing_lands_twice(
    command: CommandLine, open_service: OpenService
) -> None:
    with open_service([{**HANGS, "seconds": 4}]) as service:
        command.provider = service.url
        running = command.spawn("trip", "--request", command.request_file(), "--saga-id", "held", "--yes", "--json")
        wait_for_booking(command, "held")
        before = command.journal("held")
        told = command("resume", "held", "--no-wait")
        assert told.code == 3
        assert "saga 'held' is held by another worker" in told.complaint
        every = command("resume", "--all", "--no-wait", "--json")
        assert (every.code, every.json) == (3, [])
        assert command.journal("held")[: len(before)] == before
        first = running.ended()
        assert first.code == 0
        assert {each["epoch"] for each in command.journal("held")} == {1}
        assert_booked_once(command)


def test_of_two_resumes_at_once_one_wins_and_the_other_reports_or_is_busy(
    command: CommandLine, open_service: OpenService
) -> None:
    with open_service([HANGS]) as service:
        command.provider = service.url
        running = command.spawn("trip", "--request", command.request_file(), "--saga-id", "two", "--yes", "--json")
        wait_for_booking(command, "two")
        running.kill()
    with open_service([{**HANGS, "seconds": 1}]) as service:
        command.provider = service.url
        rivals = [command.spawn("resume", "two", "--json") for _ in range(2)]
        told = [each.ended() for each in rivals]
        assert sorted(each.code for each in told) in ([0, 0], [0, 3])
        assert all("Traceback" not in each.err for each in told)
        assert all(each.json["status"] == "committed" for each in told if each.code == 0)
        assert_booked_once(command)


def test_of_two_trips_of_one_id_at_once_one_begins_it(command: CommandLine, open_service: OpenService) -> None:
    with open_service() as service:
        command.provider = service.url
        other = command.folder / "other.json"
        other.write_text(command.request_file(budget=4000).read_text())
        mine = command.request_file()
        command("db", "upgrade")
        rivals = [command.spawn("trip", "--request", file, "--saga-id", "id", "--yes", "--json") for file in (mine, other)]
        told = [each.ended() for each in rivals]
        assert sorted(each.code for each in told) == [0, 2]
        loser = next(each for each in told if each.code == 2)
        assert loser.complaint == "saga 'id' exists with another request; use another id"
        assert_booked_once(command)


def test_all_open_sagas_are_resumed_and_listed(command: CommandLine, open_service: OpenService) -> None:
    with open_service([{**HANGS, "nth": 3}]) as service:
        command.provider = service.url
        command.trip("done", "--yes")
        running = command.spawn("trip", "--request", command.request_file(), "--saga-id", "killed", "--yes", "--json")
        wait_for_booking(command, "killed")
        running.kill()
    with open_service() as service:
        command.provider = service.url
        command.trip("waits")
        told = command("resume", "--all", "--json")
        assert told.code == 0
        assert {each["saga_id"]: each["status"] for each in told.json} == {"waits": "awaiting_approval", "killed": "committed"}
        again = command("resume", "--json")
        assert [each["saga_id"] for each in again.json] == ["waits"]
        assert command.ledger().standing == (10, 2)


def test_cancelling_a_trip_that_another_process_books_stops_and_undoes_it(
    command: CommandLine, open_service: OpenService
) -> None:
    with open_service([{**HANGS, "seconds": 2}]) as service:
        command.provider = service.url
        running = command.spawn("trip", "--request", command.request_file(), "--saga-id", "changed", "--yes", "--json")
        wait_for_booking(command, "changed")
        told = command("cancel", "changed", "--json")
        assert (told.code, told.json["status"]) == (0, "compensated")
        assert told.json["reason"] == "cancelled by command line"
        assert running.ended().code == 1
        ledger = command.ledger()
        assert (ledger.standing, ledger.repeated, len(ledger.rows["payments"])) == ((0, 0), [], 0)


@pytest.fixture
def held(command: CommandLine, open_service: OpenService) -> Iterator[Ended]:
    """A trip whose provider promises nothing, and whose hotel answered with a time-out: only a person can settle it."""
    with open_service(
        [{"kind": "hotel", "call": "book", "nth": 1, "fault": 500}],
        withheld=frozenset({"dedup", "void", "deadline", "refusals"}),
    ) as service:
        command.provider = service.url
        told = command("trip", "--request", command.request_file(), "--saga-id", "held", "--yes", "--json")
        yield told


def test_what_only_a_person_can_settle_is_held_and_named(command: CommandLine, held: Ended) -> None:
    assert (held.code, held.json["status"]) == (1, "held")
    waiting = [each for each in held.json["operations"] if each["status"] == "held"]
    assert [each["id"] for each in waiting] in (["T2"], ["T4"])
    assert waiting[0]["note"]
    assert command("resume", "held", "--json").json["status"] == "held"
    said = command("status", "held")
    assert "could land twice" in said.out


def test_a_person_says_that_it_never_landed_and_it_is_booked(command: CommandLine, held: Ended) -> None:
    name = next(each["id"] for each in held.json["operations"] if each["status"] == "held")
    told = command("resolve", "held", name, "--as", "absent", "--json")
    assert (told.code, told.json["status"]) == (0, "committed")
    assert_booked_once(command)
    assert any(each["type"] == "OperationResolved" and each["data"]["by"] for each in command.journal("held"))


def booked_by_hand(command: CommandLine, waiting: dict[str, Any], headers: dict[str, str]) -> str:
    """Books what an operation asks for, and returns what it would have returned, as JSON."""
    request = waiting["inputs"]
    body = {"kind": "hotel", "offer_id": request["offer_id"], "quantity": request["quantity"]}
    landed = httpx2.post(f"{command.provider}/reservations", timeout=60, json=body, headers=headers).json()
    return json.dumps(
        {
            "reservation_id": landed["id"],
            "price": landed["price"],
            "currency": "USD",
            "cancellation": landed["offer"]["cancellation"],
        }
    )


def test_what_a_later_probe_finds_is_adopted(command: CommandLine, held: Ended) -> None:
    waiting = next(each for each in held.json["operations"] if each["status"] == "held")
    booked_by_hand(command, waiting, {"Idempotency-Key": waiting["idempotency_key"]})
    assert command("resume", "held", "--json").json["status"] == "committed"
    assert command.ledger().standing == (5, 1)


def test_a_person_says_that_it_landed_and_what_it_returned(command: CommandLine, held: Ended) -> None:
    waiting = next(each for each in held.json["operations"] if each["status"] == "held")
    output = booked_by_hand(command, waiting, {})
    told = command("resolve", "held", waiting["id"], "--as", "landed", "--output", output, "--json")
    assert command.ledger().standing == (5, 1)
    assert (told.code, told.json["status"]) == (0, "committed")


def test_a_held_trip_is_cancelled_once_a_person_has_settled_it(command: CommandLine, held: Ended) -> None:
    told = command("cancel", "held", "--json")
    assert (told.code, told.json["status"]) == (1, "stuck")
    name = next(each["id"] for each in told.json["operations"] if each["status"] == "held")
    told = command("resolve", "held", name, "--as", "absent", "--json")
    assert (told.code, told.json["status"]) == (1, "compensated")
    assert command.ledger().standing == (0, 0)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("held",), "OPERATION"),
        (("held", "T1", "--action", "book_hotel", "--because", "x"), "--action"),
        (("held", "T1", "--error", "ValueError"), "--error"),
        (("--action", "book_hotel"), "--because"),
    ],
)
def test_what_is_to_be_resolved_is_said_in_one_way(command: CommandLine, arguments: tuple[str, ...], field: str) -> None:
    told = command("resolve", *arguments, "--as", "failed")
    assert (told.code, field in told.err) == (2, True), told.err


def test_what_is_held_alike_is_resolved_at_once(command: CommandLine, held: Ended) -> None:
    (waiting,) = (each for each in held.json["operations"] if each["status"] == "held")
    assert "sagagraph resolve held" in waiting["remedy"]["command"]
    nothing = command("resolve", "--action", waiting["action"], "--error", "KeyError", "--as", "failed", "--because", "it is so")
    assert (nothing.code, "no operation of action" in nothing.err) == (2, True)
    told = command("resolve", "--action", waiting["action"], "--as", "failed", "--because", "it is so", "--json")
    assert (told.code, told.json["resolved"]) == (0, {"held": [waiting["id"]]}), told.err
    assert "it is so" in command("log", "held", "--json").out


def test_an_operation_that_needs_nobody_cannot_be_resolved(command: CommandLine) -> None:
    command.trip("fine", "--yes")
    told = command("resolve", "fine", "T1", "--as", "absent")
    assert told.code == 2
    assert told.complaint == "operation 'T1' is succeeded: only a held or stuck one needs a person"
    told = command("resolve", "fine", "T9", "--as", "absent")
    assert told.complaint == "saga 'fine' has no operation 'T9'"
    assert command("status", "fine", "--json").json["status"] == "committed"
    assert {each["status"] for each in command("status", "fine", "--json").json["operations"]} == {"succeeded"}
    assert BOOKINGS[0] in command("status", "fine").out


def test_a_command_is_in_nobodys_way(command: CommandLine, open_service: OpenService) -> None:
    """Looking at a saga needs no lease: another process may be running it."""
    with open_service([{**HANGS, "seconds": 2}]) as service:
        command.provider = service.url
        running = command.spawn("trip", "--request", command.request_file(), "--saga-id", "seen", "--yes", "--json")
        wait_for_booking(command, "seen")
        told = command("status", "seen", "--json")
        assert told.json["status"] == "running"
        assert command("graph", "seen").code == 0
        assert command("cancel", "seen", "--preview", "--json").json["possible"] is True
        assert running.ended().code == 0
        assert_booked_once(command)

"""`sagagraph worker`: it drives what is due, says how it is, and ends what is under way when it is told to stop."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx2
import pytest

from sagagraph.sandbox.server import EmbeddedSandbox
from tests.cli.commands import CommandLine, ended, spawned
from tests.cli.conftest import OpenService

PATIENCE_S = 90.0


@contextmanager
def working(command: CommandLine, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A worker, and where it says how it is."""
    running = spawned(*command.arguments("worker", "--health", "0", *options))
    try:
        assert running.stdout is not None
        found = re.search(r"http://\S+", running.stdout.readline())
        assert found is not None
        yield running, found[0]
    finally:
        running.kill()
        running.communicate()


def got(url: str) -> httpx2.Response:
    return httpx2.get(url, timeout=60)  # it may have to import a domain first


def wait_for(is_so: Callable[[], bool], what: str) -> None:
    give_up_at = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < give_up_at, what
        time.sleep(0.05)


def status(command: CommandLine, saga_id: str) -> str:
    return str(command("status", saga_id, "--json").json["status"])


def test_a_worker_does_what_a_person_only_writes_down(command: CommandLine, service: EmbeddedSandbox) -> None:
    command.provider = service.url
    plan = command("trip", "--request", command.request_file(), "--saga-id", "t", "--json").json
    assert plan["status"] == "awaiting_approval"
    wrong = command("approve", "t", "--detach", "--plan", "another")
    assert (wrong.code, "another" in wrong.err) == (2, True)
    with working(command) as (running, url):
        wait_for(lambda: got(f"{url}/readyz").status_code == 200, "it never was ready")
        assert got(f"{url}/healthz").text == "alive\n"
        assert command("approve", "t", "--detach", "--json").code == 0
        wait_for(lambda: status(command, "t") == "committed", "it was never carried out")
        assert command.ledger().standing == (5, 1)
        assert command("cancel", "t", "--detach").code == 0
        wait_for(lambda: status(command, "t") == "compensated", "it was never undone")
        page = got(f"{url}/metrics").text
        assert "sagagraph_slots 16.0" in page
        assert re.search(r'sagagraph_drives_total\{outcome="ended"\} [12]', page)
        assert got(f"{url}/elsewhere").status_code == 404
        running.send_signal(signal.SIGTERM)
        assert ended(running).code == 0
    assert (command.ledger().standing, command.ledger().repeated) == ((0, 0), [])
    taken = [each["type"] for each in command.journal("t")].count("LeaseTaken")
    assert taken == 2  # once to carry it out, once to undo it
    asked = command("resolve", "t", "T1", "--as", "landed", "--detach")
    assert (asked.code, "only a held or stuck one" in asked.err) == (2, True)


def test_a_worker_changes_what_a_person_asks_to_have_changed(command: CommandLine, service: EmbeddedSandbox) -> None:
    """Before the plan is approved, after the commit without anybody's approval, and after it with one."""
    command.provider = service.url

    def shown(saga_id: str, wanted: str) -> str:
        wait_for(lambda: status(command, saga_id) == wanted, f"it never was {wanted}")
        return command("status", saga_id).out

    command("trip", "--request", command.request_file(), "--saga-id", "t", "--json")
    with working(command):
        assert command("change", "t", "only 4 stars, please", "--detach").code == 0
        wait_for(lambda: "RequestChanged" in command("log", "t").out and status(command, "t") == "awaiting_approval", "unchanged")
        assert command("approve", "t", "--detach").code == 0
        shown("t", "committed")
        assert command("change", "t", "--lost", "T3", "--yes", "--detach").code == 0
        wait_for(lambda: "SagaAmended" in command("log", "t").out, "what was lost is not booked again")
        assert command("change", "t", "only 3 stars", "--detach").code == 0
        shown("t", "awaiting_approval")
        assert command("approve", "t", "--detach").code == 0
        shown("t", "committed")
        again = command("change", "t", "only 3 stars", "--detach")
        assert (again.code, "asked for just that already" in again.err) == (2, True)
    assert (command.ledger().repeated, [each["type"] for each in command.journal("t")].count("AmendmentBegun")) == ([], 2)


def test_a_worker_that_is_told_to_stop_ends_what_is_out(command: CommandLine, open_service: OpenService) -> None:
    slow = {"kind": "hotel", "call": "book", "nth": 1, "fault": "hang", "seconds": 2}
    with open_service([slow]) as service:
        command.provider = service.url
        command("trip", "--request", command.request_file(), "--saga-id", "t", "--json")
        with working(command) as (running, url):
            command("approve", "t", "--detach")
            wait_for(lambda: "AttemptStarted operation=T2" in command("log", "t").out, "nothing was booked")
            running.send_signal(signal.SIGTERM)
            wait_for(lambda: got(f"{url}/readyz").text == "draining\n", "it says nothing of its end")
            assert ended(running).code == 0
        stands = {each["id"]: each["status"] for each in command("status", "t", "--json").json["operations"]}
        assert stands["T2"] == "succeeded"
        assert set(stands.values()) <= {"succeeded", "planned"}
        watching = spawned(*command.arguments("resume", "--all", "--watch"))
        try:
            wait_for(lambda: status(command, "t") == "committed", "nobody went on")
            assert watching.poll() is None
        finally:
            watching.send_signal(signal.SIGTERM)
            assert ended(watching).code == 0
        assert (command.ledger().standing, command.ledger().repeated) == ((5, 1), [])


def test_two_commands_make_a_fleet_on_temporal(command: CommandLine, service: EmbeddedSandbox) -> None:
    command.provider = service.url
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = str(listening.getsockname()[1])
    server = spawned("fleet", "up", "--port", port, "--db", str(command.folder / "temporal.db"))
    try:
        assert server.stdout is not None
        assert f"127.0.0.1:{port}" in server.stdout.readline()
        with working(command, "--temporal", f"127.0.0.1:{port}", "--build-id", "1", "--promote") as (running, url):
            wait_for(lambda: got(f"{url}/readyz").status_code == 200, "it never was ready")
            command("trip", "--request", command.request_file(), "--saga-id", "t", "--json")
            with pytest.MonkeyPatch.context() as environment:
                environment.setenv("SAGAGRAPH_TEMPORAL", f"127.0.0.1:{port}")
                assert command("approve", "t", "--detach").code == 0
            wait_for(lambda: status(command, "t") == "committed", "it was never carried out")
            running.send_signal(signal.SIGTERM)
            assert ended(running).code == 0
    finally:
        server.send_signal(signal.SIGTERM)
        assert ended(server).code == 0
    assert (command.ledger().standing, command.ledger().repeated) == ((5, 1), [])
    missing = command("worker", "--temporal", "127.0.0.1:9")
    assert (missing.code, "no Temporal server answers at 127.0.0.1:9" in missing.err) == (3, True)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("worker", "--queue", "nothing"), "not 'nothing'"),
        (("worker", "--build-id", "1"), "--temporal: only a Temporal server"),
        (("worker", "--temporal", "127.0.0.1:9", "--promote"), "--build-id: says which"),
        (("resume", "t", "--watch"), "--watch: watches all"),
    ],
)
def test_what_cannot_be_watched_is_said(command: CommandLine, words: tuple[str, ...], complaint: str) -> None:
    told = command(*words, "--json")
    assert (told.code, complaint in json.loads(told.out)["error"]["message"]) == (2, True)


@pytest.mark.quick
def test_a_port_that_is_taken_is_named_by_its_option(command: CommandLine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = command("worker", "--health", taken.getsockname()[1])
    assert refused.code == 2
    assert "--health: cannot listen on 127.0.0.1" in refused.err

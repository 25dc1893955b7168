"""`sagagraph sandbox` in a process of its own."""

from __future__ import annotations

import json
import select
import signal
import socket
import subprocess
from pathlib import Path

import httpx2
import pytest

from tests.cli.commands import CommandLine, ended, spawned
from tests.cli.processes import PATIENCE_S, Running


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], PATIENCE_S)[0], "the service says nothing"
    return process.stdout.readline()


def test_the_service_runs_until_it_is_told_to_stop(command: CommandLine, tmp_path: Path) -> None:
    running = spawned("sandbox", "--port", "0", "--db", tmp_path / "service.db", "--today", "2025-05-01")
    try:
        command.provider = url = first_line(running).split()[-1]
        assert httpx2.get(f"{url}/health", timeout=60).json() == {"status": "ok"}
        assert httpx2.get(f"{url}/clock", timeout=60).json()["now"].startswith("2025-05-01")
        assert command.trip("served", "--yes")["status"] == "committed"
        assert command.ledger().standing == (5, 1)
        port = url.rsplit(":", 1)[1]
        told = command.bare("sandbox", "--port", port, "--db", str(tmp_path / "other.db"))
        assert told.code == 2
        assert told.complaint.startswith(f"--port: cannot listen on 127.0.0.1:{port}")
    finally:
        running.send_signal(signal.SIGTERM)
        stopped = ended(running)
    assert (stopped.code, stopped.err) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_service_stops_cleanly_and_says_with_json_where_it_was(tmp_path: Path, number: signal.Signals) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    running = Running(["sandbox", "--port", url.rsplit(":", 1)[1], "--db", str(tmp_path / "service.db"), "--json"], tmp_path)
    with httpx2.Client(transport=httpx2.HTTPTransport(retries=8)) as client:
        assert client.get(f"{url}/health").json() == {"status": "ok"}
    running.send_signal(number)
    told = running.ended()
    assert (told.code, told.err) == (0, "")
    assert json.loads(told.out) == {"url": url}

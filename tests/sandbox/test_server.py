from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from httpx2 import Client, ReadTimeout

from sagagraph.errors import InvalidInputError
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings, serve
from tests.sandbox.caller import write_faults

SERVE = """
import sys
from pathlib import Path
from sagagraph.sandbox.server import SandboxSettings, serve
faults = Path(sys.argv[2]) if len(sys.argv) > 2 else None
serve(SandboxSettings(Path(sys.argv[1]), faults=faults), on_ready=lambda url: print(url, flush=True))
"""


@contextmanager
def served(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The service in a process of its own, and its URL."""
    command = [sys.executable, "-c", SERVE, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def pay(url: str, key: str, timeout: float = 5) -> int:
    with Client(base_url=url, timeout=timeout, trust_env=False) as client:
        body: dict[str, Any] = {"amount": 5, "currency": "USD", "reservations": []}
        return client.post("/payments", json=body, headers={"Idempotency-Key": key}).status_code


def payments(url: str) -> int:
    with Client(base_url=url, trust_env=False) as client:
        return len(client.get("/ledger").json()["payments"])


def hang(folder: Path, seconds: float) -> Path:
    return write_faults(folder, [{"kind": "payment", "call": "capture", "fault": "hang", "seconds": seconds}])


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_the_service_says_where_it_is_and_ends_cleanly_when_told_to(tmp_path: Path, stop: signal.Signals) -> None:
    with served(tmp_path / "sandbox.db", hang(tmp_path, 60)) as (process, url):
        hanging = threading.Thread(target=pay, args=(url, "k"))
        hanging.start()
        with Client(base_url=url, trust_env=False) as client:
            assert client.get("/health").json() == {"status": "ok"}
        time.sleep(0.1)
        process.send_signal(stop)
        output, errors = process.communicate(timeout=5)
        hanging.join()
        assert (process.returncode, output, errors) == (0, "", "")


def test_a_killed_service_takes_what_hung_with_it_and_frees_its_key(tmp_path: Path) -> None:
    with served(tmp_path / "sandbox.db", hang(tmp_path, 60)) as (process, url):
        with pytest.raises(ReadTimeout):
            pay(url, "k", timeout=0.3)
        assert pay(url, "k") == 409
        process.kill()
        process.wait()
    with served(tmp_path / "sandbox.db") as (_, url):
        assert payments(url) == 0
        assert pay(url, "k") == 201


def test_a_port_in_use_is_refused_by_its_option(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        with pytest.raises(InvalidInputError, match="in use") as raised:
            serve(SandboxSettings(tmp_path / "sandbox.db"), port=taken.getsockname()[1])
        assert raised.value.field == "--port"
    with pytest.raises(InvalidInputError, match=r"^--port: "):
        serve(SandboxSettings(tmp_path / "sandbox.db"), port=70_000)


def test_an_embedded_sandbox_runs_from_enter_to_exit_and_again(tmp_path: Path) -> None:
    sandbox = EmbeddedSandbox(SandboxSettings(tmp_path / "sandbox.db"))
    for runs in (1, 2):
        with sandbox:
            assert pay(sandbox.url, f"k{runs}") == 201
            assert payments(sandbox.url) == runs
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", int(sandbox.url.rpartition(":")[2]))) != 0


def test_an_embedded_sandbox_starts_and_stops_promptly_even_while_a_call_hangs(tmp_path: Path) -> None:
    began = time.monotonic()
    with EmbeddedSandbox(SandboxSettings(tmp_path / "sandbox.db", faults=hang(tmp_path, 60))) as sandbox:
        payments(sandbox.url)
        started = time.monotonic()
        with pytest.raises(ReadTimeout):
            pay(sandbox.url, "k", timeout=0.2)
        leaving = time.monotonic()
    assert started - began < 1
    assert time.monotonic() - leaving < 2


def test_answers_are_sent_at_once_on_a_connection_that_is_kept(tmp_path: Path) -> None:
    durations = []
    with (
        EmbeddedSandbox(SandboxSettings(tmp_path / "sandbox.db")) as sandbox,
        Client(base_url=sandbox.url, trust_env=False) as client,
    ):
        for _ in range(30):
            began = time.monotonic()
            client.get("/health")
            durations.append(time.monotonic() - began)
    assert min(durations[10:]) < 0.03, "held back until the client acknowledges the headers: forty milliseconds"


def test_a_call_whose_client_has_gone_is_carried_out_all_the_same(tmp_path: Path) -> None:
    with EmbeddedSandbox(SandboxSettings(tmp_path / "sandbox.db", faults=hang(tmp_path, 0.4))) as sandbox:
        with pytest.raises(ReadTimeout):
            pay(sandbox.url, "k", timeout=0.1)
        assert payments(sandbox.url) == 0
        time.sleep(0.6)
        assert payments(sandbox.url) == 1


def test_an_embedded_sandbox_refuses_what_it_cannot_run_with(tmp_path: Path) -> None:
    for settings in (SandboxSettings(tmp_path), SandboxSettings(tmp_path / "s.db", faults=tmp_path / "missing")):
        with pytest.raises(InvalidInputError), EmbeddedSandbox(settings):
            pass


def test_an_embedded_sandbox_leaves_signal_handlers_alone(tmp_path: Path) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with EmbeddedSandbox(SandboxSettings(tmp_path / "sandbox.db")) as sandbox:
        payments(sandbox.url)
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_an_embedded_sandbox_can_be_started_after_a_fork(tmp_path: Path) -> None:
    program = """
import os, sys
from pathlib import Path
from httpx2 import get
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
def run():
    with EmbeddedSandbox(SandboxSettings(Path(sys.argv[1]))) as sandbox:
        return get(sandbox.url + "/health", trust_env=False).status_code
assert run() == 200
child = os.fork()
if child == 0:
    os._exit(0 if run() == 200 else 1)
assert os.waitpid(child, 0)[1] == 0
assert run() == 200
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "sandbox.db")], check=True, timeout=20)


def loaded_after(statement: str) -> set[str]:
    program = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return set(json.loads(done.stdout))


def test_importing_the_package_is_light() -> None:
    heavy = {"fastapi", "uvicorn", "starlette", "pydantic", "sqlite3", "airportsdata", "asyncio"}
    assert not {name.partition(".")[0] for name in loaded_after("import sagagraph.sandbox")} & heavy


def test_the_service_behind_the_interface_needs_no_web_server() -> None:
    loaded = loaded_after("import sagagraph.sandbox.settings, sagagraph.sandbox.service")
    assert not {"fastapi", "uvicorn", "starlette"} & loaded


def test_the_service_uses_nothing_of_the_rest_but_its_errors_and_how_a_server_listens() -> None:
    loaded = loaded_after("import sagagraph.sandbox.server")
    rest = {name for name in loaded if name.startswith("sagagraph.") and not name.startswith("sagagraph.sandbox")}
    assert rest == {"sagagraph.errors", "sagagraph.sockets"}
    assert "httpx" not in loaded


def test_a_connection_outlives_the_patience_of_those_who_hold_it(tmp_path: Path) -> None:
    """Callers keep one for five seconds and may call in the last moment."""
    with EmbeddedSandbox(SandboxSettings(tmp_path / "sandbox.db")) as service:
        connection = HTTPConnection(service.url.removeprefix("http://"), timeout=5)
        for wait_s in (0, 5.5):
            time.sleep(wait_s)
            connection.request("GET", "/health")
            assert connection.getresponse().read() == b'{"status":"ok"}'
        connection.close()

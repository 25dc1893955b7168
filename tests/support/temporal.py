"""A Temporal server of one's own, durable in a file: it is killed, and started again on what it had written."""

from __future__ import annotations

import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from sagagraph.fleet.temporal.server import temporal_server

_START_S = 30.0


class TemporalServer:
    def __init__(self, folder: Path) -> None:
        self._database = folder / "temporal.db"
        with socket.create_server(("127.0.0.1", 0)) as listening:
            self._port: int = listening.getsockname()[1]
        self._running = ExitStack()
        self.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start it, and wait until it listens."""
        self._process = self._running.enter_context(temporal_server(self._port, self._database))
        give_up_at = time.monotonic() + _START_S
        while not self._listens():
            assert time.monotonic() < give_up_at
            assert self._process.poll() is None, "the Temporal server does not start"
            time.sleep(0.05)

    def restart(self) -> None:
        """Kill it, and start it again."""
        self._process.kill()
        self.stop()
        self.start()

    def stop(self) -> None:
        self._running.close()

    def _listens(self) -> bool:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self._port), timeout=1.0).close()
            return True
        return False


@contextmanager
def temporal(where: Path | None = None) -> Iterator[TemporalServer]:
    with tempfile.TemporaryDirectory(prefix="sagagraph-temporal-", dir=where, ignore_cleanup_errors=True) as folder:
        server = TemporalServer(Path(folder))
        try:
            yield server
        finally:
            server.stop()

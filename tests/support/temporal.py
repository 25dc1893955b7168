"""A Temporal server of one's own, durable in a file: it is killed, and started again on what it had written."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sagagraph.fleet.temporal.server import temporal_server


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
        """Start it, and wait until it answers."""
        self._process = self._running.enter_context(temporal_server(self._port, self._database))

    def restart(self) -> None:
        """Kill it, and start it again."""
        self._process.kill()
        self.stop()
        self.start()

    def stop(self) -> None:
        self._running.close()


@contextmanager
def temporal(where: Path | None = None) -> Iterator[TemporalServer]:
    with tempfile.TemporaryDirectory(prefix="sagagraph-temporal-", dir=where, ignore_cleanup_errors=True) as folder:
        server = TemporalServer(Path(folder))
        try:
            yield server
        finally:
            server.stop()

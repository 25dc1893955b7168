"""`sagagraph ui` in a process of its own, on a free port."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support.today import TODAY

PATIENCE_S = 240.0


class Server:
    def __init__(self, store: Path, *options: str, database: str = "", port: int = 0, **environment: str) -> None:
        """Returns when it listens. `options`: of the command; `database`: the URL of another store than the file `store`."""
        self.store = store
        where = ["--port", str(port), "--store", database or f"sqlite:///{store}"]
        command = [sys.executable, "-m", "sagagraph", "ui", "--json", *where, *options]
        self._log = store.with_suffix(f".{time.monotonic_ns()}.log")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SAGAGRAPH_")}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, env={**kept, "SAGAGRAPH_TODAY": str(TODAY), **environment}
            )
        self.url = self._announced_url()

    def _announced_url(self) -> str:
        assert self._process.stdout is not None
        told = b""
        give_up_at = time.monotonic() + PATIENCE_S
        while b"}" not in told and time.monotonic() < give_up_at:
            if select.select([self._process.stdout], [], [], 0.2)[0]:
                read = os.read(self._process.stdout.fileno(), 4096)
                if not read:
                    break
                told += read
        try:
            url: str = json.loads(told)["url"]
        except (ValueError, KeyError):
            self.kill()
            raise AssertionError(f"the server does not start: {told!r} {self.log}") from None
        return url

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def log(self) -> str:
        return self._log.read_text()

    def kill(self) -> None:
        """As a power cut would."""
        self._process.kill()
        self._process.wait(PATIENCE_S)

    def stop(self) -> int:
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(PATIENCE_S)
        finally:
            self.kill()

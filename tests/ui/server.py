"""`sagagraph ui` in a process of its own, on a free port."""

from __future__ import annotations

import atexit
import os
import signal
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tests.support.today import TODAY
from tests.ui.nursery import PATIENCE_S, Nursery


class Server:
    def __init__(self, store: Path, *options: str, database: str = "", port: int = 0, **environment: str) -> None:
        """Returns when it listens. `options`: of the command; `database`: the URL of another store than the file `store`."""
        self.store = store
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SAGAGRAPH_")}
        self._process = _nursery().server(
            database or f"sqlite:///{store}",
            store.with_suffix(f".{time.monotonic_ns()}.log"),
            *options,
            port=port,
            has_pages=True,
            environment={**kept, "SAGAGRAPH_TODAY": str(TODAY), **environment},
        )
        _wait(lambda: bool(self._process.url) or not self._process.is_alive)
        if not self._process.url:
            self.kill()
            raise AssertionError(f"the server does not start: {self.log}")
        self.url = self._process.url

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def log(self) -> str:
        return self._process.log

    def kill(self) -> None:
        """As a power cut would."""
        self._process.signal(signal.SIGKILL)
        _wait(lambda: not self._process.is_alive)

    def stop(self) -> int:
        self._process.signal(signal.SIGTERM)
        try:
            _wait(lambda: not self._process.is_alive)
            return self._process.code
        finally:
            self.kill()


def _wait(is_reached: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + PATIENCE_S
    while not is_reached() and time.monotonic() < give_up_at:
        time.sleep(0.02)


@cache
def _nursery() -> Nursery:
    """One for all servers of this process."""
    opened = Nursery().__enter__()
    atexit.register(opened.__exit__)
    return opened

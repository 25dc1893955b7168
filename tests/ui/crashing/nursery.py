"""Makes servers of the app quickly: a process that has imported everything, and forks one whenever it is asked to.

What a server is otherwise told on the command line comes as a line of JSON; the answers are its process id and its address.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from sagagraph.saga.stores import urls
from sagagraph.saga.stores.urls import open_store
from sagagraph.settings import Settings
from sagagraph.testing.crash import CrashPoint, freeze
from tests.ui.server import PATIENCE_S

_NEEDED: Final = (
    "httpcore2",
    "ortools.sat.python.cp_model",
    "sagagraph.domains.reunion.planning.solver",
    "sagagraph.saga.stores.migration",
    "sagagraph.saga.stores.postgres",
    "sagagraph.saga.stores.sqlite",
    "sagagraph.ui.server.app",
)


def main() -> None:
    for name in _NEEDED:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them: who is dead must not look alive
    _tell(number=0)
    for line in sys.stdin:
        asked = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _be_server(asked)
        _tell(number=asked["number"], pid=pid)


def _tell(**told: Any) -> None:
    """A line in one piece, whoever else writes."""
    os.write(1, json.dumps(told).encode() + b"\n")


def _be_server(asked: dict[str, Any]) -> None:
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(os.open(asked["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
        logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
        asyncio.run(_serve(asked))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


async def _serve(asked: dict[str, Any]) -> None:
    """As `sagagraph ui` does; without its pages, which take a second to make, where nobody looks at them."""
    from sagagraph.ui.server import app
    from sagagraph.ui.server.options import ServerOptions

    if not asked["has_pages"]:
        app.add_pages = lambda _api, _service, _conversations: None
    if asked["harm_at"]:
        _harm_at(asked["harm_at"], Path(asked["log"]).with_suffix(".trace"), freezes=asked["freezes"])

    settings = Settings(store=asked["store"], provider_url=asked["provider"])
    await app.serve(settings, ServerOptions(port=asked["port"]), lambda url: _tell(number=asked["number"], url=url))


def _harm_at(boundary: int, trace: Path, *, freezes: bool) -> None:
    """Right before or after a durable write of the journal."""
    point = CrashPoint(boundary, trace, freeze) if freezes else CrashPoint(boundary, trace)

    async def fragile(url: str, **options: Any) -> Any:
        return point.around_store(await open_store(url, **options))

    urls.open_store = fragile


class Nursery:
    """The process above, from `__enter__` to `__exit__`; all that it has made ends with it."""

    def __enter__(self) -> Nursery:
        command = [sys.executable, "-m", "tests.ui.crashing.nursery"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._number = 0
        self._told: dict[int, dict[str, Any]] = {}
        assert self._process.stdout is not None
        self._process.stdout.readline()  # it has imported everything
        os.set_blocking(self._process.stdout.fileno(), False)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def server(
        self,
        store: str,
        provider: str,
        log: Path,
        *,
        harm_at: int = 0,
        freezes: bool = False,
        port: int = 0,
        has_pages: bool = False,
    ) -> Victim:
        """It is beginning; see `Victim.listens`. `harm_at`: at which durable write it kills itself, or freezes; 0: never."""
        self._number += 1
        asked = {"number": self._number, "store": store, "provider": provider, "log": str(log)}
        line = json.dumps({**asked, "harm_at": harm_at, "freezes": freezes, "port": port, "has_pages": has_pages})
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        return Victim(self, self._number)

    def told_of(self, number: int) -> dict[str, Any]:
        """What is known of a server by now."""
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            told = json.loads(line)
            self._told.setdefault(told["number"], {}).update(told)
        return self._told.get(number, {})


class Victim:
    """A server, by its process id."""

    def __init__(self, nursery: Nursery, number: int) -> None:
        self._nursery = nursery
        self._number = number

    @property
    def url(self) -> str:
        return str(self._nursery.told_of(self._number).get("url", ""))

    @property
    def pid(self) -> int:
        return int(self._nursery.told_of(self._number).get("pid", 0))

    @property
    def is_alive(self) -> bool:
        """Or not begun yet."""
        try:
            if self.pid:
                os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def signal(self, number: signal.Signals) -> None:
        if self.pid and self.is_alive:
            os.kill(self.pid, number)

    async def listens(self, within_s: float = PATIENCE_S) -> bool:
        """False if it died first, or is frozen, as one that is harmed early may."""
        await _until(lambda: bool(self.url) or not self.is_alive, within_s)
        return bool(self.url)

    async def ends(self, within_s: float = PATIENCE_S) -> bool:
        await _until(lambda: not self.is_alive, within_s)
        return not self.is_alive


async def _until(is_reached: Callable[[], bool], within_s: float) -> None:
    """Of a process that is not ours to wait for."""
    give_up_at = time.monotonic() + within_s
    while not is_reached() and time.monotonic() < give_up_at:  # noqa: ASYNC110 - it tells nobody when it ends
        await asyncio.sleep(0.02)


if __name__ == "__main__":
    main()

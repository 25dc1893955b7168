"""Nursery: a process that has imported the app, and forks a `sagagraph ui` whenever it is asked to.

Importing takes most of the time in which a server starts. What it is told on the command line and by its environment comes as a
line of JSON; the answer is its process id.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, Final

from sagagraph.cli import main as command
from sagagraph.saga.stores import urls
from sagagraph.saga.stores.urls import open_store
from sagagraph.testing.crash import CrashPoint, freeze

_NEEDED: Final = (
    "httpcore2",
    "ortools.sat.python.cp_model",
    "sagagraph.domains.recipes.page",
    "sagagraph.domains.reunion.page.page",
    "sagagraph.domains.reunion.planning.solver",
    "sagagraph.domains.travel.page.page",
    "sagagraph.saga.stores.migration",
    "sagagraph.saga.stores.postgres",
    "sagagraph.saga.stores.sqlite",
    "sagagraph.ui.server.app",
    "sagagraph.ui.server.pages",
)
PATIENCE_S: Final = 240.0


def main() -> None:
    for name in _NEEDED:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them: who is dead must not look alive
    _tell(0)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _be_server(json.loads(line))
        _tell(pid)


def _tell(pid: int) -> None:
    os.write(1, b"%d\n" % pid)


def _be_server(asked: dict[str, Any]) -> None:
    code: Any = 1
    out = Path(asked["log"]).with_suffix(".out")
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number, path in ((0, os.devnull), (1, out), (2, asked["log"])):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND), number)
        os.environ.clear()
        os.environ.update(asked["environment"])
        _change_for_tests(asked)
        sys.argv = ["sagagraph", "--log-level", "error", "ui", "--json", *asked["options"]]
        command()
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        out.with_suffix(".code").write_text(str(code))
        os._exit(code)


def _change_for_tests(asked: dict[str, Any]) -> None:
    """Nothing has to be imported, so the tables need no process; pages take a second to make, and often nobody looks at them."""
    from sagagraph.cli import ui
    from sagagraph.ui.server import app
    from sagagraph.ui.server.late_pages import LatePages

    vars(ui)["_tables_made_meanwhile"] = lambda _settings: nullcontext()
    if not asked["has_pages"]:
        vars(app)["add_pages"] = lambda _api, _service, _pages: None
        LatePages.serve = lambda _pages: asyncio.sleep(3600)  # type: ignore[method-assign,assignment]
        vars(app)["in_processes"] = lambda *_: nullcontext()  # what a killed server leaves behind would go on importing
    if asked["harm_at"]:
        _harm_at(asked["harm_at"], Path(asked["log"]).with_suffix(".trace"), freezes=asked["freezes"])


def _harm_at(boundary: int, trace: Path, *, freezes: bool) -> None:
    """Right before or after a durable write of the journal."""
    point = CrashPoint(boundary, trace, freeze) if freezes else CrashPoint(boundary, trace)

    async def fragile(url: str, **options: Any) -> Any:
        return point.around_store(await open_store(url, **options))

    urls.open_store = fragile


class Nursery:
    """The process above, from `__enter__` to `__exit__`."""

    def __enter__(self) -> Nursery:
        command = [sys.executable, "-m", __name__]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._pid()  # it has imported everything
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def server(
        self,
        store: str,
        log: Path,
        *options: str,
        harm_at: int = 0,
        freezes: bool = False,
        port: int = 0,
        has_pages: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> Victim:
        """It is beginning; see `Victim.listens`. `harm_at`: at which durable write it kills itself, or freezes; 0: never."""
        asked = {
            "log": str(log),
            "options": ["--port", str(port), "--store", store, *options],
            "environment": dict(os.environ if environment is None else environment),
            "harm_at": harm_at,
            "freezes": freezes,
            "has_pages": has_pages,
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        self._process.stdin.flush()
        return Victim(self._pid(), log)

    def _pid(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())


class Victim:
    """A server, by its process id."""

    def __init__(self, pid: int, log: Path) -> None:
        self.pid = pid
        self._log = log

    @property
    def url(self) -> str:
        """Empty until it listens."""
        out = self._log.with_suffix(".out")
        try:
            return str(json.loads(out.read_text())["url"])
        except (OSError, ValueError):
            return ""

    @property
    def log(self) -> str:
        return self._log.read_text()

    @property
    def code(self) -> int:
        """Of a server that has ended by itself. Raises `FileNotFoundError` for one that was killed."""
        return int(self._log.with_suffix(".code").read_text())

    @property
    def is_alive(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
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

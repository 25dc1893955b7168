"""LangGraph's own server runs the project of docs/langgraph-server.md, is killed, and does nothing twice."""

from __future__ import annotations

import os
import re
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client

SERVER = os.environ.get("SAGAGRAPH_LANGGRAPH_SERVER", "")
DOCUMENT = Path(__file__).parents[2] / "docs" / "langgraph-server.md"
_FILE = re.compile(r"^```\w+ (?:no-run )?(?P<name>[\w.]+\.\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS_SERVER = pytest.mark.skipif(
    not SERVER, reason="SAGAGRAPH_LANGGRAPH_SERVER names no environment with langgraph-cli[inmem] (docs/langgraph-server.md)"
)


def project() -> dict[str, str]:
    return {found["name"]: found["text"] for found in _FILE.finditer(DOCUMENT.read_text(encoding="utf-8"))}


class Server:
    """`langgraph dev` in `folder`, in a session of its own; SIGKILL ends all of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.client: Any = get_sync_client(url=f"http://127.0.0.1:{self._port}")
        self.start()

    def start(self) -> None:
        command = [f"{SERVER}/bin/langgraph", "dev", "--no-browser", "--no-reload", "--port", str(self._port)]
        quiet = {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1"}
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=self.folder, env={**os.environ, **quiet}, stdout=log, stderr=log, start_new_session=True
            )
        while not self._is_up():
            assert self._process.poll() is None, (self.folder / "server.log").read_text()
            time.sleep(0.1)

    def _is_up(self) -> bool:
        with socket.socket() as asking:
            return asking.connect_ex(("127.0.0.1", self._port)) == 0

    def wait_for_end(self) -> None:
        self._process.wait(timeout=60)

    def end(self, by: signal.Signals = signal.SIGKILL) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, by)
        self.wait_for_end()

    def thread(self, name: str | None = None) -> str:
        return str(self.client.threads.create(thread_id=name, graph_id="trip", if_exists="do_nothing")["thread_id"])

    def run(self, thread: str, **said: Any) -> Any:
        return self.client.runs.wait(thread, "trip", **said)

    def seats(self) -> int:
        with closing(sqlite3.connect(self.folder / "airline.db")) as airline:
            return int(airline.execute("SELECT count(*) FROM seats").fetchone()[0])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    for name, text in project().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    started = Server(tmp_path)
    yield started
    started.end()


def saga(**said: Any) -> dict[str, Any]:
    return {"configurable": {"saga": said}}


@NEEDS_SERVER
def test_a_killed_server_does_nothing_twice_and_forks_and_cancels(server: Server) -> None:
    thread = server.thread()
    (server.folder / "kill").touch()
    server.client.runs.create(thread, "trip", input={"city": "Rome"})
    server.wait_for_end()
    assert server.seats() == 1

    server.start()
    waiting = server.run(server.thread(thread), input={"city": "Rome"})
    assert [each["value"] for each in waiting["__interrupt__"]] == ["pay for seat 12A?"]
    server.end()  # while a person thinks
    server.start()
    assert server.run(server.thread(thread), command={"resume": True}) == {"city": "Rome", "seat": "12A", "paid": True}
    assert server.seats() == 1

    start = next(each for each in server.client.threads.get_history(thread, limit=20) if each["next"] == ["book"])
    at = start["checkpoint"]["checkpoint_id"]
    with pytest.raises(Exception, match=r"'1/book'.*does not undo what happened"):
        server.run(thread, input=None, checkpoint_id=at)
    forked = server.run(thread, input=None, checkpoint_id=at, config=saga(effects={"1/book": "compensate"}))
    assert forked["seat"] == "12A"
    assert server.seats() == 1
    server.run(thread, config=saga(cancel=True))
    assert server.seats() == 0
    server.end(signal.SIGINT)
    assert "Traceback" not in (server.folder / "server.log").read_text().rpartition("does not undo what happened")[2]


def test_the_project_in_the_document_is_whole() -> None:
    files = project()
    assert files.keys() == {"langgraph.json", "trip.py"}
    compile(files["trip.py"], "trip.py", "exec")

"""`sagagraph workflow`, as people type it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ACTIONS = """
import time
from datetime import timedelta
from pathlib import Path
from sagagraph import Guarantees, action

BOOK = Path(__file__).with_name("book.txt")

def made(name, kind=None, takes=0.0):
    def execute(request, call):
        lines = BOOK.read_text().splitlines() if BOOK.exists() else []
        if call.idempotency_key not in lines:
            with BOOK.open("a") as book:
                book.write(call.idempotency_key + "\\n")
        time.sleep(takes)
        return {"key": call.idempotency_key}

    def undo(request, result, call):
        with BOOK.open("a") as book:
            book.write(f"-{call.operation_key}\\n")

    more = {} if kind else {"compensate": undo}
    return action(execute, name=name, kind=kind, provider="here", guarantees=Guarantees(dedup=timedelta(days=1)), **more)

actions = [made("reserve_car"), made("reserve_table"), made("send_invitation", takes=SLOW), made("confirm_day", "pivot")]
"""
GIVEN = {"rides": ["from the airport"], "place": "at home", "people": ["Ann", "Bob", "Cid"]}


class Shell:
    def __init__(self, folder: Path, slow: float) -> None:
        self.folder = folder
        self.book = folder / "book.txt"
        (folder / "party.py").write_text(ACTIONS.replace("SLOW", str(slow)))
        (folder / "given.json").write_text(json.dumps(GIVEN))
        self._env = {**os.environ, "PYTHONPATH": str(folder), "SAGAGRAPH_STORE": f"sqlite:///{folder / 'journal.db'}"}

    def begin(self, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "sagagraph", *words, "--json"]
        return subprocess.Popen(
            command, cwd=self.folder, env=self._env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def __call__(self, *words: str, code: int = 0) -> Any:
        process = self.begin(*words)
        told, problems = process.communicate(timeout=60)
        assert process.returncode == code, (told[-500:], problems[-1500:])
        return json.loads(told)

    def booked(self) -> int:
        """How much stands: what was booked and has not been undone, by key."""
        keys = set(self.book.read_text().splitlines()) if self.book.exists() else set()
        return len([each for each in keys if not each.startswith("-") and f"-{each}" not in keys])


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path, slow=0.0)


RUN = ("workflow", "run", "party.json", "--input", "given.json", "--actions", "party:actions", "--saga-id", "party")


@pytest.mark.quick
def test_a_blueprint_is_drafted_validated_run_replayed_and_cannot_be_undone_past_its_pivot(shell: Shell) -> None:
    drafted = shell("workflow", "draft", "reunion", "--actions", "party:actions", "--out", "party.json")
    assert drafted["unfilled"] == []
    assert shell("workflow", "validate", "party.json", "--actions", "party:actions")["verdict"] == "VALID"
    assert shell(*RUN)["status"] == "committed"
    assert shell("workflow", "replay", "party")["parity"] is True
    assert shell.booked() == 6
    assert shell("workflow", "export", "--saga", "party") == json.loads((shell.folder / "party.json").read_text())
    assert "cannot" in shell("cancel", "party", code=2)["error"]["message"]


def test_a_run_that_is_killed_is_resumed_or_cancelled_without_its_file(tmp_path: Path) -> None:
    shell = Shell(tmp_path, slow=1.0)
    shell("workflow", "draft", "reunion", "--actions", "party:actions", "--out", "party.json")
    for go_on, status, left in (("resume", "committed", 6), ("cancel", "compensated", 0)):
        process = shell.begin(*RUN[:-1], go_on)
        give_up_at = time.monotonic() + 30
        before = shell.booked()
        while shell.booked() < before + 3 and time.monotonic() < give_up_at:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        (shell.folder / "given.json").rename(shell.folder / "gone.json")
        assert shell(go_on, go_on)["status"] == status
        assert shell.booked() == before + left
        (shell.folder / "gone.json").rename(shell.folder / "given.json")


def test_a_worker_goes_on_with_a_run_that_is_killed_and_one_without_its_code_leaves_it_alone(tmp_path: Path) -> None:
    shell = Shell(tmp_path, slow=1.0)
    shell("workflow", "draft", "reunion", "--actions", "party:actions", "--out", "party.json")
    process = shell.begin(*RUN)
    while shell.booked() < 3:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    code = (tmp_path / "party.py").rename(tmp_path / "elsewhere")
    without = shell.begin("worker", "--documents")
    time.sleep(8.0)  # its lease has run out by then
    without.terminate()
    assert "not driven" in "".join(without.communicate(timeout=30))
    assert without.returncode == 0
    assert shell("status", "party")["status"] == "running"
    code.rename(tmp_path / "party.py")
    worker = shell.begin("worker", "--documents")
    try:
        while shell("status", "party")["status"] != "committed":
            assert worker.poll() is None
    finally:
        worker.terminate()
        worker.communicate(timeout=30)
    assert shell.booked() == 6


@pytest.mark.quick
@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("workflow", "run", "nothing.json"), "FILE"),
        (("workflow", "run", "given.json"), "workflow"),
        (
            (
                "workflow",
                "export",
            ),
            "FILE",
        ),
        (("workflow", "import", "given.json", "--from", "asl"), "FILE"),
        (("workflow", "draft", "a party"), "GOAL"),
        (("workflow", "draft", "trip", "--actions", "no.such.module"), "--actions"),
    ],
)
def test_bad_input_gets_a_clear_error(shell: Shell, words: tuple[str, ...], field: str) -> None:
    assert shell(*words, code=2)["error"]["field"] == field


@pytest.mark.quick
def test_roles_that_nobody_fills_are_named(shell: Shell) -> None:
    drafted = shell("workflow", "draft", "trip", "--actions", "party:actions", code=1)
    assert drafted["unfilled"] == ["prices", "flight", "hotel", "payment", "message"]

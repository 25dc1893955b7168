"""`sagagraph workflow`, as people type it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.factory.scenarios import blueprint_of
from tests.support.models.script import Say
from tests.support.models.server import ModelServer

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

check_prices = action(lambda request, call: "as before", name="check_prices", kind="read-only")
actions = [made("reserve_car"), made("reserve_table"), made("send_invitation", takes=SLOW), made("confirm_day", "pivot")]
trip = [check_prices, made("book_flight"), made("book_hotel", takes=SLOW), made("capture_payment", "pivot")]
trip += [made("send_itinerary", "retriable")]
shop = [made("dispatch_step_saw"), made("dispatch_step_drill", takes=SLOW), made("deliver_jobs", "pivot")]
"""
GIVEN = {"rides": ["from the airport"], "place": "at home", "people": ["Ann", "Bob", "Cid"]}
TRIP = {"offers": [], "flights": ["out", "home"], "hotels": ["inn"], "nights": 2, "amount": 9, "plan": "p"}


class Shell:
    def __init__(self, folder: Path, slow: float) -> None:
        self.folder = folder
        self.book = folder / "book.txt"
        (folder / "party.py").write_text(ACTIONS.replace("SLOW", str(slow)))
        (folder / "given.json").write_text(json.dumps(GIVEN))
        (folder / "trip.json").write_text(json.dumps(TRIP))
        self._env = {**os.environ, "PYTHONPATH": str(folder), "SAGAGRAPH_STORE": f"sqlite:///{folder / 'journal.db'}"}

    def begin(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        command, env = [sys.executable, "-m", "sagagraph", *words, "--json"], self._env | environment
        return subprocess.Popen(command, cwd=self.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __call__(self, *words: str, code: int = 0, **environment: str) -> Any:
        process = self.begin(*words, **environment)
        told, problems = process.communicate(timeout=180)
        assert process.returncode == code, (told[-500:], problems[-1500:])
        return json.loads(told)

    def booked(self) -> int:
        """How much stands: what was booked and has not been undone, by key."""
        keys = set(self.book.read_text().splitlines()) if self.book.exists() else set()
        return len([each for each in keys if not each.startswith("-") and f"-{each}" not in keys])

    def killed_at(self, booked: int, *words: str) -> None:
        """Begin a run, and kill it as soon as so much is booked."""
        process = self.begin(*words)
        give_up_at = time.monotonic() + 60
        while self.booked() < booked and time.monotonic() < give_up_at:
            time.sleep(0.02)
        process.kill()
        process.communicate()


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
    assert {tuple(each["misfits"]) for each in shell("log", "party")["log"]} == {()}
    assert shell("workflow", "export", "--saga", "party") == json.loads((shell.folder / "party.json").read_text())
    assert "cannot" in shell("cancel", "party", code=2)["error"]["message"]


def test_a_run_that_is_killed_is_resumed_or_cancelled_without_its_file(tmp_path: Path) -> None:
    shell = Shell(tmp_path, slow=1.0)
    shell("workflow", "draft", "reunion", "--actions", "party:actions", "--out", "party.json")
    for go_on, status, left in (("resume", "committed", 6), ("cancel", "compensated", 0)):
        before = shell.booked()
        shell.killed_at(before + 3, *RUN[:-1], go_on)
        (shell.folder / "given.json").rename(shell.folder / "gone.json")
        assert shell(go_on, go_on)["status"] == status
        assert shell.booked() == before + left
        (shell.folder / "gone.json").rename(shell.folder / "given.json")


def test_a_worker_goes_on_with_a_run_that_is_killed_and_one_without_its_code_leaves_it_alone(tmp_path: Path) -> None:
    shell = Shell(tmp_path, slow=1.0)
    shell("workflow", "draft", "reunion", "--actions", "party:actions", "--out", "party.json")
    shell.killed_at(3, *RUN)
    code = (tmp_path / "party.py").rename(tmp_path / "elsewhere")
    without = shell.begin("worker")
    assert without.stderr is not None
    while "not driven" not in without.stderr.readline():  # it is said once the dead one's lease has run out
        assert without.poll() is None
    without.terminate()
    without.communicate(timeout=30)
    assert without.returncode == 0
    assert shell("status", "party")["status"] == "running"
    code.rename(tmp_path / "party.py")
    worker = shell.begin("worker", "--queue", "workflows")
    try:
        while shell("status", "party")["status"] != "committed":
            assert worker.poll() is None
    finally:
        worker.terminate()
        worker.communicate(timeout=30)
    assert shell.booked() == 6


@pytest.mark.parametrize("drafted_by", [pytest.param("template", marks=pytest.mark.proof), "model"])
@pytest.mark.parametrize(
    ("goal", "actions", "given", "at", "booked"),
    [
        ("trip", "party:trip", "trip.json", 3, 5),
        ("reunion", "party:actions", "given.json", 3, 6),
        ("job-shop", "party:shop", "", 2, 7),
    ],
)
def test_a_blueprint_is_drafted_validated_run_killed_and_taken_over_with_all_that_is_open(
    tmp_path: Path, drafted_by: str, goal: str, actions: str, given: str, at: int, booked: int
) -> None:
    shell, using = Shell(tmp_path, slow=1.0), ("--actions", actions)
    sound = msgspec.to_builtins(blueprint_of(goal))
    script = [Say({**sound, "roles": []}), Say(sound)] if drafted_by == "model" else []
    with ModelServer(script) as server:
        model = {"SAGAGRAPH_MODEL": "openai:m", **server.environment()} if script else {}
        drafted = shell("workflow", "draft", f"a {goal}" if script else goal, *using, "--out", "plan.json", **model)
        assert server.left == 0
    assert drafted["unfilled"] == []
    assert shell("workflow", "validate", "plan.json", *using)["verdict"] == "VALID"
    shell.killed_at(at, "workflow", "run", "plan.json", *using, "--saga-id", goal, *(("--input", given) if given else ()))
    assert shell("status", goal)["status"] == "running"
    assert [(each["saga_id"], each["status"]) for each in shell("resume", "--all")] == [(goal, "committed")]
    assert shell("workflow", "replay", goal)["parity"] is True
    assert shell.booked() == booked


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

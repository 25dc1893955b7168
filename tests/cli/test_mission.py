"""`sagagraph mission`: every verb, what is wrong in one line, and a mission that is killed and ends well (point 17)."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.commands import CommandLine, ended, spawned
from tests.cli.test_worker import status, wait_for, working

GOAL = "research EU AI Act compliance for our product"


@pytest.mark.quick
def test_a_mission_by_command(command: CommandLine) -> None:
    begun = command("mission", "begin", GOAL, "--budget", "2", "--mission-id", "m", "--json")
    assert (begun.code, begun.json["state"], begun.json["budget"]["cap_usd"]) == (0, "awaiting_approval", 2.0)
    assert command("mission", "begin", GOAL, "--budget", "2", "--mission-id", "m", "--json").json["state"] == "awaiting_approval"
    wrong = command("mission", "approve", "m", "--plan", "another")
    assert (wrong.code, "look at it again" in wrong.complaint) == (2, True)
    done = command("mission", "approve", "m", "--plan", begun.json["plan_hash"], "--reassign", "2=writer", "--json")
    assert (done.code, done.json["state"], done.json["tasks"][1]["agent_id"]) == (0, "awaiting_review", "writer")
    again = command("mission", "review", "m", "reject", "--task", "4", "--reason", "too surface level", "--json")
    assert again.json["tasks"][3]["generation"] == 2
    assert command("mission", "review", "m", "accept", "--json").json["state"] == "completed"
    assert command("mission", "routine", "m", "--json").json["routine"] == f"Routine: {GOAL}"
    told = command("mission", "status")
    assert (told.code, f"m  completed  {GOAL}" in told.out) == (0, True)
    assert "sagagraph mission routine m" in command("mission", "status", "m").out
    assert command("status", "m", "--json").json["status"] == "committed"


def test_the_other_verbs(command: CommandLine) -> None:
    def begin(name: str) -> None:
        assert command("mission", "begin", GOAL, "--mission-id", name, "--json").json["state"] == "awaiting_approval"

    begin("a")
    rejected = command("mission", "reject", "a", "--reason", "no", "--json")
    assert (rejected.code, rejected.json["state"]) == (1, "failed")
    begin("b")
    assert command("mission", "cancel", "b", "--preview", "--json").json["undo"] == []
    assert command("mission", "cancel", "b", "--json").json["state"] == "cancelled"
    begin("c")
    assert command("mission", "skip", "c", "4", "--json").json["tasks"][3]["state"] == "skipped"
    assert command("mission", "budget", "c", "--cap", "1.5", "--json").json["budget"]["cap_usd"] == 1.5
    for verb, more in [("pause", ()), ("retry", ("1",)), ("accept", ("1",)), ("tell", ("faster",)), ("review", ("accept",))]:
        told = command("mission", verb, "c", *more)
        assert (told.code, bool(told.complaint)) == (2, True), verb
    assert command("mission", "begin", "paint the kitchen", "--json").json["state"] == "failed"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("said", "names"),
    [
        (("begin", " "), "goal"),
        (("begin", GOAL, "--agents", "nowhere:TEAM"), "--agents"),
        (("status", "nothing"), "nothing"),
        (("approve", "nothing"), "nothing"),
        (("approve", "m", "--reassign", "writer"), "--reassign"),
        (("begin", GOAL, "--mission-id", " x"), "--saga-id"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(command: CommandLine, said: tuple[str, ...], names: str) -> None:
    command("db", "upgrade")
    told = command("mission", *said)
    assert (told.code, names in told.complaint) == (2, True), told.err


def test_another_goal_under_the_same_id_is_a_conflict(command: CommandLine) -> None:
    command("mission", "begin", GOAL, "--mission-id", "m")
    told = command("mission", "begin", "compare two laptops", "--mission-id", "m")
    assert (told.code, "another request" in told.complaint) == (2, True)


def killed(command: CommandLine, name: str, *agents: str) -> None:
    """Begin a mission, and kill its process as soon as its second task runs."""
    going = spawned(*command.arguments("mission", "begin", GOAL, "--mission-id", name, "--autonomy", "full_auto", *agents))
    wait_for(lambda: "task-2/1" in command("status", name, "--json").out, "it never ran")
    going.kill()
    going.communicate()
    assert status(command, name) == "running"


def test_a_worker_and_resume_all_take_over_missions_with_the_agents_they_began_with(
    command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("db", "upgrade")
    slow = ("--agents", "tests.support.missions:slow_team")
    killed(command, "m", *slow)
    killed(command, "gone", "--agents", "tests.support.missions:vanishing_team")
    waits = command("mission", "begin", GOAL, "--mission-id", "waits", "--json")
    assert waits.json["state"] == "awaiting_approval"
    monkeypatch.setenv("VANISHED", "1")
    told = command("resume", "--all")
    monkeypatch.delenv("VANISHED")
    assert status(command, "m") == "committed"
    assert (status(command, "gone"), "vanishing_team" in told.err) == ("running", True)
    killed(command, "n", *slow)
    with working(command, "--queue", "missions") as (running, _url):
        wait_for(lambda: status(command, "n") == "committed", "nobody took it over")
        wait_for(lambda: status(command, "gone") == "committed", "nobody took it over")
        running.terminate()
        assert ended(running).code == 0
    assert command("mission", "status", "waits", "--json").json["state"] == "awaiting_approval"
    for name in ("m", "n", "gone"):
        done = command("mission", "status", name, "--json").json
        assert (done["state"], [each["attempt_number"] for each in done["tasks"]]) == ("completed", [1, 1, 1, 1])


def test_point_17_the_demonstration_is_killed_and_ends_well() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.mission_demonstration"], capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "killed in the middle: running" in lines[1]
    assert "planned without a model: completed" in lines[-1]

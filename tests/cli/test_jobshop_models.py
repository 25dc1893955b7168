"""Models that schedule job shops, over the wire: faults are named, and no schedule is worse for having asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.jobshop.generator import in_standard_format
from tests.cli.commands import CommandLine
from tests.domains.job_shop.shops import THREE
from tests.support.models import Drop, ModelServer, Refuse, Say, Status, Text

pytestmark = pytest.mark.quick

DOWN = {"at": 2, "event": "machine_down", "machine": 0, "until": 4}
LEAST = [[0, 4, 9], [3, 5, 6], [0, 6]]
"""When the steps of each job begin: the last ends at 11, which is the least."""
WAITS = [[0, 4, 9], [3, 5, 7], [0, 6]]
"""As short, and one step later than it could be."""
LONG = [[0, 4, 10], [3, 5, 6], [0, 7]]
AT_ONCE = [[0, 4, 9], [1, 5, 6], [0, 6]]
"""Machine 0 has two steps at once."""


def say(starts: list[list[int]], **more: Any) -> Say:
    return Say({"reasoning": "Machine 1 is never idle.", "starts": starts, **more})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "shop.txt"
    path.write_text(in_standard_format(THREE))
    return path


def asked(monkeypatch: pytest.MonkeyPatch, server: ModelServer, provider: str = "openai") -> None:
    settings = {"SAGAGRAPH_MODEL": f"{provider}:m", "SAGAGRAPH_MODEL_SECONDS": "60", **server.environment()}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)


def starts_of(told: Any) -> list[int]:
    return [row["start"] for row in told["schedule"]]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_fault_is_named_and_the_next_schedule_is_taken(
    provider: str, file: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer([say(AT_ONCE), say(WAITS)]) as server:
        asked(monkeypatch, server, provider)
        ended = command("jobshop", "solve", file, "--json")
    told = ended.json
    assert (ended.code, told["makespan"], told["verdict"], told["proposed_by"]) == (0, 11, "VALID", f"{provider}:m")
    assert starts_of(told) == [start for row in WAITS for start in row]
    assert told["reasons"] == ["Machine 1 is never idle."]
    assert "job 1, step 1 (0 to 3)" in server.asked[1].user
    (use,) = told["models"]
    assert (use["role"], use["questions"], use["tokens_in"] > 0) == ("planner", 2, True)


def test_a_schedule_that_holds_and_is_longer_is_not_taken(
    file: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer([say(LONG)] * 3) as server:
        asked(monkeypatch, server)
        told = command("jobshop", "solve", file, "--json").json
        assert "ends 1 later than another schedule" in str(server.asked[1].body)
    assert (told["makespan"], told["proposed_by"]) == (11, "solver")
    assert told["reasons"] == ["finished by the solver from what openai:m proposed, which was not valid"]


@pytest.mark.parametrize(
    "wrong", [Status(503), Refuse(), Drop(), Text("a schedule, none"), say(AT_ONCE)], ids=lambda each: type(each).__name__
)
def test_the_search_schedules_whatever_a_model_does(
    wrong: Any, file: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer([wrong] * 8) as server:
        asked(monkeypatch, server)
        ended = command("jobshop", "solve", file, "--json")
    assert (ended.code, ended.json["makespan"], ended.json["proposed_by"]) == (0, 11, "solver")
    assert "openai:m" in ended.json["reasons"][-1]


def test_a_model_that_would_cost_too_much_is_not_asked(file: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer([say(LEAST)]) as server:
        asked(monkeypatch, server)
        ended = command("jobshop", "solve", file, "--max-tokens", "10")
        assert not server.asked
    assert "proposed by solver; openai:m: another question could exceed the 10 tokens that it may use" in ended.err


def test_a_repair_that_rewrites_the_past_is_named_and_another_one_is_taken(
    file: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    schedule, event = tmp_path / "schedule.json", tmp_path / "event.json"
    event.write_text(json.dumps(DOWN))
    assert command("jobshop", "solve", file, "--out", schedule).code == 0
    without = command("jobshop", "repair", file, schedule, "--event", event, "--json").json
    right = [[row["start"] for row in without["schedule"] if row["job"] == job] for job in (1, 2, 3)]
    past = [[4, *right[0][1:]], *right[1:]]
    answers = [say(past), say(right)]
    with ModelServer(answers) as server:
        asked(monkeypatch, server, "anthropic")
        told = command("jobshop", "repair", file, schedule, "--event", event, "--json").json
        assert "starts until now" in str(server.asked[0].body)
        assert "job 1, step 1 (4 to 9) began at 0, before 2, and stands" in server.asked[1].user
    assert (told["proposed_by"], told["verdict"]) == ("anthropic:m", "VALID")
    assert told["schedule"] == without["schedule"]
    assert told["edit_radius"] == without["edit_radius"]

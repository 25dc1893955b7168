"""`reunion plan` and `reunion repair` as commands: what they print, write and answer with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import CommandLine
from tests.domains.reunion.plans import judged, shipped
from tests.domains.reunion.published import ALAS_TABLE_21, BOTH_ERRANDS_BY_CHRIS

SLOW: dict[str, Any] = {"at": "13:00", "event": "travel_factor", "place": "B", "factor": 3}


def written(folder: Path, name: str, value: Any) -> Path:
    path = folder / f"{name}.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def test_a_plan_is_printed_and_written_and_the_validator_accepts_it(command: CommandLine, tmp_path: Path) -> None:
    problem, out = written(tmp_path, "problem", shipped("thanksgiving")), tmp_path / "plan.json"
    ended = command("reunion", "plan", str(problem), "--out", str(out), "--alternatives", "1", "--json")
    assert ended.code == 0
    assert ended.json["objectives"] == [{"objective": "driving_minutes", "value": 330, "bound": 330}]
    assert ended.json["status"] == "optimal"
    kept = json.loads(out.read_text())
    assert kept == {"problem": "thanksgiving", "actions": ended.json["actions"]}
    assert judged(shipped("thanksgiving"), kept).is_valid
    assert judged(shipped("thanksgiving"), ended.json["alternatives"][0]).is_valid


def test_what_cannot_be_met_is_named_with_exit_code_1(command: CommandLine, tmp_path: Path) -> None:
    stated = shipped("wedding")
    stated["goals"][0]["by"] = "13:20"
    stated["people"][1]["from"] = "13:00"
    stated["people"] = [each for each in stated["people"] if each["name"] != "Chris"]
    stated["vehicles"] = stated["vehicles"][:1]
    stated["tasks"] = []
    ended = command("reunion", "plan", str(written(tmp_path, "problem", stated)), "--seconds", "10", "--json")
    assert ended.code == 1
    assert ended.json["verdict"] == "INVALID"
    told = {each["requirement"]: each["relax"]["to"] for each in ended.json["conflict"]}
    assert set(told) == {"people.Jamie.from", "people.Jamie.goals[0].by"}
    assert told["people.Jamie.from"] == "12:40"


def test_a_repair_tells_what_changed_and_is_judged(command: CommandLine, tmp_path: Path) -> None:
    problem, plan = written(tmp_path, "problem", shipped("wedding")), written(tmp_path, "plan", BOTH_ERRANDS_BY_CHRIS)
    ended = command("reunion", "repair", str(problem), str(plan), "--event", str(written(tmp_path, "event", SLOW)), "--json")
    assert ended.code == 0
    assert ended.json["verdict"] == "VALID"
    assert ended.json["edit_radius"] == {"actions": 1, "people": 3, "minutes": 0}
    (change,) = ended.json["changed"]
    assert (change["index"], change["before"]["end"], change["after"]["end"]) == (1, "13:20", "14:00")


def test_a_repair_that_nobody_can_make_has_a_conflict(command: CommandLine, tmp_path: Path) -> None:
    late = {"at": "13:00", "event": "delayed", "person": "James", "from": "17:00"}
    problem, plan = written(tmp_path, "problem", shipped("thanksgiving")), written(tmp_path, "plan", ALAS_TABLE_21)
    event = written(tmp_path, "event", late)
    ended = command("reunion", "repair", str(problem), str(plan), "--event", str(event), "--seconds", "10", "--json")
    assert (ended.code, ended.json["plan"], ended.json["verdict"]) == (1, None, "INVALID")
    assert [each["requirement"] for each in ended.json["conflict"]] == ["people.James.from", "people.James.goals[0].by"]


@pytest.mark.parametrize(
    ("plan", "events", "field"),
    [
        ({"actions": "none"}, [SLOW], "PLAN"),
        ({"actions": [{"do": "fly"}]}, [SLOW], "PLAN"),
        (BOTH_ERRANDS_BY_CHRIS, [], "--event"),
        (BOTH_ERRANDS_BY_CHRIS, [{**SLOW, "place": "Q"}], "events[0].place"),
        ("not JSON", [SLOW], "PLAN"),
    ],
)
def test_bad_input_is_one_line_that_names_the_field(
    command: CommandLine, tmp_path: Path, plan: Any, events: list[Any], field: str
) -> None:
    problem = written(tmp_path, "problem", shipped("wedding"))
    told = [str(written(tmp_path, f"event {number}", each)) for number, each in enumerate(events)]
    options = [word for path in told for word in ("--event", path)]
    ended = command("reunion", "repair", str(problem), str(written(tmp_path, "plan", plan)), *options, "--json")
    assert ended.code == 2
    assert ended.json["error"]["field"] == field
    assert "Traceback" not in ended.err


def test_commands_that_do_not_plan_do_not_load_the_solver() -> None:
    code = "import sys; import sagagraph.cli.app; sys.exit('ortools' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""`jobshop solve`, `jobshop repair` and `validate jobshop` as commands: what they print, write and answer with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks.jobshop.generator import in_standard_format, in_taillards_format
from tests.cli.commands import CommandLine
from tests.domains.job_shop.shops import THREE

pytestmark = pytest.mark.quick

_SVG = "{http://www.w3.org/2000/svg}"
DOWN = {"at": 2, "event": "machine_down", "machine": 0, "until": 4}
LONGER = {"at": 4, "event": "duration", "job": 3, "step": 2, "minutes": 6}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "shop.txt"
    path.write_text(in_standard_format(THREE))
    return path


def written(folder: Path, name: str, value: Any) -> Path:
    path = folder / f"{name}.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


@pytest.fixture
def solved(command: CommandLine, file: Path, tmp_path: Path) -> Path:
    out = tmp_path / "schedule.json"
    assert command("jobshop", "solve", file, "--out", out, "--json").code == 0
    return out


def test_a_schedule_is_printed_and_written_and_the_validator_accepts_it(command: CommandLine, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "schedule.json"
    ended = command("jobshop", "solve", file, "--seconds", "20", "--out", out, "--json")
    assert (ended.code, ended.err) == (0, "")
    told = ended.json
    assert told == json.loads(out.read_text())
    assert (told["makespan"], told["lower_bound"], told["status"]) == (11, 11, "optimal")
    assert [(row["job"], row["step"]) for row in told["schedule"]] == [(job, step) for job, step, _ in THREE.numbered()]
    assert all(row.keys() == {"job", "step", "machine", "start", "end"} for row in told["schedule"])
    assert max(row["end"] for row in told["schedule"]) == told["makespan"]
    judged = command("validate", "jobshop", file, out, "--json")
    assert (judged.code, judged.json["verdict"], judged.json["violations"]) == (0, "VALID", [])
    assert judged.json["certificate"]["validator"] == "jobshop"


def test_machines_are_numbered_as_in_the_file(command: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "taillard.txt"
    path.write_text(in_taillards_format(THREE))
    ended = command("jobshop", "solve", path)
    assert {row["machine"] for row in ended.json["schedule"]} == {1, 2, 3}
    assert ended.err == "makespan 11 (proven to be the least)\n"


def test_a_repair_keeps_the_past_and_tells_what_changed(command: CommandLine, file: Path, solved: Path, tmp_path: Path) -> None:
    first, second = written(tmp_path, "first", DOWN), written(tmp_path, "second", [LONGER])
    mended = tmp_path / "mended.json"
    ended = command("jobshop", "repair", file, solved, "--event", first, "--event", second, "--out", mended, "--json")
    assert (ended.code, ended.json["verdict"]) == (0, "VALID")
    told, old = ended.json, json.loads(solved.read_text())
    starts = [(was["start"], now["start"]) for was, now in zip(old["schedule"], told["schedule"], strict=True)]
    assert all(was == now for was, now in starts if was < DOWN["at"])
    moved = [abs(now - was) for was, now in starts if now != was]
    jobs = {row["job"] for row, (was, now) in zip(old["schedule"], starts, strict=True) if was != now}
    before, after = (_places(each["schedule"]) for each in (old, told))
    places = sum(after[key] != place for key, place in before.items())
    assert told["edit_radius"] == {"operations": len(moved), "jobs": len(jobs), "displacement": sum(moved), "places": places}
    assert told["lower_bound"] <= told["makespan"] <= told["waiting"]["makespan"]
    assert told["least"]
    judged = ("validate", "jobshop", file, mended)
    assert command(*judged, "--event", first, "--event", second, "--against", solved).code == 0
    assert command(*judged).code == 1
    assert command(*judged, "--event", first, "--event", second, "--against", solved, "--executed-until", "2").code == 0
    again = command("jobshop", "repair", file, mended, "--event", first, "--event", second, "--json")
    assert again.json["schedule"] == told["schedule"]


def test_a_row_that_is_nothing_is_said_in_words_of_json(command: CommandLine, file: Path, tmp_path: Path) -> None:
    told = command("validate", "jobshop", file, written(tmp_path, "nothing", [None]))
    assert "row 0 cannot be read: must be a JSON object, not null" in told.out


def test_a_machine_that_does_not_come_back_is_a_conflict(command: CommandLine, file: Path, solved: Path, tmp_path: Path) -> None:
    event = written(tmp_path, "event", {**DOWN, "until": None})
    ended = command("jobshop", "repair", file, solved, "--event", event)
    assert ended.code == 1
    assert (ended.json["verdict"], ended.json["schedule"], ended.json["makespan"]) == ("INVALID", [], None)
    (conflict,) = ended.json["conflict"]
    assert (conflict["machine"], conflict["steps"]) == (0, [{"job": 1, "step": 1}, {"job": 2, "step": 1}])
    assert ended.err == "machine 0 does not come back, and is still needed by job 1 step 1, job 2 step 1\n"


def test_what_is_wrong_is_said_with_exit_code_1(command: CommandLine, file: Path, solved: Path, tmp_path: Path) -> None:
    rows = json.loads(solved.read_text())["schedule"]
    told = command("validate", "jobshop", file, written(tmp_path, "short", rows[1:]))
    assert (told.code, told.out) == (1, "MISSING_TASK: job 1, step 1 is not in the schedule\nINVALID\n")


def test_bad_input_is_one_line_that_names_the_field(
    command: CommandLine, file: Path, solved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SAGAGRAPH_DATA", raising=False)  # without it, `jobshop bench` has no instances of its own
    event = written(tmp_path, "event", DOWN)
    rows = json.loads(solved.read_text())["schedule"]
    moved = written(tmp_path, "moved", [{**rows[0], "end": rows[0]["end"] + 1}, *rows[1:]])
    half = written(tmp_path, "half", [{"job": 1}])
    endless, binary = tmp_path / "endless", tmp_path / "binary"
    endless.write_bytes(b"1 " * 8_000_001)
    binary.write_bytes(b"2 2\n\xff\xfe")
    for words, said in {
        ("jobshop", "solve", tmp_path / "nowhere"): "FILE: ",
        ("jobshop", "solve", tmp_path): "FILE: ",
        ("jobshop", "solve", endless): "FILE: ",
        ("jobshop", "solve", binary): "FILE: ",
        ("jobshop", "solve", solved): "num_jobs: is missing",
        ("jobshop", "solve", file, "--seconds", "0"): "Invalid value for '--seconds'",
        ("jobshop", "solve", file, "--out", tmp_path): "--out: ",
        ("jobshop", "repair", file, solved): "--event: say what has happened",
        ("jobshop", "repair", file, solved, "--event", half): "events[0].event: is missing",
        ("jobshop", "repair", file, file, "--event", event): "SCHEDULE: ",
        ("jobshop", "repair", file, half, "--event", event): "SCHEDULE: row 0 cannot be read",
        ("jobshop", "repair", file, moved, "--event", event): "SCHEDULE: is not valid before any of these events: job 1, step 1",
        ("jobshop", "repair", file, "--event", event): f"SCHEDULE: name the schedule of {file} too",
        ("jobshop", "repair", "nobody", "--event", event, "--out", half): "--out: is for a schedule in a file",
        ("jobshop", "repair", "nobody"): "--event: say what has happened",
        ("jobshop", "show", file, half): "SCHEDULE: row 0 cannot be read",
        ("jobshop", "show", file, solved, "--out", tmp_path): "--out: ",
        ("jobshop", "begin", file, "--schedule", half): "--schedule: row 0 cannot be read",
        (
            "jobshop",
            "begin",
            file,
            "--schedule",
            moved,
        ): "--schedule: is not a valid schedule of this shop before anything happens: job 1, step 1",
        ("jobshop", "bench", file, tmp_path / "nowhere"): f"{tmp_path / 'nowhere'}: ",
        ("jobshop", "bench"): "FILE: name a file",
        ("validate", "jobshop", file, solved, "--executed-until", "3"): "--executed-until: name the plan",
        ("validate", "jobshop", file, solved, "--against", solved): "--against: say until when",
        ("validate", "jobshop", file, solved, "--against", half, "--event", event): "--against: row 0 cannot be read",
        ("validate", "jobshop", file, solved, "--against", solved, "--executed-until", "3:00"): "--executed-until: must be",
    }.items():
        ended = command(*words, "--json")
        assert (ended.code, ended.complaint.startswith(said)) == (2, True), (words, ended.err)
        assert ended.json["error"]["exit_code"] == 2


def test_a_schedule_is_carried_out_repaired_while_it_runs_and_delivered(command: CommandLine, file: Path, tmp_path: Path) -> None:
    ended = command("jobshop", "begin", file, "--seconds", "2", "--yes", "--saga-id", "shop", "--json")
    assert (ended.code, ended.json["status"]) == (0, "running")
    event = written(tmp_path, "down", DOWN)
    assert "one event at a time" in command("jobshop", "repair", "shop", "--event", event, "--event", event).err
    ended = command("jobshop", "repair", "shop", "--event", event)
    assert (ended.code, "approve it with: sagagraph approve shop" in ended.out) == (0, True)
    assert command("approve", "shop", "--json").json["status"] == "running"
    assert command("jobshop", "deliver", "shop", "--json").json["status"] == "committed"
    assert command("jobshop", "repair", "nobody", "--event", event).code == 2
    assert command("jobshop", "repair", tmp_path / "nothing", "--event", event).code == 2


def test_a_step_that_is_redone_is_in_the_schedule_twice(command: CommandLine, file: Path, solved: Path, tmp_path: Path) -> None:
    redo = written(tmp_path, "redo", {"at": 9, "event": "redo", "job": 1, "step": 1})
    out = tmp_path / "mended.json"
    assert command("jobshop", "repair", file, solved, "--event", redo, "--seconds", "2", "--out", out).code == 0
    rows = json.loads(out.read_text())["schedule"]
    before = [row for row in json.loads(solved.read_text())["schedule"] if row["job"] == 1 and row["start"] < 9]
    again = [row for row in rows if row["job"] == 1 and row["start"] >= 9]
    assert [row["step"] for row in again] == [1, 2, 3]
    assert [row for row in rows if row["job"] == 1 and row["start"] < 9] == before
    assert command("validate", "jobshop", file, out, "--event", redo, "--against", solved).code == 0
    once = command("validate", "jobshop", file, solved, "--event", redo, "--json").json["violations"]
    assert ("MISSING_TASK", "job 1, step 1 is not done again") in {(each["code"], each["message"]) for each in once}
    assert "3 steps are done again" in command("jobshop", "repair", file, solved, "--event", redo, "--seconds", "2").err
    short = written(tmp_path, "short", [row for row in rows if row != again[0]])
    assert "job 1, step 1 is not done again" in command("jobshop", "repair", file, short, "--event", redo).err


def test_a_schedule_is_drawn_and_its_faults_are_named(command: CommandLine, file: Path, solved: Path, tmp_path: Path) -> None:
    ended = command("jobshop", "show", file, solved)
    chart = ElementTree.fromstring(ended.out)
    bars = [each.text for each in chart.iter(f"{_SVG}title")]
    rows = json.loads(solved.read_text())["schedule"]
    assert (ended.code, ended.err) == (0, "")
    assert set(bars[1:]) == {f"Job {row['job']}, step {row['step']}: {row['start']} to {row['end']}" for row in rows}
    assert bars[0] == "Steps: 8; machines: 3; done at 11"
    lacks, out = written(tmp_path, "lacks", rows[1:]), tmp_path / "chart.svg"
    ended = command("jobshop", "show", file, lacks, "--out", out)
    assert (ended.code, ended.out, "MISSING_TASK: job 1, step 1" in ended.err) == (0, "", True)
    assert command("jobshop", "show", file, lacks, "--json").json["verdict"] == "INVALID"
    assert out.read_text().startswith("<svg")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_is_one_line(file: Path, solved: Path) -> None:
    words = [sys.executable, "-m", "sagagraph", "jobshop", "show", file, solved]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stderr) == (2, "sagagraph: standard output cannot be written: no space is left\n")


def test_a_schedule_that_somebody_has_is_carried_out(command: CommandLine, file: Path, solved: Path) -> None:
    ended = command("jobshop", "begin", file, "--schedule", solved, "--saga-id", "given", "--yes", "--json")
    assert (ended.code, ended.json["status"]) == (0, "running")
    dispatched = [each["id"] for each in ended.json["operations"] if each["action"] == "dispatch"]
    rows = json.loads(solved.read_text())["schedule"]
    in_time = sorted(rows, key=lambda row: (row["start"], row["end"], row["step"], row["job"]))
    assert dispatched == [f"job {row['job']} step {row['step']}" for row in in_time]


def test_instances_are_measured_one_after_the_other_beside_what_is_known(
    command: CommandLine, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (row,) = command("jobshop", "bench", file, "--seconds", "1", "--json").json["instances"]
    assert (row["name"], row["makespan"], row["status"], row["verdict"]) == ("shop", 11, "optimal", "VALID")
    (tmp_path / "jobshop").mkdir()
    (tmp_path / "jobshop" / "shop.txt").write_text(file.read_text())
    (tmp_path / "jobshop" / "bounds.csv").write_text("file,name,upper_bound\nshop.txt,three,10\n")
    monkeypatch.setenv("SAGAGRAPH_DATA", str(tmp_path))
    ended = command("jobshop", "bench", "--seconds", "1")
    assert (ended.json["instances"][0]["best_known"], ended.json["instances"][0]["gap"]) == (10, 0.1)
    assert "three: makespan 11 (optimal, 10.00% above the best known)" in ended.err
    for line in ("shop.txt,three,ten", "shop.txt"):
        (tmp_path / "jobshop" / "bounds.csv").write_text(f"file,name,upper_bound\n{line}\n")
        ended = command("jobshop", "bench")
        assert (ended.code, "bounds.csv: line 2 needs a `name`" in ended.err) == (2, True)


def _places(rows: list[dict[str, int]]) -> dict[tuple[int, int], int]:
    """The place of each step in the order of its machine."""
    machines: dict[int, list[tuple[int, int]]] = {}
    for row in sorted(rows, key=lambda row: (row["start"], row["end"])):
        machines.setdefault(row["machine"], []).append((row["job"], row["step"]))
    return {key: place for order in machines.values() for place, key in enumerate(order)}

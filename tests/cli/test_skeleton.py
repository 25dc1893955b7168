"""`sagagraph init`: a project that runs, whose test passes, and that overwrites nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import CommandLine

pytestmark = pytest.mark.quick


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_a_project_books_everything_or_nothing_and_its_test_passes(command: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "trips"
    assert command("init", folder).code == 0
    assert run(folder, "main.py", "one", "a flight", "a hotel").stdout == "committed\n"
    undone = run(folder, "main.py", "two", "a flight", "a hotel on the moon")
    assert (undone.stdout, "there is nothing on the moon" in undone.stderr) == ("compensated\n", True)
    assert len(list((folder / "bookings").iterdir())) == 2
    assert "2 passed" in run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider").stdout


def test_what_is_in_a_folder_stays(command: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("mine")
    ended = command("init", tmp_path)
    assert (ended.code, ended.complaint.startswith("NAME: ")) == (2, True)
    assert [each.name for each in tmp_path.iterdir() if each.suffix] == ["main.py"]
    assert command("init", tmp_path / "main.py" / "deeper").code == 2


def test_a_trip_that_is_not_booked_ends_with_code_1_and_one_line(tmp_path: Path, command: CommandLine) -> None:
    folder = tmp_path / "trips"
    assert command("init", folder, "--json").json["files"][1] == str(folder / "main.py")
    for words in ((), ("", "a flight"), ("one", "a hotel on the moon")):
        ended = run(folder, "main.py", *words)
        assert (ended.returncode > 0, "Traceback" in ended.stderr) == (True, False)


_KILLED = """
import asyncio, os, pathlib, sys
import main
name, when = sys.argv[1:3]
real = getattr(pathlib.Path, name)
def dies(*words, **named):
    when == "before" and os._exit(9)
    real(*words, **named)
    os._exit(9)
setattr(pathlib.Path, name, dies)
asyncio.run(main.trip("killed", sys.argv[3:]))
"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("effect", "second", "ended", "left"),
    [("replace", "a hotel", "committed", ["a flight", "a hotel"]), ("unlink", "a hotel on the moon", "compensated", [])],
)
def test_a_project_that_is_killed_around_an_effect_goes_on(
    effect: str, when: str, second: str, ended: str, left: list[str], tmp_path: Path, command: CommandLine
) -> None:
    folder = tmp_path / "trips"
    assert command("init", folder).code == 0
    assert run(folder, "-c", _KILLED, effect, when, "a flight", second).returncode == 9
    assert run(folder, "main.py", "killed", "a flight", second).stdout == f"{ended}\n"
    booked = [each.read_text() for each in (folder / "bookings").iterdir() if "unfinished" not in each.name]
    assert sorted(booked) == left

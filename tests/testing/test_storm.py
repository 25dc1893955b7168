"""Random sagas in a storm on real processes; and storms over a library that is broken on purpose."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, timeout=240, cwd=ROOT, env=environment, check=False
    )


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_random_sagas_in_a_storm_land_nothing_twice_and_leave_nothing_behind(store: str) -> None:
    sagas = 60 if store == "sqlite" else 180  # long enough for some harm of the server to strike on a quick machine
    told = run("tests.support.storm", "--sagas", str(sagas), "--seed", "7", "--store", store, "--json")
    assert told.returncode == 0, told.stderr
    total: dict[str, Any] = json.loads(told.stdout)
    assert total["faults"] == []
    assert sum(total["after"].values()) == total["sagas"] == sagas
    assert set(total["after"]) <= {"committed", "compensated", "held", "stuck"}
    assert total["after"]["committed"] > 10
    assert total["after"]["compensated"] > 10
    assert total["harms"]["kills"] > 0
    assert total["harms"]["stops"] > 0
    assert total["harms"]["wrong clocks"] > 0
    if store == "postgresql":  # a file has no server to harm; which harm strikes in so short a storm depends on the machine
        assert sum(total["harms"][each] for each in ("cut connections", "restarts", "full disks")) > 0
    assert total["counts"]["changes of hand"] > 0
    assert 0 < total["counts"]["undoings"] < total["counts"]["landings"]


@pytest.mark.parametrize(
    ("fault", "says", "seed"),
    [("keys", "landed 2 times", 1), ("undo keys", "was undone 2 times", 2), ("absence", "failed, 1 of it stand", 1)],
)
def test_the_ledger_finds_what_was_broken_on_purpose(fault: str, says: str, seed: int) -> None:
    told = run("tests.testing.planted", fault, "--sagas", "60", "--seed", str(seed))
    assert told.returncode == 1, told.stderr
    assert says in told.stdout
    assert f"FAULT batch {seed}/0 s" in told.stdout
    assert "call at" in told.stderr  # with the evidence


@pytest.mark.parametrize("words", [("--sagas", "0"), ("--workers", "1"), ("--store", "oracle"), ("--store", "postgresql://")])
def test_bad_input_is_answered_in_words(words: tuple[str, str]) -> None:
    told = run("tests.support.storm", *words)
    assert (told.returncode, told.stdout) == (2, "")
    assert words[0] in told.stderr
    assert "Traceback" not in told.stderr

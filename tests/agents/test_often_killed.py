"""The agent that is killed three times on its way, in a few runs; `python -m tests.agents.often_killed` makes 200."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_no_run_is_held_where_everything_settles_and_no_effect_is_wrong_without_a_promise() -> None:
    command = [sys.executable, "-m", "tests.agents.often_killed", "--runs", "6"]
    told = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    assert told.returncode == 0, told.stdout + told.stderr
    settles, nothing = told.stdout.splitlines()
    assert settles == "settles: 6 runs, 18 kills: 3 committed, 3 compensated; 0 faults"
    assert nothing.endswith("0 faults")

"""Agents, tasks and called graphs, killed for real; an outside ledger says what they did.

Every boundary: `python -m tests.support.sweep tests.graph.inner_scenarios:SCENARIOS`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
SCENARIOS = "tests.graph.inner_scenarios:SCENARIOS"


def test_what_a_node_runs_is_killed_anywhere_and_nothing_is_lost_or_wrongly_undone() -> None:
    swept = subprocess.run(
        [sys.executable, "-m", "tests.support.sweep", SCENARIOS, "--sample", "1", "--seed", "1"],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert swept.returncode == 0, swept.stdout + swept.stderr
    assert swept.stdout.splitlines()[-1] == "0 faults"
    assert "killed 11 times" in swept.stdout

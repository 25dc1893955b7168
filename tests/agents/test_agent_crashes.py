"""Prebuilt agents, killed for real at drawn boundaries; a ledger outside says what their tools did.

Every boundary of all of them: `make proof`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCENARIOS = "tests.agents.scenarios:SAMPLE"


@pytest.mark.parametrize("store", ["sqlite", pytest.param("postgresql", marks=pytest.mark.proof)])
def test_prebuilt_agents_are_killed_anywhere_and_nothing_is_lost_or_wrongly_undone(store: str) -> None:
    swept = subprocess.run(
        [sys.executable, "-m", "tests.support.sweep", SCENARIOS, "--store", store, "--sample", "1", "--seed", "5"],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert swept.returncode == 0, swept.stdout + swept.stderr
    assert swept.stdout.splitlines()[-1] == "0 faults"
    killed = re.search(r"killed (\d+) times", swept.stdout)
    assert killed
    assert int(killed[1]) >= 3  # of 4 scenarios: a run may end before the boundary that was drawn for it

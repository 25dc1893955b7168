"""PRD-102's acceptance point 9: missions harmed at their boundaries, taken over by two coordinators at once; a ledger judges.

All boundaries: `make proof`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_IN_MEMORY = Path("/dev/shm")
_ENVIRONMENT = {**os.environ, **({"TMPDIR": str(_IN_MEMORY)} if os.access(_IN_MEMORY, os.W_OK) else {})}


@pytest.mark.parametrize(
    ("store", "harm", "sample"),
    [
        ("sqlite", "kill", 5),
        ("sqlite", "stop", 1),
        ("postgresql", "kill", 2),
        ("postgresql", "stop", 1),
        ("postgresql", "cut", 1),
    ],
)
def test_point_9_no_effect_twice_and_none_lost(store: str, harm: str, sample: int) -> None:
    command = [sys.executable, "-m", "tests.support.sweep", "tests.support.missions:SCENARIOS", "--json", "--jobs", "2"]
    command += ["--store", store, "--harm", harm, "--sample", str(sample), "--seed", "9"]
    done = subprocess.run(command, capture_output=True, text=True, env=_ENVIRONMENT, timeout=280)
    cases: list[dict[str, Any]] = json.loads(done.stdout)
    assert len(cases) == 4 * sample, done.stderr[-2000:]
    assert [each for each in cases if each["judgement"]["faults"]] == []
    ends = {each["scenario"]: {"compensated"} if "fails" in each["scenario"] else {"committed"} for each in cases}
    assert all({each["judgement"]["outcome"]} <= ends[each["scenario"]] | {"never began"} for each in cases)


def test_the_judge_sees_what_landed_twice(tmp_path: Path) -> None:
    """The check can fail: a booking that nobody undid is a fault."""
    from tests.support.missions import MissionScenario

    scenario = MissionScenario("diamond", fails=True)
    ledger = scenario._ledger(tmp_path)
    ledger.prepare()
    ledger._land("flight", "another key")
    assert ledger.live() == {"flight": 1}

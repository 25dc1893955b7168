"""Workflows with a choice, a map and parallel branches, and what blueprints become: killed, stopped and cut off at boundaries.

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
    ("store", "harm", "scenarios", "sample"),
    [
        ("sqlite", "kill", "SCENARIOS", 3),
        ("sqlite", "stop", "WORKFLOWS", 2),
        ("postgresql", "kill", "SCENARIOS", 2),
        ("postgresql", "stop", "WORKFLOWS", 1),
        ("postgresql", "cut", "WORKFLOWS", 2),
    ],
)
def test_a_workflow_that_is_harmed_anywhere_goes_on_with_the_same_members(
    store: str, harm: str, scenarios: str, sample: int
) -> None:
    """Each case is judged by an outside ledger, the journal's replay, and the document walked through once more."""
    cases = swept(scenarios, store, harm, sample)
    assert len(cases) == sample * (5 if scenarios == "SCENARIOS" else 2)
    assert [each for each in cases if each["judgement"]["faults"]] == []
    ends = {(each["scenario"] == "it fails", each["judgement"]["outcome"]) for each in cases}
    assert ends - {(True, "never begun"), (False, "never begun")} == {(True, "compensated"), (False, "committed")}


def test_the_sweep_finds_a_provider_that_forgets(tmp_path: Path) -> None:
    """The check can fail: what lands twice after a crash is a fault, and so is what stays behind a compensation."""
    cases = swept("PLANTED", "sqlite", "kill", 1, "--place", "after the action of flight")
    found = {each["scenario"] for each in cases if each["judgement"]["faults"]}
    assert found == {"it forgets", "it fails and forgets"}


def swept(scenarios: str, store: str, harm: str, sample: int, *options: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "tests.support.sweep", f"tests.factory.scenarios:{scenarios}", "--json", "--jobs", "2"]
    command += ["--store", store, "--harm", harm, "--sample", str(sample), "--seed", "9", *options]
    done = subprocess.run(command, capture_output=True, text=True, env=_ENVIRONMENT, timeout=280)
    assert done.stdout, done.stderr[-2000:]
    cases: list[dict[str, Any]] = json.loads(done.stdout)
    return cases

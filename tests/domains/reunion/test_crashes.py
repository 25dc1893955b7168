"""A day whose process is killed (SIGKILL) while people are told their parts, told anew, or told that it is off; then resumed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from .crash_worker import SCENARIOS

STRIDE = os.environ.get("SAGAGRAPH_SWEEP_STRIDE", "5")
"""Every boundary with 1; each scenario begins at another one, so that what is skipped here is met there."""


@pytest.mark.parametrize(
    ("name", "outcomes"),
    [
        ("begun", {"running"}),
        ("an event", {"running"}),
        ("called off", {"compensated"}),
        ("called off half-way", {"compensated"}),
    ],
)
def test_everybody_ends_with_the_one_invitation_that_holds_or_with_none(name: str, outcomes: set[str]) -> None:
    command = [sys.executable, "-m", "tests.domains.reunion.crash_worker", "sweep", name, STRIDE]
    swept = subprocess.run(command, capture_output=True, text=True, check=False)
    cases = [json.loads(line) for line in swept.stdout.splitlines()]
    assert swept.returncode == 0, swept.stderr
    assert [each for each in cases if each["judgement"]["faults"]] == []
    assert outcomes <= {each["judgement"]["outcome"] for each in cases} <= {*outcomes, "never begun", "running"}
    assert len(cases) > 4


def test_every_scenario_is_swept() -> None:
    assert set(SCENARIOS) == {"begun", "an event", "called off", "called off half-way"}

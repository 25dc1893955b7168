"""A meal whose worker is killed, stopped or cut off whatever happens to it; then resumed. The ledger judges."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.domains.recipes.meals import IS_FULL

ALL = ("COOKED", "CALLED_OFF", "MADE_AGAIN", "SERVED")
STORES = {"kill": "sqlite", "stop": "sqlite", "cut": "postgresql"}
DRAWN = {("kill", each) for each in ALL} | {("stop", "SERVED"), ("cut", "CALLED_OFF")}
"""Each harm, and each scenario; the other pairs are left to `make proof`."""


@pytest.mark.parametrize(
    ("harm", "scenario"),
    [
        pytest.param(harm, scenario, marks=() if (harm, scenario) in DRAWN else pytest.mark.proof)
        for harm in STORES
        for scenario in ALL
    ],
)
def test_nothing_is_started_twice_and_nothing_is_left_on_the_stove(harm: str, scenario: str) -> None:
    """At two boundaries of each; in `make proof` at all of them."""
    words = ["--harm", harm, "--store", STORES[harm], "--sample", "0" if IS_FULL else "2", "--seed", "5", "--json"]
    command = [sys.executable, "-m", "tests.support.sweep", f"tests.domains.recipes.kitchens:{scenario}", *words]
    swept = subprocess.run(command, capture_output=True, text=True, timeout=3000 if IS_FULL else 280, check=False)
    cases: list[dict[str, Any]] = json.loads(swept.stdout or "[]")
    assert len(cases) >= (30 if IS_FULL else 2), swept.stderr
    assert [case["judgement"]["faults"] for case in cases] == [[]] * len(cases)
    ends = {"COOKED": {"running", "never begun", "awaiting_approval"}, "CALLED_OFF": {"compensated", "running"}}
    assert {case["judgement"]["outcome"] for case in cases} <= ends.get(scenario, {"running", "committed"})

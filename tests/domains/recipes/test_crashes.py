"""A meal whose worker is killed, stopped or cut off whatever happens to it; then resumed. The ledger judges."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.domains.recipes.kitchens import SCENARIOS
from tests.domains.recipes.meals import IS_FULL

STORES = {"kill": "sqlite", "stop": "sqlite", "cut": "postgresql"}
ALL = "SCENARIOS"
ENDS = {"cooked": {"running", "never begun", "awaiting_approval"}, "called off": {"compensated", "running"}}


@pytest.mark.parametrize(
    ("harm", "scenarios"),
    [
        ("kill", ALL),
        ("stop", "SERVED"),
        ("cut", "CALLED_OFF"),
        pytest.param("stop", ALL, marks=pytest.mark.proof),
        pytest.param("cut", ALL, marks=pytest.mark.proof),
    ],
)
def test_nothing_is_started_twice_and_nothing_is_left_on_the_stove(harm: str, scenarios: str) -> None:
    """At two boundaries of each scenario; in `make proof` at all of them."""
    words = ["--harm", harm, "--store", STORES[harm], "--sample", "0" if IS_FULL else "2", "--seed", "5", "--json"]
    command = [sys.executable, "-m", "tests.support.sweep", f"tests.domains.recipes.kitchens:{scenarios}", *words]
    swept = subprocess.run(command, capture_output=True, text=True, timeout=12_000 if IS_FULL else 280, check=False)
    cases: list[dict[str, Any]] = json.loads(swept.stdout or "[]")
    assert len(cases) >= (30 if IS_FULL else 2) * (len(SCENARIOS) if scenarios == ALL else 1), swept.stderr
    assert [case["judgement"]["faults"] for case in cases] == [[]] * len(cases)
    for case in cases:
        assert case["judgement"]["outcome"] in ENDS.get(case["scenario"], {"running", "committed"})

"""A meal whose worker is killed, stopped or cut off while it is cooked or called off; then resumed. The ledger judges."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest


@pytest.mark.parametrize("scenario", ["COOKED", "CALLED_OFF"])
@pytest.mark.parametrize(("harm", "store"), [("kill", "sqlite"), ("stop", "sqlite"), ("cut", "postgresql")])
def test_nothing_is_started_twice_and_nothing_is_left_on_the_stove(scenario: str, harm: str, store: str) -> None:
    words = ["--harm", harm, "--store", store, "--sample", "3", "--seed", "5", "--json"]
    command = [sys.executable, "-m", "tests.support.sweep", f"tests.domains.recipes.kitchens:{scenario}", *words]
    swept = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    cases: list[dict[str, Any]] = json.loads(swept.stdout or "[]")
    assert [case["judgement"]["faults"] for case in cases] == [[], [], []], swept.stderr
    assert {case["judgement"]["outcome"] for case in cases} <= {"committed", "compensated", "never begun", "awaiting_approval"}

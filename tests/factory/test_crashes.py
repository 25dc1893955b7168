"""Workflows with a choice, a map and parallel branches, killed and stopped by real signals at their boundaries."""

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


@pytest.mark.parametrize(("store", "harm", "stride"), [("sqlite", "kill", 2), ("sqlite", "stop", 8), ("postgresql", "kill", 8)])
@pytest.mark.parametrize(("name", "outcome"), [("it commits", "committed"), ("it fails", "compensated")])
def test_a_workflow_that_is_harmed_anywhere_goes_on_with_the_same_members(
    name: str, outcome: str, store: str, harm: str, stride: int
) -> None:
    sweep(name, outcome, store, harm, first=1 + (name == "it fails"), stride=stride)


@pytest.mark.parametrize("name", ["trip", "reunion", "job-shop"])
def test_what_a_blueprint_becomes_is_killed_and_goes_on(name: str) -> None:
    sweep(name, "committed", "sqlite", "kill", first=3, stride=7)


def sweep(name: str, outcome: str, store: str, harm: str, *, first: int, stride: int) -> None:
    """Each case is judged by an outside ledger, the journal's replay, and the document walked through once more."""
    command = [sys.executable, "-m", "tests.factory.crash_worker", name, store, harm, str(first), str(stride)]
    done = subprocess.run(command, capture_output=True, text=True, env=_ENVIRONMENT, timeout=280)
    assert done.returncode == 0, done.stderr[-2000:]
    cases: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(cases) > 5
    assert [each for each in cases if each["judgement"]["faults"]] == []
    assert {each["judgement"]["outcome"] for each in cases} - {"never begun"} == {outcome}

"""Sweep of scenarios in a process of its own, as `python -m sagagraph.testing` runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any


def swept(scenarios: str, *words: str, **environment: str) -> list[dict[str, Any]]:
    """Return the cases, each harmed somewhere. `words`: options; `environment`: where the servers are that the scenarios use."""
    command = [sys.executable, "-m", "tests.support.sweep", scenarios, *words, "--json"]
    said = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert said.stdout.startswith("["), said.stdout + said.stderr
    return [each for each in json.loads(said.stdout) if each["place"]]


def faults_in(cases: list[dict[str, Any]]) -> list[str]:
    return [f"{each['scenario']}, {each['place']}: {fault}" for each in cases for fault in each["judgement"]["faults"]]

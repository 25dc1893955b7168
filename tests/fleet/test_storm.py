"""The storm through the port of a fleet, on PostgreSQL: workers, the database and the fleet's server die; a ledger judges."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


@pytest.mark.parametrize(("fleet", "sagas"), [("store", 40), ("temporal", 10)])
def test_nothing_is_done_twice_nothing_is_left_over_and_every_saga_ends(fleet: str, sagas: int) -> None:
    words = ["--sagas", str(sagas), "--fleet", fleet, "--store", "postgresql", "--seed", "37", "--json"]
    ended = subprocess.run([sys.executable, "-m", "tests.support.storm", *words], capture_output=True, text=True, timeout=290)
    assert ended.returncode == 0, ended.stderr[-3000:]
    told = json.loads(ended.stdout)
    assert (told["sagas"], told["faults"]) == (sagas, [])
    struck = {"kills", "stops", "restarts", *(["restarts of the fleet's server"] if fleet == "temporal" else [])}
    assert {each for each in struck if told["harms"][each]} == struck

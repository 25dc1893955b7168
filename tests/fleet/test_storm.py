"""The storm through the port of a fleet, on PostgreSQL: workers, the database and the fleet's server die; a ledger judges."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

WORKERS = {"kills", "stops"}
SERVERS = {"restarts", "restarts of the fleet's server"}


@pytest.mark.parametrize(
    ("fleet", "sagas", "struck"),
    [
        ("store", 40, WORKERS),
        ("temporal", 10, WORKERS),  # on a quick machine they end before a server is restarted
        pytest.param("temporal", 60, WORKERS | SERVERS, marks=[pytest.mark.proof, pytest.mark.timeout(1000)]),
    ],
)
def test_nothing_is_done_twice_nothing_is_left_over_and_every_saga_ends(fleet: str, sagas: int, struck: set[str]) -> None:
    words = ["--sagas", str(sagas), "--fleet", fleet, "--store", "postgresql", "--seed", "37", "--json"]
    ended = subprocess.run(
        [sys.executable, "-m", "tests.support.storm", *words], capture_output=True, text=True, timeout=290 if sagas <= 40 else 900
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    told = json.loads(ended.stdout)
    assert (told["sagas"], told["faults"]) == (sagas, [])
    assert {each for each in struck if told["harms"][each]} == struck

"""A formal model of amendments, reversals and leases, checked by Spin (docs/protocol.md rules 1, 3, 5, 6 and 8).

The exploration runs the production core, one saga at a time. This model has three sagas at once, each with a worker that dies or
freezes while another takes over, and calls that land when they like. `make model` checks it whole;
`make test-all` leaves out the largest part.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

MODEL = Path(__file__).with_name("amendment.pml")
FULL = os.environ.get("SAGAGRAPH_EXPLORE") == "full"
SAGAS = ("TRIP", "REVERSAL", "AMENDMENT") if FULL else ("TRIP", "REVERSAL")
FAULTS = {
    "NO_FENCE": "a superseded worker appends",
    "INTENT_AFTER": "the call goes out before its intent is durable",
    "UNDO_PAID": "an amendment turns back though its payment may land",
    "REFUND_FIRST": "the old payment is refunded before the new one has landed",
    "ABSENT_CLOSES": "a payment in doubt is given up because the provider said absent",
    "FORGETS_REPORT": "only the worker that ended an amendment reports that to the trip",
    "CANCEL_WHILE_AMENDING": "a trip is cancelled while it is being changed",
    "FIRST_VERSION": "a reversal undoes the first version of the plan",
}

pytestmark = pytest.mark.skipif(
    not (shutil.which("spin") and shutil.which("gcc")), reason="spin (in Debian: apt install spin) or gcc is not installed"
)


def checked(folder: Path, *defined: str) -> tuple[int, int]:
    """Return how many states were found, and how many of them violate something; the search stops at the first."""
    options = [f"-D{each}" for each in defined]
    subprocess.run(["spin", "-a", *options, str(MODEL)], cwd=folder, check=True, capture_output=True)
    subprocess.run(["gcc", "-O1", "-w", "-DSAFETY", "-DCOLLAPSE", "-o", "pan", "pan.c"], cwd=folder, check=True)
    told = subprocess.run(["./pan", "-E", "-m100000", "-w24"], cwd=folder, check=True, capture_output=True, text=True).stdout
    assert "max search depth too small" not in told
    found = re.search(r"errors: (\d+)\s+(\d+) states, stored", told)
    assert found, told
    return int(found[2]), int(found[1])


@pytest.mark.parametrize("saga", SAGAS)
def test_no_death_and_no_late_call_leaves_half_a_change(saga: str, tmp_path: Path) -> None:
    states, errors = checked(tmp_path, f"{saga}_FAILS=true")
    assert errors == 0
    assert states > 1_000_000


@pytest.mark.parametrize("fault", FAULTS, ids=str.lower)
def test_each_planted_fault_is_found(fault: str, tmp_path: Path) -> None:
    _states, errors = checked(tmp_path, "AMENDMENT_FAILS=true", fault)
    assert errors == 1, FAULTS[fault]

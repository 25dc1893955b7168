"""A graph with an interrupt, a `Send`, a loop and a subgraph, killed for real; an outside ledger says what it did.

Every boundary: `python -m tests.support.sweep tests.graph.crash_scenarios:SCENARIOS` (some 1,000 kills).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.graph.crash_scenarios import out_of_order
from tests.saga.ledger import Ledger

ROOT = Path(__file__).parents[3]
SCENARIOS = "tests.graph.crash_scenarios:SCENARIOS"


def test_a_graph_killed_anywhere_goes_on_and_does_nothing_twice() -> None:
    """A sample of the boundaries, each resumed twice; `--store postgresql` does the same on a server."""
    swept = subprocess.run(
        [sys.executable, "-m", "tests.support.sweep", SCENARIOS, "--sample", "1", "--seed", "1"],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert swept.returncode == 0, swept.stdout + swept.stderr
    assert swept.stdout.splitlines()[-1] == "0 faults"
    assert "killed 7 times" in swept.stdout


def test_an_undoing_out_of_order_would_be_seen(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.prepare()
    for name in ("seat", "bag1", "bag0"):
        ledger._undo(name, name)
    assert out_of_order(ledger) == []
    ledger._undo("leg1", "leg1")
    assert out_of_order(ledger) == ["bag1 was undone before leg1", "bag0 was undone before leg1"]

"""Sweep of the sample trip: `python -m tests.support.sweep` harms it at every boundary, on SQLite or a PostgreSQL server."""

from __future__ import annotations

from sagagraph.testing.__main__ import main, sweep_command
from tests.support.databases import databases
from tests.support.trips import SCENARIOS

if __name__ == "__main__":
    main(sweep_command(databases, SCENARIOS), "tests.support.sweep")

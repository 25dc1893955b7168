"""A campaign: so many inputs for a reader. What it cannot take is shrunk to the smallest input, and told with its traceback."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.readers import READERS


def fuzz(name: str, inputs: int, number: int | None = None) -> int:
    """Return how many were taken. Raises what a reader raised. `number`: a seed; None: always the same."""
    reader, taken = READERS[name], 0

    with tempfile.TemporaryDirectory() as folder:

        @settings(
            max_examples=inputs, deadline=None, database=None, derandomize=number is None, print_blob=False,
            suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink], report_multiple_bugs=True,
        )  # fmt: skip
        @given(reader.of)
        def reads(said: object) -> None:
            nonlocal taken
            try:
                reader.read(said, Path(folder))
            except reader.ends:
                return
            taken += 1

        (reads if number is None else seed(number)(reads))()
    return taken

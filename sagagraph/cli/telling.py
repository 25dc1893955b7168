"""Telling: a document on standard output, as JSON or in lines. It imports little, so that `--help` need not wait."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def tell(document: Any, lines: Iterable[str], *, as_json: bool) -> int:
    """Print a document as JSON, or the lines, which are made only if they are printed. Returns 0, the exit code."""
    from sagagraph.cli import render

    if as_json:
        render.print_json(document)
    for line in () if as_json else lines:
        render.stdout.print(line, markup=False)
    return 0

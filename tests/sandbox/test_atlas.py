"""The tables of the world are what `python -m atlas` makes of its sources."""

from __future__ import annotations

from atlas.__main__ import FOLDER, lines
from atlas.tables import tables


def test_the_tables_are_those_that_are_made() -> None:
    for name, rows in tables().items():
        assert (FOLDER / f"{name}.tsv").read_text(encoding="utf-8") == lines(rows), f"run `python -m atlas`: {name} has changed"

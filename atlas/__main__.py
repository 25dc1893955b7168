"""Writes the tables."""

from __future__ import annotations

from pathlib import Path

from atlas.tables import Table, tables

FOLDER = Path(__file__).parent.parent / "sagagraph" / "sandbox" / "atlas"


def lines(rows: Table) -> str:
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def main() -> None:
    for name, rows in tables().items():
        (FOLDER / f"{name}.tsv").write_text(lines(rows), encoding="utf-8")


if __name__ == "__main__":
    main()

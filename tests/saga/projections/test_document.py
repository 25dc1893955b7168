"""docs/projections.md lists the tables as they are defined."""

from __future__ import annotations

from sqlalchemy import JSON, Column

from sagagraph.saga.stores.projections.tables import DEFINITIONS

from .test_questions import DOCUMENT


def test_the_document_says_what_a_row_of_each_table_is() -> None:
    rows = [f"| `{name}` | {each.about} | {each.in_table_1} |" for name, each in DEFINITIONS.items()]
    assert _listed("| table | a row is | Table 1 |\n|---|---|---|") == rows


def test_the_document_lists_the_columns_of_each_table() -> None:
    rows = [f"| `{name}` | {', '.join(map(_told, each.table.columns))} |" for name, each in DEFINITIONS.items()]
    assert _listed("| table | columns |\n|---|---|") == rows


def _told(column: Column[object]) -> str:
    """A key is bold, what may be null has a question mark, and JSON says so."""
    name = f"**{column.name}**" if column.primary_key else f"{column.name}{'?' if column.nullable else ''}"
    return f"{name} (JSON)" if isinstance(column.type, JSON) else name


def _listed(heading: str) -> list[str]:
    """The rows of the document's table under this heading."""
    _before, _heading, after = DOCUMENT.read_text(encoding="utf-8").partition(f"{heading}\n")
    return after.partition("\n\n")[0].splitlines()

"""The table at the top of docs/services/README.md, from the sheets: `python -m tests.services.table` writes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sagagraph.services.catalogue import services
from sagagraph.services.service import Promise

DOCUMENT = Path(__file__).parents[2] / "docs" / "services" / "README.md"
BEGIN, END = "<!-- table -->", "<!-- end of the table -->"


def table() -> str:
    return "\n".join((BEGIN, *_rows(), END))


def _rows() -> Iterator[str]:
    yield "| service | action | undo | probe | guarantee (source) | what cannot be undone |"
    yield "|---|---|---|---|---|---|"
    for service in services():
        for sheet in service.sheets:
            said = f"`{sheet.action}` ({sheet.kind.value}): {sheet.does}"
            promises = "<br>".join(map(_promise, sheet.promises)) or "none"
            cells = (
                f"[{service.name}]({service.name}.md)",
                said,
                sheet.undo or "none",
                sheet.probe or "none",
                promises,
                sheet.lasting,
            )
            yield f"| {' | '.join(cells)} |"


def _promise(promise: Promise) -> str:
    return f"`{promise.term}`: {promise.says} ({promise.source})"


def written(document: str) -> str:
    """The document, with the table as it is now."""
    before, _, rest = document.partition(BEGIN)
    return before + table() + rest.partition(END)[2]


if __name__ == "__main__":
    DOCUMENT.write_text(written(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")

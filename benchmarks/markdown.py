"""Paragraphs and tables of a report."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence


def prose(*words: str) -> str:
    return textwrap.fill(" ".join(words), 130, break_on_hyphens=False, break_long_words=False)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(str(cell).replace('|', '/') for cell in line)} |" for line in lines)

"""docs/security.md and docs/proof.md: each line of the threat model, and of what once broke, names a test that is there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def rows(document: str, *, after: str = "") -> list[str]:
    text = (ROOT / "docs" / document).read_text(encoding="utf-8")
    text = text[text.index(after) :].partition("\n## Figures")[0]
    return [row for row in text.splitlines() if re.match(r"\| ?(?!-)", row) and not re.search(r"\| tests? \|", row)]


ROWS = rows("security.md") + rows("proof.md", after="## What once broke")


@cache
def named_in(file: str) -> frozenset[str]:
    body = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
    return frozenset(each.name for each in body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)))


def test_there_are_lines() -> None:
    assert len(rows("security.md")) > 30
    assert len(rows("proof.md", after="## What once broke")) >= 16


@pytest.mark.quick
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[2].strip()[:50])
def test_a_line_names_tests_that_are_there(row: str) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
    assert named, "a line without a test would be a wish"
    assert [name for file, name in named if name not in named_in(file)] == []

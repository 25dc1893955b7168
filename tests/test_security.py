"""docs/security.md: each line of the threat model names a test that is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROWS = [
    row
    for row in (ROOT / "docs" / "security.md").read_text().splitlines()
    if re.match(r"\| (?!-)", row) and "| test |" not in row
]


def test_there_are_lines() -> None:
    assert len(ROWS) > 30


@pytest.mark.quick
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:50])
def test_a_line_of_the_threat_model_has_its_test(row: str) -> None:
    file, _, name = row.rstrip(" |").rpartition("`tests/")[2].rstrip("`").partition("::")
    tree = ast.parse((ROOT / "tests" / file).read_text())
    assert name in {each.name for each in tree.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))}

"""The weight of everything that reads English by rules: it may shrink, and grows only where somebody writes it down here."""

from __future__ import annotations

from pathlib import Path

import pytest

import sagagraph

pytestmark = pytest.mark.quick

PACKAGE = Path(sagagraph.__file__).parent
MOST = {
    "language/**/*": 2502,
    "domains/travel/text/*": 1854,
    "domains/travel/forms.ini": 92,
    "domains/reunion/text/*": 2592,
    "domains/recipes/text.py": 162,
    "domains/recipes/forms.ini": 33,
}
"""Lines of readers and their tables (ADR-0032)."""
MOST_IN_TABLES = 1120


def lines_of(pattern: str, ending: str = "") -> int:
    files = [path for path in PACKAGE.glob(pattern) if path.suffix in (".py", ".ini") and path.name.endswith(ending)]
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)


@pytest.mark.parametrize(("pattern", "most"), MOST.items())
def test_readers_do_not_grow(pattern: str, most: int) -> None:
    assert 0 < lines_of(pattern) <= most


def test_no_table_of_phrases_grows() -> None:
    assert 0 < sum(lines_of(pattern, "forms.ini") for pattern in MOST) <= MOST_IN_TABLES

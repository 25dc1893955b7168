"""Tables of forms: every form in them is used."""

from __future__ import annotations

import re
from configparser import RawConfigParser
from pathlib import Path

import pytest

import sagagraph

pytestmark = pytest.mark.quick

TABLES = sorted(Path(sagagraph.__file__).parent.rglob("forms.ini"))


@pytest.mark.parametrize("table", TABLES, ids=[table.parent.name for table in TABLES])
def test_every_form_of_a_table_is_used(table: Path) -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in table.parent.rglob("*.py"))
    entries = RawConfigParser(delimiters=("=",), comment_prefixes=("#",))
    entries.optionxform = str  # type: ignore[method-assign, assignment]
    entries.read(table, encoding="utf-8")
    for section in entries.sections():
        named = [name for name in entries.options(section) if name.isidentifier() and not name.isupper()]
        is_walked = "." in section or section in ("questions", "truisms", "names", "codes")
        assert is_walked or f'Forms(__file__, "{section}"' in code or not named, section
        assert is_walked or not [name for name in named if not re.search(rf"\b{name}\b", code)], section

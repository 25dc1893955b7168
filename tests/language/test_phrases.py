"""Phrases read as they are said: what may be missing, what is one of two, and every form of a verb."""

from __future__ import annotations

import re
from configparser import RawConfigParser
from pathlib import Path

import pytest

import sagagraph
from sagagraph.language.forms import as_form, form

pytestmark = pytest.mark.quick

RIDE = form(as_form("WHO need~ [a] (ride|lift) [from where=(home|work)]", {"WHO": r"(?<who>\w+)"}))


@pytest.mark.parametrize("said", ["Ann needs a ride", "they need lift", "Bob needs a lift from home"])
def test_a_phrase_is_found_with_and_without_what_may_be_missing(said: str) -> None:
    assert RIDE.fullmatch(said)


@pytest.mark.parametrize("said", ["Ann needs a rider", "Ann needs", "Ann needed a ride", "Ann needs a ride from Rome"])
def test_other_words_are_no_phrase(said: str) -> None:
    assert RIDE.fullmatch(said) is None


def test_what_has_a_name_is_found_by_it() -> None:
    found = RIDE.fullmatch("Ann needs a ride from work")
    assert found
    assert (found["who"].strip(), found["where"].strip()) == ("Ann", "work")


@pytest.mark.parametrize(
    ("verb", "forms"), [("drive~", "drive drives driving"), ("set~", "set sets setting"), ("fetch~", "fetches")]
)
def test_a_verb_stands_for_all_its_forms(verb: str, forms: str) -> None:
    assert all(form(as_form(verb, {})).fullmatch(said) for said in forms.split())


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

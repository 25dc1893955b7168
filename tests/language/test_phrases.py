"""Phrases read as they are said: what may be missing, what is one of two, and every form of a verb."""

from __future__ import annotations

import pytest

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

"""Rejection, augmentation and feedback: what a verdict leads to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sagagraph.validators.response import augmented, filled_in
from sagagraph.validators.verdict import Verdict, VerdictStatus, Violation

pytestmark = pytest.mark.quick

VALID = Verdict.of([])
INVALID = Verdict.of([Violation(code="X", message="wrong")])
ADDS = VALID.model_copy(update={"additions": {"stars": 4, "city": "Bonn", "room": {"beds": 2, "view": "sea"}}})
PLAIN = st.none() | st.integers(0, 3)
JSON_OBJECT = st.dictionaries(
    st.sampled_from("abc"), PLAIN | st.dictionaries(st.sampled_from("abc"), PLAIN, max_size=2), max_size=3
)


def test_an_outage_fills_in_nothing() -> None:
    assert augmented({}, [Verdict.unknown("outage").model_copy(update={"additions": {"a": 1}})]) == {}


def test_augmentation_fills_in_and_overrides_nothing() -> None:
    output = {"city": "Berlin", "stars": None, "room": {"beds": 1}}
    assert augmented(output, [ADDS]) == {"city": "Berlin", "stars": 4, "room": {"beds": 1, "view": "sea"}}
    assert output == {"city": "Berlin", "stars": None, "room": {"beds": 1}}


def test_what_is_rejected_is_not_filled_in() -> None:
    assert augmented({}, [ADDS, INVALID]) == {}


def test_the_first_to_fill_a_gap_has_filled_it() -> None:
    later = VALID.model_copy(update={"additions": {"stars": 1, "tax": 3}})
    assert augmented({"city": "Ulm", "room": {}}, [ADDS, later]) == {
        "city": "Ulm", "stars": 4, "room": {"beds": 2, "view": "sea"}, "tax": 3,
    }  # fmt: skip


@pytest.mark.parametrize("artifact", [None, 3, "text", [1, 2]])
def test_only_objects_have_room_for_more(artifact: Any) -> None:
    assert augmented(artifact, [ADDS]) == artifact


@given(JSON_OBJECT, JSON_OBJECT)
def test_whatever_is_there_stays_and_filling_in_twice_changes_nothing(
    artifact: dict[str, Any], additions: dict[str, Any]
) -> None:
    filled = filled_in(artifact, additions)
    assert filled_in(filled, additions) == filled
    assert filled.keys() == artifact.keys() | additions.keys()
    assert all(filled[name] == value for name, value in artifact.items() if value is not None and not isinstance(value, dict))


def test_verdicts_without_additions_and_notes_are_written_as_before_there_were_such() -> None:
    assert VALID.model_dump(mode="json").keys() == {"verdict", "violations", "reason", "certificate"}
    again = Verdict.model_validate_json(ADDS.model_dump_json())
    assert (again, again.verdict) == (ADDS, VerdictStatus.VALID)

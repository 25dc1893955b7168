"""Conditions `c_ij`: always true or false, whatever an operation answered."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest

from sagagraph.workflow.condition import (
    All,
    AnyOf,
    Comparison,
    Failed,
    Not,
    OutputIs,
    Succeeded,
    holds,
    operations_named,
    value_at,
)

pytestmark = pytest.mark.quick


@dataclass(frozen=True)
class Known:
    succeeded: bool = False
    failed: bool = False
    error_code: str | None = None
    output: Any = None


def is_true(found: Any, comparison: Comparison, value: Any) -> bool:
    outcomes = {"flight": Known(succeeded=True, output={"price": found})}
    return holds(OutputIs("flight", ("price",), comparison, value), outcomes)


@pytest.mark.parametrize(
    ("found", "comparison", "value"),
    [
        (10, Comparison.LESS, 10.5),
        (10, Comparison.AT_MOST, 10),
        (11, Comparison.MORE, 10),
        (10, Comparison.AT_LEAST, 10),
        (10, Comparison.EQUAL, 10.0),
        ("EUR", Comparison.NOT_EQUAL, "USD"),
        ("BER", Comparison.LESS, "CGN"),
        ("BER", Comparison.IN, ["BER", "CGN"]),
        (True, Comparison.EQUAL, True),
        ([1, 2], Comparison.EQUAL, [1, 2]),
    ],
)
def test_comparisons_that_are_true(found: Any, comparison: Comparison, value: Any) -> None:
    assert is_true(found, comparison, value)


@pytest.mark.parametrize("comparison", Comparison)
@pytest.mark.parametrize(
    ("found", "value"),
    [
        (math.nan, 1.0),
        (1.0, math.nan),
        (math.nan, math.nan),
        (None, 1),
        (None, None),
        (1, None),
        ("1", 1),
        (1, "1"),
        (True, 1),
        (0, False),
        ({"a": 1}, [1]),
    ],
    ids=str,
)
def test_nan_nothing_and_other_types_compare_false_with_everything(found: Any, value: Any, comparison: Comparison) -> None:
    assert not is_true(found, comparison, [value] if comparison is Comparison.IN else value)


@pytest.mark.parametrize("comparison", [Comparison.LESS, Comparison.AT_MOST, Comparison.MORE, Comparison.AT_LEAST])
@pytest.mark.parametrize("found", [{"a": 1}, [1, "x"], True], ids=str)
def test_what_has_no_order_is_not_ordered(found: Any, comparison: Comparison) -> None:
    assert not is_true(found, comparison, found if isinstance(found, bool) else type(found)())


def test_a_value_is_in_nothing_but_a_list() -> None:
    assert not is_true("B", Comparison.IN, "BER")


def test_an_output_is_asked_of_a_success_only() -> None:
    outcomes = {"flight": Known(failed=True, output={"price": 1})}
    assert not holds(OutputIs("flight", ("price",), Comparison.EQUAL, 1), outcomes)


def test_a_failure_may_be_asked_for_by_its_code() -> None:
    outcomes = {"flight": Known(failed=True, error_code="sold_out")}
    assert holds(Failed("flight"), outcomes)
    assert holds(Failed("flight", ("late", "sold_out")), outcomes)
    assert not holds(Failed("flight", ("late",)), outcomes)


def test_conditions_combine() -> None:
    outcomes = {"flight": Known(succeeded=True), "hotel": Known(failed=True)}
    assert holds(All((Succeeded("flight"), Not(Succeeded("hotel")))), outcomes)
    assert holds(AnyOf((Failed("flight"), Failed("hotel"))), outcomes)
    assert not holds(All((Succeeded("flight"), Succeeded("hotel"))), outcomes)
    assert holds(All(()), outcomes)
    assert not holds(AnyOf(()), outcomes)


def test_the_operations_that_a_condition_names_are_all_of_its_leaves() -> None:
    leaves = AnyOf((Succeeded("a"), Not(Failed("b")), All((OutputIs("c", (), Comparison.EQUAL, 1),))))
    assert operations_named(leaves) == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ((), {"legs": [{"from": "SFO"}]}),
        (("legs", 0, "from"), "SFO"),
        (("legs", -1, "from"), "SFO"),
        (("legs", 1), None),
        (("legs", "0"), None),
        (("stops", 0), None),
        (("legs", 0, "from", 0), None),
    ],
    ids=str,
)
def test_a_path_leads_to_a_value_or_to_none(path: tuple[str | int, ...], value: Any) -> None:
    assert value_at({"legs": [{"from": "SFO"}]}, path) == value

"""Slices are chosen along the dependency graph, within a budget, and at a cost that does not grow with the history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.context.histories import LAST, SHAPES, Counting, folded, history
from sagagraph.context.selector import MOST_VISITED, Need, context_of
from sagagraph.context.slice import DEFAULT_BUDGET_TOKENS
from sagagraph.errors import ContextBudgetError, UnknownOperationError
from sagagraph.saga.engine.calling.validation import SagaSource

pytestmark = pytest.mark.quick


class Grid:
    """A source by hand: operations with their prerequisites and outputs."""

    def __init__(self, edges: Mapping[str, Sequence[str]], outputs: Mapping[str, Any], **wishes: Any) -> None:
        self._edges, self._outputs, self.wishes = edges, outputs, wishes
        self.condition: Any = None

    def inputs(self, operation: str) -> Any:
        return {"for": operation}

    def prerequisites(self, operation: str) -> Sequence[str]:
        return self._edges.get(operation, ())

    def constraint(self, operation: str) -> Any:
        return self.condition

    def has_output(self, operation: str) -> bool:
        return operation in self._outputs

    def output(self, operation: str) -> Any:
        return self._outputs[operation]


DIAMOND = {"pay": ["flight", "hotel"], "hotel": ["check"], "flight": ["check"], "other": ["check"], "check": []}


def test_a_slice_holds_inputs_declared_wishes_the_condition_and_what_the_ancestors_returned() -> None:
    source = Grid(DIAMOND, {name: name.upper() for name in DIAMOND}, budget=100, comfort="high")
    source.condition = {"kind": "succeeded", "operation": "flight"}
    context = context_of(source, "pay", Need(wishes=("budget",)))
    assert context.facts == {
        "inputs": {"for": "pay"},
        "budget": 100,
        "condition": {"kind": "succeeded", "operation": "flight"},
        "output of flight": "FLIGHT",
        "output of hotel": "HOTEL",
        "output of check": "CHECK",
    }


def test_outputs_of_others_and_wishes_that_nobody_declared_are_not_shown() -> None:
    source = Grid(DIAMOND, dict.fromkeys(DIAMOND, 1), budget=100)
    assert context_of(source, "pay", Need(ancestors=False)).facts == {"inputs": {"for": "pay"}}
    assert "output of other" not in context_of(source, "pay", Need()).facts
    assert "output of pay" not in context_of(source, "hotel", Need()).facts


def test_nearer_ancestors_stay_and_farther_ones_go() -> None:
    edges = {f"o{n}": [f"o{n - 1}"] for n in range(1, 30)}
    source = Grid(edges, {f"o{n}": "x" * 160 for n in range(30)})
    context = context_of(source, "o29", Need(budget_tokens=200))
    kept = [int(name.removeprefix("output of o")) for name in context.facts if name.startswith("output")]
    assert sorted(kept, reverse=True) == [28, 27, 26, 25]
    assert context.tokens <= 200


def test_a_large_output_does_not_keep_a_smaller_one_behind_it_out() -> None:
    source = Grid({"c": ["b"], "b": ["a"]}, {"b": "x" * 100_000, "a": "small"})
    assert context_of(source, "c", Need()).facts["output of a"] == "small"


def test_too_much_that_is_critical_is_an_error_and_is_never_dropped() -> None:
    source = Grid({}, {}, novel="x" * 5000)
    with pytest.raises(ContextBudgetError, match="'novel' needs"):
        context_of(source, "a", Need(wishes=("novel",)))


def test_an_operation_that_is_not_there_is_named() -> None:
    with pytest.raises(UnknownOperationError, match="has no operation 'b'"):
        context_of(SagaSource(folded(history("chain", 3))), "b", Need())


@given(
    st.dictionaries(st.integers(0, 12), st.sets(st.integers(0, 12), max_size=4)),
    st.integers(60, 400),
)
def test_whatever_the_graph_only_ancestors_are_shown_within_the_budget(edges: dict[int, set[int]], budget: int) -> None:
    named = {str(n): [str(each) for each in sorted(before) if each < n] for n, before in edges.items()}
    source = Grid(named, {str(n): "y" * n * 10 for n in range(13)})
    context = context_of(source, "12", Need(budget_tokens=budget))
    shown = {name.removeprefix("output of ") for name in context.facts if name.startswith("output of")}
    assert shown <= ancestors(named, "12")
    assert context.tokens <= budget
    assert context == context_of(source, "12", Need(budget_tokens=budget))


def ancestors(edges: Mapping[str, Sequence[str]], name: str) -> set[str]:
    return {found for each in edges.get(name, ()) for found in (each, *ancestors(edges, each))}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_work_of_choosing_a_slice_does_not_grow_with_the_history(shape: str) -> None:
    for operations in (10, 300, 3000):
        source = Counting(SagaSource(folded(history(shape, operations))))
        context = context_of(source, LAST, Need(wishes=("budget",)))
        assert context.tokens <= DEFAULT_BUDGET_TOKENS
        assert 9 <= source.asked["visited"] <= 50, source.asked
        assert source.asked["prerequisites"] <= 50


def test_ancestors_without_an_output_are_not_searched_without_end() -> None:
    edges = {f"o{n}": [f"o{n - 1}"] for n in range(1, 2000)}
    source = Counting(Grid(edges, {}))
    assert context_of(source, "o1999", Need()).facts == {"inputs": {"for": "o1999"}}
    assert source.asked["visited"] == MOST_VISITED

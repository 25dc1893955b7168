"""What must not grow with a saga. Generous bounds: the machine may be busy; `benchmarks` shows the real figures."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.fold import folded, journal, measure
from benchmarks.turns import apart, back, chain, forward, one_more, star
from sagagraph.workflow.kind import ActionKind

SMALL, LARGE = 300, 3_000
MUCH = 4
"""Times as long for each operation of a saga that is ten times as large; what is quadratic takes ten times as long."""


def test_a_large_journal_is_folded_about_as_fast_as_its_json_is_read() -> None:
    rows = journal(3_000)
    assert sum(each.succeeded for each in folded(rows).operations.values()) == 3_000
    assert min(measure(rows, runs=5).ratios) <= 5


def test_one_more_operation_costs_a_large_saga_no_more_than_a_small_one() -> None:
    few, many = (min(one_more(folded(journal(size)), turns=50) for _ in range(3)) for size in (SMALL, LARGE))
    assert many <= MUCH * few


@pytest.mark.parametrize(
    "run",
    [
        lambda size: forward(size, chain),
        lambda size: forward(size, chain, ActionKind.READ_ONLY),
        lambda size: forward(size, apart),
        lambda size: forward(size, star),
        lambda size: back(size, chain),
        lambda size: back(size, apart),
        lambda size: back(size, star),
    ],
    ids=["a chain", "a chain of reads", "side by side", "a star", "a chain, back", "side by side, back", "a star, back"],
)
def test_all_turns_of_a_large_saga_take_as_long_for_each_operation_as_those_of_a_small_one(run: Callable[[int], float]) -> None:
    few, many = (min(run(size) / size for _ in range(2)) for size in (SMALL, LARGE))
    assert many <= MUCH * few

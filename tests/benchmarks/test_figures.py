"""What is made of the figures of a run: ratios, targets, and the words about them."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.cost import is_steady
from benchmarks.report import written
from benchmarks.spread import Spread, ratios, spread
from benchmarks.targets import factors, targets

pytestmark = pytest.mark.quick


def _case(floor_s: list[float], inside_s: list[float]) -> dict[str, list[float]]:
    return {"floor_s": floor_s, "inside_s": inside_s, "whole_s": [each * 2 for each in inside_s]}


def _found(**sections: Any) -> dict[str, Any]:
    return {
        "form": "full",
        "plan": {"operations": 200, "parallel": 64, "sagas": 1000, "steps": 5, "limit_s": 60.0, "quadratic_up_to": 1000},
        "machine": {
            "cores": 2,
            "system": "Linux",
            "python": "3.11.7",
            "sqlite": "3.40",
            "postgresql": None,
            "libraries": {"dbos": "3.4.0"},
            "filesystem": "ext4",
            "fsync_ms": 0.2,
            "load_before": 0.1,
        },
        "skipped": [],
        "took_s": 60.0,
        **sections,
    }


def _cost(k: float) -> dict[str, Any]:
    case = _case([0.0004], [0.0001 + k * 0.0004])
    return {"bytes": 500, "unsteady": {}, "stores": {"sqlite": {"shared": case, "alone": case, "parallel": case}}}


def _grown(asked: int, done: int, stored: int, slow: float = 2.0) -> dict[str, Any]:
    folded = {"json_s": [0.1, 0.1, 0.1], "fold_s": [0.1 * slow] * 3}
    return {"asked": asked, "done": done, "seconds": 1.0, "file_bytes": stored * 2, "stored_bytes": stored, **folded}


def _growth(*sizes: dict[str, Any]) -> dict[str, Any]:
    made = {"operations": 10_000, "json_s": [0.1], "fold_s": [0.25]}
    return {"fold": made, "sagagraph": list(sizes), "langgraph": [], "langgraph-delta": []}


def test_a_slow_round_is_slow_for_both_sides_of_a_ratio() -> None:
    assert ratios([3.0, 30.0], [1.0, 10.0]) == [3.0, 3.0]


def test_the_median_is_shown_with_the_extremes() -> None:
    assert spread([5.0, 1.0, 2.0]) == Spread(2.0, 1.0, 5.0)
    assert f"{spread([5.0, 1.0, 2.0]):.1f}" == "2.0 (1.0 – 5.0)"
    assert f"{spread([2.0]):.1f}" == "2.0"
    assert spread([]) is None


def test_a_floor_that_changes_its_pace_is_no_measure() -> None:
    assert is_steady(0.2, 0.29, 1.5)
    assert is_steady(0.29, 0.2, 1.5)
    assert not is_steady(0.2, 3.0, 1.5)
    assert not is_steady(3.0, 0.2, 1.5)


def test_k_is_what_is_left_of_an_operation_after_a_tenth_of_a_millisecond_in_commits_of_its_round() -> None:
    assert factors(_case([0.0004, 0.0008], [0.0007, 0.0013])) == pytest.approx([1.5, 1.5])


@pytest.mark.parametrize(
    ("k", "verdicts"), [(0.2, ["met"] * 3), (2.6, ["**not met**", "met", "**not met**"]), (3.3, ["**not met**"] * 3)]
)
def test_each_cost_is_held_against_its_own_target(k: float, verdicts: list[str]) -> None:
    assert [each.verdict for each in targets(_found(cost=_cost(k))) if each.store == "sqlite"] == verdicts


def test_a_store_that_took_no_part_is_not_called_met() -> None:
    assert {each.verdict for each in targets(_found(cost=_cost(0.1))) if each.store == "postgresql"} == {"not measured"}


def test_a_journal_that_grows_faster_than_its_saga_is_not_linear() -> None:
    linear = _found(growth=_growth(_grown(100, 100, 50_000), _grown(10_000, 10_000, 5_100_000)))
    faster = _found(growth=_growth(_grown(100, 100, 50_000), _grown(10_000, 10_000, 9_000_000)))
    assert targets(linear)[-1].verdict == "met"
    assert targets(faster)[-1].verdict == "**not met**"


def test_both_folds_are_held_against_the_target() -> None:
    ran, made, _bytes = targets(_found(growth=_growth(_grown(100, 100, 50_000, slow=3.1))))
    assert (ran.verdict, made.verdict) == ("**not met**", "met")


def test_a_saga_that_was_stopped_before_its_end_proves_nothing() -> None:
    found = _found(growth=_growth(_grown(100, 100, 50_000), _grown(10_000, 4_000, 2_000_000)))
    ran, _made, grown = targets(found)
    assert (ran.verdict, grown.verdict) == ("not measured", "not measured")
    assert "| SagaGraph: journal | 10,000: stopped at 4,000 |" in written(found)


def test_the_report_says_what_was_missed_and_who_took_no_part() -> None:
    skipped = [{"contender": "dbos", "store": "postgresql", "why": "no answer within 60 s"}]
    text = written(_found(cost=_cost(2.5), skipped=skipped))
    assert "| k, sequential, commits may be shared | SQLite | ≤ 2.2 | 2.50 | **not met** |" in text
    assert "| dbos | PostgreSQL | no answer within 60 s |" in text


def test_the_report_divides_by_the_floor_of_the_same_round() -> None:
    case = _case([0.0004, 0.0008], [0.0004, 0.0008])
    text = written(_found(cost={"bytes": 500, "unsteady": {}, "stores": {"sqlite": {"dbos": case}}}))
    assert "| DBOS, on threads | 1.200 (0.800 – 1.600) | 2.00 |" in text


def test_the_report_compares_operations_a_second_round_by_round() -> None:
    seen = {
        "sagagraph": {"form": "keyed", "operations_per_s": [1000.0, 2000.0]},
        "dbos": {"form": "threads", "operations_per_s": [500.0, 1000.0]},
    }
    text = written(_found(throughput={"sqlite": {"4": seen}}))
    assert "| SQLite | 4 | 1,500 (1,000 – 2,000) | 750 (500 – 1,000) | threads | 2.00 |" in text


def test_the_quick_form_says_that_its_figures_mean_nothing() -> None:
    assert "mean nothing" in written(_found() | {"form": "quick"})
    assert "mean nothing" not in written(_found())

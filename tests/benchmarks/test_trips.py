"""Generated trips, in the quick form: the same way as the long one, through planner, validator, saga and ledger."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.trips.__main__ import main
from benchmarks.trips.figures import share, wrong
from benchmarks.trips.report import written


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trips")
    assert main(["--quick", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def found(report: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((report / "trips.json").read_text())
    return loaded


def test_every_request_comes_to_its_end(found: dict[str, Any]) -> None:
    assert [trip["stops"] for trip in found["trips"]] == [1, 2, 3, 4, 5, 6]
    assert {trip["status"] for trip in found["trips"]} == {"committed", "infeasible"}
    assert found["left_out"] == 0


def test_what_was_booked_was_planned_judged_and_paid_for(found: dict[str, Any]) -> None:
    for trip in found["trips"]:
        is_booked = trip["status"] == "committed"
        assert (trip["total"] is not None, trip["book_s"] > 0, trip["judge_s"] > 0) == (is_booked,) * 3
        assert trip["plan_s"] > 0
        assert trip["plan_calls"] > 0


def test_the_choices_were_compared_with_others(found: dict[str, Any]) -> None:
    checks = [trip["check"] for trip in found["trips"]]
    assert "each trip" in checks
    assert "none exists" in checks


def test_the_report_has_its_figures_and_plots(report: Path) -> None:
    text = (report / "trips.md").read_text()
    assert "Of 6 requests" in text
    assert "mean nothing" in text
    assert "## What is wrong" not in text
    for name in ("trips-time.svg", "trips-search.svg"):
        assert f"({name})" in text
        assert (report / name).read_text().startswith("<?xml")


def test_what_is_wrong_is_said(found: dict[str, Any]) -> None:
    worse = found | {"trips": [found["trips"][0] | {"faults": ["prefers a, and the best is b"]}], "strangers": ["2 refunds"]}
    assert wrong(worse) == ["request 0: prefers a, and the best is b", "the ledger has 2 refunds"]
    text = written(worse)
    assert "- request 0: prefers a, and the best is b" in text
    assert "found anything wrong" not in text


def test_requests_that_were_not_reached_are_no_success(found: dict[str, Any]) -> None:
    assert wrong(found | {"left_out": 3}) == ["3 requests were not begun in time"]


def test_shares_are_of_what_there_is() -> None:
    assert share([], 5) is None
    assert share([4.0], 9) == 4.0
    assert share([1.0, 2.0, 3.0], 5) == 2.0
    assert share([float(n) for n in range(11)], 9) == 9.0


@pytest.mark.parametrize("count", ["0", "-3", "many"])
def test_a_number_of_requests_is_a_number(count: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([f"--requests={count}"])
    assert f"must be a number of requests, not {count!r}" in capsys.readouterr().err

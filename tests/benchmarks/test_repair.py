"""The benchmark of repairs runs, on one struck trip; and what its report makes of figures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchmarks.repair.__main__ import main
from benchmarks.repair.report import is_compared, totals, written

if TYPE_CHECKING:
    from pathlib import Path

FIGURES = {"legs": 1, "cancelled": 0, "minutes": 0, "fees": 0.0, "seconds": 0.5, "calls": 20}
AGAIN = {**FIGURES, "status": "committed", "starts": 2, "cancelled": 4, "fees": 53.7, "seconds": 1.0, "calls": 60}


def case(**facts: Any) -> dict[str, Any]:
    made = {"trip": 0, "disruption": "flight 2 sold out", "blows": 1, "status": "committed", "faults": []}
    return {**made, "repairs": [[4, 4, 4]], "repair": FIGURES, "again": AGAIN, **facts}


def test_one_trip_is_struck_judged_and_reported(tmp_path: Path) -> None:
    assert main(["--trips", "1", "--every", "200", "--jobs", "1", "--out", str(tmp_path)]) == 0
    (only,) = json.loads((tmp_path / "repair.json").read_text())
    assert (only["status"], only["faults"], only["again"]["status"]) == ("committed", [], "committed")
    assert "| 1 of 102 | 1 | 0 |" in (tmp_path / "repair.md").read_text()
    assert (tmp_path / "repair.svg").read_text().startswith("<?xml")


def test_repairs_are_counted_by_what_they_could_keep() -> None:
    kept, some, none = case(), case(repairs=[[3, 3, 4]]), case(repairs=[[None, None, 4]], status="compensated", faults=["x"])
    assert [*totals([kept, some, none])] == [
        "3 struck trips: 2 committed, 1 compensated",
        "3 repairs: 1 kept all that stood, 1 as much as was possible, for 1 nothing was left",
        "1 faults",
    ]


def test_only_what_was_booked_both_ways_is_compared(tmp_path: Path) -> None:
    assert not is_compared(case(again=None))
    assert not is_compared(case(again={**AGAIN, "status": "infeasible"}))
    written([case(), case(status="compensated")], tmp_path)
    text = (tmp_path / "repair.md").read_text()
    assert "Of 2 trips that were disrupted, 1 were booked" in text.replace("\n", " ")
    assert "| reservations cancelled | 0 | 4 |" in text
    assert "Starting again takes 2.0 times as long and 3.0 times the calls" in text

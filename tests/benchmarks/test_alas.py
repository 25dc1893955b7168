"""The benchmark of job shops, small: it resumes, says what it left out, and each part that is taken away costs success."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.alas.__main__ import main
from benchmarks.alas.ablation import ABLATED, UNREPAIRED, UNVALIDATED, WHOLE, ablated
from benchmarks.jobshop.cases import instances

NAME = "generated 6 x 6"
SMALL = ("--arms", "dispatching rules", "SagaGraph", "--seconds", "0.5", "--breakdowns", "1", "--drafts", "3")


def _rows(page: str, title: str) -> dict[str, list[str]]:
    table = page.split(title, 1)[1].split("\n## ", 1)[0]
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("| "))
    return {row[0]: row[1:] for row in cells}


def test_it_resumes_and_says_what_was_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SAGAGRAPH_DATA", raising=False)
    asked = ("--instances", NAME, *SMALL, "--out", str(tmp_path))
    assert main((*asked, "--plan")) == 0
    assert (tmp_path / "alas.jsonl").exists() is False
    assert main((*asked, "--drafts", "0")) == 0
    before = (tmp_path / "alas.jsonl").read_text()
    assert main(asked) == 0
    after = (tmp_path / "alas.jsonl").read_text()
    assert after.startswith(before)
    assert (len(before.splitlines()), len(after.splitlines())) == (3, 6)
    assert main(asked) == 0
    assert (tmp_path / "alas.jsonl").read_text() == after
    page = (tmp_path / "alas.md").read_text()
    assert "Left to measure: 70 schedules, 25 breakdowns and 15 drafts, of 5 instances" in page
    assert "Not measured, of ALAS's: dmu03" in page
    told = _rows(page, "### Ablation")
    assert {arm: told[arm][:4] for arm in ABLATED} == {
        WHOLE: ["3", "100.0 %", "0.0 %", "0.0 %"],
        UNVALIDATED: ["3", "33.3 %", "66.7 %", "0.0 %"],
        UNREPAIRED: ["3", "33.3 %", "0.0 %", "66.7 %"],
    }
    assert told[WHOLE][-1] == "100.0 %"
    assert float(told[UNREPAIRED][-1].rstrip(" %")) < 100


def test_what_an_ablated_arm_takes_is_judged_by_the_validator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SAGAGRAPH_DATA", raising=False)
    (instance,) = instances([NAME])
    sound, faulty = (ablated(instance, draft, 0.2) for draft in (0, 1))
    assert (sound["faults"], faulty["faults"]) == (0, 1)
    assert {arm: sound[arm]["verdict"] for arm in ABLATED} == dict.fromkeys(ABLATED, "VALID")
    assert {arm: faulty[arm]["verdict"] for arm in ABLATED} == {WHOLE: "VALID", UNVALIDATED: "INVALID", UNREPAIRED: "refused"}
    assert faulty[WHOLE]["struck"] == "VALID"

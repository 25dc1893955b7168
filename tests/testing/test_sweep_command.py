"""`python -m tests.support.sweep`: it finds nothing in the sample trip, and something where something is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sagagraph.errors import InvalidInputError
from sagagraph.testing.__main__ import _scenarios, matrix
from sagagraph.testing.scenario import Judgement
from sagagraph.testing.sweep import Case
from tests.support.trips import SCENARIOS

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def cases(self) -> list[dict[str, Any]]:
        cases: list[dict[str, Any]] = json.loads(self.out)
        return cases


def sweep(*words: str, path: Path = ROOT) -> Ended:
    environment = {**os.environ, "PYTHONPATH": f"{path}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "tests.support.sweep", *words]
    told = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT, env=environment, check=False)
    return Ended(told.returncode, told.stdout, told.stderr)


@pytest.mark.proof  # `make sweep`, which CI runs too, has more scenarios
def test_the_sample_trip_survives_being_killed() -> None:
    told = sweep("--sample", "1", "--json")
    assert told.code == 0, told.err
    assert {case["scenario"] for case in told.cases} == {each.name for each in SCENARIOS}
    assert len(told.cases) == len(SCENARIOS)
    assert all(case["judgement"]["faults"] == [] for case in told.cases)
    ends = {case["judgement"]["outcome"] for case in told.cases}
    assert ends <= {"committed", "compensated", "never began", "changed"}
    assert any(case["place"] for case in told.cases)


def test_a_saga_that_believes_what_its_provider_does_not_keep_is_found_out_and_no_other() -> None:
    told = sweep("tests.testing.broken:BOTH", "--json")
    assert told.code == 1
    careless = [case for case in told.cases if case["scenario"] == "careless"]
    careful = [case for case in told.cases if case["scenario"] == "careful"]
    found = {case["place"]: case["judgement"]["faults"] for case in careless if case["judgement"]["faults"]}
    assert found["after the action of first"] == ["order/first/1 was sent 2 times"]
    assert found["after the action of second"] == ["order/second/1 was sent 2 times"]
    assert not [place for place in found if place.startswith("before the action")]
    assert careful
    assert all(case["judgement"]["faults"] == [] for case in careful)
    assert {case["judgement"]["outcome"] for case in careful} <= {"0 sent", "1 sent", "2 sent"}


@pytest.mark.proof  # `make sweep`, which CI runs too, has more scenarios
@pytest.mark.parametrize(
    ("store", "harm", "survives"),
    [("sqlite", "stop", False), ("postgresql", "kill", False), ("postgresql", "cut", True), ("postgresql", "lose", True)],
)
def test_the_sample_trip_survives_every_other_harm(store: str, harm: str, survives: bool) -> None:
    told = sweep("tests.testing.refused:TRIP", "--store", store, "--harm", harm, "--sample", "2", "--seed", "3", "--json")
    assert told.code == 0, told.err
    assert "drawn by --seed 3" in told.err
    assert len(told.cases) == 2
    assert {case["harm"] for case in told.cases} == {harm}
    assert {case["judgement"]["outcome"] for case in told.cases} <= {"committed", "compensated", "never began"}
    if survives:
        assert {case["ended"] for case in told.cases} == {""}


@pytest.mark.quick
def test_the_example_of_the_docs_is_complete_and_survives(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "sweep.md").read_text()
    (tmp_path / "parcels.py").write_text(text.partition("```python\n")[2].partition("```")[0])
    told = sweep("parcels:PARCELS", "--json", path=tmp_path)
    assert told.code == 0, told.err
    assert {case["judgement"]["outcome"] for case in told.cases} == {"2 sent"}
    places = {case["place"] for case in told.cases}
    assert {"before the action of send-1", "after the action of send-2", "before journal append"} <= places


@pytest.mark.parametrize(
    ("words", "says"),
    [(("--sample", "-1"), "--sample"), (("--harm", "cut"), "--harm: cut needs"), (("--store", "no"), "--store")],
)
def test_bad_options_are_answered_in_words(words: tuple[str, ...], says: str) -> None:
    told = sweep(*words)
    assert (told.code, told.out) == (2, "")
    assert says in told.err
    assert "Traceback" not in told.err


@pytest.mark.parametrize(
    ("named", "says"),
    [("tests.testing.broken:ParcelScenario", "is a class; name an instance"), ("tests.testing.broken", "package.module:NAME")],
)
def test_what_is_wrong_with_a_name_is_said(named: str, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        _scenarios(named)


def test_a_stopped_worker_that_writes_on_is_found_out() -> None:
    told = sweep("tests.testing.broken:UNFENCED", "--harm", "stop", "--json")
    assert told.code == 1, told.err
    faults = [fault for case in told.cases for fault in case["judgement"]["faults"]]
    assert "the stopped worker appended to order after it was superseded" in faults


def test_what_cannot_be_loaded_is_answered_in_one_line() -> None:
    told = sweep("nowhere:NAME")
    assert (told.code, told.out) == (2, "")
    assert len(told.err.splitlines()) == 1
    assert told.err.startswith("tests.support.sweep: MODULE:NAME: ")
    assert "nowhere" in told.err


@pytest.mark.parametrize(
    "named",
    [
        "tests.testing.broken:NOT_A_SCENARIO",
        "tests.testing.broken:MISSING",
        "tests.testing.broken",
        ":NAME",
        "tests.testing.broken:",
        "tests.testing.broken:ParcelScenario",
        "",
        "tests.testing.broken:NONE_AT_ALL",
    ],
)
def test_a_name_without_a_scenario_is_bad_input(named: str) -> None:
    with pytest.raises(InvalidInputError, match="MODULE:NAME: "):
        _scenarios(named)


def test_the_matrix_has_a_row_for_each_place_and_names_every_fault() -> None:
    cases = [
        Case("good", 1, "before journal create", Judgement("never began")),
        Case("bad", 1, "before journal create", Judgement("never began")),
        Case("good", 2, "after journal create", Judgement("committed")),
        Case("bad", 2, "after journal create", Judgement("committed", ("T1 was reserved 2 times",))),
        Case("good", 3, "", Judgement("committed")),
    ]
    head, first, second, count, fault, last = matrix(cases)
    assert head.split() == ["killed", "good", "bad"]
    assert first.split("  ")[0] == "before journal create"
    assert second.split()[-4:] == ["1", "committed", "1", "FAULT"]
    assert count == "killed 4 times: 2 never began, 1 committed, 1 FAULT"
    assert fault == "FAULT bad, killed after journal create (boundary 2): T1 was reserved 2 times"
    assert last == "1 faults"

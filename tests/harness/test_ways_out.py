"""Ways out: the menu and its Pareto set, the report, approvals of several people, the chain of records, what is learned."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from flint import fmpq
from typer.testing import CliRunner

from sagagraph.cli.app import app
from sagagraph.errors import InvalidInputError, NotAllowedError
from sagagraph.harness.judging.check import RuleVerdict, check, run_tests
from sagagraph.harness.life.cases import learned
from sagagraph.harness.life.records import Person, Records
from sagagraph.harness.life.report import deadlock, markdown, menu_of
from sagagraph.harness.proof.explain import Status, explain
from sagagraph.harness.registry.harness import Harness
from sagagraph.harness.registry.loading import harness_of, load_harness
from sagagraph.harness.registry.yaml_file import read_yaml, yaml_text
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.port import Document

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "sagagraph/harness/examples"


def example(name: str) -> Harness:
    return load_harness(FOLDER / f"{name}.yaml")


def test_every_way_out_suffices_and_those_that_are_beaten_are_not_in_the_pareto_set() -> None:
    harness = example("ad_degradation")
    options = menu_of(harness, explain(harness))
    assert [(*each.moves, each.margin) for each in options] == [
        (name, margin) for name in ("perception_range_limit", "max_deceleration_limit") for margin in (0, 5, 10)
    ]
    assert [each.is_pareto for each in options] == [True, False, False, True, False, False]
    for each in options:
        moved = harness.with_values({name: to for name, (_, to) in each.moves.items()})
        assert check(moved, each.witness).verdict is RuleVerdict.PASS
    assert float(str(options[3].cost["safety_margin"])) == pytest.approx(0.79971, rel=1e-4)


def test_two_limits_that_do_not_help_alone_are_offered_together() -> None:
    variables: dict[str, object] = {"x": {"unit": "1", "domain": [fmpq(0), fmpq(100)]}}
    variables |= {
        name: {"unit": "1", "value": fmpq(value), "kind": "parameter", "negotiable": True}
        for name, value in (("a", 10), ("b", 20))
    }
    rules = [{"id": name.upper(), "assertion": f"x <= {name}"} for name in "ab"]
    harness = harness_of({"variables": variables, "rules": [*rules, {"id": "NEED", "assertion": "x >= 30", "severity": "FATAL"}]})
    found = explain(harness)
    options = menu_of(harness, found)
    assert (found.relaxations, options[0].margin) == ((), 0)
    assert {name: (str(before), str(to)) for name, (before, to) in options[0].moves.items()} == {
        "a": ("10", "30"),
        "b": ("20", "60"),
    }


def test_the_report_names_what_clashes_what_was_tried_and_what_each_way_costs() -> None:
    harness = example("cloud_sla")
    said = deadlock(harness, explain(harness))
    assert json.loads(json.dumps(said))["menu"][0] == {"option": "A", "report": True, "moves": []}
    assert {each["fails"] for each in said["evidence"]} == {"AVAILABILITY", "BUDGET"}
    page = markdown(harness, said)
    assert "budget from 1200 to 2250; costs money 0.875" in page
    assert said["report"] in page
    assert CliRunner().invoke(app, ["harness", "report", str(FOLDER / "cloud_sla.yaml")]).stdout == page + "\n"


async def test_a_change_takes_as_many_approvers_as_the_version_in_force_says() -> None:
    first = example("cloud_sla").document
    people = {"needed": fmpq(2), "of": ["Ada", "Bob", "Eve"]}
    records = Records(MemorySagaStore(), "cloud_sla")
    await records.freeze(harness_of({**first, "approval": people}), Person("Ada", "author"), "now")
    later = harness_of({**first, "version": fmpq(2)})
    await records.propose(later, Person("Ada", "author"), "a new year", "now")
    for name, said in (("ada ", "made the proposal"), ("Mallory", "not among those"), ("Agent:x", "takes a person")):
        with pytest.raises(NotAllowedError, match=said):
            await records.approve(later, Person(name, "approver"), "now")
    for name in ("Bob", "Bob"):
        await records.approve(later, Person(name, "approver"), "now")
    with pytest.raises(NotAllowedError, match="let 2 others approve it"):
        await records.freeze(later, Person("Ada", "author"), "now")
    await records.approve(later, Person("Eve", "approver"), "now")
    assert (await records.freeze(later, Person("Ada", "author"), "now"))["version"] == 2
    assert await records.broken_links() == ()


async def test_a_record_that_somebody_put_in_breaks_the_chain() -> None:
    store = MemorySagaStore()
    records = Records(store, "cloud_sla")
    await records.freeze(example("cloud_sla"), Person("Ada", "author"), "now")
    await store.put(Document("harness:cloud_sla", "approval", "x/Bob", {"hash": "x", "by": "Bob", "at": "now"}))
    assert await records.broken_links() == ("approval 1",)


def test_a_surprise_becomes_a_rule_and_a_test_of_the_next_version() -> None:
    harness = example("ad_degradation_clear")
    later = learned(harness, {"vehicle_speed_kmph_t5": fmpq(191, 2) + fmpq(127, 1000) + fmpq(1, 10000)}, "wet")
    assert (later.version, later.rules[-1].id) == (2, "LEARNED_wet")
    assert run_tests(later).kept
    assert harness_of(read_yaml(yaml_text(later.document), "file")).hash == later.hash
    with pytest.raises(InvalidInputError, match="knows it already"):
        learned(harness, {"vehicle_speed_kmph_t5": fmpq(20)}, "slow")
    with pytest.raises(InvalidInputError, match="write the rule"):
        learned(harness, {"vehicle_speed_kmph_t5": fmpq(88)}, "middle")


def test_a_run_that_surprised_is_learned_from_by_its_id(tmp_path: Path) -> None:
    path, store = tmp_path / "h.yaml", f"sqlite:///{tmp_path / 'j.db'}"
    document = {**example("ad_degradation_clear").document}
    document["tests"] = {**document["tests"], "golden": document["tests"]["golden"][1:]}
    path.write_text(yaml_text(document))

    def asked(*words: str) -> str:
        told = CliRunner().invoke(app, ["harness", *words, "--store", store])
        return told.output or str(told.exception)

    assert "SUCCESS" in asked("run", str(path), "--saga-id", "slow")
    assert "no run has the id" in asked("learn", str(path), "other", "--name", "slow")
    path.with_suffix(".2").write_text(asked("learn", str(path), "slow", "--name", "slow"))
    later = load_harness(path.with_suffix(".2"))
    assert later.rules[-1].assertion == "vehicle_speed_kmph_t5 >= learned_slow"
    assert explain(later).status is Status.SATISFIABLE


@pytest.mark.thorough
def test_a_run_killed_at_some_boundaries_of_its_override_is_overridden_once() -> None:
    """All of them: `python -m sagagraph.testing tests.harness.overriding:SCENARIO`."""
    command = [sys.executable, "-m", "sagagraph.testing", "tests.harness.overriding:SCENARIO", "--sample", "2", "--json"]
    told = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert told.returncode == 0, told.stdout + told.stderr
    cases = json.loads(told.stdout)
    assert len(cases) == 2
    assert [each["judgement"] for each in cases] == [{"outcome": "overridden", "faults": []}] * 2

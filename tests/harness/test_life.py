"""Life and loop: freezing, changes, gradients, bad executors, overrides that are consumed once, killed at every question."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from sagagraph.errors import ConflictError, InvalidInputError, NotAllowedError, OperationFailedError
from sagagraph.harness.judging.check import RuleVerdict, check, exact
from sagagraph.harness.life.cases import mutants, score
from sagagraph.harness.life.records import Override, Person, Records, report_hash
from sagagraph.harness.loop.convergence import End, Executor, Gradient, Slice, converge, fixed, towards
from sagagraph.harness.loop.executors import obedient, scripted
from sagagraph.harness.loop.running import ParadoxError, run_harness
from sagagraph.harness.proof.explain import explain
from sagagraph.harness.registry.harness import Harness
from sagagraph.harness.registry.loading import harness_from, harness_of, load_harness
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.memory import MemorySagaStore
from tests.harness.generated import generate

FOLDER = Path(__file__).parents[2] / "sagagraph/harness/examples"
TODAY = date(2026, 11, 22)
ADA, BOB = Person("Ada", "author"), Person("Bob", "approver")
SPEED = "vehicle_speed_kmph_t5"


def example(name: str) -> Harness:
    return load_harness(FOLDER / f"{name}.yaml")


# -- life ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ad_degradation_clear", "pharma_flow_reactor_long", "pharma_flow_reactor", "cloud_sla"])
def test_the_cases_of_an_example_notice_every_mutant(name: str) -> None:
    found = mutants(example(name))
    assert [each.name for each in found if not each.killed] == []
    assert score(found) == 1.0
    assert len(found) >= 4


async def test_a_frozen_version_never_changes_and_its_author_cannot_approve() -> None:
    harness = example("cloud_sla")
    records = Records(MemorySagaStore(), harness.id)
    with pytest.raises(NotAllowedError):
        await records.freeze(harness, Person("agent:planner", "author"), "now")
    frozen = await records.freeze(harness, ADA, "now")
    assert (frozen["satisfiable"], frozen["mutation_score"]) == ("paradox", 1.0)
    changed = harness_of({**harness.document, "title": "something else"})
    with pytest.raises(ConflictError, match="changed after it was frozen"):
        await records.require_unchanged(changed)
    later = harness_of({**harness.document, "version": fmpq(2)})
    with pytest.raises(NotAllowedError, match="propose it"):
        await records.freeze(later, ADA, "now")
    await records.propose(later, ADA, "a new year", "now")
    with pytest.raises(NotAllowedError, match="cannot approve"):
        await records.approve(later, Person("Ada", "approver"), "now")
    await records.approve(later, BOB, "now")
    assert (await records.freeze(later, ADA, "now"))["version"] == 2


async def test_what_no_case_notices_keeps_a_harness_from_being_frozen() -> None:
    harness = example("cloud_sla")
    with pytest.raises(InvalidInputError, match="no test notices"):
        await Records(MemorySagaStore(), harness.id).freeze(replace(harness, poisoned=harness.poisoned[:1]), ADA, "now")


# -- gradients -------------------------------------------------------------------------------------------------------


def gradient(harness: Harness, rule: str, dimension: str, artifact: dict[str, float]) -> Gradient:
    """Of one rule along one variable, with the others as they are."""
    others = {name: value for name, each in artifact.items() if name != dimension and (value := exact(each)) is not None}
    part = fixed(harness.with_rules((harness.rule(rule),)), others)
    now = exact(artifact[dimension])
    assert now is not None
    return towards(part, rule, dimension, now)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 83000).map(lambda number: number / 1000))
def test_at_a_stated_boundary_the_rule_holds_and_just_short_of_it_not(speed: float) -> None:
    harness = example("ad_degradation_clear")
    rule = "REAR_COLLISION_PREVENTION_DECELERATION"
    found = gradient(harness, rule, SPEED, {SPEED: speed})
    assert (found.direction, found.boundary) == ("up", 84)
    assert isinstance(found.boundary, fmpq)
    part = harness.with_rules((harness.rule(rule),))
    assert check(part, {SPEED: found.boundary}).verdict is RuleVerdict.PASS
    assert check(part, {SPEED: found.boundary - fmpq(1, 10**6)}).verdict is RuleVerdict.FAIL


def test_a_gradient_says_when_no_value_helps() -> None:
    found = gradient(
        example("pharma_flow_reactor"), "CONVERSION_MINIMUM", "temperature_C", {"temperature_C": 20, "residence_time_s": 10}
    )
    assert found.boundary is not None
    flow = gradient(
        example("pharma_flow_reactor"), "IMPURITY_LIMIT", "residence_time_s", {"temperature_C": 200, "residence_time_s": 9}
    )
    assert (flow.boundary, flow.direction) == (None, "none")


# -- bad executors ---------------------------------------------------------------------------------------------------


def _value(seen: Slice, rng: random.Random) -> float:
    asked = seen.schema["properties"][seen.variable]
    return round(rng.uniform(asked.get("minimum", 0), asked.get("maximum", 10)), 2)


def bad(kind: str, rng: random.Random) -> Executor:
    async def propose(seen: Slice, attempt: str) -> Any:
        if kind == "oscillating":
            return {seen.variable: (0, 10)[int(attempt[-1]) % 2]}
        if kind == "out of schema":
            return rng.choice(
                [None, [], {"nodes": []}, {seen.variable: "84"}, {seen.variable: True}, {"PASS": True}, {seen.variable: 1e9}]
            )
        if kind == "edits locks":
            return {**dict.fromkeys(seen.context, 1), seen.variable: _value(seen, rng)}
        if kind == "stubborn":
            return {seen.variable: 0}
        if kind == "off by one" and seen.gradient is not None and seen.gradient["boundary"] is not None:
            return {seen.variable: seen.gradient["boundary"] + rng.choice([-1, 1])}
        return {seen.variable: _value(seen, rng)}

    return propose


KINDS = ["random", "oscillating", "out of schema", "edits locks", "stubborn", "off by one"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["ad_degradation_clear", "pharma_flow_reactor_long", "generated"])
async def test_a_bad_executor_never_makes_a_paradox_of_a_satisfiable_harness(kind: str, name: str) -> None:
    """Two hundred generated ones: `make bench-caaf`."""
    harness = harness_of(generate(0, satisfiable=True, rules=6).document) if name == "generated" else example(name)
    run = await converge(harness, bad(kind, random.Random(1)))
    assert run.end in (End.SUCCESS, End.NO_CONVERGENCE)
    decided = run.artifact if run.end is End.SUCCESS else run.witness or {}
    assert check(harness, decided).verdict is RuleVerdict.PASS


@pytest.mark.parametrize("name", ["ad_degradation", "cloud_sla"])
async def test_a_paradox_ends_before_anybody_is_asked(name: str) -> None:
    run = await converge(example(name), bad("oscillating", random.Random(1)))
    assert (run.end, run.attempts) == (End.FAILED_PARADOX, ())
    assert run.explanation is not None
    assert run.explanation.certificates


async def test_an_obedient_executor_converges_in_two_attempts_each_and_sees_only_its_slice() -> None:
    seen: list[Slice] = []

    async def watched(slice_: Slice, attempt: str) -> Any:
        seen.append(slice_)
        return await obedient()(slice_, attempt)

    harness = example("pharma_flow_reactor_long")
    run = await converge(harness, watched)
    assert run.end is End.SUCCESS
    assert max(each.number for each in run.attempts) <= 2
    assert seen[-1].schema["properties"]["temperature_C"] == {"const": run.artifact["temperature_C"]}
    said = repr(seen)
    hidden = [name for name, each in harness.variables.items() if not each.is_decided]
    assert [name for name in hidden if name in said] == []


WORDS = """
variables:
  mode: {domain: [eco, normal, sport]}
  lit: {type: boolean}
  size: {unit: "1", domain: [1, 1.5, 4, 6]}
  power: {unit: "1", domain: [0, 300]}
rules:
  - {id: SPORT, assertion: "mode == 'sport' implies power >= 250"}
  - {id: NORMAL, assertion: "mode == 'normal' implies power >= 120"}
  - {id: NOT_ECO, assertion: "mode != 'eco'"}
  - {id: CAP, assertion: power <= 130}
  - {id: DARK, assertion: not lit}
  - {id: SIZE, assertion: 5 <= size * 2 < 10}
"""


@pytest.mark.parametrize(
    ("variable", "first", "allowed"), [("mode", "sport", ["normal"]), ("lit", True, [False]), ("size", 6, [4])]
)
async def test_what_is_counted_is_moved_to_the_set_that_helps(variable: str, first: Any, allowed: list[Any]) -> None:
    async def wrong_at_first(seen: Slice, attempt: str) -> Any:
        return {variable: first} if attempt == f"{variable}-1" else await obedient()(seen, attempt)

    run = await converge(harness_from(WORDS), wrong_at_first)
    assert (run.end, run.artifact[variable]) == (End.SUCCESS, allowed[0])
    moved = next(each.gradient for each in run.attempts if each.variable == variable and each.gradient)
    assert (moved.direction, moved.json()["allowed"]) == ("to a set", allowed)


# -- overrides -------------------------------------------------------------------------------------------------------


def chosen(harness: Harness, to: str = "3.62", **changed: str) -> Override:
    report = report_hash(harness, explain(harness))
    said = {"parameter": "max_deceleration_limit", "before": "2", "to": to, "report": report, "by": "Bob", "role": "approver"}
    return Override(**{**said, "reason": "comfort", **changed})


async def test_an_override_that_is_forged_replayed_or_about_something_else_is_refused() -> None:
    harness = example("ad_degradation")
    records = Records(MemorySagaStore(), harness.id)
    for person in (ADA, Person("agent:x", "approver"), Person("", "approver")):
        with pytest.raises(NotAllowedError):
            await records.override(harness, chosen(harness), person, "now")
    with pytest.raises(ConflictError, match="not the hash"):
        await records.override(harness, chosen(harness, report="0" * 64), BOB, "now")
    with pytest.raises(ConflictError, match="not 3"):
        await records.override(harness, chosen(harness, before="3"), BOB, "now")
    with pytest.raises(NotAllowedError, match="not a negotiable parameter"):
        await records.override(harness, chosen(harness, parameter="road_friction_mu"), BOB, "now")
    with pytest.raises(InvalidInputError, match="does not resolve"):
        await records.override(harness, chosen(harness, to="3.5994"), BOB, "now")
    await records.override(harness, chosen(harness), BOB, "now")
    with pytest.raises(ConflictError, match="was answered by Bob"):
        await records.override(harness, chosen(harness, to="3.7"), BOB, "now")
    report = chosen(harness).report
    assert await records.consume(report, "one", TODAY) is not None
    assert await records.consume(report, "one", TODAY) is not None  # the same run, after a crash
    assert await records.consume(report, "another", TODAY) is None


async def test_an_expired_override_makes_a_paradox_again() -> None:
    harness = example("ad_degradation")
    records = Records(MemorySagaStore(), harness.id)
    await records.override(harness, chosen(harness, until="2026-11-21"), BOB, "now")
    assert await records.consume(chosen(harness).report, "one", TODAY) is None
    assert [each["in_force"] for each in (await records.audit(TODAY))["overrides"]] == [False]


async def test_nothing_proceeds_without_an_override_and_with_one_it_succeeds_at_55() -> None:
    harness = example("ad_degradation")
    async with Engine.open("memory:") as engine:
        records = Records(engine.store, harness.id)
        for _ in range(2):
            with pytest.raises(ParadoxError) as stopped:
                await run_harness(engine, harness, "rain", scripted({f"{SPEED}-1": {SPEED: 55}}), records, TODAY)
        await records.override(harness, chosen(harness, report=stopped.value.report), BOB, "now")
        run = await run_harness(engine, harness, "rain", scripted({f"{SPEED}-1": {SPEED: 55}}), records, TODAY)
        assert (run.end, run.artifact, len(run.attempts)) == (End.SUCCESS, {SPEED: 55}, 1)
        with pytest.raises(OperationFailedError, match="another run has used it"):
            await run_harness(engine, harness, "again", obedient(), records, TODAY)


KILLED = """
import asyncio, os, signal, sys
from datetime import date
from pathlib import Path
from sagagraph import Engine
from sagagraph.harness.life.records import Records
from sagagraph.harness.loop.executors import obedient
from sagagraph.harness.loop.running import run_harness
from sagagraph.harness.registry.loading import load_harness

path, store, ledger, die = sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
count = 0

async def executor(seen, attempt):
    global count
    count += 1
    with ledger.open("a") as file:
        file.write(attempt + "\\n")
    if count == die:
        os.kill(os.getpid(), signal.SIGKILL)
    return await obedient()(seen, attempt)

async def main():
    harness = load_harness(Path(path))
    async with Engine.open(store) as engine:
        run = await run_harness(engine, harness, "rain", executor, Records(engine.store, harness.id), date(2026, 11, 22))
        print(run.end.value, dict(run.artifact), len(await Records(engine.store, harness.id)._all("use")))

asyncio.run(main())
"""


async def test_killed_at_a_question_after_the_override_it_goes_on_and_uses_it_once(tmp_path: Path) -> None:
    """At every other boundary: `overriding.py`, in test_ways_out.py."""
    path, store, ledger = FOLDER / "ad_degradation.yaml", f"sqlite:///{tmp_path / 'j.db'}", tmp_path / "ledger"
    harness = load_harness(path)
    async with Engine.open(store) as engine:
        await Records(engine.store, harness.id).override(harness, chosen(harness), BOB, "now")

    def start(at: int) -> subprocess.CompletedProcess[str]:
        arguments = [sys.executable, "-c", KILLED, str(path), store, str(ledger), str(at)]
        return subprocess.run(arguments, capture_output=True, text=True, check=False, env=dict(os.environ))

    assert start(1).returncode == -signal.SIGKILL
    finished = start(0)
    assert finished.stdout.strip() == f"SUCCESS {{'{SPEED}': 55}} 1", finished.stderr
    assert ledger.read_text().split().count(f"{SPEED}-1") == 2  # only what was in doubt is asked again

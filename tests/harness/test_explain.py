"""Explanations: figures of both benchmark domains, certificates that a checker replays, corruptions that it refuses."""

from __future__ import annotations

import json
import operator
import os
import random
from fractions import Fraction
from itertools import combinations
from math import inf
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from sagagraph.harness.judging.check import RuleVerdict, artifact_from, check, passes
from sagagraph.harness.proof import intervals
from sagagraph.harness.proof.checker import replay, seal
from sagagraph.harness.proof.explain import Explanation, Status, explain, explanation_json
from sagagraph.harness.proof.relaxations import float_of, relaxation
from sagagraph.harness.proof.search import Node, Search
from sagagraph.harness.registry.harness import Harness
from sagagraph.harness.registry.loading import harness_from, harness_of, load_harness
from tests.harness.corruption import certified, corrupted
from tests.harness.generated import generate
from tests.harness.python_judge import differences

FOLDER = Path(__file__).parents[2] / "sagagraph/harness/examples"


def example(name: str) -> Harness:
    return load_harness(FOLDER / f"{name}.yaml")


def conflicts(found: Explanation) -> set[frozenset[str]]:
    return {frozenset(each.rules) for each in found.conflicts}


def moved(found: Explanation) -> dict[str, float]:
    return {each.name: float_of(each.to) for each in found.relaxations}


_ENDS = st.one_of(
    st.integers(-(2**30), 2**30).map(float), st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([5e-324, -1e-200])
)


@given(*[_ENDS] * 4)
def test_intervals_hold_sums_and_products_and_whole_numbers_stay_exact(a: float, b: float, c: float, d: float) -> None:
    one, other = (min(a, b), max(a, b)), (min(c, d), max(c, d))
    for join, exactly in ((intervals.add, operator.add), (intervals.multiply, operator.mul)):
        low, high = join(one, other)
        true = [exactly(Fraction(left), Fraction(right)) for left in one for right in other]
        assert low == -inf or Fraction(low) <= min(true)
        assert high == inf or max(true) <= Fraction(high)
        if all(each.is_integer() and abs(each) <= 2**20 for each in (*one, *other)):
            assert (low, high) == (min(true), max(true))


@pytest.fixture(scope="module")
def pharma() -> Explanation:
    return explain(example("pharma_flow_reactor"))


def test_driving_in_rain_is_a_paradox_of_both_rules() -> None:
    found = explain(example("ad_degradation"))
    forward, rear = "FORWARD_COLLISION_PREVENTION_PERCEPTION", "REAR_COLLISION_PREVENTION_DECELERATION"
    assert (found.status, conflicts(found), found.complete) == (Status.PARADOX, {frozenset({forward, rear})}, True)
    assert moved(found) == {
        "perception_range_limit": pytest.approx(69.4444444, rel=1e-6),
        "max_deceleration_limit": pytest.approx(3.59942, rel=2e-6),
    }
    assert float_of(found.conflicts[0].witnesses[forward]["vehicle_speed_kmph_t5"]) >= 84  # type: ignore[arg-type]
    assert float_of(found.conflicts[0].witnesses[rear]["vehicle_speed_kmph_t5"]) < 55.2104  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("parameter", "least"),
    [("transition_window_seconds", 8.9986), ("road_friction_mu", 0.925926), ("vehicle_speed_kmph_t0", 91.2104)],
)
def test_every_other_number_would_have_to_move_so_far(parameter: str, least: float) -> None:
    found = relaxation(example("ad_degradation"), "parameter", parameter, 1000)
    assert found is not None
    assert float_of(found.to) == pytest.approx(least, rel=1e-5)


def test_the_reactor_has_one_conflict_of_three_rules(pharma: Explanation) -> None:
    assert conflicts(pharma) == {frozenset({"CONVERSION_MINIMUM", "IMPURITY_LIMIT", "RESIDENCE_TIME_LIMIT"})}
    assert pharma.complete
    assert all(each.minimal for each in pharma.conflicts)
    assert moved(pharma) == {
        "tau_max_s": pytest.approx(157.0522, abs=1e-4),
        "IMPURITY_LIMIT": pytest.approx(0.026176, abs=1e-6),
        "CONVERSION_MINIMUM": pytest.approx(0.92709, abs=1e-5),
    }
    assert moved(pharma)["tau_max_s"] - 120 == pytest.approx(37.0522, abs=1e-4)


@pytest.mark.parametrize("name", ["pharma_flow_reactor", "cloud_sla", "ad_degradation"])
def test_a_relaxation_suffices_and_no_less_does(name: str, pharma: Explanation) -> None:
    harness = example(name)
    found = pharma if name == "pharma_flow_reactor" else explain(harness)
    for each in found.relaxations:
        if each.kind == "parameter":
            assert explain(harness.with_values({each.name: each.to})).status is Status.SATISFIABLE
            less = each.to + (each.before - each.to) * fmpq(1, 10**5)
            assert explain(harness.with_values({each.name: less}), relax=False).status is not Status.SATISFIABLE


@pytest.mark.parametrize("name", ["ad_degradation_clear", "pharma_flow_reactor_long"])
def test_a_twin_is_satisfiable_with_a_witness_that_passes(name: str) -> None:
    harness = example(name)
    found = explanation_json(harness, explain(harness))
    assert found["status"] == "satisfiable"
    assert check(harness, artifact_from(json.dumps(found["witness"]))).verdict is RuleVerdict.PASS


def test_a_file_without_variables_is_undecided_and_names_them() -> None:
    found = explain(harness_from("rules: [{id: A, assertion: x < 1 and y > 2}]"))
    assert (found.status, found.missing) == (Status.UNDECIDED, ("x", "y"))


TOUCHING = {
    "linear": (["x + y <= 10", "x + y > 10"], True),
    "thirds": (["3*x <= 1", "3*x >= 1", "x > 0.3"], False),
    "three": (["x - y >= 0", "y - z >= 0", "z - x > 0"], True),
    "square": (["x ** 2 <= 4", "x > 2"], True),
    "root": (["sqrt(x) >= 2", "x <= 4"], False),
    "product": (["x * y > 100"], None),
    "cases": (["x <= 2 or x >= 4", "x > 2", "x < 4"], True),
    "maximum": (["max(x, y) <= 3", "x + y > 6"], True),
    "distance": (["abs(x - 5) >= 2", "x > 3", "x < 7"], True),
    "exponential": (["exp(x) <= exp(3)", "x > 3"], None),
    "equal": (["x * y == 12", "x == 3"], False),
    "quotient": (["x / y >= 2", "x < 2 * y", "y > 1"], True),
}


@pytest.mark.parametrize("name", TOUCHING)
def test_what_only_touches_is_never_decided_wrongly(name: str) -> None:
    assertions, clash = TOUCHING[name]
    variables = {each: {"unit": "1", "domain": [fmpq(0), fmpq(10)]} for each in "xyz"}
    rules = [{"id": f"R{number}", "assertion": text} for number, text in enumerate(assertions)]
    found = explain(harness_of({"variables": variables, "rules": rules}), boxes=300)
    if clash is None:
        return
    assert found.status is (Status.PARADOX if clash else Status.SATISFIABLE), found.reason


@pytest.mark.parametrize("seed", range(24))
def test_generated_systems_are_decided_right(seed: int) -> None:
    """Conflicts are the planted ones; each is irreducible, and its certificate is accepted."""
    made = generate(seed, satisfiable=seed % 2 == 0, rules=2 + seed % 11)
    harness = harness_of(made.document)
    found = explain(harness, relax=False)
    assert found.status is (Status.PARADOX if made.conflicts else Status.SATISFIABLE), found.reason
    assert conflicts(found) == made.conflicts
    for each in found.conflicts:
        for smaller in combinations(each.rules, len(each.rules) - 1):
            part = harness.with_rules(tuple(rule for rule in harness.rules if rule.id in smaller))
            assert not smaller or explain(part, relax=False).status is Status.SATISFIABLE


def test_corruptions_of_certificates_are_refused() -> None:
    """A thousand of them, of more certificates: `make bench-caaf`."""
    known = certified([example(name) for name in ("ad_degradation", "cloud_sla")], range(1, 6, 2))
    assert [replay(harness, each).reason for harness, each in known] == [""] * len(known)
    for broken, reason in corrupted(known, 200, random.Random(18)):
        assert reason, broken


def test_a_certificate_that_names_a_rule_of_nobody_is_refused() -> None:
    harness = example("cloud_sla")
    certificate = dict(explain(harness, relax=False).certificates[0])
    for node in ({"sum": [{"of": ["NOBODY"], "times": "1"}]}, {"cases": "NOBODY", "parts": []}, {"rule": "NOBODY"}):
        answer = replay(harness, seal({**{key: certificate[key] for key in certificate if key != "hash"}, "tree": node}))
        assert not answer.accepted, node
        assert "NOBODY" in answer.reason


@pytest.mark.skipif("SAGAGRAPH_DATA" not in os.environ, reason="SAGAGRAPH_DATA is not set")
@pytest.mark.parametrize("name", ["ad_degradation", "ad_degradation_pass", "pharma_flow_reactor", "pharma_flow_reactor_pass"])
def test_the_papers_files_load_and_are_judged_as_python_judges_them(name: str) -> None:
    harness = load_harness(Path(os.environ["SAGAGRAPH_DATA"]) / "caaf" / f"{name}.yaml")
    fields = sorted({field for rule in harness.rules for field in harness.fields_of(rule)})
    assert explain(harness).missing == tuple(fields)
    assert list(differences(harness, 150)) == []


def _products(count: int) -> Harness:
    """Products of neighbours; only the first one and the last rule are in conflict."""
    variables = {f"x{each}": {"unit": "1", "domain": [1, 10], "decided_by": "executor"} for each in range(count)}
    rules = [{"id": f"P{each}", "assertion": f"x{each} * x{each + 1} >= 4", "severity": "CRITICAL"} for each in range(count - 1)]
    rules.append({"id": "LAST", "assertion": "x0 + x1 <= 3", "severity": "CRITICAL"})
    return harness_from(json.dumps({"harness": "products", "version": 1, "variables": variables, "rules": rules}))


def _boxes_of(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> tuple[Explanation, int]:
    used = 0
    refute = Search._refute

    def counted(self: Search, node: Node) -> object:
        nonlocal used
        used += 1
        return refute(self, node)

    with monkeypatch.context() as patched:
        patched.setattr(Search, "_refute", counted)
        return explain(harness), used


def test_rules_that_are_in_no_conflict_cost_hardly_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    few, few_boxes = _boxes_of(_products(2), monkeypatch)
    many, many_boxes = _boxes_of(_products(10), monkeypatch)
    for found in (few, many):
        assert [each.rules for each in found.conflicts] == [("P0", "LAST")]
        assert {(each.name, each.to): each.proven for each in found.relaxations} == {
            ("P0", fmpq(9, 4)): True,
            ("LAST", fmpq(4)): True,
        }
    assert many_boxes <= 1.5 * few_boxes
    for each in many.relaxations:
        rest = tuple(rule for rule in _products(10).rules if rule.id != each.name)
        assert passes(_products(10).with_rules(rest), each.witness)


def test_a_chain_of_linear_rules_is_one_conflict_and_its_optimum_needs_no_bisection(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 40
    variables = {f"x{each}": {"unit": "1", "domain": [0, 1000], "decided_by": "executor"} for each in range(count)}
    rules = [{"id": f"C{each}", "assertion": f"x{each + 1} >= x{each} + 1", "severity": "CRITICAL"} for each in range(count - 1)]
    rules.append({"id": "LAST", "assertion": f"x{count - 1} <= {count - 3}", "severity": "CRITICAL"})
    told: list[tuple[str, ...]] = []
    harness = harness_from(json.dumps({"harness": "chain", "version": 1, "variables": variables, "rules": rules}))
    found = explain(harness, on_conflicts=lambda conflicts: told.extend(each.rules for each in conflicts))
    assert found.complete
    assert [each.minimal for each in found.conflicts] == [True]
    assert told == [each.rules for each in found.conflicts] == [(*(f"C{each}" for each in range(1, count - 1)), "LAST")]
    assert [(each.name, each.to, each.proven) for each in found.relaxations] == [("LAST", fmpq(count - 1), True)]
    _, boxes = _boxes_of(harness, monkeypatch)
    assert boxes <= 60

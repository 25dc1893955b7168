"""Artifacts against rules: exact numbers, errors that are never passes, units that find the published mistake."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from sagagraph.errors import InvalidInputError
from sagagraph.harness.judging.check import RuleVerdict, artifact_from, check, run_tests
from sagagraph.harness.proof.explain import load_checked
from sagagraph.harness.registry.harness import Harness
from sagagraph.harness.registry.loading import harness_from, harness_of, load_harness

pytestmark = pytest.mark.quick

EXAMPLES = sorted((Path(__file__).parents[2] / "sagagraph/harness/examples").glob("*.yaml"))


def verdict(assertion: str, artifact: str) -> RuleVerdict:
    return check(harness_of({"rules": [{"id": "R", "assertion": assertion}]}), artifact_from(artifact)).verdict


@pytest.mark.parametrize(
    ("assertion", "artifact", "expected"),
    [
        ("x + 0.2 <= 0.3", '{"x": 0.1}', RuleVerdict.PASS),
        ("x * 3 == 1", '{"x": 0.3333333333333333}', RuleVerdict.FAIL),
        ("x < 1e-300", '{"x": 1e-301}', RuleVerdict.PASS),
        ("sqrt(x) <= 2", '{"x": 4}', RuleVerdict.PASS),
        ("2 * exp(x) <= exp(x) + exp(x)", '{"x": 0.3}', RuleVerdict.PASS),
        ("exp(x) < exp(x)", '{"x": 0.3}', RuleVerdict.FAIL),
        ("2 ** 0.5 * 2 ** 0.5 <= x", '{"x": 2}', RuleVerdict.UNDECIDED),
        ("exp(1) < x", '{"x": 2.718281828459045}', RuleVerdict.FAIL),
        ("exp(1) < x", '{"x": 2.718281828459046}', RuleVerdict.PASS),
        ("x < 1", "{}", RuleVerdict.ERROR),
        ("x < 1", '{"x": NaN}', RuleVerdict.ERROR),
        ("x < 1", '{"x": -Infinity}', RuleVerdict.ERROR),
        ("x < 1", '{"x": "0"}', RuleVerdict.ERROR),
        ("x < 1", '{"x": true}', RuleVerdict.ERROR),
        ("x < 1", '{"x": null}', RuleVerdict.ERROR),
        ("x < 1", '{"x": {}}', RuleVerdict.ERROR),
        ("1 / x < 1", '{"x": 0}', RuleVerdict.ERROR),
        ("log(x) < 1", '{"x": 0}', RuleVerdict.ERROR),
        ("x ** 0.5 < 1", '{"x": -1}', RuleVerdict.ERROR),
        ("x ** x < 1", '{"x": 1e300}', RuleVerdict.ERROR),
        ("x", '{"x": 1}', RuleVerdict.ERROR),
        ("x", '{"x": true}', RuleVerdict.PASS),
        ("mode in ['a', 'b'] implies len(xs) == 2", '{"mode": "a", "xs": [1, 2]}', RuleVerdict.PASS),
        ("all(0 <= y <= 3 for y in xs) and sum(xs) > 3", '{"xs": [1, 3]}', RuleVerdict.PASS),
        ("if mode == 'a' then x < 1 else x > 1", '{"mode": "b", "x": 1}', RuleVerdict.FAIL),
    ],
)
def test_numbers_are_exact_and_errors_never_pass(assertion: str, artifact: str, expected: RuleVerdict) -> None:
    assert verdict(assertion, artifact) is expected


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-1000, max_value=1000), st.integers(-5000, 5000))
def test_sums_are_compared_exactly(x: object, n: int) -> None:
    assert verdict(f"x + {abs(n)}/1000 - {abs(n)}/1000 == {x}", f'{{"x": {x}}}') is RuleVerdict.PASS


def test_an_artifact_cannot_move_a_parameter() -> None:
    harness = load_harness(next(each for each in EXAMPLES if each.stem == "ad_degradation"))
    checked = check(harness, {"vehicle_speed_kmph_t5": 55, "max_deceleration_limit": 100})
    assert checked.verdict is RuleVerdict.ERROR
    assert "fixed by the harness" in checked.rules[1].reason


def test_what_is_outside_its_domain_does_not_pass() -> None:
    document = {"rules": [{"id": "R", "assertion": "x < 9"}], "variables": {"x": {"unit": "1", "domain": [fmpq(0), fmpq(5)]}}}
    checked = check(harness_of(document), artifact_from('{"x": 6}'))
    assert (checked.rules[0].verdict, checked.verdict, checked.outside) == (RuleVerdict.PASS, RuleVerdict.FAIL, ("x",))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_keep_their_golden_and_poisoned_cases(path: Path) -> None:
    tested = run_tests(load_checked(path))
    assert [each for each in tested.cases if not each.kept] == []
    assert tested.cases


THROUGHPUT = """
variables:
  V: {unit: mL, value: 37.7}
  tau: {unit: s, domain: [0.1, 600]}
  C0: {unit: mol/L, value: 2}
  X: {unit: "1", domain: [0, 1]}
  MW: {unit: g/mol, value: 200}
  R_min: {unit: kg/day, value: 5}
rules:
  - {id: THROUGHPUT, assertion: "V / (tau / 60) * C0 * X * MW / 1000 * 1440 / 60 >= R_min"}
"""


def test_the_published_throughput_rule_is_refused_by_its_units() -> None:
    with pytest.raises(InvalidInputError, match=r"units differ.*`R_min` in kg/day"):
        harness_from(THROUGHPUT)
    harness_from(THROUGHPUT.replace("/ (tau / 60)", "/ tau").replace("* 1440 / 60", "* 86400 / 1000"))  # mL, g and s converted


@pytest.mark.parametrize(
    ("assertion", "term"),
    [
        ("v <= t", "`v` is in km/h"),
        ("v + 1 <= v", "`1`"),
        ("exp(t) < 2", "exp needs"),
        ("temp + temp < temp", "kelvin"),
        ("kelvin(v) < kelvin(temp)", "kelvin() needs"),
        ("v ** n < v", "exponent must be a plain number"),
        ("v < 100", "`100`"),
        ("temp < k", "`temp` is in degC"),
        ("mode < 3", "`mode` is a string"),
        ("v", "is a number in km/h"),
        ("v / 3.5 < w", "no bare number"),
    ],
)
def test_a_term_whose_unit_does_not_fit_is_named(assertion: str, term: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        harness_from(UNITS + f'  - {{id: R, assertion: "{assertion}"}}\n')
    assert term in str(refused.value)


@pytest.mark.parametrize("assertion", ["v / 3.6 < w", "v > 0", "temp <= temp2", "v * t / (v * t) < n"])
def test_units_that_fit_are_accepted(assertion: str) -> None:
    assert isinstance(harness_from(UNITS + f'  - {{id: R, assertion: "{assertion}"}}\n'), Harness)


UNITS = """
variables:
  v: {unit: km/h, domain: [0, 200]}
  w: {unit: m/s, domain: [0, 200]}
  t: {unit: s, domain: [0, 10]}
  n: {unit: "1", domain: [1, 5]}
  temp: {unit: degC, domain: [0, 100]}
  temp2: {unit: degC, domain: [0, 100]}
  k: {unit: K, domain: [0, 400]}
  mode: {domain: [fast, slow, off]}
rules:
"""


@pytest.mark.parametrize(
    ("assertion", "said"), [("x <= 10", "always true"), ("x > 10", "always false"), ("x < x + 1", "always true")]
)
def test_a_rule_that_is_constant_over_the_domains_is_refused(assertion: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "h.yaml"
    path.write_text(f'variables: {{x: {{unit: "1", domain: [0, 10]}}}}\nrules: [{{id: R, assertion: "{assertion}"}}]\n')
    with pytest.raises(InvalidInputError, match=said):
        load_checked(path)


@pytest.mark.parametrize("assertion", ["x / x >= 1", "log(x) <= 5", "sqrt(x - 1) >= 0"])
def test_a_rule_that_has_no_value_somewhere_is_not_always_true(assertion: str, tmp_path: Path) -> None:
    path = tmp_path / "h.yaml"
    path.write_text(f'variables: {{x: {{unit: "1", domain: [0, 10]}}}}\nrules: [{{id: R, assertion: "{assertion}"}}]\n')
    assert check(load_checked(path), {"x": 0}).verdict is RuleVerdict.ERROR


def test_margins_are_signed_in_the_unit_of_the_rule() -> None:
    harness = load_harness(next(each for each in EXAMPLES if each.stem == "pharma_flow_reactor"))
    found = {each.rule: each.margin for each in check(harness, {"temperature_C": 98.586, "residence_time_s": 157.052}).rules}
    assert found["RESIDENCE_TIME_LIMIT"] == pytest.approx(-37.052, abs=1e-9)
    assert found["THROUGHPUT_MINIMUM"] == pytest.approx(7.881 - 5, abs=1e-3)
    assert found["THERMAL_RUNAWAY_PREVENTION"] == pytest.approx(1508 - 38.77, abs=0.01)
    assert found["PRESSURE_RATING"] == pytest.approx(1.5e6 - 5870, abs=20)


def test_what_is_absurdly_deep_or_long_is_no_value() -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    harness = load_harness(next(each for each in EXAMPLES if each.stem == "cloud_sla"))
    for value in (deep, 10**5000, -(10**5000)):
        assert check(harness, {"replicas": value}).verdict is RuleVerdict.ERROR


def test_the_same_artifact_gives_the_same_bytes() -> None:
    harness = load_harness(EXAMPLES[0])
    rng = random.Random(1)
    for _ in range(20):
        artifact = {"vehicle_speed_kmph_t5": round(rng.uniform(0, 130), 3)}
        assert repr(check(harness, artifact)) == repr(check(harness, dict(artifact)))
    assert not math.isnan(check(harness, artifact).rules[0].margin or 0)

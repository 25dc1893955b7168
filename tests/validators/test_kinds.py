"""Every kind of validation: what only it rejects, and what all of them accept."""

from __future__ import annotations

from typing import Any

import pytest

from sagagraph.errors import InvalidInputError
from sagagraph.validators.kinds import Kind
from sagagraph.validators.registry import Judgement, ValidatorRegistry, facts_of, generic_validators, judge_by
from sagagraph.validators.verdict import Verdict, VerdictStatus, Violation

from .plans import FACTS, PLAN, REJECTED_BY, Change, changed

pytestmark = pytest.mark.quick

REGISTRY = generic_validators()


async def judged(artifact: Any, facts: dict[str, Any] | None = None) -> dict[str, Verdict]:
    validators = [each.validator for each in REGISTRY]
    judgement = await judge_by(validators, artifact, facts_of(FACTS if facts is None else facts))
    return {validator.name: verdict for validator, verdict in zip(validators, judgement.verdicts, strict=True)}


async def test_a_sound_plan_is_valid_to_every_validator() -> None:
    verdicts = await judged(PLAN)
    assert {each.verdict for each in verdicts.values()} == {VerdictStatus.VALID}, verdicts
    assert len(verdicts) == len(Kind)


@pytest.mark.parametrize(
    ("kind", "change"), [(kind, change) for kind, _, change in REJECTED_BY], ids=[b for _, b, _ in REJECTED_BY]
)
async def test_a_fault_is_found_by_its_kind_of_validator_and_by_no_other(kind: Kind, change: Change) -> None:
    verdicts = await judged(changed(change))
    assert {name for name, each in verdicts.items() if each.verdict is VerdictStatus.INVALID} == {kind.value}, verdicts


def test_every_kind_has_a_plan_that_only_it_rejects() -> None:
    assert {kind for kind, _, _ in REJECTED_BY} == set(Kind)


async def test_without_facts_to_judge_by_nothing_is_held_against_a_plan() -> None:
    plan = {key: value for key, value in PLAN.items() if key != "claims"}
    verdicts = await judged(plan, {})
    assert {each.verdict for each in verdicts.values()} == {VerdictStatus.VALID}, verdicts


async def test_what_is_no_plan_at_all_is_rejected_once_and_unknown_to_the_others() -> None:
    for artifact in (None, "a plan", {"steps": []}, [PLAN]):
        verdicts = await judged(artifact)
        assert verdicts.pop("syntactic").verdict is VerdictStatus.INVALID
        assert {each.verdict for each in verdicts.values()} == {VerdictStatus.UNKNOWN}


# -- the registry ------------------------------------------------------------------------------------------------------


class Says:
    version = 1

    def __init__(self, name: str, verdict: Verdict) -> None:
        self.name = name
        self.verdict = verdict

    def validate(self, artifact: Any, context: Any) -> Verdict:
        return self.verdict


FAULT = Verdict.of([Violation(code="X", message="wrong")])
YES, OUT = Says("yes", Verdict.of([])), Says("out", Verdict.unknown("the line is dead"))
NO = Says("no", FAULT)


def test_all_kinds_have_a_generic_validator_and_each_is_found_by_its_certificate() -> None:
    assert REGISTRY.missing == frozenset()
    for kind in Kind:
        (validator,) = REGISTRY.of(kind)
        assert REGISTRY.find(validator.name, validator.version) is validator


def test_one_validator_may_serve_several_kinds_and_is_registered_once() -> None:
    registry = ValidatorRegistry()
    registry.add(YES, Kind.FACTUAL, Kind.TEMPORAL)
    assert registry.of(Kind.FACTUAL) == registry.of(Kind.TEMPORAL) == (YES,)
    assert Kind.SEMANTIC in registry.missing
    with pytest.raises(InvalidInputError, match="is registered"):
        registry.add(Says("yes", FAULT), Kind.SEMANTIC)
    with pytest.raises(InvalidInputError, match="which kind"):
        registry.add(NO)
    with pytest.raises(InvalidInputError, match="'yes' version 2 is not registered"):
        registry.find("yes", 2)


@pytest.mark.parametrize(
    ("validators", "verdict"),
    [
        ([YES, YES], VerdictStatus.VALID),
        ([YES, OUT], VerdictStatus.UNKNOWN),
        ([OUT, NO, YES], VerdictStatus.INVALID),
        ([], VerdictStatus.UNKNOWN),
    ],
)
async def test_a_violation_outweighs_an_outage_and_an_outage_outweighs_approval(validators: list[Says], verdict: str) -> None:
    judgement = await judge_by(validators, {}, ())
    assert judgement.verdict.verdict == verdict
    assert len(judgement.verdicts) == len(validators)


async def test_a_validator_that_cannot_be_shown_what_is_critical_does_not_judge() -> None:
    judgement = await judge_by([NO, YES], {}, facts_of({"novel": "x" * 5000}))
    assert judgement.verdict.verdict is VerdictStatus.UNKNOWN
    assert "no could not judge: critical fact 'novel'" in judgement.verdict.reason


def test_nobody_is_no_judge() -> None:
    verdict = Judgement(()).verdict
    assert (verdict.verdict, verdict.reason) == (VerdictStatus.UNKNOWN, "nobody has judged it")

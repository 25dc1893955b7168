from __future__ import annotations

import pytest

from sagagraph import Verdict, Violation
from sagagraph.validators.verdict import Certificate, VerdictStatus

pytestmark = pytest.mark.quick

TOO_DEAR = Violation(code="BUDGET_EXCEEDED", message="it costs too much", scope={"leg": 1}, evidence={"found": 12, "allowed": 10})


def test_a_verdict_without_violations_is_valid() -> None:
    verdict = Verdict.of([])
    assert (verdict.verdict, verdict.is_valid, verdict.violations) == (VerdictStatus.VALID, True, ())


def test_a_verdict_with_violations_is_invalid() -> None:
    verdict = Verdict.of([TOO_DEAR])
    assert (verdict.verdict, verdict.is_valid, verdict.violations) == (VerdictStatus.INVALID, False, (TOO_DEAR,))


def test_an_unknown_verdict_is_neither_and_has_its_reason() -> None:
    verdict = Verdict.unknown("the model is down")
    assert (verdict.verdict, verdict.is_valid, verdict.reason) == (VerdictStatus.UNKNOWN, False, "the model is down")


def test_verdicts_do_not_change() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        Verdict.of([]).reason = "changed my mind"
    with pytest.raises(AttributeError, match="immutable"):
        TOO_DEAR.code = "CHEAP"


def test_a_verdict_is_json_and_read_from_it() -> None:
    certificate = Certificate(validator="judge", version=1, artifact_hash="a", slice_hash="b", slice_tokens=3)
    verdict = Verdict.of([TOO_DEAR]).model_copy(update={"certificate": certificate})
    assert Verdict.model_validate_json(verdict.model_dump_json()) == verdict
    assert verdict.model_dump(mode="json")["verdict"] == "INVALID"

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sagagraph import ContextSlice, Verdict, Violation
from sagagraph.context.slice import Fact, content_hash, select
from sagagraph.validators.protocol import judge
from sagagraph.validators.verdict import VerdictStatus

pytestmark = pytest.mark.quick

CONTEXT = select([Fact("budget", 100)])


class Budget:
    name = "budget"
    version = 2

    def validate(self, artifact: Any, context: ContextSlice) -> Verdict:
        found, allowed = artifact["price"], context.facts["budget"]
        if found <= allowed:
            return Verdict.of([])
        return Verdict.of([Violation(code="BUDGET_EXCEEDED", message="too dear", evidence={"found": found, "allowed": allowed})])


class Awaited(Budget):
    async def validate(self, artifact: Any, context: ContextSlice) -> Verdict:  # type: ignore[override]
        await asyncio.sleep(0)
        return super().validate(artifact, context)


class Answering(Budget):
    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def validate(self, artifact: Any, context: ContextSlice) -> Any:
        if isinstance(self._answer, BaseException):
            raise self._answer
        return self._answer


@pytest.mark.parametrize("validator", [Budget(), Awaited()])
@pytest.mark.parametrize(("price", "verdict"), [(100, VerdictStatus.VALID), (101, VerdictStatus.INVALID)])
async def test_a_validator_judges_an_artifact_by_its_slice(validator: Budget, price: int, verdict: VerdictStatus) -> None:
    assert (await judge(validator, {"price": price}, CONTEXT)).verdict is verdict


async def test_a_verdict_carries_the_certificate_that_lets_it_be_replayed() -> None:
    artifact = {"price": 101}
    verdict = await judge(Budget(), artifact, CONTEXT)
    certificate = verdict.certificate
    assert certificate is not None
    assert (certificate.validator, certificate.version) == ("budget", 2)
    assert (certificate.artifact_hash, certificate.slice_hash) == (content_hash(artifact), CONTEXT.hash)
    assert certificate.slice_tokens == CONTEXT.tokens > 0
    assert await judge(Budget(), dict(artifact), select([Fact("budget", 100)])) == verdict
    assert await judge(Budget(), {"price": 102}, CONTEXT) != verdict


@pytest.mark.parametrize("problem", [RuntimeError("out of memory"), TimeoutError(), AssertionError("bug"), KeyError("budget")])
async def test_what_breaks_inside_a_validator_is_an_outage_and_never_a_violation(problem: Exception) -> None:
    verdict = await judge(Answering(problem), {"price": 1}, CONTEXT)
    assert (verdict.verdict, verdict.violations) == (VerdictStatus.UNKNOWN, ())
    assert type(problem).__name__ in verdict.reason
    assert verdict.reason.startswith("budget could not judge")
    assert verdict.certificate is not None


@pytest.mark.parametrize("answer", [None, True, "VALID", {"verdict": "VALID"}])
async def test_an_answer_that_is_no_verdict_is_an_outage_too(answer: Any) -> None:
    verdict = await judge(Answering(answer), {"price": 1}, CONTEXT)
    assert verdict.verdict is VerdictStatus.UNKNOWN
    assert type(answer).__name__ in verdict.reason


async def test_a_cancellation_is_not_an_answer() -> None:
    with pytest.raises(asyncio.CancelledError):
        await judge(Answering(asyncio.CancelledError()), {"price": 1}, CONTEXT)


async def test_a_validator_that_does_not_answer_is_an_outage() -> None:
    class Hanging:
        name, version = "hanging", 1

        async def validate(self, artifact: Any, context: ContextSlice) -> Verdict:
            await asyncio.sleep(60)
            return Verdict.of([])

    verdict = await judge(Hanging(), {"price": 5}, select([]), within_s=0.01)
    assert verdict.verdict is VerdictStatus.UNKNOWN
    assert "hanging could not judge: TimeoutError" in verdict.reason

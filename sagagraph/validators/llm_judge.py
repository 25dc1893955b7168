"""LLM judge, for criteria that no check can be written for: a separate language model, with a separate context.

It is asked one question with the artifact and the slice as quoted data. Its answer counts only in exactly the requested form,
with the nonce of the question in it: whatever text in the data says, it does not know the nonce. Anything else is an outage.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Literal

from pydantic import BaseModel, Field, ValidationError

from sagagraph.context.model import Model, Question
from sagagraph.context.quoting import Quoted, new_nonce
from sagagraph.context.slice import ContextSlice
from sagagraph.errors import ModelError
from sagagraph.validators.verdict import Verdict, VerdictStatus, Violation
from sagagraph.workflow.values import Json

MOST_VIOLATIONS = 5


class _Finding(BaseModel, extra="forbid", strict=True):
    code: str = Field(pattern=r"^[A-Z][A-Z_]{1,30}$")
    message: str = Field(min_length=1, max_length=400)


class _Opinion(BaseModel, extra="forbid", strict=True, title="Opinion"):
    """Opinion that the model must give."""

    nonce: str
    verdict: Literal["VALID", "INVALID", "UNKNOWN"]
    findings: list[_Finding] = Field(max_length=MOST_VIOLATIONS)


class LlmJudge:
    """Judge by a language model. `criterion`: what makes an artifact valid, in a sentence or two of our own. `reads`: the facts
    that it is shown.

    `mint` makes nonces that nobody can guess. The same slice gets the same question again, with another nonce; a model that
    answers differently is detected by a replay.
    """

    def __init__(
        self,
        name: str,
        criterion: str,
        model: Model,
        *,
        version: int = 1,
        reads: tuple[str, ...] = (),
        mint: Callable[[], str] = new_nonce,
    ) -> None:
        self.name = name
        self.version = version
        self.reads = reads
        self._criterion = criterion
        self._model = model
        self._mint = mint

    async def validate(self, artifact: Json, context: ContextSlice) -> Verdict:
        quoted = Quoted({"artifact": artifact, "context": context.facts}, self._mint())
        try:
            answer = await self._model.answer(Question(self._instructions(quoted), quoted, _Opinion.model_json_schema()))
            return _verdict(_Opinion.model_validate(answer.content), quoted.nonce)
        except ModelError as exc:
            return Verdict.unknown(f"{self.name} could not judge: {exc}")
        except ValidationError as exc:
            fields = ", ".join(sorted({".".join(map(str, error["loc"])) or "answer" for error in exc.errors()}))
            return Verdict.unknown(
                f"{self.name} could not judge: {self._model.name} did not answer in the form asked for ({fields})"
            )

    def _instructions(self, quoted: Quoted) -> str:
        return (
            f"You judge an artifact by one criterion, and by the context that goes with it.\nCriterion: {self._criterion}\n"
            f"{quoted.rule}\n"
            f"Answer with nonce {quoted.nonce}, a verdict (VALID, INVALID, or UNKNOWN if the context does not suffice), and for "
            "INVALID every finding with a code in capitals and a sentence."
        )


def _verdict(opinion: _Opinion, nonce: str) -> Verdict:
    """Return the verdict; an opinion that contradicts itself is UNKNOWN, and nothing is raised."""
    if not secrets.compare_digest(opinion.nonce.encode(), nonce.encode()):
        return Verdict.unknown("the answer was not made for this question")
    violations = [Violation(code=each.code, message=each.message) for each in opinion.findings]
    match VerdictStatus(opinion.verdict):
        case VerdictStatus.UNKNOWN:
            return Verdict.unknown("the model says that it cannot tell")
        case VerdictStatus.INVALID if violations:
            return Verdict.of(violations)
        case VerdictStatus.VALID if not violations:
            return Verdict.of([])
    return Verdict.unknown(f"the answer contradicts itself: {opinion.verdict} with {len(violations)} findings")

"""Candidates: what an agent proposes for the parts of a plan, and the validators that judge it.

Each judges by the agent's own slice: the options that it was shown, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, Final

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from sagagraph.context.slice import ContextSlice
from sagagraph.validators.document import leaves
from sagagraph.validators.intra import Syntactic
from sagagraph.validators.verdict import Verdict, Violation
from sagagraph.workflow.values import Json

MOST_CANDIDATES: Final = 5
"""For one part."""
LONGEST_REASON: Final = 400
"""In characters."""
_SHOWN_OF_AN_ID: Final = 60
_TIME = re.compile(r"\b\d{1,2}:\d{2}\b")
_AMOUNT = re.compile(r"[$€£]\s?(\d[\d,]*(?:\.\d+)?)|\b(\d[\d,]*(?:\.\d+)?)\s?(?:USD|EUR|GBP|dollars|euros)\b")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w])")


class Candidate(BaseModel, frozen=True, extra="forbid"):
    """One option for one part, with the reason for it."""

    choose: str = Field(min_length=1)
    """The option's id."""
    reason: str = Field(min_length=1, max_length=LONGEST_REASON)
    confidence: float = Field(ge=0, le=1)
    """How sure the agent is that it is right."""


Candidates = Mapping[str, tuple[Candidate, ...]]
"""By part; the preferred first."""
ANSWER: Final[TypeAdapter[dict[str, tuple[Candidate, ...]]]] = TypeAdapter(
    dict[str, Annotated[tuple[Candidate, ...], Field(min_length=1, max_length=MOST_CANDIDATES)]]
)


class Form(Syntactic):
    """Syntactic: candidates for parts, and nothing else."""

    name = "form"

    def __init__(self) -> None:
        super().__init__(ANSWER)


class _Reader:
    version = 1
    name = ""

    def validate(self, artifact: Json, context: ContextSlice) -> Verdict:
        try:
            candidates = ANSWER.validate_python(artifact)
        except ValidationError:
            return Verdict.unknown("these are not candidates")
        return Verdict.of(list(self.violations(candidates, context.facts)))

    def violations(self, candidates: Candidates, facts: Mapping[str, Any]) -> Iterator[Violation]:
        raise NotImplementedError


class Shown(_Reader):
    """Factual: only options that it was shown, each for the part that it belongs to."""

    name = "shown"

    def violations(self, candidates: Candidates, facts: Mapping[str, Any]) -> Iterator[Violation]:
        parts: Mapping[str, list[dict[str, Any]]] = facts["inputs"]
        for part, chosen in candidates.items():
            known = {each["id"] for each in parts.get(part, ())}
            for each in chosen:
                if each.choose not in known:
                    what = "is not among the options that were shown" if part in parts else "is for a part that nobody asked for"
                    yield _of(part, "UNKNOWN_OPTION", f"{each.choose[:_SHOWN_OF_AN_ID]!r} {what}")


class Complete(_Reader):
    """Semantic: every part has a candidate."""

    name = "complete"

    def violations(self, candidates: Candidates, facts: Mapping[str, Any]) -> Iterator[Violation]:
        for part in facts["inputs"]:
            if part not in candidates:
                yield _of(part, "LEFT_OUT", "nothing is proposed for it")


class Claims(_Reader):
    """Reasoning: times and amounts in a reason are those of the slice, or the difference of two such amounts."""

    name = "claims"

    def violations(self, candidates: Candidates, facts: Mapping[str, Any]) -> Iterator[Violation]:
        said = " ".join(str(value) for _name, value in leaves(facts) if value is not None)
        times = set(_TIME.findall(said))
        amounts = {_amount(each) for each in _NUMBER.findall(said)}
        differences = {abs(one - other) for one in amounts for other in amounts} | amounts
        for part, chosen in candidates.items():
            for each in chosen:
                if strange := [time for time in _TIME.findall(each.reason) if time not in times]:
                    yield _of(part, "UNFOUNDED", f"the reason names {strange[0]}, which nothing that was shown says")
                claimed = [one or other for one, other in _AMOUNT.findall(each.reason)]
                if strange := [amount for amount in claimed if _amount(amount) not in differences]:
                    yield _of(part, "UNFOUNDED", f"the reason names an amount of {strange[0]}, which nothing that was shown says")


def _of(part: str, code: str, message: str) -> Violation:
    return Violation(code=code, message=f"{part[:_SHOWN_OF_AN_ID]}: {message}", scope={"part": part})


def _amount(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))


OF_CANDIDATES: Final = (Form(), Shown(), Complete(), Claims())

"""What a validator answers: a verdict, its violations, and a certificate that lets it be replayed."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from sagagraph.context.slice import ContextSlice, content_hash


class VerdictStatus(StrEnum):
    VALID = "VALID"
    INVALID = "INVALID"
    UNKNOWN = "UNKNOWN"
    """The validator could not judge: an outage is never a violation."""


class Violation(BaseModel):
    """One rule broken once, at one place."""

    model_config = ConfigDict(frozen=True)

    code: str
    """What rule, in capitals: `BUDGET_EXCEEDED`."""
    message: str
    scope: dict[str, Any] = Field(default_factory=dict)
    """Who, where, which leg or operation."""
    evidence: dict[str, Any] = Field(default_factory=dict)
    """The numbers that show it: what was found, what was allowed."""


class Certificate(BaseModel):
    """What a verdict was based on, so that it can be replayed: the same slice and validator give the same verdict."""

    model_config = ConfigDict(frozen=True)

    validator: str
    version: int
    artifact_hash: str
    slice_hash: str
    slice_tokens: int

    def covers(self, artifact: Any, context: ContextSlice) -> bool:
        """Whether it was made for exactly these: of a changed plan, or a changed slice, it says nothing."""
        return (self.artifact_hash, self.slice_hash) == (content_hash(artifact), context.hash)


class Verdict(BaseModel):
    model_config = ConfigDict(frozen=True)

    verdict: VerdictStatus
    violations: tuple[Violation, ...] = ()
    reason: str = ""
    """Why it is UNKNOWN; empty otherwise."""
    additions: dict[str, Any] = Field(default_factory=dict)
    """What the artifact lacks and can be filled in (augmentation); nothing that is there is ever overridden by it."""
    notes: tuple[str, ...] = ()
    """What whoever made it should know the next time (feedback), also of a VALID artifact."""
    certificate: Certificate | None = None

    @model_serializer(mode="wrap")
    def _without_what_is_not_said(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Verdicts without additions and notes are written as before there were such."""
        fields: dict[str, Any] = serialise(self)
        return {name: value for name, value in fields.items() if name not in ("additions", "notes") or value}

    @property
    def is_valid(self) -> bool:
        return self.verdict is VerdictStatus.VALID

    @classmethod
    def of(cls, violations: tuple[Violation, ...] | list[Violation]) -> Verdict:
        """INVALID when there is a violation, VALID otherwise."""
        status = VerdictStatus.INVALID if violations else VerdictStatus.VALID
        return cls(verdict=status, violations=tuple(violations))

    @classmethod
    def unknown(cls, reason: str) -> Verdict:
        return cls(verdict=VerdictStatus.UNKNOWN, reason=reason)

"""S_D: every constraint that was evaluated: whether it held, by what evidence, and when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sagagraph.saga.core import events as e
from sagagraph.saga.core.dependencies import condition_holds
from sagagraph.saga.core.status import OperationStatus
from sagagraph.saga.stores.projections.conditions import evidence, in_words
from sagagraph.saga.stores.projections.step import Step


class ConstraintKind(StrEnum):
    PLAN = "plan"
    """A verdict on a plan."""
    SLICE = "slice"
    """What one validator said of the part of a plan that it was shown."""
    OUTPUT = "output"
    """A verdict on what an operation returned."""
    VIOLATION = "violation"
    """One rule that a verdict found broken: what the verdict before it rests on."""
    CONDITION = "condition"
    """`c_ij`, asked before a call."""
    APPROVAL = "approval"
    FINAL_CHECK = "final_check"
    """The probes before a saga ended (docs/protocol.md rule 9)."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    saga_id: str
    journal_version: int
    position: int
    """Within its journal version, from 0."""
    at: float
    kind: str
    subject_type: str
    subject: str
    rule: str
    """The validator, the violation's code, or the condition in words."""
    holds: bool | None
    """None: it could not be judged."""
    message: str
    evidence: Mapping[str, Any]
    decided_by: str
    certificate: Mapping[str, Any] | None


class ConstraintFold:
    def __init__(self) -> None:
        self.evaluations: list[Evaluation] = []

    def see(self, step: Step) -> None:
        for position, (kind, subject, rest) in enumerate(_evaluated(step)):
            self.evaluations.append(
                Evaluation(
                    saga_id=step.after.id,
                    journal_version=step.entry.version,
                    position=position,
                    at=step.entry.at,
                    kind=kind.value,
                    subject_type=subject[0],
                    subject=subject[1],
                    rule=rest.rule,
                    holds=rest.holds,
                    message=rest.message,
                    evidence=rest.evidence or {},
                    decided_by=rest.by,
                    certificate=rest.certificate,
                )
            )


@dataclass(frozen=True, slots=True)
class _Finding:
    rule: str
    holds: bool | None
    by: str
    message: str = ""
    evidence: Mapping[str, Any] | None = None
    certificate: Mapping[str, Any] | None = None


_Found = tuple[ConstraintKind, tuple[str, str], _Finding]
_HOLDS = {"VALID": True, "INVALID": False}


def _evaluated(step: Step) -> Iterator[_Found]:
    event, saga = step.entry.event, step.after
    match event:
        case e.PlanJudged():
            yield from _of_verdict(ConstraintKind.PLAN, ("plan", event.plan_hash), event.verdict)
        case e.PlanApproved():
            yield ConstraintKind.APPROVAL, ("plan", event.plan_hash), _Finding("approved", True, event.by)
        case e.PlanRejected():
            yield ConstraintKind.APPROVAL, ("plan", event.plan_hash), _Finding("approved", False, event.by, event.reason)
        case e.AttemptStarted() | e.OperationSkipped():
            yield from _of_condition(step, event.operation)
        case e.SagaCommitted() | e.SagaCompensated():
            found = {"unverified": list(event.unverified)}
            yield ConstraintKind.FINAL_CHECK, ("saga", saga.id), _Finding("the outside agrees", True, "engine", evidence=found)
        case e.OperationSucceeded() | e.OperationRejected() | e.OperationFailed() | e.AttemptLost() | e.OperationProbed():
            for verdict in event.verdicts:
                yield from _of_verdict(ConstraintKind.OUTPUT, ("operation", event.operation), verdict)


def _of_condition(step: Step, name: str) -> Iterator[_Found]:
    """Asked each time that a planned operation is about to be called, or is skipped instead."""
    before = step.before.operations[name]
    if before.status is OperationStatus.PLANNED and (before.spec.depends_on or before.spec.condition is not None):
        holds = condition_holds(step.before, before)
        finding = _Finding(in_words(before.spec), holds, "engine", evidence=evidence(step.before, before.spec))
        yield ConstraintKind.CONDITION, ("operation", name), finding


def _of_verdict(kind: ConstraintKind, subject: tuple[str, str], verdict: Any) -> Iterator[_Found]:
    said: Mapping[str, Any] = verdict if isinstance(verdict, Mapping) else {}
    certificate = said.get("certificate")
    by = str((certificate or {}).get("validator", "validator"))
    violations = said.get("violations", ())
    holds = _HOLDS.get(str(said.get("verdict")))
    codes = {"violations": [each.get("code") for each in violations]}
    yield kind, subject, _Finding(by, holds, by, str(said.get("reason", "")), codes, certificate)
    for each in said.get("certificates", ()):
        yield ConstraintKind.SLICE, subject, _of_slice(each)
    for each in violations:
        shown = {"evidence": each.get("evidence", {}), "scope": each.get("scope", {})}
        broken = _Finding(str(each.get("code", "")), False, by, str(each.get("message", "")), shown, certificate)
        yield ConstraintKind.VIOLATION, subject, broken


def _of_slice(certificate: Mapping[str, Any]) -> _Finding:
    """What one validator found in one slice."""
    by, codes = str(certificate.get("validator", "validator")), certificate.get("found", ())
    scope = str(certificate.get("scope", ""))
    return _Finding(f"{by}: {scope}", not codes, by, evidence={"violations": list(codes)}, certificate=certificate)

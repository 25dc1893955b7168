"""S_O: what was executed, with what, why and how it went, and what undoing it takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sagagraph.saga.core import events as e
from sagagraph.saga.core.dependencies import is_closed
from sagagraph.saga.core.evolve.index import blocked
from sagagraph.saga.core.state import Operation, Saga, UndoCall, operation_key, undo_key, void_key
from sagagraph.saga.core.status import OperationStatus
from sagagraph.saga.stores.projections.attempts import Attempt, AttemptCall, AttemptFold, AttemptOutcome
from sagagraph.saga.stores.projections.step import Step
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import references, resolve


@dataclass(frozen=True, slots=True)
class OperationState:
    """One operation. Durations are in seconds."""

    saga_id: str
    operation: str
    ordinal: int
    plan_version: int
    action: str
    action_version: int
    kind: str
    status: str
    generation: int
    idempotency_key: str
    inputs: Any
    """As planned: with references to outputs of other operations."""
    sent_inputs: Any
    """As they were when it was first called; null before."""
    output: Any
    via: str | None
    error_code: str | None
    error_message: str | None
    note: str
    is_rejected: bool
    is_removed: bool
    reasoning: str
    justification: str
    alternatives: tuple[Any, ...]
    confidence: float | None
    """From 0 to 1, as whoever chose it said."""
    planned_at: float
    begun_at: float | None
    ended_at: float | None
    updated_at: float
    attempts: int
    """Calls of the action, over all generations."""
    lost_attempts: int
    refused_attempts: int
    probes: int
    waited_s: float | None
    """From planned to the first call."""
    took_s: float | None
    """From the first call to the end."""
    calling_s: float
    """The sum of its calls: the action's alone."""


class Inverse(StrEnum):
    """What undoes an operation."""

    COMPENSATION = "compensation"
    REVERSAL = "reversal"
    """A saga of its own, once the pivot has landed, where its action has a reverse."""


class UndoState(StrEnum):
    NOTHING = "nothing"
    """Nothing of it stands."""
    POSSIBLE = "possible"
    BLOCKED = "blocked"
    """Something that depends on it must be undone first."""
    BY_REVERSAL = "by_reversal"
    UNSETTLED = "unsettled"
    """Whether there is something to undo has to be found out first."""
    RUNNING = "running"
    FAILED = "failed"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class CompensationState:
    """How an operation with an effect is undone: its inverse, what must come first, and what a recovery can count on."""

    saga_id: str
    operation: str
    inverse: str
    state: str
    prerequisites: tuple[str, ...]
    """What depends on it directly: each must hold nothing, and so must what depends on that."""
    open_prerequisites: tuple[str, ...]
    call: str | None
    """`void` or `compensation`, once one went out."""
    generation: int | None
    attempts: int
    lost_attempts: int
    idempotency_key: str | None
    begun_at: float | None
    ended_at: float | None
    output: Any
    error_code: str | None
    error_message: str | None
    max_attempts: int
    timeout_s: float
    has_probe: bool
    has_void: bool
    enforces_deadline: bool
    refusals_final: bool
    key_remembered_until: float | None
    """How long a repeated call lands nothing; null where the provider promises nothing."""


@dataclass(slots=True)
class _Seen:
    """What the fold's state does not keep."""

    planned_at: float
    updated_at: float
    sent_inputs: Any = None


class OperationFold:
    def __init__(self) -> None:
        self._seen: dict[str, _Seen] = {}

    def see(self, step: Step) -> None:
        for operation in step.changed():
            self._seen.setdefault(operation.id, _Seen(step.entry.at, step.entry.at)).updated_at = step.entry.at
        event = step.entry.event
        if isinstance(event, e.AttemptStarted):
            before = step.before.operations[event.operation]
            if not before.total_attempts:
                self._seen[before.id].sent_inputs = sent_inputs(step.before, before)

    def states(self, saga: Saga, attempts: AttemptFold) -> Iterator[OperationState]:
        for operation in saga.in_order():
            yield _operation_state(saga, operation, self._seen[operation.id], attempts.of[operation.id])

    def compensations(self, saga: Saga) -> Iterator[CompensationState]:
        kept = blocked(saga)
        for operation in saga.in_order():
            if operation.has_effect:
                yield _compensation_state(saga, operation, is_blocked=operation.id in kept)


def sent_inputs(saga: Saga, operation: Operation) -> Any:
    """The inputs with the values that its references stand for now."""
    named = {name: saga.operations.get(name) for name in references(operation.spec.inputs)}
    outputs: Mapping[str, Any] = {name: each.output for name, each in named.items() if each is not None and each.succeeded}
    return resolve(operation.spec.inputs, outputs)


def _operation_state(saga: Saga, operation: Operation, seen: _Seen, attempts: list[Attempt]) -> OperationState:
    spec, fault = operation.spec, operation.fault
    calls = [each for each in attempts if each.call in (AttemptCall.ACTION, AttemptCall.CLAIM)]
    begun_at = operation.begun_at or None
    return OperationState(
        saga_id=saga.id,
        operation=operation.id,
        ordinal=operation.ordinal,
        plan_version=operation.plan_version,
        action=spec.action,
        action_version=spec.action_version,
        kind=spec.kind.value,
        status=operation.status.value,
        generation=operation.generation,
        idempotency_key=operation_key(saga.id, operation),
        inputs=spec.inputs,
        sent_inputs=seen.sent_inputs,
        output=operation.output,
        via=operation.via.value if operation.via else None,
        error_code=fault.code if fault else None,
        error_message=fault.message if fault else None,
        note=operation.hold,
        is_rejected=operation.rejected,
        is_removed=operation.removed,
        reasoning=spec.reasoning,
        justification=spec.justification,
        alternatives=spec.alternatives,
        confidence=spec.confidence,
        planned_at=seen.planned_at,
        begun_at=begun_at,
        ended_at=operation.ended_at or None,
        updated_at=seen.updated_at,
        attempts=operation.total_attempts,
        lost_attempts=_count(calls, AttemptOutcome.LOST, AttemptOutcome.ABANDONED),
        refused_attempts=_count(calls, AttemptOutcome.REFUSED, AttemptOutcome.FAILED),
        probes=sum(each.call == AttemptCall.PROBE for each in attempts),
        waited_s=begun_at - seen.planned_at if begun_at else None,
        took_s=operation.ended_at - begun_at if begun_at and operation.ended_at else None,
        calling_s=sum(each.duration_s or 0.0 for each in calls),
    )


def _count(attempts: list[Attempt], *outcomes: AttemptOutcome) -> int:
    return sum(each.outcome in outcomes for each in attempts)


# -- undoing ---------------------------------------------------------------------------------------------------------


def _compensation_state(saga: Saga, operation: Operation, *, is_blocked: bool) -> CompensationState:
    spec, undo = operation.spec, operation.undo
    prerequisites = saga.dependents.get(operation.id, ())
    is_undone = operation.status in _DONE
    failed = operation.status in (OperationStatus.COMPENSATING, OperationStatus.COMPENSATION_FAILED) and operation.fault
    key = None
    if undo is not None:
        void = undo.call is UndoCall.VOID
        key = void_key(saga.id, operation) if void else undo_key(saga.id, operation, undo.generation)
    dedup_s = spec.guarantees.dedup_s
    return CompensationState(
        saga_id=saga.id,
        operation=operation.id,
        inverse=(Inverse.COMPENSATION if spec.kind is ActionKind.COMPENSATABLE else Inverse.REVERSAL).value,
        state=_undo_state(saga, operation, is_blocked=is_blocked).value,
        prerequisites=prerequisites,
        open_prerequisites=tuple(each for each in prerequisites if not is_closed(saga.operations[each])),
        call=undo.call.value if undo else None,
        generation=undo.generation if undo else None,
        attempts=undo.attempts if undo else 0,
        lost_attempts=undo.lost if undo else 0,
        idempotency_key=key,
        begun_at=(undo.first_call_at or None) if undo else None,
        ended_at=operation.ended_at if is_undone else None,
        output=operation.undo_output,
        error_code=failed.code if failed else None,
        error_message=failed.message if failed else None,
        max_attempts=spec.policy.compensation.max_attempts,
        timeout_s=spec.policy.compensation.timeout_s,
        has_probe=spec.has_probe,
        has_void=spec.guarantees.void,
        enforces_deadline=spec.guarantees.deadline,
        refusals_final=spec.guarantees.refusals_final,
        key_remembered_until=operation.first_call_at + dedup_s if dedup_s is not None and operation.first_call_at else None,
    )


_DONE = frozenset({OperationStatus.COMPENSATED, OperationStatus.VOIDED})


def _undo_state(saga: Saga, operation: Operation, *, is_blocked: bool) -> UndoState:
    match operation.status:
        case OperationStatus.SUCCEEDED if operation.spec.kind is not ActionKind.COMPENSATABLE or saga.pivot_has_landed:
            return UndoState.BY_REVERSAL
        case OperationStatus.SUCCEEDED:
            return UndoState.BLOCKED if is_blocked else UndoState.POSSIBLE
        case OperationStatus.STARTED | OperationStatus.IN_DOUBT | OperationStatus.HELD:
            return UndoState.UNSETTLED
        case OperationStatus.COMPENSATING:
            return UndoState.RUNNING
        case OperationStatus.COMPENSATION_FAILED:
            return UndoState.FAILED
        case OperationStatus.COMPENSATED | OperationStatus.VOIDED:
            return UndoState.DONE
        case _:
            return UndoState.NOTHING

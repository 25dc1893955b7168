"""Every call that went out for an operation, forward, back or to ask: what execution has cost, and how it ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sagagraph.saga.core import events as e
from sagagraph.saga.stores.projections.step import Step


class AttemptCall(StrEnum):
    ACTION = "action"
    CLAIM = "claim"
    """The action, called only to be undone."""
    VOID = "void"
    COMPENSATION = "compensation"
    PROBE = "probe"


class AttemptOutcome(StrEnum):
    """How a call ended. A probe ends with its answer."""

    SUCCEEDED = "succeeded"
    REJECTED = "rejected"
    """It landed, and a validator refused what it returned."""
    REFUSED = "refused"
    FAILED = "failed"
    LOST = "lost"
    """No definite answer."""
    ABANDONED = "abandoned"
    """Another worker took the saga over while it was out."""


@dataclass(frozen=True, slots=True)
class Attempt:
    saga_id: str
    journal_version: int
    """Of its intent; of a probe, of its answer."""
    operation: str
    call: str
    generation: int
    attempt: int
    """Within its generation; 0 for a probe."""
    idempotency_key: str | None
    epoch: int
    started_at: float
    deadline: float | None
    ended_at: float | None = None
    ended_version: int | None = None
    duration_s: float | None = None
    outcome: str | None = None
    """None while it is out."""
    via: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    retry_at: float | None = None


_OUTCOMES: dict[type, AttemptOutcome] = {
    e.OperationSucceeded: AttemptOutcome.SUCCEEDED,
    e.OperationVoided: AttemptOutcome.SUCCEEDED,
    e.OperationCompensated: AttemptOutcome.SUCCEEDED,
    e.OperationRejected: AttemptOutcome.REJECTED,
    e.AttemptRefused: AttemptOutcome.REFUSED,
    e.CompensationRefused: AttemptOutcome.REFUSED,
    e.OperationGivenUp: AttemptOutcome.REFUSED,
    e.OperationFailed: AttemptOutcome.FAILED,
    e.LeaseTaken: AttemptOutcome.ABANDONED,
}
_PROBED: dict[type, e.ProbeAnswer] = {
    e.OperationSucceeded: e.ProbeAnswer.LANDED,
    e.OperationRejected: e.ProbeAnswer.LANDED,
    e.OperationFailed: e.ProbeAnswer.LANDED,
    e.OperationVoided: e.ProbeAnswer.UNDONE,
    e.OperationCompensated: e.ProbeAnswer.UNDONE,
}
"""Events that a probe's answer can lead to, when they came to be known `via` it."""
_UNDOES = frozenset({AttemptCall.VOID.value, AttemptCall.COMPENSATION.value})


class AttemptFold:
    def __init__(self) -> None:
        self.of: dict[str, list[Attempt]] = defaultdict(list)
        """By operation, in the order in which they began."""

    def all(self) -> tuple[Attempt, ...]:
        return tuple(sorted((each for attempts in self.of.values() for each in attempts), key=lambda each: each.journal_version))

    def see(self, step: Step) -> None:
        event = step.entry.event
        match event:
            case e.AttemptStarted():
                call = AttemptCall.CLAIM if event.claim else AttemptCall.ACTION
                self._start(step, event.operation, call, event.generation, event)
            case e.VoidStarted():
                generation = step.after.operations[event.operation].generation
                self._start(step, event.operation, AttemptCall.VOID, generation, event)
            case e.CompensationStarted():
                self._start(step, event.operation, AttemptCall.COMPENSATION, event.generation, event)
            case e.OperationProbed():
                self._probe(step, event.operation, event.answer, event.asked_at)
            case _:
                self._see_end(step, event)

    def _see_end(self, step: Step, event: Any) -> None:
        via = getattr(event, "via", None)
        if via is e.Via.PROBE and type(event) in _PROBED:
            self._probe(step, event.operation, _PROBED[type(event)], step.entry.at)
        elif via is e.Via.EVIDENCE:
            undoes = isinstance(event, e.OperationVoided | e.OperationCompensated)
            self._end_last(step, event.operation, event, lambda each: (each.call in _UNDOES) is undoes)
        else:
            for operation in step.changed():
                if not operation.in_flight:
                    self._end_last(step, operation.id, event, lambda each: each.outcome is None)

    def _start(self, step: Step, name: str, call: AttemptCall, generation: int, event: Any) -> None:
        self.of[name].append(
            Attempt(
                saga_id=step.after.id,
                journal_version=step.entry.version,
                operation=name,
                call=call.value,
                generation=generation,
                attempt=event.attempt,
                idempotency_key=event.key,
                epoch=step.entry.epoch,
                started_at=step.entry.at,
                deadline=event.deadline,
            )
        )

    def _probe(self, step: Step, name: str, answer: e.ProbeAnswer, asked_at: float) -> None:
        self.of[name].append(
            Attempt(
                saga_id=step.after.id,
                journal_version=step.entry.version,
                operation=name,
                call=AttemptCall.PROBE.value,
                generation=step.after.operations[name].generation,
                attempt=0,
                idempotency_key=None,
                epoch=step.entry.epoch,
                started_at=asked_at,
                deadline=None,
                ended_at=step.entry.at,
                ended_version=step.entry.version,
                duration_s=step.entry.at - asked_at,
                outcome=answer.value,
                error_message=getattr(step.entry.event, "detail", None) or None,
                retry_at=getattr(step.entry.event, "retry_at", None),
            )
        )

    def _end_last(self, step: Step, name: str, event: Any, fits: Callable[[Attempt], bool]) -> None:
        attempts = self.of[name]
        found = next((at for at in reversed(range(len(attempts))) if _is_call(attempts[at]) and fits(attempts[at])), None)
        if found is not None:
            attempts[found] = _ended(attempts[found], step, event)


def _is_call(attempt: Attempt) -> bool:
    return attempt.call != AttemptCall.PROBE


def _ended(attempt: Attempt, step: Step, event: Any) -> Attempt:
    fault = getattr(event, "fault", None)
    via = getattr(event, "via", None)
    return replace(
        attempt,
        ended_at=step.entry.at,
        ended_version=step.entry.version,
        duration_s=step.entry.at - attempt.started_at,
        outcome=_OUTCOMES.get(type(event), AttemptOutcome.LOST).value,
        via=via.value if via is not None else None,
        error_code=fault.code if fault else None,
        error_message=fault.message if fault else None,
        retry_at=getattr(event, "retry_at", None),
    )

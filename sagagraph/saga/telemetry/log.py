"""Log lines of one saga while this worker holds it, derived from what is journalled.

They carry names, numbers and codes, never a payload or the text of an exception: the reasons in words are in the journal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, NamedTuple

from sagagraph.errors import JournalError, SagaGraphError, StoreError, SupersededError
from sagagraph.saga.core import events as e
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import OperationStatus, SagaStatus


class _Line(NamedTuple):
    level: str
    words: str


LINES: Mapping[type[e.Event], _Line] = {
    e.SagaBegun: _Line("info", "saga begun"),
    e.ProviderNamed: _Line("info", "provider named"),
    e.SameProviderStated: _Line("warning", "stated to be the same provider"),
    e.LeaseTaken: _Line("info", "lease taken over"),
    e.ExceptionsTrusted: _Line("info", "exceptions of nodes are trusted"),
    e.ModelAsked: _Line("info", "model asked"),
    e.PlanProposed: _Line("info", "plan proposed"),
    e.PlanJudged: _Line("info", "plan judged"),
    e.PlanFoundInfeasible: _Line("info", "plan found infeasible"),
    e.ApprovalAsked: _Line("info", "approval asked"),
    e.PlanApproved: _Line("info", "plan approved"),
    e.PlanRejected: _Line("info", "plan rejected"),
    e.PlanAccepted: _Line("info", "plan accepted"),
    e.RequestChanged: _Line("info", "request changed"),
    e.PlanDisrupted: _Line("warning", "plan disrupted"),
    e.RepairGivenUp: _Line("warning", "repair given up"),
    e.OperationPlanned: _Line("debug", "operation planned"),
    e.PrerequisitesAdded: _Line("info", "prerequisites added"),
    e.AttemptStarted: _Line("debug", "attempt started"),
    e.OperationDoubted: _Line("warning", "operation doubted, the store was restored"),
    e.OperationSucceeded: _Line("info", "operation succeeded"),
    e.OperationRejected: _Line("warning", "operation rejected by a validator"),
    e.AttemptRefused: _Line("info", "attempt refused"),
    e.OperationFailed: _Line("warning", "operation failed"),
    e.AttemptLost: _Line("warning", "operation in doubt"),
    e.CallsEnded: _Line("info", "calls known to have ended"),
    e.OperationProbed: _Line("info", "operation probed"),
    e.OperationGivenUp: _Line("warning", "operation given up"),
    e.OperationHeld: _Line("warning", "operation held"),
    e.OperationSkipped: _Line("info", "operation skipped"),
    e.VoidStarted: _Line("debug", "void started"),
    e.OperationVoided: _Line("info", "operation voided"),
    e.CompensationStarted: _Line("debug", "compensation started"),
    e.CompensationRefused: _Line("warning", "compensation refused"),
    e.CompensationLost: _Line("warning", "compensation in doubt"),
    e.OperationCompensated: _Line("info", "operation compensated"),
    e.CompensationFailed: _Line("error", "operation stuck"),
    e.ReadingsConfirmed: _Line("info", "readings confirmed"),
    e.LocksAwaited: _Line("warning", "waits for locks"),
    e.LocksYielded: _Line("warning", "locks yielded"),
    e.LocksRetaken: _Line("info", "locks taken again"),
    e.CancelRequested: _Line("info", "cancel requested"),
    e.OperationResolved: _Line("info", "operation resolved"),
    e.RequestRefused: _Line("warning", "request refused"),
    e.SagaTurnedBack: _Line("warning", "saga turned back"),
    e.BodyCompleted: _Line("debug", "body completed"),
    e.BodyFailed: _Line("warning", "body failed"),
    e.SagaCommitted: _Line("info", "saga committed"),
    e.SagaCompensated: _Line("info", "saga compensated"),
    e.FieldsRedacted: _Line("info", "fields redacted"),
    e.ReversalBegun: _Line("info", "reversal begun"),
    e.ReversalHeld: _Line("error", "reversal held"),
    e.CancelRefused: _Line("warning", "cancel refused"),
    e.SagaReversed: _Line("info", "saga reversed"),
    e.AmendmentBegun: _Line("info", "amendment begun"),
    e.AmendmentEnded: _Line("warning", "amendment ended without effect"),
    e.SagaAmended: _Line("info", "saga amended"),
}

_NAMED = (
    "operation", "generation", "attempt", "claim", "answer", "via", "resolution", "by", "plan_hash", "plan_version", "unverified",
    "removed", "owner",
)  # fmt: skip
"""What a line tells of its event. Anything else may hold a payload or somebody's words."""
_INTENTS = (e.AttemptStarted, e.VoidStarted, e.CompensationStarted)
_ANSWERS = (
    e.OperationSucceeded, e.OperationRejected, e.AttemptRefused, e.OperationFailed, e.AttemptLost, e.OperationVoided,
    e.CompensationRefused, e.CompensationLost, e.OperationCompensated, e.CompensationFailed,
)  # fmt: skip
_ENDS = (e.SagaCommitted, e.SagaCompensated, e.SagaReversed)


def logger() -> Any | None:
    """Return a logger, if the program has configured structlog; unconfigured it would print to standard output.

    It is looked up and not imported: a program that has configured it has imported it, and no other should wait for that.
    """
    structlog = sys.modules.get("structlog")
    return structlog.get_logger("sagagraph") if structlog is not None and structlog.is_configured() else None


class SagaLog:
    def __init__(self, logger: Any, saga: Saga) -> None:
        self._log = logger.bind(saga_id=saga.id, epoch=saga.epoch)
        self._intents: dict[str, tuple[int, float]] = {}
        """Operation → attempt and instant of the call that is out."""

    def begin(self, saga: Saga, owner: str) -> None:
        """Log that this worker has the lease; taking it has journalled that."""
        if saga.version == 1:
            self._write(LINES[e.SagaBegun], driver=saga.driver.value, domain=saga.domain, owner=owner)
        else:
            self._write(LINES[e.LeaseTaken], status=status_of(saga).value, owner=owner)

    def observe(self, saga: Saga, entries: Iterable[e.Entry]) -> None:
        for entry in entries:
            self._write(LINES[type(entry.event)], **self._fields(saga, entry))

    def failed(self, exc: SagaGraphError) -> None:
        """Log what ended the work here, other than its end. Store errors may hold addresses, so only their kinds are logged."""
        cause = type(exc.__cause__).__name__ if exc.__cause__ is not None else None
        match exc:
            case SupersededError():
                self._write(_Line("warning", "superseded by another worker"))
            case StoreError() if not isinstance(exc, JournalError):
                self._write(_Line("error", "database lost"), error=type(exc).__name__, cause=cause)
            case _:
                self._write(_Line("error", "saga stopped"), error=type(exc).__name__, cause=cause)

    def recovered(self) -> None:
        self._write(_Line("info", "database recovered"))

    def end(self, saga: Saga) -> None:
        """Log that a saga is left waiting for a person, and for which operations."""
        status = status_of(saga)
        if status in (SagaStatus.HELD, SagaStatus.STUCK):
            waiting = [each.id for each in saga.in_order() if each.waits_for_person or each.status is OperationStatus.IN_DOUBT]
            level = "error" if status is SagaStatus.STUCK else "warning"
            self._write(_Line(level, f"saga {status.value}"), operations=waiting)

    def _fields(self, saga: Saga, entry: e.Entry) -> dict[str, object]:
        event = entry.event
        fields = {name: _plain(getattr(event, name, None)) for name in _NAMED}
        match event:
            case e.OperationPlanned():
                fields["operation"] = event.operation.id
            case e.PlanAccepted():
                fields["operations"] = len(event.operations)
            case e.PlanJudged() if isinstance(event.verdict, Mapping):
                fields["verdict"] = str(event.verdict.get("verdict"))
            case e.LocksAwaited():
                fields["holders"] = tuple(dict.fromkeys(each.saga for each in event.blockers))
            case e.RequestRefused():
                fields["request"] = event.request
            case e.ReversalBegun():
                fields["reversal"] = event.saga
            case e.AmendmentBegun() | e.AmendmentEnded() | e.SagaAmended():
                fields["amendment"] = event.saga
        if isinstance(event, _ENDS):
            fields["duration_s"] = round(entry.at - saga.begun_at, 6)
        fault = getattr(event, "fault", None)
        if fault is not None:
            fields["fault"] = fault.code
        operation = saga.operations.get(fields["operation"]) if isinstance(fields["operation"], str) else None
        if operation is not None:
            fields["action"] = operation.spec.action
            fields |= self._timed(operation.id, entry)
        return {name: value for name, value in fields.items() if _says_something(value)}

    def _timed(self, operation: str, entry: e.Entry) -> dict[str, object]:
        """Return which attempt it was and how long it took, for the end of a call that this worker made."""
        if isinstance(entry.event, _INTENTS):
            self._intents[operation] = (entry.event.attempt, entry.at)
            return {}
        if operation not in self._intents or not isinstance(entry.event, _ANSWERS):
            return {}
        attempt, began_at = self._intents.pop(operation)
        return {"attempt": attempt, "duration_s": round(entry.at - began_at, 6)}

    def _write(self, line: _Line, **fields: object) -> None:
        getattr(self._log, line.level)(line.words, **fields)


def _plain(value: object) -> object:
    return value.value if isinstance(value, Enum) else value


def _says_something(value: object) -> bool:
    return value is not None and value is not False and value not in ("", ())

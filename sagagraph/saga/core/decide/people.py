"""People: their requests to a saga, and the reversals and amendments that follow from those (docs/protocol.md rules 5 and
6). Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec

from sagagraph.errors import ConflictError, NotAllowedError, SagaGraphError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.amendments import Amendment, amended_by
from sagagraph.saga.core.events import Events
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga, Stage
from sagagraph.saga.core.status import OperationStatus


def resolve(saga: Saga, command: c.Resolve, _now: float) -> Events:
    operation = saga.operations.get(command.operation)
    if operation is None:
        why = f"saga {saga.id!r} has no operation {command.operation!r}"
    elif not operation.waits_for_person:
        why = f"operation {operation.id!r} is {operation.status.value}: only a held or stuck one needs a person"
    elif saga.driver is e.Driver.REVERSAL and command.resolution in _GIVES_UP:
        why = f"operation {operation.id!r} undoes another one, and is not given up itself: it landed, or is absent"
    elif operation.status is OperationStatus.COMPENSATION_FAILED and command.resolution is e.Resolution.FAILED:
        why = f"operation {operation.id!r} has been carried out: say whether it still stands (landed), or has been undone"
    else:
        said = e.OperationResolved(operation.id, command.resolution, command.output, command.by, command.request, command.because)
        return (said, *_body_no_longer_holds(saga, command))
    if command.request is not None:
        return _refused(command.request, why)
    raise NotAllowedError(why, saga_id=saga.id, operation_id=command.operation)


_GIVES_UP = (e.Resolution.COMPENSATED, e.Resolution.FAILED)


def _body_no_longer_holds(saga: Saga, command: c.Resolve) -> Events:
    """Turn back when a person has undone what a body counted on when it ended: it cannot do without it any more (rule 9)."""
    undone = command.resolution in _GIVES_UP and not saga.operations[command.operation].removed
    turns = undone and saga.body_completed and saga.stage is Stage.RUNNING and not (saga.pivot_is_open or saga.pivot_has_landed)
    return (e.SagaTurnedBack(f"{command.by} undid {command.operation!r}", command.operation),) if turns else ()


def cancel(saga: Saga, command: c.Cancel, _now: float) -> Events:
    if saga.driver is e.Driver.REVERSAL:
        return _refused(command.request, "it undoes another saga, and can only go on")
    if why := why_not_cancelled(saga):
        return _refused(command.request, why)
    match saga.stage:
        case Stage.PLANNING | Stage.AWAITING_APPROVAL:
            cause = f"cancelled by {command.by}"
            return (e.CancelRequested(command.by, command.request), e.SagaTurnedBack(cause))
        case Stage.COMMITTED if saga.redacted:
            return _refused(command.request, "what undoing it would need is redacted")
        case Stage.RUNNING | Stage.COMMITTED if not saga.cancel_by:
            return (e.CancelRequested(command.by, command.request),)
        case _:
            return _refused(command.request, f"the saga is {status_of(saga).value}")


def refuse_request(_saga: Saga, command: c.RefuseRequest, _now: float) -> Events:
    return _refused(command.request, command.reason)


def by_row(row: int | None, decided: Callable[[], Events]) -> Events:
    """Return what follows from a request. What does not fit, or changes nothing, is refused by number if a row asks for it."""
    if row is None:
        return decided()
    try:
        return decided() or _refused(row, "it is so already")
    except (SagaGraphError, ValueError) as exc:
        return _refused(row, str(exc))


def _refused(request: int | None, reason: str) -> Events:
    return () if request is None else (e.RequestRefused(request, reason),)


def why_not_cancelled(saga: Saga) -> str:
    """Return why a cancel must wait for another saga, or belongs to that saga; empty if it need not wait."""
    if saga.amending:
        name = saga.amending.saga
        return f"it is being changed by {name!r}: cancel that first, or resume it"
    if saga.pivot_has_landed and (parent := amended_by(saga)):
        return f"it has changed saga {parent!r}, and cannot be taken back by itself: resume it, then cancel {parent!r}"
    return ""


def check_cancellable(saga: Saga) -> None:
    """Check whether a cancel is allowed, before anybody is asked to do it. Raises `NotAllowedError`."""
    if saga.driver is e.Driver.REVERSAL:
        raise NotAllowedError(
            f"saga {saga.id!r} undoes another one, and can only go on: resume it, or resolve what is held", saga_id=saga.id
        )
    if why := why_not_cancelled(saga):
        raise NotAllowedError(f"saga {saga.id!r} cannot be cancelled: {why}", saga_id=saga.id)


def check_not_redacted(saga: Saga) -> None:
    if saga.redacted and saga.stage is Stage.COMMITTED:
        raise NotAllowedError(
            f"saga {saga.id!r} cannot be cancelled: what undoing it would need is redacted ({', '.join(saga.redacted)}); "
            "undo it with the provider",
            saga_id=saga.id,
        )


# -- reversals -------------------------------------------------------------------------------------------------------


def begin_reversal(saga: Saga, command: c.BeginReversal, _now: float) -> Events:
    if saga.stage is Stage.REVERSING:
        return ()
    if command.saga is None:
        return (e.CancelRefused(command.reason),)
    return (e.ReversalBegun(command.saga),)


def hold_reversal(saga: Saga, command: c.HoldReversal, _now: float) -> Events:
    return (e.ReversalHeld(command.reason),) if saga.stage is Stage.REVERSING else ()


def end_reversal(saga: Saga, command: c.EndReversal, _now: float) -> Events:
    return (e.SagaReversed(command.outputs, command.residue),) if saga.stage is Stage.REVERSING else ()


def check_reversible(saga: Saga, lasting: Collection[str]) -> None:
    """Check that a saga can be reversed. `lasting`: the operations that nothing can undo."""
    if saga.pivot in lasting:
        raise NotAllowedError(
            f"saga {saga.id!r} cannot be cancelled: its pivot {saga.pivot!r} has landed; {', '.join(lasting)} would remain",
            saga_id=saga.id,
            operation_id=saga.pivot,
        )


# -- amendments ------------------------------------------------------------------------------------------------------


def begin_amendment(saga: Saga, command: c.BeginAmendment, _now: float) -> Events:
    return by_row(command.row, lambda: _amendment_begun(saga, command))


def _amendment_begun(saga: Saga, command: c.BeginAmendment) -> Events:
    """Begin an amendment: only of a committed saga, unchanged, and one at a time. It excludes a cancel, and a cancel
    excludes it.
    """
    if saga.amending and (saga.amending.saga, saga.amending.request) == (command.saga, command.request):
        return ()
    if saga.stage is not Stage.COMMITTED or saga.cancel_by:
        raise NotAllowedError(f"saga {saga.id!r} {_is_busy(saga)}: it cannot be changed now", saga_id=saga.id)
    if saga.driver is not e.Driver.WORKFLOW:
        raise NotAllowedError(f"saga {saga.id!r} has no plan that could be changed", saga_id=saga.id)
    if parent := amended_by(saga):
        raise NotAllowedError(f"saga {saga.id!r} has changed saga {parent!r}: change that one", saga_id=saga.id)
    if saga.redacted:
        raise NotAllowedError(f"saga {saga.id!r} cannot be changed: what that would need is redacted", saga_id=saga.id)
    amendment = msgspec.convert(command.request, Amendment)
    if (amendment.plan_version, amendment.plan_hash) != (saga.plan.version, saga.plan.hash) or command.saga in saga.amendments:
        raise ConflictError(f"saga {saga.id!r} has been changed meanwhile; look at it again", saga_id=saga.id)
    return (e.AmendmentBegun(command.saga, command.request, command.by, command.approved_by, command.row),)


def _is_busy(saga: Saga) -> str:
    if saga.amending:
        return f"is being changed by {saga.amending.saga!r}"
    return "was cancelled" if saga.cancel_by else f"is {status_of(saga).value}"


def end_amendment(saga: Saga, command: c.EndAmendment, _now: float) -> Events:
    return (e.AmendmentEnded(command.saga, command.reason),) if _is_open(saga, command.saga) else ()


def amend_saga(saga: Saga, command: c.AmendSaga, _now: float) -> Events:
    if not _is_open(saga, command.saga):
        return ()
    amended = e.SagaAmended(
        command.saga,
        saga.plan.version + 1,
        command.request,
        command.plan,
        command.plan_hash,
        command.cost,
        command.operations,
        command.outputs,
        command.needs,
        command.reasons,
    )
    return (amended,)


def _is_open(saga: Saga, amendment: str) -> bool:
    return saga.amending is not None and saga.amending.saga == amendment

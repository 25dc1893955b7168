"""Next steps: `next_steps(saga, now)` returns everything that is due, derived from the state alone. Pure.

A step without an effect outside comes as `Record`: the coordinator appends it and asks again, until only effects and waits are
left. If there is no step at all, the saga is quiet: ended, held, stuck, or waiting for its body or a person.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from sagagraph.saga.core.dependencies import (
    comes_after_pivot,
    condition_holds,
    descendants,
    is_closed,
    is_free,
    is_past_pivot_gate,
    is_undoable,
    rests_on_rejected,
    rests_on_undone,
)
from sagagraph.saga.core.doubt.in_doubt import can_be_sealed_at_once, doubt, resettle, seal, settle
from sagagraph.saga.core.events import (
    Driver,
    LocksRetaken,
    OperationDoubted,
    OperationGivenUp,
    OperationSkipped,
    PlanDisrupted,
    SagaCommitted,
    SagaCompensated,
    SagaTurnedBack,
    Via,
)
from sagagraph.saga.core.state import Operation, Saga, Stage
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.core.steps import CallAction, CallCompensation, ReadAgain, Record, Reverse, Step, Verify, Wait
from sagagraph.workflow.kind import ActionKind


def next_steps(saga: Saga, now: float) -> tuple[Step, ...]:
    match saga.stage:
        case Stage.RUNNING:
            return _going_forward(saga, now)
        case Stage.COMPENSATING:
            return _going_back(saga, now)
        case Stage.REVERSING:
            return () if saga.reversal_hold else (Reverse(),)
        case Stage.COMMITTED if saga.cancel_by:
            return (Reverse(),)
        case _:
            return ()


def status_of(saga: Saga) -> SagaStatus:
    """Return the public status. `held` and `stuck` are not separate facts: they are what a quiet open saga is."""
    match saga.stage:
        case Stage.RUNNING if is_quiet(saga) and (saga.body_fault or saga.index.waiting_for_person):
            return SagaStatus.HELD
        case Stage.COMPENSATING if is_quiet(saga):
            return SagaStatus.STUCK
        case Stage.REVERSING:
            return SagaStatus.STUCK if saga.reversal_hold else SagaStatus.COMPENSATING
        case Stage.COMMITTED if saga.cancel_by:
            return SagaStatus.COMPENSATING
        case Stage.AMENDING:
            return SagaStatus.RUNNING
        case stage:
            return SagaStatus(stage.value)


def is_quiet(saga: Saga) -> bool:
    """Tell whether nothing is under way and nothing is due, now or later."""
    return not saga.index.in_flight and not next_steps(saga, saga.last_at)


def _due(saga: Saga) -> list[Operation]:
    """Return the operations for which there may be a step, in the order in which they were planned."""
    return [saga.operations[name] for name, _ordinal in sorted(saga.index.due.items(), key=itemgetter(1))]


# -- forward ---------------------------------------------------------------------------------------------------------


def _going_forward(saga: Saga, now: float) -> tuple[Step, ...]:
    if turn := _turn(saga):
        return (Record(_pivot_first(saga, turn)),)
    if saga.cancel_by and saga.pivot_has_landed:
        return _finishing_before_reversal(saga, now)
    steps = _with_locks(saga, tuple(_forward_steps(saga, now)))
    if steps or saga.plan.disruption or not _is_complete(saga):
        return steps
    return (_verification(saga, committing=True),)


def _with_locks(saga: Saga, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Take the locks that were yielded again before anything goes forward (docs/protocol.md rule 12)."""
    if not saga.yielded_by or not any(isinstance(each, CallAction | ReadAgain) for each in steps):
        return steps
    return (*(each for each in steps if not isinstance(each, CallAction | ReadAgain)), Record(LocksRetaken(saga.yielded_by)))


def is_ready_for_repair(saga: Saga) -> bool:
    """Tell whether its plan was disrupted, and everything that had begun has settled."""
    is_settled = not saga.index.waiting_for_person and is_quiet(saga)
    return saga.stage is Stage.RUNNING and bool(saga.plan.disruption) and is_settled


def _turn(saga: Saga) -> SagaTurnedBack | PlanDisrupted | None:
    """Return why the saga must compensate now, if it must: a cancel, an uncaught failure, a body that raised.

    A failure only disrupts a plan that may be repaired, unless its pivot has failed.
    """
    if saga.pivot_is_open or saga.pivot_has_landed:
        return None
    if saga.cancel_by:
        return SagaTurnedBack(f"cancelled by {saga.cancel_by}")
    if saga.driver is Driver.BODY:
        return SagaTurnedBack(saga.body_fault.message) if saga.body_fault else None
    if not saga.index.fatal or saga.plan.disruption:
        return None
    first, _ordinal = min(saga.index.fatal.items(), key=itemgetter(1))
    fault = saga.operations[first].fault
    cause = f"{first}: {fault.message if fault else 'given up'}"
    is_repairable = saga.plan.revisable and saga.pivot not in saga.index.fatal
    return PlanDisrupted(cause, first) if is_repairable else SagaTurnedBack(cause, first)


def _pivot_first(saga: Saga, turn: SagaTurnedBack | PlanDisrupted) -> SagaTurnedBack | PlanDisrupted | OperationDoubted:
    """Return what comes before turning back where the pivot may have landed unseen: it is sealed first (rules 5 and 11)."""
    pivot = saga.pivot_operation
    if isinstance(turn, SagaTurnedBack) and pivot is not None and pivot.doubted and pivot.status is OperationStatus.PLANNED:
        return doubt(saga, pivot, given_up=True)
    return turn


def _forward_steps(saga: Saga, now: float) -> Iterator[Step]:
    for operation in _due(saga):
        step = _backward_step(saga, operation, now) if operation.removed else _forward_step(saga, operation, now)
        if step is not None:
            yield step


def _forward_step(saga: Saga, operation: Operation, now: float) -> Step | None:
    match operation.status:
        case OperationStatus.PLANNED if operation.doubted and rests_on_rejected(saga, operation):
            # what it needs is undone only when this is sealed, and it is skipped only when that is undone
            return Record(doubt(saga, operation, given_up=True, removed=is_undoable(operation)))
        case OperationStatus.PLANNED:
            return _start(saga, operation, now)
        case OperationStatus.IN_DOUBT if operation.given_up:
            # after a restoration, what depends on it may have run
            may_void = all(is_closed(saga.operations[each]) for each in descendants(saga, operation.id))
            return seal(operation, now, may_claim=False, may_void=may_void)
        case OperationStatus.IN_DOUBT if _must_give_way(saga, operation):
            return Record(OperationGivenUp(operation.id, "a cancel is waiting for the pivot"))
        case OperationStatus.IN_DOUBT:
            return settle(operation, now, after_pivot=_has_no_way_back(saga, operation))
        case OperationStatus.COMPENSATING if operation.undo:
            return resettle(operation, operation.undo, now)
        case _:
            return None


def _has_no_way_back(saga: Saga, operation: Operation) -> bool:
    """Tell whether it comes after the pivot, or is a pivot in doubt (after a last check) with followers that have begun."""
    if comes_after_pivot(saga, operation.id):
        return True
    return operation.id == saga.pivot and any(not is_closed(saga.operations[each]) for each in saga.index.after_pivot)


def _must_give_way(saga: Saga, operation: Operation) -> bool:
    if saga.cancel_by is None or operation.id != saga.pivot or _has_no_way_back(saga, operation):
        return False
    return can_be_sealed_at_once(operation)


def _start(saga: Saga, operation: Operation, now: float) -> Step | None:
    if saga.cancel_by or saga.body_fault or saga.plan.disruption or operation.spec.open_end:
        return _doubt_before_reversal(saga, operation)
    if not condition_holds(saga, operation):
        return Record(_unneeded(saga, operation))
    if operation.spec.kind is ActionKind.PIVOT and not is_past_pivot_gate(saga):
        return None
    if operation.doubted:
        return Record(doubt(saga, operation))
    if operation.spec.kind is ActionKind.PIVOT and (readings := _to_read_again(saga)):
        return ReadAgain(readings)
    return Wait(operation.not_before) if operation.not_before > now else CallAction(operation.id)


def _doubt_before_reversal(saga: Saga, operation: Operation) -> Step | None:
    """Find out, after a restoration, what came after the pivot before all of it is reversed; it goes on if nothing can be."""
    if not (operation.doubted and saga.cancel_by and saga.pivot_has_landed):
        return None
    if condition_holds(saga, operation):
        return Record(doubt(saga, operation))
    return None if operation.spec.condition is None else Record(_unneeded(saga, operation))


def _unneeded(saga: Saga, operation: Operation) -> OperationSkipped | OperationDoubted:
    """Skip what its condition rules out; after a restoration it may have held, and then what was done is sealed or undone."""
    if operation.doubted and operation.spec.condition is not None:
        return doubt(saga, operation, given_up=True, removed=is_undoable(operation))
    return OperationSkipped(operation.id, "its condition does not hold")


def _to_read_again(saga: Saga) -> tuple[str, ...]:
    """Return the readings on which the plan rests, unless they were confirmed since this worker took the saga (rule 12)."""
    if saga.has_read_again:
        return ()
    return tuple(each.id for each in saga.in_order() if each.spec.read_again and each.succeeded and not each.removed)


def _is_complete(saga: Saga) -> bool:
    if saga.driver is Driver.BODY and not saga.body_completed:
        return False
    return saga.index.unfinished == 0


def _finishing_before_reversal(saga: Saga, now: float) -> tuple[Step, ...]:
    """Let what is under way settle, and start nothing new. A person must first settle what is held and may be live."""
    steps = tuple(_forward_steps(saga, now))
    if steps or saga.index.in_flight or saga.index.perhaps_live:
        return steps
    return (Reverse(),)


# -- back ------------------------------------------------------------------------------------------------------------


def _going_back(saga: Saga, now: float) -> tuple[Step, ...]:
    if saga.index.calling_forward:
        return ()  # compensation starts after the calls of this process have settled
    steps = tuple(step for each in _due(saga) if (step := _backward_step(saga, each, now)) is not None)
    if steps or saga.index.unclosed:
        return steps
    return (_verification(saga, committing=False),)


def _backward_step(saga: Saga, operation: Operation, now: float) -> Step | None:
    match operation.status:
        case OperationStatus.IN_DOUBT:
            is_free_to_go = is_free(saga, operation, saga.index.below)
            may_claim = is_free_to_go and is_undoable(operation) and not rests_on_undone(saga, operation)
            return seal(operation, now, may_claim=may_claim, may_void=is_free_to_go)
        case OperationStatus.PLANNED if operation.doubted:
            return _step_to_doubt(saga, operation)
        case OperationStatus.SUCCEEDED if is_undoable(operation):
            return Record(doubt(saga, operation)) if operation.doubted else CallCompensation(operation.id)
        case OperationStatus.COMPENSATING if operation.undo:
            return resettle(operation, operation.undo, now)
        case _:
            return None


def _step_to_doubt(saga: Saga, operation: Operation) -> Step | None:
    """Find out whether an operation was reached without the journal's knowledge, once that is known of what it depends on."""
    needs = [saga.operations[each] for each in operation.spec.depends_on]
    if any(each.status in _UNKNOWN and not is_closed(each) for each in needs):
        return None
    was_possible = operation.spec.condition is not None or any(each.status in _UNDONE or each.rejected for each in needs)
    if was_possible or condition_holds(saga, operation):
        return Record(doubt(saga, operation, given_up=True))
    return Record(OperationSkipped(operation.id, "what it depends on never succeeded"))


_UNDONE = frozenset({OperationStatus.COMPENSATED, OperationStatus.VOIDED})
_UNKNOWN = frozenset({OperationStatus.PLANNED, OperationStatus.STARTED, OperationStatus.IN_DOUBT, OperationStatus.HELD})


# -- the end ---------------------------------------------------------------------------------------------------------


def _verification(saga: Saga, *, committing: bool) -> Step:
    """Apply rule 9: probe what can be probed; with nothing to probe, the end can be declared at once.

    A probe does not contradict what a person has settled: the person was asked because the probe could not tell.
    """
    touched = [each for each in saga.in_order() if each.total_attempts and each.has_effect]
    asked = {each.id for each in touched if each.spec.has_probe and each.via is not Via.PERSON}
    probed = tuple(each.id for each in touched if each.id in asked)
    unverified = tuple(each.id for each in touched if each.id not in asked)
    if probed:
        return Verify(probed, unverified, committing)
    return Record(SagaCommitted(unverified) if committing else SagaCompensated(unverified))

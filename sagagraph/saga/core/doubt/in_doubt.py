"""In doubt: what may be done about an operation whose outcome nobody knows (docs/protocol.md rules 3a, 3b and 4). Pure.

`settle` continues with it, `seal` gives it up so that no call of it can land later, and `resettle` finishes an unacknowledged
undo. Each returns the one next step, or None if only a person or a later epoch can help (the caller then holds it).
"""

from __future__ import annotations

from sagagraph.saga.core.doubt.settling import final_from, is_final, is_settled_by, margin_s, settled_from
from sagagraph.saga.core.events import (
    AttemptStarted,
    CompensationFailed,
    Event,
    Fault,
    OperationCompensated,
    OperationDoubted,
    OperationFailed,
    OperationGivenUp,
    OperationHeld,
    OperationPlanned,
    OperationSucceeded,
    ProbeAnswer,
    Via,
)
from sagagraph.saga.core.state import Operation, Saga, Undo, UndoCall
from sagagraph.saga.core.steps import CallAction, CallCompensation, CallProbe, CallVoid, Record, Step, Wait
from sagagraph.workflow.kind import ActionKind

PAUSED = "interrupted"
"""The code of the fault of a call that stopped to wait for something, and whose function would run from its top again."""


def settle(operation: Operation, now: float, *, after_pivot: bool) -> Step:
    """Apply rule 3a: adopt, try again within the provider's guarantees, give up, or hold."""
    if not operation.has_effect:
        return _repeat(operation, now, after_pivot=after_pivot)
    if waits_for := paused(operation):
        if remembers_key(operation, now):
            return _repeat(operation, now, after_pivot=after_pivot)
        return _hold(operation, f"{waits_for}: what it did before that would be done again; {_SEPARATE}")
    if operation.spec.has_probe:
        return _settle_by_probe(operation, now, after_pivot=after_pivot)
    if remembers_key(operation, now):
        return _repeat(operation, now, after_pivot=after_pivot)
    reason = "it is in doubt, has no probe, and its provider does not promise to remember keys"
    return _void_or_hold(operation, reason, after_pivot=after_pivot)


_SEPARATE = "make the effect an operation of its own (saga.run, saga_tool), or wait in another one"


def seal(operation: Operation, now: float, *, may_claim: bool, may_void: bool = True) -> Step:
    """Apply rule 3b: an acknowledged void; else an enforced deadline and a probe; else a claim; else hold.

    `may_claim`: the saga (or this operation) is going back, so that whatever a claim lands will be undone. Without `may_void`
    something may stand on it that must be undone first.
    """
    if may_void and _can_be_voided(operation):
        from_when = max(operation.not_before, _void_from(operation) or 0.0)
        return Wait(from_when) if from_when > now else CallVoid(operation.id)
    if operation.spec.has_probe and final_from(operation) is not None:
        return _seal_by_waiting(operation, now)
    if operation.spec.has_probe and operation.probe is None:
        return _probe(operation, now)
    if operation.probe is ProbeAnswer.UNKNOWN and _asks_again(operation):
        return _probe(operation, now)
    if may_claim and remembers_key(operation, now) and operation.claims < operation.spec.policy.compensation.max_attempts:
        return Wait(operation.not_before) if operation.not_before > now else CallAction(operation.id, claim=True)
    return _hold(operation, f"it cannot be sealed ({_probed(operation)}), and {_may_still_land(operation)}")


def resettle(operation: Operation, undo: Undo, now: float) -> Step:
    """Apply rule 4: an undo in doubt closes on its acknowledgement or evidence, and is repeated only if nothing can land
    twice.
    """
    harmless = (
        undo.lost == 0
        or undo.call is UndoCall.VOID
        or operation.spec.guarantees.void_compensates
        or is_settled_by(operation, ProbeAnswer.LANDED)  # no call of it has undone anything, or will
        or _remembers_undo_key(operation, undo, now)
    )
    if harmless and undo.attempts - undo.allowed_from < operation.spec.policy.compensation.max_attempts:
        if operation.not_before > now:
            return Wait(operation.not_before)
        return CallVoid(operation.id) if undo.call is UndoCall.VOID else CallCompensation(operation.id)
    if undo.lost and undo.call is UndoCall.COMPENSATION and operation.spec.has_probe:
        if (instant := settled_from(operation)) is not None and not _asked_in_vain(operation):
            return _resettle_by_waiting(operation, instant, now)
        if operation.probe is None:
            return _probe(operation, now)
    if harmless:
        return _stuck(operation, "its compensation was not acknowledged in the attempts that its policy allows")
    return _stuck(operation, f"its compensation is in doubt and cannot be repeated safely ({_probed(operation)})")


def doubt(saga: Saga, operation: Operation, *, given_up: bool = False, removed: bool = False) -> OperationDoubted:
    """Apply rule 11: put in doubt what may have been done without the journal's knowledge, before its first call."""
    since, until = (saga.doubt.since, saga.doubt.until) if saga.doubt else (saga.begun_at, saga.last_at)
    return OperationDoubted(operation.id, since, until + operation.spec.policy.timeout_s, given_up, removed)


def settles_itself(operation: Operation, now: float) -> bool:
    """Tell whether calling again (or probing) would recover a lost outcome, without a person and without harm."""
    if operation.given_up or operation.removed or operation.spec.kind is ActionKind.PIVOT:
        return False
    return not operation.has_effect or remembers_key(operation, now)


def would_be_made_again(saga: Saga, event: Event, now: float) -> bool:
    """Tell whether the saga would come to this event once more, without harm, if it were lost."""
    match event:
        case OperationSucceeded(operation):
            return settles_itself(saga.operations[operation], now)
        case OperationPlanned(operation):
            return not saga.operations[operation.id].has_effect and not operation.locks
        case AttemptStarted(operation):
            return not saga.operations[operation].has_effect
        case _:
            return False


def can_be_sealed_at_once(operation: Operation) -> bool:
    return _can_be_voided(operation) or (operation.spec.has_probe and final_from(operation) is not None)


def is_alone(operation: Operation) -> bool:
    """Tell whether at most one call of this generation may have landed, so that finding one landed seals the operation."""
    return operation.lost <= 1


def remembers_key(operation: Operation, now: float) -> bool:
    """Tell whether a call made now ends before the provider forgets the first one's key."""
    dedup_s = operation.spec.guarantees.dedup_s
    if dedup_s is None:
        return False
    return now + operation.spec.policy.timeout_s + margin_s(operation) < operation.first_call_at + dedup_s


def attempts_left(operation: Operation, now: float) -> bool:
    policy = operation.spec.policy
    guards = policy.loop_guards
    if operation.fault is not None and not policy.retry.covers(operation.fault.code):
        return False
    return (
        operation.total_attempts - operation.allowed_from < policy.retry.max_attempts
        and operation.total_attempts < guards.max_iterations
        and (not operation.begun_at or now - operation.begun_at < guards.deadline_s)
    )


def _settle_by_probe(operation: Operation, now: float, *, after_pivot: bool) -> Step:
    match operation.probe:
        case None:
            return _probe(operation, now)
        case ProbeAnswer.UNKNOWN if _asks_again(operation):
            return _probe(operation, now)
        case ProbeAnswer.ABSENT if remembers_key(operation, now):
            return _repeat(operation, now, after_pivot=after_pivot)
        case ProbeAnswer.ABSENT if (instant := final_from(operation)) is not None:
            if is_final(operation, operation.probed_at):
                return _repeat(operation, now, after_pivot=after_pivot)
            return Wait(instant) if instant > now else _probe(operation, now)
        case ProbeAnswer.ABSENT:
            reason = f"{_probed(operation)}, and a repeated call could land twice: {_may_still_land(operation)}"
            return _void_or_hold(operation, reason, after_pivot=after_pivot)
        case _:  # a person, or the same question later, can tell more
            return _hold(operation, f"{_probed(operation)}, and a repeated call could land twice")


def _seal_by_waiting(operation: Operation, now: float) -> Step:
    instant = final_from(operation)
    if instant is not None and instant > now:
        return Wait(instant)
    if operation.probe is None or not is_final(operation, operation.probed_at):
        return _probe(operation, now)
    match operation.probe:
        case ProbeAnswer.ABSENT:
            fault = operation.fault or Fault("given_up", "given up; nothing had landed, and nothing can any more")
            return Record(OperationFailed(operation.id, fault, Via.PROBE))
        case ProbeAnswer.UNKNOWN if _asks_again(operation):
            return _probe(operation, now)
        case _:
            return _hold(operation, f"{_probed(operation)} when nothing of it could land any more")


def _resettle_by_waiting(operation: Operation, instant: float, now: float) -> Step:
    """Ask what an undo in doubt has left when nothing is on its way any more: what is absent then, is undone."""
    if instant > now:
        return Wait(instant)
    if operation.probe is None or operation.probed_at < instant:
        return _probe(operation, now)
    if is_settled_by(operation, ProbeAnswer.ABSENT):
        return Record(OperationCompensated(operation.id, None, Via.PROBE))
    return _probe(operation, now)


def _asked_in_vain(operation: Operation) -> bool:
    """Tell whether the last answer, when everything had settled, says nothing that an undo in doubt could be closed by."""
    if operation.probe is ProbeAnswer.UNKNOWN and _asks_again(operation):
        return False
    useless = (ProbeAnswer.UNKNOWN, ProbeAnswer.MULTIPLE, ProbeAnswer.LANDED)
    return any(is_settled_by(operation, each) for each in useless)


def _can_be_voided(operation: Operation) -> bool:
    """Tell whether it can be cancelled by key now or later: one that leaves no tombstone waits until nothing can land."""
    terms = operation.spec.guarantees
    return terms.void and (not _leaves_no_tombstone(operation) or settled_from(operation) is not None)


def _void_from(operation: Operation) -> float | None:
    return settled_from(operation) if _leaves_no_tombstone(operation) else None


def _leaves_no_tombstone(operation: Operation) -> bool:
    terms = operation.spec.guarantees
    return terms.void_compensates and terms.settles_s is not None


def _void_or_hold(operation: Operation, reason: str, *, after_pivot: bool) -> Step:
    """Give it up where no later question would tell more, and that seals it. Behind the pivot nothing is given up (rule 5)."""
    if after_pivot or not _can_be_voided(operation):
        return _hold(operation, reason)
    return Record(OperationGivenUp(operation.id, reason))


def _may_still_land(operation: Operation) -> str:
    """Say why nobody knows that a call of it cannot land any more."""
    if operation.spec.guarantees.settles_s is not None and operation.senders:
        return "the process that called it may still be alive, and send it"
    return "an earlier call of it may still land"


def _repeat(operation: Operation, now: float, *, after_pivot: bool) -> Step:
    if not attempts_left(operation, now) and not paused(operation):  # a person may take longer than any policy
        return _exhausted(operation, after_pivot=after_pivot)
    return Wait(operation.not_before) if operation.not_before > now else CallAction(operation.id)


def waits_for_answer(operation: Operation) -> bool:
    """Tell whether its body will continue with it once it has what it waits for."""
    return bool(operation.hold) and operation.hold == paused(operation)


def paused(operation: Operation) -> str:
    """Return what its last call stopped to wait for; empty if it did not stop."""
    return operation.fault.message if operation.fault is not None and operation.fault.code == PAUSED else ""


def _exhausted(operation: Operation, *, after_pivot: bool) -> Step:
    reason = "the attempts that its policy allows are used up"
    if after_pivot or operation.spec.policy.retry.holds:
        return _hold(operation, reason)
    if not operation.has_effect:
        return Record(OperationFailed(operation.id, operation.fault or Fault("exhausted", reason)))
    return Record(OperationGivenUp(operation.id, reason))


def _asks_again(operation: Operation) -> bool:
    return operation.unknown_probes < operation.spec.policy.unknown_probes


def _probe(operation: Operation, now: float) -> Step:
    return Wait(operation.not_before) if operation.not_before > now else CallProbe(operation.id)


def _hold(operation: Operation, reason: str) -> Step:
    return Record(OperationHeld(operation.id, reason))


def _stuck(operation: Operation, reason: str) -> Step:
    return Record(CompensationFailed(operation.id, Fault("compensation_in_doubt", reason)))


def _remembers_undo_key(operation: Operation, undo: Undo, now: float) -> bool:
    policy, dedup_s = operation.spec.policy, operation.spec.guarantees.dedup_s
    if dedup_s is None:
        return False
    return now + policy.compensation.timeout_s + margin_s(operation) < undo.first_call_at + dedup_s


def _probed(operation: Operation) -> str:
    return f"its probe says {operation.probe.value}" if operation.probe else "it has no probe"

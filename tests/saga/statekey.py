"""When two states of a saga are the same for all that can follow.

Versions, absolute times, outputs and messages never decide anything. `reduced_key` also leaves out what the rules do not ask
about an operation in its present status; `full_key` leaves out nothing else, and a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagagraph.saga.core.doubt import settling
from sagagraph.saga.core.events import Driver, Via
from sagagraph.saga.core.state import Operation, Saga, Stage, Undo
from sagagraph.saga.core.status import OperationStatus
from tests.saga.cases import DEDUP_S, SKEW_S, TIMEOUT_S

Key = tuple[object, ...]
SagaKey = Callable[[Saga, float], tuple[Key, tuple[Key, ...]]]

_ENDED = (OperationStatus.SUCCEEDED, OperationStatus.FAILED, OperationStatus.VOIDED, OperationStatus.COMPENSATED)
_OPEN = (Stage.RUNNING, Stage.COMPENSATING)
_NOT_ASKED = {"spec", "ordinal", "output", "undo_output", "verdicts", "fault", "hold", "ended_at", "senders"}
_TIMES = {"first_call_at", "begun_at", "deadline", "not_before", "probed_at", "quiet_since"}
_COUNTED_FROM_ALLOWANCE = {"total_attempts", "allowed_from", "attempts"}


def reduced_key(saga: Saga, now: float) -> tuple[Key, tuple[Key, ...]]:
    """What belongs to the saga, and what belongs to each operation."""
    part = _part if saga.stage in _OPEN else _final_part
    return _frame(saga, now), tuple((operation.doubted, operation.output, *part(operation, now)) for operation in saga.in_order())


def full_key(saga: Saga, now: float) -> tuple[Key, tuple[Key, ...]]:
    return _frame(saga, now), tuple(_everything(operation, now) for operation in saga.in_order())


def _frame(saga: Saga, now: float) -> Key:
    plan = (saga.plan.revisable, saga.plan.disruption == "")
    return (
        saga.stage,
        saga.store_epoch,
        _doubt(saga, now),
        saga.cancel_by is None,
        saga.body_completed,
        saga.body_fault is None,
        *plan,
        *_order(saga),
    )


def _doubt(saga: Saga, now: float) -> Key | None:
    """Which of the instants have passed at which calls that a restored store has lost can no longer land, or are forgotten."""
    if saga.doubt is None:
        return None
    return (now >= saga.doubt.until + TIMEOUT_S + SKEW_S, _retention_is_over(saga.doubt.since, now))


def _order(saga: Saga) -> Key:
    """A body asks in any order, and may change it; the edges of a plan follow from its version and what was removed."""
    return tuple((each.id, *sorted(each.spec.depends_on)) for each in saga.in_order()) if saga.driver is Driver.BODY else ()


def _final_part(o: Operation, _now: float) -> Key:
    return (o.status, o.removed, o.rejected, o.generation, o.total_attempts > 0)


def _part(o: Operation, now: float) -> Key:
    used = o.total_attempts - o.allowed_from
    if o.status is OperationStatus.SKIPPED or not o.total_attempts:
        return (o.status, o.removed)
    if not o.has_effect:
        return (o.status, o.removed, o.in_flight, used, o.given_up)
    if o.status in _ENDED:
        return (o.status, o.removed, *_ended(o, now))
    memory = (min(o.lost, 2), o.given_up, o.generation, o.attempts > 0, *_clock(o, now))
    if o.status in (OperationStatus.COMPENSATING, OperationStatus.COMPENSATION_FAILED):
        return (o.status, o.removed, o.rejected, *memory, o.in_flight, o.probe, _undo(o.undo, now))
    if o.status is OperationStatus.HELD:
        return (o.status, o.removed, *memory, _undo(o.undo, now))
    calls = (used, o.in_flight, o.claiming, o.claims, o.probe, o.unknown_probes, _undo(o.undo, now))
    return (o.status, o.removed, *memory, *calls, _probed_after_deadline(o))


def _ended(o: Operation, now: float) -> Key:
    """Only a last check that contradicts the journal looks at an ended operation again, so one without a probe is forgotten."""
    undo = _undo(o.undo, now) if o.status in (OperationStatus.SUCCEEDED, OperationStatus.COMPENSATED) else None
    if not o.spec.has_probe:
        return (o.rejected, o.generation, undo)
    by_person = o.via is Via.PERSON  # the last check does not ask about it
    return (o.rejected, o.generation, min(o.lost, 2), o.given_up, by_person, undo, *_clock(o, now))


def _clock(o: Operation, now: float) -> Key:
    """Which of the instants that the rules compare with the clock have passed."""
    terms, guards = o.spec.guarantees, o.spec.policy.loop_guards
    return (
        terms.deadline and now >= o.deadline + settling.margin_s(o),
        terms.dedup_s is not None and _retention_is_over(o.first_call_at, now),
        now - o.begun_at >= guards.deadline_s,
        _settling(o, now),
    )


def _settling(o: Operation, now: float) -> Key | None:
    """How long nothing has been sent for it, and whether its last probe was made when everything had settled."""
    settles_s = o.spec.guarantees.settles_s
    if settles_s is None:
        return None
    instant = settling.settled_from(o)
    was_probed = o.probe is not None and instant is not None and o.probed_at >= instant
    return (bool(o.senders), min(round(now - o.quiet_since, 3), settles_s), was_probed)


def _probed_after_deadline(o: Operation) -> bool:
    return o.probe is not None and o.spec.guarantees.deadline and o.probed_at >= o.deadline + settling.margin_s(o)


def _undo(undo: Undo | None, now: float) -> Key | None:
    if undo is None:
        return None
    used = undo.attempts - undo.allowed_from
    return (undo.call, undo.generation, used, undo.lost > 0, _retention_is_over(undo.first_call_at, now))


def _retention_is_over(first_call_at: float, now: float) -> bool:
    return now + TIMEOUT_S + 1.0 >= first_call_at + DEDUP_S


def _everything(o: Operation, now: float) -> Key:
    plain = _NOT_ASKED | _TIMES | _COUNTED_FROM_ALLOWANCE | {"undo"}
    fields: list[Any] = [getattr(o, each) for each in o.__struct_fields__ if each not in plain]
    counters = (o.attempts > 0, o.total_attempts > 0, o.total_attempts - o.allowed_from)
    undo = o.undo and (_undo(o.undo, now), o.undo.lost, o.undo.attempts)
    return (*fields, *counters, undo, *_clock(o, now), o.probed_at >= o.deadline + settling.margin_s(o), o.not_before > now)

"""Remedies: what would settle an operation that is held: a line of code for the next one, and a command for this one. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from msgspec import Struct

from sagagraph.saga.core.doubt.in_doubt import PAUSED
from sagagraph.saga.core.doubt.settling import owner_of
from sagagraph.saga.core.state import Operation, Saga
from sagagraph.saga.core.status import OperationStatus
from sagagraph.workflow.kind import ActionKind


class Remedy(Struct, frozen=True):
    """What to do about a held operation. `answers`: what each answer of `resolve` would do; `stays`: what cannot go back yet."""

    code: str
    command: str
    answers: dict[str, str]
    stays: tuple[str, ...]


def remedy_of(saga: Saga, operation: Operation) -> Remedy | None:
    """Return the remedy for an operation that is held in doubt; None for any other one, and for one that waits for an answer."""
    if operation.status is not OperationStatus.HELD or (operation.fault is not None and operation.fault.code == PAUSED):
        return None
    names = " ".join(shlex.quote(each) for each in (saga.id, operation.id))
    return Remedy(
        code="; ".join(_lines(operation)),
        command=f"sagagraph resolve {names} --as landed|absent|failed|compensated",
        answers=_ANSWERS,
        stays=tuple(_stays(saga, operation)),
    )


_ANSWERS = {
    "landed": "it happened: what it returned comes from --output, and the saga goes on",
    "absent": "it did not happen: it is called again, if the saga goes forward",
    "failed": "it did not happen: the saga is undone, unless something handles the failure",
    "compensated": "it happened, and was undone by hand",
}


def held_by(saga: Saga, action: str, error: str) -> Iterator[Operation]:
    """Yield the operations of `action` that are held and ended with `error`, the name of an exception's class."""
    for each in saga.in_order():
        is_alike = each.spec.action == action and (not error or each.error_code == error)
        if is_alike and each.status is OperationStatus.HELD:
            yield each


def in_words(remedy: Remedy) -> str:
    stays = f" Until then {', '.join(remedy.stays)} cannot be undone, because it may rest on that." if remedy.stays else ""
    return f"{stays} To settle this one: {remedy.command}. To have the next one settle itself, {remedy.code}."


def _lines(operation: Operation) -> Iterator[str]:
    """Yield what could be declared, beginning with what says most about how the last call ended."""
    terms, fault = operation.spec.guarantees, operation.fault
    if fault is not None and operation.lost:
        yield f"raise Refused where nothing happened, or declare fails_on={fault.code}"
    if terms.settles_s is None and operation.spec.has_probe:
        yield "declare Guarantees(settles=timedelta(...)): after that time, what the probe finds absent did not happen"
    elif terms.settles_s is None:
        yield "give it a probe, and declare Guarantees(settles=timedelta(...))"
    elif operation.senders:
        yield f"end the process that called it ({', '.join(map(owner_of, operation.senders))}), or wait for its end, and resume"
    if operation.spec.kind is ActionKind.COMPENSATABLE and not terms.void:
        yield "declare Guarantees(void=True) if the compensation copes with a call that may not have landed"
    if terms.dedup_s is None:
        yield "declare Guarantees(dedup=timedelta(...)) if the provider remembers call.idempotency_key"


def _stays(saga: Saga, operation: Operation) -> Iterator[str]:
    """Yield what stands and comes before the operation, directly or not."""
    seen: set[str] = set()
    waiting = list(operation.spec.depends_on)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        before = saga.operations[name]
        waiting += before.spec.depends_on
        if before.succeeded and before.has_effect and not before.removed:
            yield name

"""Settling: when nothing of a call in doubt can land any more, and a probe is a fact (docs/protocol.md rules 0, 3). Pure."""

from __future__ import annotations

from sagagraph.saga.core.events import ProbeAnswer
from sagagraph.saga.core.state import Operation, Saga

UNKNOWN_SENDER = "0|unknown"
"""Sender of a call that no journal shows (rule 11): nobody can say that it has ended."""


def sender_of(epoch: int, owner: str) -> str:
    """Return the name of a worker as the sender of calls: one process may hold a saga several times."""
    return f"{epoch}|{owner}"


def owner_of(sender: str) -> str:
    return sender.partition("|")[2]


def settled_from(operation: Operation) -> float | None:
    """Return from when on everything that was sent for it has landed or never will; None if nobody can know.

    The provider promises that for what has ended: a call whose sender may still be alive can go out at any time.
    """
    settles_s = operation.spec.guarantees.settles_s
    return None if settles_s is None or operation.senders else operation.quiet_since + settles_s


def margin_s(operation: Operation) -> float:
    return operation.spec.guarantees.clock_margin_s


def final_from(operation: Operation) -> float | None:
    """Return from when on no call of it, going forward, can land: its deadlines are over, or everything has settled."""
    settled = settled_from(operation)
    if not operation.spec.guarantees.deadline:
        return settled
    over = operation.deadline + margin_s(operation)
    return over if settled is None else min(over, settled)


def is_final(operation: Operation, at: float) -> bool:
    """Tell whether what a probe says that was made at `at` stays true going forward."""
    instant = final_from(operation)
    return instant is not None and at >= instant


def is_settled_by(operation: Operation, answer: ProbeAnswer) -> bool:
    """Tell whether the last probe gave this answer when everything had settled: it speaks for all calls so far."""
    settled = settled_from(operation)
    return settled is not None and operation.probe is answer and operation.probed_at >= settled


def senders_in(saga: Saga) -> dict[str, tuple[str, ...]]:
    """Return who may still be sending, by operation."""
    return {each.id: each.senders for each in saga.operations.values() if each.senders}

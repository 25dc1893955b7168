"""What an action is told about the call it makes."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sagagraph.errors import NotAllowedError


class Purpose(StrEnum):
    ACTION = "action"
    PROBE = "probe"
    VOID = "void"
    COMPENSATION = "compensation"


@dataclass(frozen=True, slots=True)
class Call:
    """`idempotency_key` is to be sent to the provider: the same for every repetition of this one effect.

    In a compensation it is the compensation's own key, and `operation_key` is that of the operation being undone. In a probe
    and a void both are the operation's. `deadline` (aware, UTC) is when this attempt is given up; a provider that enforces
    deadlines must be sent it.
    """

    saga_id: str
    operation_id: str
    attempt: int
    generation: int
    idempotency_key: str
    operation_key: str
    deadline: datetime
    purpose: Purpose = Purpose.ACTION


class Paused(Exception):  # noqa: N818 - no error: it waits for something that the caller will bring
    """Raised by an action that stops without an outcome until its body runs it again; the message says what it waits for."""


_CURRENT: ContextVar[Call] = ContextVar("sagagraph_call")


def current_call() -> Call:
    """The call that the running code was started for. Raises `NotAllowedError` outside of one."""
    try:
        return _CURRENT.get()
    except LookupError:
        raise NotAllowedError("current_call() works only inside an action, a compensation or a probe") from None


def enter_call(call: Call) -> None:
    """Make `call` the current one of this task."""
    _CURRENT.set(call)

"""Call: what an action, compensation, void or probe is told about the call that it makes. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


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

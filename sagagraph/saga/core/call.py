"""Call: what an action, compensation, void or probe is told about its call. Pure."""

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
    """Facts about a call. Send `idempotency_key` to the provider: it is the same for every repetition of this one effect.

    In a compensation it is the compensation's key, and `operation_key` is the key of the operation being undone. In a probe and a
    void both are the operation's. This attempt is given up at `deadline` (aware, UTC); send it to a provider that enforces
    deadlines.
    """

    saga_id: str
    operation_id: str
    attempt: int
    generation: int
    idempotency_key: str
    operation_key: str
    deadline: datetime
    purpose: Purpose = Purpose.ACTION

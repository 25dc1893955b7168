"""Compensations and voids: operations, going back."""

from __future__ import annotations

from msgspec import Struct

from sagagraph.saga.core.events.words import Fault, Via
from sagagraph.workflow.values import Json


class VoidStarted(Struct, frozen=True, omit_defaults=True):
    operation: str
    attempt: int
    key: str
    deadline: float


class OperationVoided(Struct, frozen=True, omit_defaults=True):
    operation: str
    output: Json
    via: Via = Via.REPLY


class CompensationStarted(Struct, frozen=True, omit_defaults=True):
    operation: str
    generation: int
    attempt: int
    key: str
    deadline: float


class CompensationRefused(Struct, frozen=True, omit_defaults=True):
    """A definite refusal of a compensation that may be tried again, under the next generation's key."""

    operation: str
    fault: Fault
    retry_at: float


class CompensationLost(Struct, frozen=True, omit_defaults=True):
    """A compensation or void ended without a definite answer."""

    operation: str
    fault: Fault
    retry_at: float
    sender: str = ""
    """As of `AttemptLost`."""


class OperationCompensated(Struct, frozen=True, omit_defaults=True):
    operation: str
    output: Json
    via: Via = Via.REPLY


class CompensationFailed(Struct, frozen=True, omit_defaults=True):
    """It cannot be undone without a person: the saga will end `stuck`."""

    operation: str
    fault: Fault


CompensationEvent = (
    VoidStarted
    | OperationVoided
    | CompensationStarted
    | CompensationRefused
    | CompensationLost
    | OperationCompensated
    | CompensationFailed
)

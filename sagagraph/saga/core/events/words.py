"""Words: how an outcome became known, who decides what comes next, and other terms that events are written in."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Driver(StrEnum):
    """Who decides what comes next."""

    BODY = "body"
    """Python code under `engine.saga`: its operations are planned one by one."""
    WORKFLOW = "workflow"
    """A plan: all operations are known when it is accepted."""
    REVERSAL = "reversal"
    """Undoing a saga whose pivot has landed: forward only, because all of it lies behind that pivot."""


class Via(StrEnum):
    """How an outcome became known."""

    REPLY = "reply"
    PROBE = "probe"
    EVIDENCE = "evidence"
    """A superseded worker wrote down the answer that it still received (docs/protocol.md rule 6)."""
    PERSON = "person"


class ProbeAnswer(StrEnum):
    LANDED = "landed"
    UNDONE = "undone"
    """It landed and was cancelled."""
    ABSENT = "absent"
    MULTIPLE = "multiple"
    UNKNOWN = "unknown"


class Resolution(StrEnum):
    """What a person says of an operation that the machine cannot settle."""

    LANDED = "landed"
    ABSENT = "absent"
    """It did not happen, and may be tried again."""
    FAILED = "failed"
    """It did not happen, and is not tried again."""
    COMPENSATED = "compensated"


class Fault(Struct, frozen=True, omit_defaults=True):
    """The reason why a call ended as it did. `code` is a refusal's code, or the class of the exception."""

    code: str
    message: str


class Blocker(Struct, frozen=True, omit_defaults=True):
    """A lock that is in the way, and which operation of which saga keeps it."""

    key: str
    saga: str
    operation: str

"""People: what they ask for beside approvals, and what of it is refused."""

from __future__ import annotations

from msgspec import Struct

from sagagraph.saga.core.events.words import Resolution
from sagagraph.workflow.values import Json


class CancelRequested(Struct, frozen=True, omit_defaults=True):
    by: str
    request: int | None = None
    """The number of the request row that this consumes (docs/protocol.md rule 6)."""


class OperationResolved(Struct, frozen=True, omit_defaults=True):
    operation: str
    resolution: Resolution
    output: Json
    by: str
    request: int | None = None
    because: str = ""
    """How the person knows."""


class RequestRefused(Struct, frozen=True, omit_defaults=True):
    """A request row that no longer fits the state."""

    request: int
    reason: str


class CancelRefused(Struct, frozen=True, omit_defaults=True):
    """The pivot has landed and its action has no reverse: the saga continues forward."""

    reason: str


PersonEvent = CancelRequested | OperationResolved | RequestRefused | CancelRefused

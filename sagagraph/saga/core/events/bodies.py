"""Bodies: Python code that asks for operations one by one, and ends."""

from __future__ import annotations

from msgspec import Struct

from sagagraph.saga.core.events.words import Fault
from sagagraph.workflow.operation import OperationSpec


class OperationPlanned(Struct, frozen=True, omit_defaults=True):
    """A body asked for an operation for the first time."""

    operation: OperationSpec


class PrerequisitesAdded(Struct, frozen=True, omit_defaults=True):
    """A body that ran again lets a known operation come after more than before: it is undone before that, too (ADR-0005)."""

    operation: str
    prerequisites: tuple[str, ...]


class BodyCompleted(Struct, frozen=True, omit_defaults=True):
    """The body ended without an exception; what it did not ask for again is `removed`."""

    removed: tuple[str, ...] = ()


class BodyFailed(Struct, frozen=True, omit_defaults=True):
    """The body raised: the saga turns back; once the pivot has landed, the body runs again instead, or a person cancels."""

    fault: Fault


BodyEvent = OperationPlanned | PrerequisitesAdded | BodyCompleted | BodyFailed

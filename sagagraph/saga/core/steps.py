"""Steps: what the coordinator may be asked to do next."""

from __future__ import annotations

from msgspec import Struct

from sagagraph.saga.core.events import Event


class Record(Struct, frozen=True):
    """Append this and ask again: nothing outside changes."""

    event: Event


class CallAction(Struct, frozen=True):
    operation: str
    claim: bool = False


class CallProbe(Struct, frozen=True):
    operation: str


class CallVoid(Struct, frozen=True):
    operation: str


class CallCompensation(Struct, frozen=True):
    operation: str


class Verify(Struct, frozen=True):
    """Probe these once more before the end is declared (docs/protocol.md rule 9); `committing` says which end."""

    operations: tuple[str, ...]
    unverified: tuple[str, ...]
    committing: bool


class ReadAgain(Struct, frozen=True):
    """Read again what the plan rests on, before the pivot starts (docs/protocol.md rule 12)."""

    operations: tuple[str, ...]


class Reverse(Struct, frozen=True):
    """Undo a saga whose pivot has landed, by means of another saga."""


class Wait(Struct, frozen=True):
    until: float


Step = Record | CallAction | CallProbe | CallVoid | CallCompensation | Verify | ReadAgain | Reverse | Wait
EffectStep = CallAction | CallProbe | CallVoid | CallCompensation | Verify | ReadAgain | Reverse

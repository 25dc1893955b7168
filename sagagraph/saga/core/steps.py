"""Steps: what the coordinator may be asked to do next."""

from __future__ import annotations

from dataclasses import dataclass

from sagagraph.saga.core.events import Event


@dataclass(frozen=True, slots=True)
class Record:
    """Append this and ask again: nothing outside changes."""

    event: Event


@dataclass(frozen=True, slots=True)
class CallAction:
    operation: str
    claim: bool = False


@dataclass(frozen=True, slots=True)
class CallProbe:
    operation: str


@dataclass(frozen=True, slots=True)
class CallVoid:
    operation: str


@dataclass(frozen=True, slots=True)
class CallCompensation:
    operation: str


@dataclass(frozen=True, slots=True)
class Verify:
    """Probe these once more before the end is declared (docs/protocol.md rule 9); `committing` says which end."""

    operations: tuple[str, ...]
    unverified: tuple[str, ...]
    committing: bool


@dataclass(frozen=True, slots=True)
class ReadAgain:
    """Read again what the plan rests on, before the pivot starts (docs/protocol.md rule 12)."""

    operations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reverse:
    """Undo a saga whose pivot has landed, by means of another saga."""


@dataclass(frozen=True, slots=True)
class Wait:
    until: float


Step = Record | CallAction | CallProbe | CallVoid | CallCompensation | Verify | ReadAgain | Reverse | Wait
EffectStep = CallAction | CallProbe | CallVoid | CallCompensation | Verify | ReadAgain | Reverse

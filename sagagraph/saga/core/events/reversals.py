"""Reversals of a saga whose pivot has landed, as the saga that is undone sees them."""

from __future__ import annotations

from msgspec import Struct

from sagagraph.workflow.values import Json


class ReversalBegun(Struct, frozen=True, omit_defaults=True):
    """A person's cancel after the pivot: `saga` undoes this one (docs/protocol.md rule 5)."""

    saga: str


class ReversalHeld(Struct, frozen=True, omit_defaults=True):
    """The reversing saga waits for a person; so does this one, until somebody resumes it."""

    reason: str


class SagaReversed(Struct, frozen=True, omit_defaults=True):
    """`outputs`: what undoing each operation brought back."""

    outputs: dict[str, Json]
    residue: tuple[str, ...] = ()


ReversalEvent = ReversalBegun | ReversalHeld | SagaReversed

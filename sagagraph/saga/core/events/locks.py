"""Locks: awaited, yielded, taken again; and what is read again before the pivot."""

from __future__ import annotations

from msgspec import Struct

from sagagraph.saga.core.events.words import Blocker


class ReadingsConfirmed(Struct, frozen=True, omit_defaults=True):
    """Just before the pivot, what the plan rests on was read again and has not changed (docs/protocol.md rule 12)."""

    operations: tuple[str, ...]


class LocksAwaited(Struct, frozen=True, omit_defaults=True):
    """What is to be planned, or to go forward again, waits: these keep what it needs (docs/protocol.md rule 12)."""

    blockers: tuple[Blocker, ...]


class LocksYielded(Struct, frozen=True, omit_defaults=True):
    """A person lets others have what a saga that stands still keeps."""

    by: str


class LocksRetaken(Struct, frozen=True, omit_defaults=True):
    """It has everything again that `yielded_by` had let others have, and goes forward."""

    yielded_by: str


LockEvent = ReadingsConfirmed | LocksAwaited | LocksYielded | LocksRetaken

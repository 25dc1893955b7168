"""Amendments of a committed saga, as the saga that is changed sees them."""

from __future__ import annotations

from msgspec import Struct

from sagagraph.workflow.operation import OperationSpec
from sagagraph.workflow.values import Json


class AmendmentBegun(Struct, frozen=True, omit_defaults=True):
    """After the commit, `saga` looks for another plan; until it has ended, nothing else changes this saga (ADR-0011)."""

    saga: str
    request: Json
    """Of that saga."""
    by: str
    approved_by: str = ""
    """Who approves the resulting plan in advance."""
    row: int | None = None
    """The number of the request row that this consumes."""


class AmendmentEnded(Struct, frozen=True, omit_defaults=True):
    """It did not commit, and nothing of it stands: everything is as it was."""

    saga: str
    reason: str


class BroughtIn(Struct, frozen=True, omit_defaults=True):
    """An operation of an amendment that its parent takes over, or that was undone there: its keys stay the amendment's."""

    operation: OperationSpec
    generation: int
    attempts: int
    output: Json
    is_undone: bool = False
    undo_output: Json = None


class SagaAmended(Struct, frozen=True, omit_defaults=True):
    """`saga` has committed: its bookings are now this saga's, and what it undid is undone. `outputs`: what undoing returned."""

    saga: str
    plan_version: int
    request: Json
    plan: Json
    plan_hash: str
    cost: Json
    operations: tuple[BroughtIn, ...]
    outputs: dict[str, Json]
    needs: dict[str, tuple[str, ...]] = {}
    """Kept operation → what it comes after from now on, besides the prerequisites that still stand."""
    reasons: tuple[str, ...] = ()
    """For the new plan."""


AmendmentEvent = AmendmentBegun | AmendmentEnded | SagaAmended

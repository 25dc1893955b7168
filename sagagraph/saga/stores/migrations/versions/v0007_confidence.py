"""Confidence of whoever chose an operation: the projections are made anew, and filled from the journals."""

from __future__ import annotations

from alembic import op

from sagagraph.saga.stores.projections.tables import DEFINITIONS

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    for definition in reversed(DEFINITIONS.values()):
        definition.table.drop(op.get_bind())
    for definition in DEFINITIONS.values():
        definition.table.create(op.get_bind())

"""Locks that sagas keep, and how often they were changed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("store", sa.Column("lock_changes", sa.BigInteger(), nullable=False, server_default="0"))
    op.create_table(
        "locks",
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("saga_id", sa.String(), sa.ForeignKey("sagas.saga_id"), nullable=False),
        sa.Column("operation", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("mode", sa.String(), nullable=False),
        sa.Column("begins", sa.Float(), nullable=True),
        sa.Column("ends", sa.Float(), nullable=True),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("capacity", sa.BigInteger(), nullable=False),
        sa.Column("begun_at", sa.Float(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
    )
    op.create_index("locks_by_key", "locks", ["key"])
    op.create_index("locks_by_saga", "locks", ["saga_id", "operation"])

"""The journal, its evidence and its requests."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "sagas",
        sa.Column("saga_id", sa.String(), primary_key=True),
        sa.Column("domain", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(), nullable=True),
        sa.Column("lease_until", sa.Float(), nullable=False),
        sa.Column("begun_at", sa.Float(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("saga_id", sa.String(), sa.ForeignKey("sagas.saga_id"), primary_key=True),
        sa.Column("version", sa.Integer(), primary_key=True),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("schema_version", sa.Integer(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
    )
    op.create_table(
        "evidence",
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("saga_id", sa.String(), sa.ForeignKey("sagas.saga_id"), nullable=False),
        sa.Column("operation", sa.String(), nullable=False),
        sa.Column("call", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("output", sa.Text(), nullable=False),
    )
    op.create_index("evidence_by_saga", "evidence", ["saga_id"])
    op.create_table(
        "requests",
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("saga_id", sa.String(), sa.ForeignKey("sagas.saga_id"), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
    )
    op.create_index("requests_by_saga", "requests", ["saga_id", "number"])

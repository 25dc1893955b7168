"""Documents: what actions of a domain leave beside a journal."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "documents",
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("saga_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.UniqueConstraint("saga_id", "kind", "key", name="documents_key"),
    )

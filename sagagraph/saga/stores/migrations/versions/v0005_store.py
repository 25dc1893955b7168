"""Store: who it is, how often it was restored, and what its database was when somebody last looked."""

from __future__ import annotations

import uuid

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    table = op.create_table(
        "store",
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("identity", sa.String(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
    )
    op.bulk_insert(table, [{"number": 1, "identity": uuid.uuid4().hex, "epoch": 1, "origin": ""}])

"""When the next token of each limit is free."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table("limits", sa.Column("name", sa.String(), primary_key=True), sa.Column("free_at", sa.Float(), nullable=False))

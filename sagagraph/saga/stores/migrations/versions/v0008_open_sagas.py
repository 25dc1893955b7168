"""Indexes of what is open, and of sagas by their beginning: what has ended slows no list down."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    is_open = sa.text("stage NOT IN ('committed', 'compensated', 'rejected', 'infeasible')")
    is_kept = sa.text("retired_at IS NULL")
    for name, condition in (("sagas_open", is_open), ("sagas_latest", is_kept)):
        op.create_index(name, "sagas", ["begun_at", "saga_id"], sqlite_where=condition, postgresql_where=condition)

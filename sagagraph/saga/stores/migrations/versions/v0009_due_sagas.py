"""When a driver should look at each saga, and an index of those that have such a time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """What is open is due, and what has ended only once something is asked of it: also of what was asked and not heard yet."""
    op.add_column("sagas", sa.Column("due_at", sa.Float(), nullable=True, server_default="0"))
    is_open = "stage NOT IN ('committed', 'compensated', 'rejected', 'infeasible')"
    asked = "SELECT max(number) FROM requests r WHERE r.saga_id = sagas.saga_id"
    op.execute(f"UPDATE sagas SET due_at = -({asked}) WHERE stage = 'committed' AND retired_at IS NULL")  # noqa: S608 - our own text
    is_due_ever = sa.text(f"due_at IS NOT NULL AND ({is_open} OR due_at < 0)")
    op.create_index("sagas_due", "sagas", ["due_at"], sqlite_where=is_due_ever, postgresql_where=is_due_ever)

"""Row ids for the events in SQLite again: an append writes at the end of the table, and a long event needs no page of its own.

In the order of their key, a page that fills up is shared out among its neighbours with almost every append, and what is longer
than a quarter of a page continues on another one.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_COLUMNS = "saga_id, version, epoch, at, type, schema_version, data, checksum"


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return
    op.create_table(
        "events_now",
        sa.Column("saga_id", sa.String(), sa.ForeignKey("sagas.saga_id"), primary_key=True),
        sa.Column("version", sa.Integer(), primary_key=True),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("schema_version", sa.Integer(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("checksum", sa.BigInteger(), nullable=False),
    )
    op.execute(f"INSERT INTO events_now ({_COLUMNS}) SELECT {_COLUMNS} FROM events ORDER BY saga_id, version")  # noqa: S608 - our own text
    op.drop_table("events")
    op.rename_table("events_now", "events")

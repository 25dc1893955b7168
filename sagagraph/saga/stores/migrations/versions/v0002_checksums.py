"""A checksum for every event, and a place to note that a journal was archived.

In SQLite the events move into a table without row ids: an append then writes a page less.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from sagagraph.saga.stores.rows import checksum

revision = "0002"
down_revision = "0001"

_EVENT = ("saga_id", "version", "epoch", "at", "type", "schema_version", "data")
_AT_ONCE = 1000


def upgrade() -> None:
    op.add_column("sagas", sa.Column("retired_at", sa.Float(), nullable=True))
    before = sa.table("events", *(sa.column(name) for name in _EVENT))
    now = op.create_table(
        "events_now",
        sa.Column("saga_id", sa.String(), sa.ForeignKey("sagas.saga_id"), primary_key=True),
        sa.Column("version", sa.Integer(), primary_key=True),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("schema_version", sa.Integer(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("checksum", sa.BigInteger(), nullable=False),
        sqlite_with_rowid=False,
    )
    connection = op.get_bind()
    for rows in connection.execute(sa.select(*(before.c[name] for name in _EVENT))).partitions(_AT_ONCE):
        op.bulk_insert(now, [{**row._mapping, "checksum": checksum(*row)} for row in rows])
    op.drop_table("events")
    op.rename_table("events_now", "events")
    if connection.dialect.name == "postgresql":
        op.execute("ALTER INDEX events_now_pkey RENAME TO events_pkey")
        op.execute("ALTER TABLE events RENAME CONSTRAINT events_now_saga_id_fkey TO events_saga_id_fkey")

"""Run by Alembic: applies the migrations on the connection that `migration.upgrade` hands over."""

from __future__ import annotations

from alembic import context
from sqlmodel import SQLModel

import sagagraph.saga.stores.projections.tables
import sagagraph.saga.stores.tables  # noqa: F401 - they register the tables

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    version_table="sagagraph_version",
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()

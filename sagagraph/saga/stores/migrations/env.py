"""Environment of Alembic: applies the migrations on the connection that `migration.upgrade` hands over."""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    version_table="sagagraph_version",
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()

"""Migration of a database's tables to this release. Imported only when something must be migrated: Alembic is slow to load."""

from __future__ import annotations

import threading
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy.exc import SQLAlchemyError

from sagagraph.errors import StoreError
from sagagraph.saga.stores.tables import engine_of

LOCK = 0x5A6A_6EAF
"""Of PostgreSQL's advisory locks, ours: any number will do that nobody else takes."""
_BEGIN = {"sqlite": "BEGIN IMMEDIATE", "postgresql": f"SELECT pg_advisory_xact_lock({LOCK})"}
_ONE_AT_A_TIME = threading.Lock()
"""Alembic keeps the migration under way in its own modules: two threads at once mix them up, or crash the process."""


def upgrade(store_url: str) -> None:
    """Upgrade the tables. Safe to repeat, and to run in several threads and processes at once: the loser of a race finds nothing
    left to do.
    """
    with _ONE_AT_A_TIME:
        _upgrade(store_url)


def _upgrade(store_url: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    engine, where = engine_of(store_url)
    try:
        with engine.begin() as connection:
            connection.exec_driver_sql(_BEGIN[connection.dialect.name])
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except (SQLAlchemyError, CommandError) as exc:
        why = str(exc.__cause__ or exc).splitlines()[0]
        raise StoreError(f"{where} cannot be brought to this release: {why}") from exc
    finally:
        engine.dispose()

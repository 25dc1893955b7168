"""Bring a database's tables to this release. Imported only when there is something to migrate: Alembic is slow to load."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import create_engine
from sqlalchemy.exc import SQLAlchemyError

from sagagraph.errors import StoreError


def upgrade(sqlalchemy_url: str) -> None:
    """Safe to repeat, and to run from several processes at once: the loser of a race finds nothing left to do."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    engine = create_engine(sqlalchemy_url)
    try:
        with engine.begin() as connection:
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except (SQLAlchemyError, CommandError) as exc:
        where = engine.url.render_as_string(hide_password=True)
        why = str(exc.__cause__ or exc).splitlines()[0]
        raise StoreError(f"{where} can not be brought to this release: {why}") from exc
    finally:
        engine.dispose()

"""SQLAlchemy on a store's database: for what is not on the hot path."""

from __future__ import annotations

from sqlalchemy import Engine, create_engine
from sqlalchemy.pool import NullPool

BUSY_TIMEOUT_S = 30.0


def engine_of(store_url: str) -> tuple[Engine, str]:
    """An engine, and the store's name as people may read it."""
    if store_url.startswith("sqlite:"):
        return create_engine(store_url, poolclass=NullPool, connect_args={"timeout": BUSY_TIMEOUT_S}), store_url
    from sagagraph.saga.stores.postgres_connection import connect, name_of

    def connection() -> object:
        made = connect(store_url)
        made.autocommit = False
        return made

    return create_engine("postgresql+psycopg://", creator=connection, poolclass=NullPool), name_of(store_url)

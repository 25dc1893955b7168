"""Tables of the SQL stores, as the migrations make them, and an SQLAlchemy engine on them for work off the hot path.

The stores name their tables in plain SQL (`statements`); the tables of the projections are in `projections.tables`.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Engine,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    create_engine,
    text,
)
from sqlalchemy.pool import NullPool

from sagagraph.saga.stores.sqlite_file import BUSY_TIMEOUT_S
from sagagraph.saga.stores.statements import IS_DUE_EVER, IS_OPEN

METADATA = MetaData()
_IS_KEPT = "retired_at IS NULL"

SAGAS = Table(
    "sagas",
    METADATA,
    Column("saga_id", String, primary_key=True),
    Column("domain", String, nullable=False),
    Column("stage", String, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("owner", String),
    Column("lease_until", Float, nullable=False),
    Column("begun_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Column("retired_at", Float),
    Column("due_at", Float, server_default="0"),
    Index("sagas_open", "begun_at", "saga_id", sqlite_where=text(IS_OPEN), postgresql_where=text(IS_OPEN)),
    Index("sagas_due", "due_at", sqlite_where=text(IS_DUE_EVER), postgresql_where=text(IS_DUE_EVER)),
    Index("sagas_latest", "begun_at", "saga_id", sqlite_where=text(_IS_KEPT), postgresql_where=text(_IS_KEPT)),
)
"""The heads of journals: fence (`epoch`, `version`) and lease. A retired one stays, so that its id is never used again."""
EVENTS = Table(
    "events",
    METADATA,
    Column("saga_id", String, ForeignKey("sagas.saga_id"), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("epoch", Integer, nullable=False),
    Column("at", Float, nullable=False),
    Column("type", String, nullable=False),
    Column("schema_version", Integer, nullable=False),
    Column("data", Text, nullable=False),
    Column("checksum", BigInteger, nullable=False),
)
"""The journals. `checksum` is the CRC-32 of all the rest."""
EVIDENCE = Table(
    "evidence",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("saga_id", String, ForeignKey("sagas.saga_id"), nullable=False),
    Column("operation", String, nullable=False),
    Column("call", String, nullable=False),
    Column("key", String, nullable=False),
    Column("output", Text, nullable=False),
    Index("evidence_by_saga", "saga_id"),
)
"""Acknowledgements that superseded workers received: unfenced (docs/protocol.md rule 6)."""
REQUESTS = Table(
    "requests",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("saga_id", String, ForeignKey("sagas.saga_id"), nullable=False),
    Column("kind", String, nullable=False),
    Column("by", String, nullable=False),
    Column("data", Text, nullable=False),
    Index("requests_by_saga", "saga_id", "number"),
)
"""What people asked for: unfenced, consumed in order by whoever holds the lease."""
DOCUMENTS = Table(
    "documents",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("saga_id", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("key", String, nullable=False),
    Column("data", Text, nullable=False),
    UniqueConstraint("saga_id", "kind", "key", name="documents_key"),
)
"""What actions of a domain leave beside the journal of a saga, which need not have begun; each is written once."""


LOCKS = Table(
    "locks",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("saga_id", String, ForeignKey("sagas.saga_id"), nullable=False),
    Column("operation", String, nullable=False),
    Column("key", String, nullable=False),
    Column("mode", String, nullable=False),
    Column("begins", Float),
    Column("ends", Float),
    Column("amount", BigInteger, nullable=False),
    Column("capacity", BigInteger, nullable=False),
    Column("begun_at", Float, nullable=False),
    Column("epoch", Integer, nullable=False),
    Index("locks_by_key", "key"),
    Index("locks_by_saga", "saga_id", "operation"),
)
"""What sagas keep from each other: a part of the dependency state S_D that decides (docs/protocol.md rule 12). It is changed
only together with the journals from which it follows."""
LIMITS = Table(
    "limits",
    METADATA,
    Column("name", String, primary_key=True),
    Column("free_at", Float, nullable=False),
)
"""When the next token of each limit is free, which all workers of a store draw from."""
STORE = Table(
    "store",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("identity", String, nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("origin", String, nullable=False),
    Column("lock_changes", BigInteger, nullable=False, server_default="0"),
)
"""One row: who the store is, how often it was restored (from 1), what its database was when somebody last looked, and
how often `locks` has changed."""


def engine_of(store_url: str) -> tuple[Engine, str]:
    """Return an engine on a store's database, and the store's name for people to read."""
    if store_url.startswith("sqlite:"):
        return create_engine(store_url, poolclass=NullPool, connect_args={"timeout": BUSY_TIMEOUT_S}), store_url
    from sagagraph.saga.stores.postgres_connection import connect, name_of

    def connection() -> object:
        made = connect(store_url)
        made.autocommit = False
        return made

    return create_engine("postgresql+psycopg://", creator=connection, poolclass=NullPool), name_of(store_url)

"""The tables of the SQL stores. The migrations make them; the stores' hot paths name them in plain SQL."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Text, UniqueConstraint
from sqlmodel import Field, SQLModel


class SagaRow(SQLModel, table=True):
    """The head of a journal: its fence (`epoch`, `version`) and its lease."""

    __tablename__ = "sagas"

    saga_id: str = Field(primary_key=True)
    domain: str
    stage: str
    epoch: int
    version: int
    owner: str | None = None
    lease_until: float = 0.0
    begun_at: float
    updated_at: float
    retired_at: float | None = None
    """When its journal was archived or dropped; the row stays, so that the id is never used again."""


class EventRow(SQLModel, table=True):
    __tablename__ = "events"
    __table_args__ = {"sqlite_with_rowid": False}

    saga_id: str = Field(primary_key=True, foreign_key="sagas.saga_id")
    version: int = Field(primary_key=True)
    epoch: int
    at: float
    type: str
    schema_version: int
    data: str = Field(sa_column=Column(Text, nullable=False))
    checksum: int = Field(sa_column=Column(BigInteger, nullable=False))
    """CRC-32 of all the rest."""


class EvidenceRow(SQLModel, table=True):
    """Acknowledgements that superseded workers received: unfenced (PROTOCOL rule 6)."""

    __tablename__ = "evidence"
    __table_args__ = (Index("evidence_by_saga", "saga_id"),)

    number: int | None = Field(default=None, primary_key=True)
    saga_id: str = Field(foreign_key="sagas.saga_id")
    operation: str
    call: str
    key: str
    output: str = Field(sa_column=Column(Text, nullable=False))


class RequestRow(SQLModel, table=True):
    """What people asked for: unfenced, consumed in order by whoever holds the lease."""

    __tablename__ = "requests"
    __table_args__ = (Index("requests_by_saga", "saga_id", "number"),)

    number: int | None = Field(default=None, primary_key=True)
    saga_id: str = Field(foreign_key="sagas.saga_id")
    kind: str
    by: str
    data: str = Field(sa_column=Column(Text, nullable=False))


class DocumentRow(SQLModel, table=True):
    """What actions of a domain leave beside the journal of a saga, which need not have begun; each is written once."""

    __tablename__ = "documents"
    __table_args__ = (UniqueConstraint("saga_id", "kind", "key", name="documents_key"),)

    number: int | None = Field(default=None, primary_key=True)
    saga_id: str
    kind: str
    key: str
    data: str = Field(sa_column=Column(Text, nullable=False))

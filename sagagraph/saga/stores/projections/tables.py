"""The tables of the projections (docs/projections.md): rebuilt from the journals, for people and programs to query."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, Column, Index
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

PROJECTION_FORMAT = 1
"""Of what the rows say: a release that says it differently counts on, and everything is projected anew."""


def _json() -> Any:
    """None is NULL, as JSON's null is."""
    return Field(default=None, sa_column=Column(JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")))


class ProjectionHeadRow(SQLModel, table=True):
    """How far the journal of a saga is projected. `forgotten` counts how often its rows were withdrawn."""

    __tablename__ = "projection_heads"

    saga_id: str = Field(primary_key=True)
    version: int
    format: int
    forgotten: int


class SagaStateRow(SQLModel, table=True):
    """One row a saga."""

    __tablename__ = "saga_state"
    __table_args__ = (Index("sagas_by_status", "status"),)

    saga_id: str = Field(primary_key=True)
    domain: str
    driver: str
    status: str
    stage: str
    journal_version: int
    epoch: int
    plan_version: int
    plan_hash: str | None = None
    pivot: str | None = None
    operations: int
    cancel_by: str | None = None
    turned_back_by: str | None = None
    reversal: str | None = None
    residue: Any = _json()
    unverified: Any = _json()
    begun_at: float
    updated_at: float
    ended_at: float | None = None


class EntityRow(SQLModel, table=True):
    """S_A: every entity as it is now."""

    __tablename__ = "application_state"
    __table_args__ = (Index("entities_by_state", "entity_type", "state"),)

    saga_id: str = Field(primary_key=True)
    entity_type: str = Field(primary_key=True)
    entity: str = Field(primary_key=True)
    state: str
    version: int
    action: str | None = None
    data: Any = _json()
    undo_data: Any = _json()
    plan_version: int
    created_at: float
    updated_at: float
    journal_version: int


class EntityVersionRow(SQLModel, table=True):
    """S_A: every state that an entity was in."""

    __tablename__ = "entity_versions"

    saga_id: str = Field(primary_key=True)
    entity_type: str = Field(primary_key=True)
    entity: str = Field(primary_key=True)
    version: int = Field(primary_key=True)
    state: str
    action: str | None = None
    data: Any = _json()
    undo_data: Any = _json()
    plan_version: int
    at: float
    from_version: int
    until_version: int | None = None


class SnapshotRow(SQLModel, table=True):
    """S_A: checkpoints."""

    __tablename__ = "state_snapshots"

    saga_id: str = Field(primary_key=True)
    journal_version: int = Field(primary_key=True)
    at: float
    cause: str
    status: str
    plan_version: int
    plan_hash: str | None = None
    entities: Any = _json()


class OperationStateRow(SQLModel, table=True):
    """S_O: every operation as it is now."""

    __tablename__ = "operation_state"
    __table_args__ = (Index("operations_by_status", "status"),)

    saga_id: str = Field(primary_key=True)
    operation: str = Field(primary_key=True)
    ordinal: int
    plan_version: int
    action: str
    action_version: int
    kind: str
    status: str
    generation: int
    idempotency_key: str
    inputs: Any = _json()
    sent_inputs: Any = _json()
    output: Any = _json()
    via: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    note: str
    is_rejected: bool
    is_removed: bool
    reasoning: str
    justification: str
    alternatives: Any = _json()
    planned_at: float
    begun_at: float | None = None
    ended_at: float | None = None
    updated_at: float
    attempts: int
    lost_attempts: int
    refused_attempts: int
    probes: int
    waited_s: float | None = None
    took_s: float | None = None
    calling_s: float


class AttemptRow(SQLModel, table=True):
    """S_O: every call."""

    __tablename__ = "operation_attempts"

    saga_id: str = Field(primary_key=True)
    journal_version: int = Field(primary_key=True)
    operation: str
    call: str
    generation: int
    attempt: int
    idempotency_key: str | None = None
    epoch: int
    started_at: float
    deadline: float | None = None
    ended_at: float | None = None
    ended_version: int | None = None
    duration_s: float | None = None
    outcome: str | None = None
    via: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    retry_at: float | None = None


class CompensationStateRow(SQLModel, table=True):
    """S_O: how each operation with an effect is undone."""

    __tablename__ = "compensation_state"

    saga_id: str = Field(primary_key=True)
    operation: str = Field(primary_key=True)
    inverse: str
    state: str
    prerequisites: Any = _json()
    open_prerequisites: Any = _json()
    call: str | None = None
    generation: int | None = None
    attempts: int
    lost_attempts: int
    idempotency_key: str | None = None
    begun_at: float | None = None
    ended_at: float | None = None
    output: Any = _json()
    error_code: str | None = None
    error_message: str | None = None
    max_attempts: int
    timeout_s: float
    has_probe: bool
    has_void: bool
    enforces_deadline: bool
    refusals_final: bool
    key_remembered_until: float | None = None


class DecisionRow(SQLModel, table=True):
    """S_O: who decided what, and why."""

    __tablename__ = "decisions"

    saga_id: str = Field(primary_key=True)
    journal_version: int = Field(primary_key=True)
    at: float
    subject_type: str
    subject: str
    decision: str
    decided_by: str
    reasons: Any = _json()
    alternatives: Any = _json()
    detail: Any = _json()


class DependencyRow(SQLModel, table=True):
    """S_D: edges between operations."""

    __tablename__ = "dependency_state"
    __table_args__ = (Index("dependents_of", "saga_id", "depends_on"),)

    saga_id: str = Field(primary_key=True)
    operation: str = Field(primary_key=True)
    depends_on: str = Field(primary_key=True)
    kind: str = Field(primary_key=True)
    through: str = Field(primary_key=True)
    condition: str | None = None
    value: Any = _json()
    status: str
    plan_version: int
    planned_at: float
    decided_at: float | None = None


class AllocationRow(SQLModel, table=True):
    """S_D: which operation takes which resource."""

    __tablename__ = "resource_allocations"
    __table_args__ = (Index("allocations_by_resource", "resource"),)

    saga_id: str = Field(primary_key=True)
    operation: str = Field(primary_key=True)
    resource: str = Field(primary_key=True)
    state: str
    since: float


class EvaluationRow(SQLModel, table=True):
    """S_D: what was evaluated, and by what evidence."""

    __tablename__ = "constraint_evaluations"

    saga_id: str = Field(primary_key=True)
    journal_version: int = Field(primary_key=True)
    position: int = Field(primary_key=True)
    at: float
    kind: str
    subject_type: str
    subject: str
    rule: str
    holds: bool | None = None
    message: str
    evidence: Any = _json()
    decided_by: str
    certificate: Any = _json()

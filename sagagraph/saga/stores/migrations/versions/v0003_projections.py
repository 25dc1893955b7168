"""The projections: application, operation and dependency state, rebuilt from the journals at any time."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0003"
down_revision = "0002"


def _json() -> Any:
    return sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "projection_heads",
        sa.Column("saga_id", sa.String(), primary_key=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("format", sa.Integer(), nullable=False),
        sa.Column("forgotten", sa.Integer(), nullable=False),
    )
    op.create_table(
        "saga_state",
        sa.Column("saga_id", sa.String(), primary_key=True),
        sa.Column("domain", sa.String(), nullable=False),
        sa.Column("driver", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("journal_version", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("plan_version", sa.Integer(), nullable=False),
        sa.Column("plan_hash", sa.String(), nullable=True),
        sa.Column("pivot", sa.String(), nullable=True),
        sa.Column("operations", sa.Integer(), nullable=False),
        sa.Column("cancel_by", sa.String(), nullable=True),
        sa.Column("turned_back_by", sa.String(), nullable=True),
        sa.Column("reversal", sa.String(), nullable=True),
        sa.Column("residue", _json(), nullable=True),
        sa.Column("unverified", _json(), nullable=True),
        sa.Column("begun_at", sa.Float(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.Column("ended_at", sa.Float(), nullable=True),
    )
    op.create_index("sagas_by_status", "saga_state", ["status"])
    op.create_table(
        "application_state",
        sa.Column("saga_id", sa.String(), primary_key=True),
        sa.Column("entity_type", sa.String(), primary_key=True),
        sa.Column("entity", sa.String(), primary_key=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("action", sa.String(), nullable=True),
        sa.Column("data", _json(), nullable=True),
        sa.Column("undo_data", _json(), nullable=True),
        sa.Column("plan_version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.Column("journal_version", sa.Integer(), nullable=False),
    )
    op.create_index("entities_by_state", "application_state", ["entity_type", "state"])
    op.create_table(
        "entity_versions",
        sa.Column("saga_id", sa.String(), primary_key=True),
        sa.Column("entity_type", sa.String(), primary_key=True),
        sa.Column("entity", sa.String(), primary_key=True),
        sa.Column("version", sa.Integer(), primary_key=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=True),
        sa.Column("data", _json(), nullable=True),
        sa.Column("undo_data", _json(), nullable=True),
        sa.Column("plan_version", sa.Integer(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("from_version", sa.Integer(), nullable=False),
        sa.Column("until_version", sa.Integer(), nullable=True),
    )
    op.create_table(
        "state_snapshots",
        sa.Column("saga_id", sa.String(), primary_key=True),
        sa.Column("journal_version", sa.Integer(), primary_key=True),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("cause", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("plan_version", sa.Integer(), nullable=False),
        sa.Column("plan_hash", sa.String(), nullable=True),
        sa.Column("entities", _json(), nullable=True),
    )
    op.create_table(
        "operation_state",
        sa.Column("saga_id", sa.String(), primary_key=True),
        sa.Column("operation", sa.String(), primary_key=True),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("plan_version", sa.Integer(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("action_version", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("idempotency_key", sa.String(), nullable=False),
        sa.Column("inputs", _json(), nullable=True),
        sa.Column("sent_inputs", _json(), nullable=True),
        sa.Column("output", _json(), nullable=True),
        sa.Column("via", sa.String(), nullable=True),
        sa.Column("error_code", sa.String(), nullable=True),
        sa.Column("error_message", sa.String(), nullable=True),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("is_rejected", sa.Boolean(), nullable=False),
        sa.Column("is_removed", sa.Boolean(), nullable=False),
        sa.Column("reasoning", sa.String(), nullable=False),
        sa.Column("justification", sa.String(), nullable=False),
        sa.Column("alternatives", _json(), nullable=True),
        sa.Column("planned_at", sa.Float(), nullable=False),
        sa.Column("begun_at", sa.Float(), nullable=True),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.Column("updated_at", sa.Float(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("lost_attempts", sa.Integer(), nullable=False),
        sa.Column("refused_attempts", sa.Integer(), nullable=False),
        sa.Column("probes", sa.Integer(), nullable=False),
        sa.Column("waited_s", sa.Float(), nullable=True),
        sa.Column("took_s", sa.Float(), nullable=True),
        sa.Column("calling_s", sa.Float(), nullable=False),
    )
    op.create_index("operations_by_status", "operation_state", ["status"])
    op.create_table(
        "operation_attempts",
        sa.Column("saga_id", sa.String(), primary_key=True),
        sa.Column("journal_version", sa.Integer(), primary_key=True),
        sa.Column("operation", sa.String(), nullable=False),
        sa.Column("call", sa.String(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("idempotency_key", sa.String(), nullable=True),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=False),
        sa.Column("deadline", sa.Float(), nullable=True),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.Column("ended_version", sa.Integer(), nullable=True),
        sa.Column("duration_s", sa.Float(), nullable=True),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("via", sa.String(), nullable=True),
        sa.Column("error_code", sa.String(), nullable=True),
        sa.Column("error_message", sa.String(), nullable=True),
        sa.Column("retry_at", sa.Float(), nullable=True),
    )
    op.create_table(
        "compensation_state",
        sa.Column("saga_id", sa.String(), primary_key=True),
        sa.Column("operation", sa.String(), primary_key=True),
        sa.Column("inverse", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("prerequisites", _json(), nullable=True),
        sa.Column("open_prerequisites", _json(), nullable=True),
        sa.Column("call", sa.String(), nullable=True),
        sa.Column("generation", sa.Integer(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("lost_attempts", sa.Integer(), nullable=False),
        sa.Column("idempotency_key", sa.String(), nullable=True),
        sa.Column("begun_at", sa.Float(), nullable=True),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.Column("output", _json(), nullable=True),
        sa.Column("error_code", sa.String(), nullable=True),
        sa.Column("error_message", sa.String(), nullable=True),
        sa.Column("max_attempts", sa.Integer(), nullable=False),
        sa.Column("timeout_s", sa.Float(), nullable=False),
        sa.Column("has_probe", sa.Boolean(), nullable=False),
        sa.Column("has_void", sa.Boolean(), nullable=False),
        sa.Column("enforces_deadline", sa.Boolean(), nullable=False),
        sa.Column("refusals_final", sa.Boolean(), nullable=False),
        sa.Column("key_remembered_until", sa.Float(), nullable=True),
    )
    op.create_table(
        "decisions",
        sa.Column("saga_id", sa.String(), primary_key=True),
        sa.Column("journal_version", sa.Integer(), primary_key=True),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("subject_type", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("decision", sa.String(), nullable=False),
        sa.Column("decided_by", sa.String(), nullable=False),
        sa.Column("reasons", _json(), nullable=True),
        sa.Column("alternatives", _json(), nullable=True),
        sa.Column("detail", _json(), nullable=True),
    )
    op.create_table(
        "dependency_state",
        sa.Column("saga_id", sa.String(), primary_key=True),
        sa.Column("operation", sa.String(), primary_key=True),
        sa.Column("depends_on", sa.String(), primary_key=True),
        sa.Column("kind", sa.String(), primary_key=True),
        sa.Column("through", sa.String(), primary_key=True),
        sa.Column("condition", sa.String(), nullable=True),
        sa.Column("value", _json(), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("plan_version", sa.Integer(), nullable=False),
        sa.Column("planned_at", sa.Float(), nullable=False),
        sa.Column("decided_at", sa.Float(), nullable=True),
    )
    op.create_index("dependents_of", "dependency_state", ["saga_id", "depends_on"])
    op.create_table(
        "resource_allocations",
        sa.Column("saga_id", sa.String(), primary_key=True),
        sa.Column("operation", sa.String(), primary_key=True),
        sa.Column("resource", sa.String(), primary_key=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("since", sa.Float(), nullable=False),
    )
    op.create_index("allocations_by_resource", "resource_allocations", ["resource"])
    op.create_table(
        "constraint_evaluations",
        sa.Column("saga_id", sa.String(), primary_key=True),
        sa.Column("journal_version", sa.Integer(), primary_key=True),
        sa.Column("position", sa.Integer(), primary_key=True),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("subject_type", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("rule", sa.String(), nullable=False),
        sa.Column("holds", sa.Boolean(), nullable=True),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("evidence", _json(), nullable=True),
        sa.Column("decided_by", sa.String(), nullable=False),
        sa.Column("certificate", _json(), nullable=True),
    )

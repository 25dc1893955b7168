"""Tables of the projections (docs/projections.md): made from the classes of their rows, for people and programs to query.

Each is defined here, and only here: its columns are the fields of its rows. They are rebuilt from the journals at any time.
Whoever changes one adds a migration that drops and recreates all of them, and increments `PROJECTION_FORMAT`.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import JSON, Boolean, Column, Float, Index, Integer, String, Table
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import registry

from sagagraph.saga.stores.projections.application import Entity, EntityVersion, Snapshot
from sagagraph.saga.stores.projections.attempts import Attempt
from sagagraph.saga.stores.projections.constraints import Evaluation
from sagagraph.saga.stores.projections.decisions import Decision
from sagagraph.saga.stores.projections.dependencies import Allocation, Dependency
from sagagraph.saga.stores.projections.operations import CompensationState, OperationState
from sagagraph.saga.stores.projections.projection import SagaState
from sagagraph.saga.stores.tables import METADATA

PROJECTION_FORMAT = 2
"""Of what the rows say: a release that says it differently counts on, and everything is projected anew."""


@dataclass(frozen=True, slots=True)
class ProjectionHead:
    """How far the journal of a saga is projected. `forgotten` counts how often its rows were withdrawn."""

    saga_id: str
    version: int
    format: int
    forgotten: int


@dataclass(frozen=True, slots=True)
class Definition:
    """A table as docs/projections.md lists it. `about` says what a row is, `in_table_1` what of SagaLLM's Table 1 it holds."""

    table: Table
    about: str
    in_table_1: str


DEFINITIONS: dict[str, Definition] = {}
"""By name."""
_CLASSES = registry(metadata=METADATA)
_JSON = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
"""None is NULL, as JSON's null is."""
_TYPES: Mapping[Any, Any] = {str: String, int: Integer, float: Float, bool: Boolean}


def _defined(
    row: type, name: str, *keys: str, about: str, in_table_1: str = "–", indexes: Mapping[str, tuple[str, ...]] | None = None
) -> Any:
    """Define a table for rows of this class, with these keys after `saga_id`; returns the class that SQLAlchemy maps its
    rows to.
    """
    hints = typing.get_type_hints(row)
    columns = [_column(each.name, hints[each.name], is_key=each.name in ("saga_id", *keys)) for each in fields(row)]
    table = Table(name, METADATA, *columns, *(Index(index, *on) for index, on in (indexes or {}).items()))
    DEFINITIONS[name] = Definition(table, about, in_table_1)
    mapped = type(f"{row.__name__}Row", (), {"__doc__": row.__doc__, "__module__": __name__})
    _CLASSES.map_imperatively(mapped, table)
    return mapped


def _column(name: str, hint: Any, *, is_key: bool) -> Column[Any]:
    """Return the column type for a field: text, number, truth value, or else JSON. JSON may always be NULL."""
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    kind = _TYPES.get(options[0], _JSON)
    return Column(name, kind, primary_key=is_key, nullable=not is_key and (kind is _JSON or types.NoneType in options))


SagaStateRow = _defined(
    SagaState,
    "saga_state",
    about="a saga: domain, driver, status, plan, pivot, who cancelled it, why it turned back, residue, what no probe could"
    " confirm, times",
    indexes={"sagas_by_status": ("status",)},
)
EntityRow = _defined(
    Entity,
    "application_state",
    "entity_type",
    "entity",
    about="a thing the saga is about, as it is now",
    in_table_1="S_A: domain objects, entity states",
    indexes={"entities_by_state": ("entity_type", "state")},
)
EntityVersionRow = _defined(
    EntityVersion,
    "entity_versions",
    "entity_type",
    "entity",
    "version",
    about="one state of such a thing, in force from `from_version` up to, without, `until_version`",
    in_table_1="S_A: entity states",
)
SnapshotRow = _defined(
    Snapshot,
    "state_snapshots",
    "journal_version",
    about="all of them at a point that matters: `cause` is `plan accepted`, `turned back`, `committed` …",
    in_table_1="S_A: checkpoints and snapshots",
)
OperationStateRow = _defined(
    OperationState,
    "operation_state",
    "operation",
    about="an operation: inputs as planned and as sent, output, status, times, metrics, reasoning, justification, alternatives,"
    " confidence",
    in_table_1="S_O: execution records, decision reasoning",
    indexes={"operations_by_status": ("status",)},
)
AttemptRow = _defined(
    Attempt,
    "operation_attempts",
    "journal_version",
    about="a call: action, claim, void, compensation or probe, with its key, times and outcome",
    in_table_1="S_O: timestamps and metrics",
)
CompensationStateRow = _defined(
    CompensationState,
    "compensation_state",
    "operation",
    about="how an operation with an effect is undone: its inverse, what must come first, what a recovery can count on",
    in_table_1="S_O: compensation actions",
)
DecisionRow = _defined(
    Decision,
    "decisions",
    "journal_version",
    about="who decided what, when and why: planner, validator, engine, body or a person",
    in_table_1="S_O: decision reasoning",
)
DependencyRow = _defined(
    Dependency,
    "dependency_state",
    "operation",
    "depends_on",
    "kind",
    "through",
    about="an edge: causal (with its condition), data (with the value handed over) or resource",
    in_table_1="S_D: causal dependencies",
    indexes={"dependents_of": ("saga_id", "depends_on")},
)
AllocationRow = _defined(
    Allocation,
    "resource_allocations",
    "operation",
    "resource",
    about="what an operation takes: wanted, uncertain, taken, not taken or released",
    in_table_1="S_D: resource allocation linkages",
    indexes={"allocations_by_resource": ("resource",)},
)
EvaluationRow = _defined(
    Evaluation,
    "constraint_evaluations",
    "journal_version",
    "position",
    about="something that was checked: a verdict, each violation, a condition, an approval, the last check",
    in_table_1="S_D: constraint satisfaction",
)
ProjectionHeadRow = _defined(ProjectionHead, "projection_heads", about="how far a saga is projected")

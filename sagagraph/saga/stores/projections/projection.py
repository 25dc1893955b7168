"""`project(saga_id, entries)`: what SagaLLM calls the application, operation and dependency state of a saga, as rows. Pure.

Folded from the journal alone, and read by nobody who decides: people and programs query the rows (docs/projections.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sagagraph.errors import JournalError
from sagagraph.saga.core.events import Entry
from sagagraph.saga.core.evolve.evolve import begin, evolve
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.stores.projections.application import ApplicationFold, Entity, EntityVersion, Snapshot
from sagagraph.saga.stores.projections.attempts import Attempt, AttemptFold
from sagagraph.saga.stores.projections.constraints import ConstraintFold, Evaluation
from sagagraph.saga.stores.projections.decisions import Decision, decision_in
from sagagraph.saga.stores.projections.dependencies import Allocation, Dependency, DependencyFold
from sagagraph.saga.stores.projections.operations import CompensationState, OperationFold, OperationState
from sagagraph.saga.stores.projections.step import Step


@dataclass(frozen=True, slots=True)
class SagaState:
    saga_id: str
    domain: str
    driver: str
    status: str
    stage: str
    journal_version: int
    epoch: int
    plan_version: int
    plan_hash: str | None
    pivot: str | None
    operations: int
    cancel_by: str | None
    turned_back_by: str | None
    reversal: str | None
    """The saga that undoes this one."""
    residue: tuple[str, ...]
    unverified: tuple[str, ...]
    begun_at: float
    updated_at: float
    ended_at: float | None


@dataclass(frozen=True, slots=True)
class Projection:
    """All rows of one saga. The fields are named as the tables are."""

    saga_state: tuple[SagaState, ...]
    """One."""
    application_state: tuple[Entity, ...]
    entity_versions: tuple[EntityVersion, ...]
    state_snapshots: tuple[Snapshot, ...]
    operation_state: tuple[OperationState, ...]
    operation_attempts: tuple[Attempt, ...]
    compensation_state: tuple[CompensationState, ...]
    decisions: tuple[Decision, ...]
    dependency_state: tuple[Dependency, ...]
    resource_allocations: tuple[Allocation, ...]
    constraint_evaluations: tuple[Evaluation, ...]

    @property
    def saga(self) -> SagaState:
        return self.saga_state[0]


def project(saga_id: str, entries: Iterable[Entry]) -> Projection:
    """Return the rows after `entries`. Raises `JournalError` for a journal with a gap, or without its beginning."""
    application, attempts, operations = ApplicationFold(), AttemptFold(), OperationFold()
    dependencies, constraints = DependencyFold(), ConstraintFold()
    folds = (application, attempts, operations, dependencies, constraints)
    decisions: list[Decision] = []
    saga: Saga | None = None
    for entry in entries:
        after = begin(saga_id, entry) if saga is None else evolve(saga, entry)
        step = Step(saga or after, entry, after)
        for fold in folds:
            fold.see(step)
        if decision := decision_in(step):
            decisions.append(decision)
        saga = after
    if saga is None:
        raise JournalError(f"saga {saga_id!r}: its journal is empty", saga_id=saga_id)
    return Projection(
        saga_state=(_saga_state(saga),),
        application_state=application.entities,
        entity_versions=application.versions,
        state_snapshots=tuple(application.snapshots),
        operation_state=tuple(operations.states(saga, attempts)),
        operation_attempts=attempts.all(),
        compensation_state=tuple(operations.compensations(saga)),
        decisions=tuple(decisions),
        dependency_state=tuple(dependencies.dependencies(saga)),
        resource_allocations=tuple(dependencies.allocations(saga)),
        constraint_evaluations=tuple(constraints.evaluations),
    )


def _saga_state(saga: Saga) -> SagaState:
    status = status_of(saga)
    return SagaState(
        saga_id=saga.id,
        domain=saga.domain,
        driver=saga.driver.value,
        status=status.value,
        stage=saga.stage.value,
        journal_version=saga.version,
        epoch=saga.epoch,
        plan_version=saga.plan.version,
        plan_hash=saga.plan.hash,
        pivot=saga.pivot,
        operations=len(saga.operations),
        cancel_by=saga.cancel_by,
        turned_back_by=saga.turned_back_by,
        reversal=saga.reversal,
        residue=saga.residue,
        unverified=saga.unverified,
        begun_at=saga.begun_at,
        updated_at=saga.last_at,
        ended_at=saga.last_at if status.is_final else None,
    )

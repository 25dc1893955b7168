"""S_A: the things that a saga is about, each with its versions, and the states of all of them at the points that matter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sagagraph.saga.core import events as e
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Operation, Saga
from sagagraph.saga.core.status import OperationStatus
from sagagraph.saga.stores.projections.step import Step
from sagagraph.workflow.kind import ActionKind


class EntityType(StrEnum):
    REQUEST = "request"
    PLAN = "plan"
    RESULT = "result"
    """What an operation made, changed or read."""


class EntityState(StrEnum):
    GIVEN = "given"
    """The request."""
    PROPOSED = "proposed"
    VALID = "valid"
    INVALID = "invalid"
    UNJUDGED = "unjudged"
    """The plan's validators could not judge it."""
    APPROVED = "approved"
    REFUSED = "refused"
    """A person rejected the plan."""
    ACCEPTED = "accepted"
    """The plan is being carried out, or was."""
    READ = "read"
    """The result of a read-only operation: nothing outside was changed."""
    LIVE = "live"
    """It stands outside."""
    REJECTED = "rejected"
    """It stands outside, but a validator refused it: it is going to be undone."""
    UNDOING = "undoing"
    IN_DOUBT = "in_doubt"
    """It stood; whether it still does has to be found out."""
    CANCELLED = "cancelled"
    ABSENT = "absent"
    """It was thought to stand, and does not."""


@dataclass(frozen=True, slots=True)
class EntityVersion:
    """One state of one entity. In force for journal versions from `from_version` up to, without, `until_version`."""

    saga_id: str
    entity_type: str
    entity: str
    """`request`, `plan`, or the operation's id."""
    version: int
    """Counts from 1 within the entity."""
    state: str
    action: str | None
    data: Any
    undo_data: Any
    """What undoing it brought back: a cancellation fee."""
    plan_version: int
    at: float
    from_version: int
    until_version: int | None


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity as it is now: its latest version."""

    saga_id: str
    entity_type: str
    entity: str
    state: str
    version: int
    action: str | None
    data: Any
    undo_data: Any
    plan_version: int
    created_at: float
    updated_at: float
    journal_version: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All entities at a point from which, or to which, a saga may be taken back. `entities` names their versions."""

    saga_id: str
    journal_version: int
    at: float
    cause: str
    status: str
    plan_version: int
    plan_hash: str | None
    entities: tuple[Mapping[str, Any], ...]


_CAUSES: Mapping[type, str] = {
    e.PlanRejected: "plan rejected",
    e.PlanFoundInfeasible: "plan infeasible",
    e.PlanAccepted: "plan accepted",
    e.RequestChanged: "request changed",
    e.PlanDisrupted: "plan disrupted",
    e.RepairGivenUp: "repair given up",
    e.BodyCompleted: "body completed",
    e.SagaTurnedBack: "turned back",
    e.SagaCommitted: "committed",
    e.SagaCompensated: "compensated",
    e.ReversalBegun: "reversal begun",
    e.SagaReversed: "reversed",
    e.AmendmentBegun: "amendment begun",
    e.AmendmentEnded: "amendment ended",
    e.SagaAmended: "amended",
}
_PLAN_STATES: Mapping[type, EntityState] = {
    e.PlanProposed: EntityState.PROPOSED,
    e.PlanApproved: EntityState.APPROVED,
    e.PlanRejected: EntityState.REFUSED,
    e.PlanAccepted: EntityState.ACCEPTED,
    e.SagaAmended: EntityState.ACCEPTED,
}
_JUDGED: Mapping[str, EntityState] = {"VALID": EntityState.VALID, "INVALID": EntityState.INVALID}
_Key = tuple[EntityType, str]


class ApplicationFold:
    def __init__(self) -> None:
        self._versions: dict[_Key, list[EntityVersion]] = defaultdict(list)
        self.snapshots: list[Snapshot] = []

    def see(self, step: Step) -> None:
        event = step.entry.event
        if isinstance(event, e.SagaBegun | e.RequestChanged | e.SagaAmended):
            self._add(step, (EntityType.REQUEST, "request"), EntityState.GIVEN, event.request)
        plan_state = _plan_state(event)
        if plan_state is not None and step.after.plan.hash is not None:
            self._add(step, (EntityType.PLAN, "plan"), plan_state, step.after.plan.content)
        for operation in step.changed():
            self._see_operation(step, operation)
        if type(event) in _CAUSES:
            self.snapshots.append(self._snapshot(step, _CAUSES[type(event)]))

    def _see_operation(self, step: Step, operation: Operation) -> None:
        key = (EntityType.RESULT, operation.id)
        state = _state_of(operation, is_known=key in self._versions)
        if state is not None:
            self._add(step, key, state, operation.output, operation.undo_output, operation.spec.action)

    def _add(
        self, step: Step, key: _Key, state: EntityState, data: Any, undo_data: Any = None, action: str | None = None
    ) -> None:
        versions = self._versions[key]
        if versions:
            last = versions[-1]
            if (last.state, last.data, last.undo_data) == (state.value, data, undo_data):
                return
            versions[-1] = replace(last, until_version=step.entry.version)
        entity_type, name = key
        versions.append(
            EntityVersion(
                saga_id=step.after.id,
                entity_type=entity_type.value,
                entity=name,
                version=len(versions) + 1,
                state=state.value,
                action=action,
                data=data,
                undo_data=undo_data,
                plan_version=step.after.plan.version,
                at=step.entry.at,
                from_version=step.entry.version,
                until_version=None,
            )
        )

    def _snapshot(self, step: Step, cause: str) -> Snapshot:
        latest = [versions[-1] for versions in self._versions.values()]
        named: tuple[Mapping[str, Any], ...] = tuple(
            {"entity_type": each.entity_type, "entity": each.entity, "version": each.version, "state": each.state}
            for each in latest
        )
        saga: Saga = step.after
        return Snapshot(
            saga.id, step.entry.version, step.entry.at, cause, status_of(saga).value, saga.plan.version, saga.plan.hash, named
        )

    @property
    def versions(self) -> tuple[EntityVersion, ...]:
        return tuple(each for versions in self._versions.values() for each in versions)

    @property
    def entities(self) -> tuple[Entity, ...]:
        return tuple(_entity(versions) for versions in self._versions.values())


def _entity(versions: list[EntityVersion]) -> Entity:
    first, last = versions[0], versions[-1]
    return Entity(
        saga_id=last.saga_id,
        entity_type=last.entity_type,
        entity=last.entity,
        state=last.state,
        version=last.version,
        action=last.action,
        data=last.data,
        undo_data=last.undo_data,
        plan_version=last.plan_version,
        created_at=first.at,
        updated_at=last.at,
        journal_version=last.from_version,
    )


def _plan_state(event: e.Event) -> EntityState | None:
    if isinstance(event, e.PlanJudged):
        verdict = event.verdict if isinstance(event.verdict, Mapping) else {}
        return _JUDGED.get(str(verdict.get("verdict")), EntityState.UNJUDGED)
    return _PLAN_STATES.get(type(event))


def _state_of(operation: Operation, *, is_known: bool) -> EntityState | None:
    """None as long as nothing is known to have been made."""
    match operation.status:
        case OperationStatus.SUCCEEDED if operation.spec.kind is ActionKind.READ_ONLY:
            return EntityState.READ
        case OperationStatus.SUCCEEDED:
            return EntityState.REJECTED if operation.rejected else EntityState.LIVE
        case OperationStatus.COMPENSATED:
            return EntityState.CANCELLED
        case OperationStatus.VOIDED if is_known or operation.undo_output is not None:
            return EntityState.CANCELLED
        case OperationStatus.COMPENSATING | OperationStatus.COMPENSATION_FAILED if is_known:
            return EntityState.UNDOING
        case OperationStatus.STARTED | OperationStatus.IN_DOUBT | OperationStatus.HELD if is_known:
            return EntityState.IN_DOUBT
        case OperationStatus.PLANNED | OperationStatus.FAILED | OperationStatus.SKIPPED if is_known:
            return EntityState.ABSENT
        case _:
            return None

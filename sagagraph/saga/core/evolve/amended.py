"""What an amendment changes of the saga that it amends. Pure (ADR-0011)."""

from __future__ import annotations

from msgspec.structs import replace

from sagagraph.saga.core import events as e
from sagagraph.saga.core.evolve.membership import planned_operation, with_needs, with_operations
from sagagraph.saga.core.evolve.operations import undone
from sagagraph.saga.core.state import AcceptedPlan, Amending, Operation, Saga, Stage
from sagagraph.saga.core.status import OperationStatus


def amendment_begun(saga: Saga, event: e.AmendmentBegun, _at: float) -> Saga:
    amending = Amending(event.saga, event.request, event.approved_by)
    return replace(saga, stage=Stage.AMENDING, amending=amending, amendments=(*saga.amendments, event.saga), amendment_note="")


def amendment_ended(saga: Saga, event: e.AmendmentEnded, _at: float) -> Saga:
    lost = saga.amending.request["lost"] if saga.amending else ()
    missing = tuple(dict.fromkeys((*saga.missing, *lost)))
    return replace(saga, stage=Stage.COMMITTED, amending=None, amendment_note=event.reason, missing=missing)


def saga_amended(saga: Saga, event: e.SagaAmended, at: float) -> Saga:
    """What the new plan does without is undone; what came with it is ours under the amendment's keys."""
    accepted = AcceptedPlan(event.request, event.plan_hash, event.plan, event.cost)
    plan = replace(
        saga.plan,
        version=event.plan_version,
        hash=event.plan_hash,
        content=event.plan,
        cost=event.cost,
        accepted=accepted,
        reasons=event.reasons,
        alternatives=(),
        infeasible=(),
    )
    saga = replace(saga, stage=Stage.COMMITTED, amending=None, request=event.request, plan=plan, missing=())
    saga = with_operations(saga, tuple(each.operation for each in event.operations))
    operations = saga.operations
    for name, output in event.outputs.items():
        operations = operations.set(name, _dropped(planned_operation(saga, name), output, at))
    for each in event.operations:
        operations = operations.set(each.operation.id, _brought_in(operations[each.operation.id], each, event.saga, at))
    return with_needs(replace(saga, operations=operations), event.needs, without=event.outputs.keys())


def _dropped(operation: Operation, output: object, at: float) -> Operation:
    return replace(undone(operation, OperationStatus.COMPENSATED, output, e.Via.REPLY, at), removed=True)


def _brought_in(planned: Operation, each: e.BroughtIn, amendment: str, at: float) -> Operation:
    operation = replace(
        planned,
        status=OperationStatus.SUCCEEDED,
        generation=each.generation,
        attempts=each.attempts,
        total_attempts=each.attempts,
        output=each.output,
        via=e.Via.REPLY,
        ended_at=at,
        owner=amendment,
    )
    return _dropped(operation, each.undo_output, at) if each.is_undone else operation

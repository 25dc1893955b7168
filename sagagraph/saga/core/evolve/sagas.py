"""Sagas: how a journalled fact changes one, its plan, and all its operations together. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from sagagraph.errors import JournalError
from sagagraph.saga.core import events as e
from sagagraph.saga.core.doubt.settling import sender_of
from sagagraph.saga.core.evolve.index import index_of, is_fatal
from sagagraph.saga.core.evolve.membership import (
    planned_operation,
    with_needs,
    with_operations,
    with_removed,
    with_replaced,
)
from sagagraph.saga.core.evolve.operations import reconsidered, resolved, restored, taken_over, undone
from sagagraph.saga.core.state import AcceptedPlan, Amending, Doubt, ModelUse, Operation, PlanState, Saga, Stage, Stood
from sagagraph.saga.core.status import OperationStatus

# -- the saga and its plan -------------------------------------------------------------------------------------------


def begun_again(saga: Saga, _event: e.SagaBegun, _at: float) -> Saga:
    raise JournalError(f"saga {saga.id!r}: its journal begins twice", saga_id=saga.id)


def provider_named(saga: Saga, event: e.ProviderNamed, _at: float) -> Saga:
    return replace(saga, provider=event.provider_id, provider_url=event.provider_url)


def same_provider_stated(saga: Saga, event: e.SameProviderStated, _at: float) -> Saga:
    same = saga.same_providers
    first = same.get(event.known_provider, event.known_provider)
    later = same.get(event.same_provider, event.same_provider)
    for name in (later, *(each for each, known_as in same.items() if known_as == later)):
        same = same.set(name, first)
    return replace(saga, same_providers=same)


def lease_taken(saga: Saga, event: e.LeaseTaken, at: float) -> Saga:
    was_restored = (event.store_epoch or 1) > saga.store_epoch
    operations = saga.operations
    before = sender_of(saga.epoch, saga.holder)
    for name, operation in operations.items():
        stays = (operation.waits_for_person and not event.looks_again) or (event.goes_on and not operation.in_flight)
        changed = operation if stays else taken_over(operation, before)
        changed = restored(changed, at) if was_restored else changed
        if changed is not operation:
            operations = operations.set(name, changed)
    if was_restored:
        doubt = Doubt(saga.doubt.since if saga.doubt else saga.last_at, at)
        saga = replace(saga, store_epoch=event.store_epoch or 1, doubt=doubt)
    fault = None if saga.stage is Stage.RUNNING else saga.body_fault  # a body that has not turned back may do better now
    taken = replace(saga, operations=operations, body_fault=fault, reversal_hold="", has_read_again=False)
    return replace(taken, holder=event.owner)


def exceptions_trusted(saga: Saga, _event: e.ExceptionsTrusted, _at: float) -> Saga:
    return replace(saga, trusts_exceptions=True)


def plan_proposed(saga: Saga, event: e.PlanProposed, _at: float) -> Saga:
    # What stands may be proposed again because a change of it has no plan: why not is to be seen until a plan is accepted.
    is_repair = bool(saga.plan.version)
    plan = replace(
        saga.plan,
        hash=event.plan_hash,
        content=event.plan,
        cost=event.cost,
        verdict=None,
        proposals=saga.plan.proposals + 1,
        alternatives=event.alternatives,
        reasons=event.reasons,
        proposed_by=event.proposed_by,
        reasoning=event.reasoning,
        agents=event.agents,
        approved_by=None,
        infeasible=saga.plan.infeasible if is_repair else (),
        remedies=saga.plan.remedies if is_repair else (),
    )
    return replace(saga, stage=Stage.PLANNING, plan=plan)


def model_asked(saga: Saga, event: e.ModelAsked, _at: float) -> Saga:
    questions = {**saga.plan.questions, event.role: saga.plan.questions.get(event.role, 0) + 1}
    return replace(saga, plan=replace(saga.plan, questions=questions), models=_with_use(saga.models, event))


def _with_use(models: tuple[ModelUse, ...], asked: e.ModelAsked) -> tuple[ModelUse, ...]:
    before = next((each for each in models if (each.role, each.model) == (asked.role, asked.model)), None)
    use = before or ModelUse(asked.role, asked.model)
    more = replace(
        use,
        questions=use.questions + 1,
        tokens_in=use.tokens_in + asked.tokens_in,
        tokens_out=use.tokens_out + asked.tokens_out,
        seconds=use.seconds + asked.seconds,
        cost_usd=None if use.cost_usd is None or asked.cost_usd is None else use.cost_usd + asked.cost_usd,
    )
    return (*models, more) if before is None else tuple(more if each is before else each for each in models)


def plan_judged(saga: Saga, event: e.PlanJudged, _at: float) -> Saga:
    return replace(saga, plan=replace(saga.plan, verdict=event.verdict))


def plan_found_infeasible(saga: Saga, event: e.PlanFoundInfeasible, _at: float) -> Saga:
    stood = saga.plan.stood if event.plan_stays else None
    plan = replace(saga.plan if stood is None else stood.plan, infeasible=event.reasons, remedies=event.remedies)
    if stood is None:
        return replace(saga, stage=Stage.INFEASIBLE, plan=plan)
    return replace(saga, stage=Stage.AWAITING_APPROVAL, request=stood.request, plan=plan)


def request_changed(saga: Saga, event: e.RequestChanged, _at: float) -> Saga:
    """Change the request. Without operations, planning starts over; otherwise what stands is fitted to the new request."""
    saga = _consumed(saga, event.row)
    plan = replace(saga.plan, approved_in_advance_by=event.approved_by)
    if not plan.version:
        fresh = PlanState(approved_in_advance_by=event.approved_by, stood=_standing(saga))
        return replace(saga, stage=Stage.PLANNING, request=event.request, plan=fresh)
    plan = replace(plan, revisable=True, disruption=f"{event.by} wishes for something else")
    return replace(saga, stage=Stage.RUNNING, request=event.request, plan=plan)


def _standing(saga: Saga) -> Stood | None:
    """Return the plan that waits for approval; one that is still sought leaves what it was to replace."""
    if saga.stage is not Stage.AWAITING_APPROVAL and not saga.plan.approved_by:
        return saga.plan.stood
    plan = replace(saga.plan, approved_by=None, approved_in_advance_by="", infeasible=(), remedies=(), stood=None)
    return Stood(saga.request, plan)


def plan_disrupted(saga: Saga, event: e.PlanDisrupted, _at: float) -> Saga:
    if event.operation is not None:
        planned_operation(saga, event.operation)
    return replace(saga, plan=replace(saga.plan, disruption=event.cause))


def repair_given_up(saga: Saga, event: e.RepairGivenUp, _at: float) -> Saga:
    """Give up a repair: a request that could not be met is dropped, with its approval, and failures are looked at again."""
    is_beyond_repair = any(map(is_fatal, saga.operations.values()))
    plan = replace(saga.plan, revisable=not is_beyond_repair, disruption="", infeasible=event.reasons)
    if accepted := plan.accepted:
        plan = replace(plan, hash=accepted.hash, content=accepted.content, cost=accepted.cost)
        if accepted.request != saga.request:
            plan = replace(plan, revisable=True, approved_in_advance_by="")
        saga = replace(saga, request=accepted.request)
    return replace(saga, stage=Stage.RUNNING, plan=plan)


def approval_asked(saga: Saga, _event: e.ApprovalAsked, _at: float) -> Saga:
    return replace(saga, stage=Stage.AWAITING_APPROVAL)


def plan_approved(saga: Saga, event: e.PlanApproved, _at: float) -> Saga:
    approved = replace(saga, stage=Stage.PLANNING, plan=replace(saga.plan, approved_by=event.by))
    return _consumed(approved, event.request)


def plan_rejected(saga: Saga, event: e.PlanRejected, _at: float) -> Saga:
    return replace(saga, stage=Stage.REJECTED, turned_back_by=event.reason or f"rejected by {event.by}")


def plan_accepted(saga: Saga, event: e.PlanAccepted, _at: float) -> Saga:
    plan = replace(
        saga.plan,
        version=event.plan_version,
        accepted=AcceptedPlan(saga.request, saga.plan.hash, saga.plan.content, saga.plan.cost),
        revisable=event.revisable,
        disruption="",
        infeasible=(),
        remedies=(),
        stood=None,
    )
    saga = with_removed(replace(saga, stage=Stage.RUNNING, plan=plan, awaits=(), has_read_again=False), event.removed)
    return with_replaced(with_operations(saga, event.operations), event.replaced)


def operation_planned(saga: Saga, event: e.OperationPlanned, _at: float) -> Saga:
    return with_operations(replace(saga, awaits=()) if saga.awaits else saga, (event.operation,))


def prerequisites_added(saga: Saga, event: e.PrerequisitesAdded, _at: float) -> Saga:
    for each in event.prerequisites:
        planned_operation(saga, each)
    return with_needs(saga, {event.operation: event.prerequisites}, without=())


def readings_confirmed(saga: Saga, _event: e.ReadingsConfirmed, _at: float) -> Saga:
    return replace(saga, has_read_again=True)


def locks_awaited(saga: Saga, event: e.LocksAwaited, _at: float) -> Saga:
    return replace(saga, awaits=event.blockers)


def locks_yielded(saga: Saga, event: e.LocksYielded, _at: float) -> Saga:
    return _indexed(replace(saga, yielded_by=event.by))


def locks_retaken(saga: Saga, _event: e.LocksRetaken, _at: float) -> Saga:
    return _indexed(replace(saga, yielded_by="", awaits=(), has_read_again=False))


def _indexed(saga: Saga) -> Saga:
    return replace(saga, index=index_of(saga))


# -- people and the end ----------------------------------------------------------------------------------------------


def cancel_requested(saga: Saga, event: e.CancelRequested, _at: float) -> Saga:
    saga = replace(_consumed(saga, event.request), cancel_by=event.by)
    pivot = saga.pivot_operation
    return saga if pivot is None else _put(saga, reconsidered(pivot))


def operation_resolved(saga: Saga, event: e.OperationResolved, at: float) -> Saga:
    return _consumed(_put(saga, resolved(planned_operation(saga, event.operation), event, at)), event.request)


def request_refused(saga: Saga, event: e.RequestRefused, _at: float) -> Saga:
    return _consumed(saga, event.request)


def _consumed(saga: Saga, request: int | None) -> Saga:
    return saga if request is None else replace(saga, last_request=max(request, saga.last_request))


def saga_turned_back(saga: Saga, event: e.SagaTurnedBack, _at: float) -> Saga:
    operations = saga.operations
    for name, operation in operations.items():
        changed = reconsidered(operation)
        if changed is not operation:
            operations = operations.set(name, changed)
    return replace(saga, stage=Stage.COMPENSATING, turned_back_by=event.cause, operations=operations, awaits=())


def body_completed(saga: Saga, event: e.BodyCompleted, _at: float) -> Saga:
    return replace(with_removed(saga, event.removed), body_completed=True, body_fault=None)


def body_failed(saga: Saga, event: e.BodyFailed, _at: float) -> Saga:
    return replace(saga, body_fault=event.fault)


def saga_committed(saga: Saga, event: e.SagaCommitted, _at: float) -> Saga:
    return replace(saga, stage=Stage.COMMITTED, unverified=event.unverified)


def saga_compensated(saga: Saga, event: e.SagaCompensated, at: float) -> Saga:
    operations = saga.operations
    for name, operation in operations.items():
        if operation.status is OperationStatus.PLANNED:
            never = replace(operation, status=OperationStatus.SKIPPED, hold="the saga ended before it", ended_at=at)
            operations = operations.set(name, never)
    return replace(saga, stage=Stage.COMPENSATED, unverified=event.unverified, operations=operations)


def fields_redacted(saga: Saga, event: e.FieldsRedacted, _at: float) -> Saga:
    return replace(saga, redacted=tuple(dict.fromkeys((*saga.redacted, *event.fields))))


def _put(saga: Saga, operation: Operation) -> Saga:
    return replace(saga, operations=saga.operations.set(operation.id, operation))


# -- reversals and amendments ----------------------------------------------------------------------------------------


def reversal_begun(saga: Saga, event: e.ReversalBegun, _at: float) -> Saga:
    return replace(saga, stage=Stage.REVERSING, reversal=event.saga)


def reversal_held(saga: Saga, event: e.ReversalHeld, _at: float) -> Saga:
    return replace(saga, reversal_hold=event.reason)


def cancel_refused(saga: Saga, _event: e.CancelRefused, _at: float) -> Saga:
    return replace(saga, cancel_by=None)


def saga_reversed(saga: Saga, event: e.SagaReversed, at: float) -> Saga:
    operations = saga.operations
    for name, output in event.outputs.items():
        operation = undone(planned_operation(saga, name), OperationStatus.COMPENSATED, output, e.Via.REPLY, at)
        operations = operations.set(name, operation)
    return replace(saga, stage=Stage.COMPENSATED, residue=event.residue, operations=operations)


def amendment_begun(saga: Saga, event: e.AmendmentBegun, _at: float) -> Saga:
    saga, amending = _consumed(saga, event.row), Amending(event.saga, event.request, event.approved_by)
    return replace(saga, stage=Stage.AMENDING, amending=amending, amendments=(*saga.amendments, event.saga), amendment_note="")


def amendment_ended(saga: Saga, event: e.AmendmentEnded, _at: float) -> Saga:
    lost = saga.amending.request["lost"] if saga.amending else ()
    missing = tuple(dict.fromkeys((*saga.missing, *lost)))
    return replace(saga, stage=Stage.COMMITTED, amending=None, amendment_note=event.reason, missing=missing)


def saga_amended(saga: Saga, event: e.SagaAmended, at: float) -> Saga:
    """Take over an amendment: what the new plan lacks is undone; what came with it stays under the amendment's keys."""
    accepted = AcceptedPlan(event.request, event.plan_hash, event.plan, event.cost)
    plan = replace(
        saga.plan,
        version=event.plan_version,
        hash=event.plan_hash,
        content=event.plan,
        cost=event.cost,
        accepted=accepted,
        reasons=event.reasons,
        proposed_by="",
        reasoning="",
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

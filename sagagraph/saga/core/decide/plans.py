"""Plans: proposed, chosen, judged, approved, accepted, repaired, given up (docs/protocol.md rules 2, 5 and 8). Pure."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import asdict, replace

from sagagraph.errors import ConflictError, NotAllowedError, UnknownOperationError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.amendments import amended_by
from sagagraph.saga.core.decide.locks import check_amounts
from sagagraph.saga.core.decide.people import by_row
from sagagraph.saga.core.dependencies import descendants, is_closed
from sagagraph.saga.core.events import Events
from sagagraph.saga.core.next_steps import is_ready_for_repair, status_of
from sagagraph.saga.core.state import Operation, Saga, Stage
from sagagraph.saga.core.status import OperationStatus
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec, rebind, references
from sagagraph.workflow.values import Json
from sagagraph.workflow.wellformed import check_workflow


def propose_plan(saga: Saga, command: c.ProposePlan, _now: float) -> Events:
    if not is_ready_for_repair(saga):
        _require(saga, Stage.PLANNING)
    return (e.PlanProposed(**asdict(command)),)


def record_model(_saga: Saga, command: c.RecordModel, _now: float) -> Events:
    """Record what a model cost, whatever has become of the saga meanwhile: the money is spent."""
    return (command.asked,)


def choose_plan(saga: Saga, command: c.ChoosePlan, _now: float) -> Events:
    """Choose an alternative: it is proposed, judged and put up for approval like any other; the plan shown becomes an
    alternative.

    Raises `ConflictError` for a plan that is not among the alternatives, `NotAllowedError` if none waits for approval.
    """
    if saga.stage is not Stage.AWAITING_APPROVAL:
        raise NotAllowedError(f"saga {saga.id!r} is {status_of(saga).value}: there is no plan to choose", saga_id=saga.id)
    if command.plan_hash == saga.plan.hash:
        return ()
    chosen = [each for each in saga.plan.alternatives if each["plan_hash"] == command.plan_hash]
    if not chosen:
        raise ConflictError(f"saga {saga.id!r} offers no plan {command.plan_hash}; look at what it offers now", saga_id=saga.id)
    others = tuple(each for each in saga.plan.alternatives if each["plan_hash"] != command.plan_hash)
    (taken,) = chosen[:1]
    alternatives = (_as_alternative(saga, command.shown_title), *others)
    reasons, by, reasoning = tuple(taken["reasons"]), taken.get("proposed_by", ""), taken.get("reasoning", "")
    return (
        e.PlanProposed(taken["plan_hash"], taken["plan"], taken["cost"], alternatives, reasons, by, reasoning, saga.plan.agents),
    )


def _as_alternative(saga: Saga, title: str) -> dict[str, Json]:
    plan = saga.plan
    return {
        "plan": plan.content,
        "plan_hash": plan.hash,
        "title": title,
        "cost": plan.cost,
        "reasons": list(plan.reasons),
        "considered": [],
        "proposed_by": plan.proposed_by,
        "reasoning": plan.reasoning,
    }


def judge_plan(saga: Saga, command: c.JudgePlan, _now: float) -> Events:
    _require(saga, Stage.PLANNING)
    _shown(saga, command.plan_hash)
    return (e.PlanJudged(command.plan_hash, command.verdict, command.shown),)


def declare_infeasible(saga: Saga, command: c.DeclareInfeasible, _now: float) -> Events:
    _require(saga, Stage.PLANNING)
    if saga.plan.version:
        raise NotAllowedError(f"saga {saga.id!r} has a plan already: its repair can be given up", saga_id=saga.id)
    return (e.PlanFoundInfeasible(command.reasons, command.remedies, plan_stays=saga.plan.stood is not None),)


def change_request(saga: Saga, command: c.ChangeRequest, _now: float) -> Events:
    return by_row(command.row, lambda: _request_changed(saga, command))


def _request_changed(saga: Saga, command: c.ChangeRequest) -> Events:
    is_open = saga.stage in (Stage.PLANNING, Stage.AWAITING_APPROVAL, Stage.RUNNING) and not saga.cancel_by
    if saga.driver is not e.Driver.WORKFLOW or not is_open:
        raise NotAllowedError(f"saga {saga.id!r} is {status_of(saga).value}: its request cannot be changed", saga_id=saga.id)
    if saga.pivot_is_open or saga.pivot_has_landed:
        raise NotAllowedError(
            f"saga {saga.id!r}: its pivot {saga.pivot!r} is under way: its request cannot be changed any more; cancel it",
            saga_id=saga.id,
            operation_id=saga.pivot,
        )
    if parent := amended_by(saga):
        raise NotAllowedError(
            f"saga {saga.id!r} changes saga {parent!r}: reject or cancel it, and change that again", saga_id=saga.id
        )
    if command.request == saga.request:
        return ()
    return (e.RequestChanged(command.request, command.by, command.approved_by, command.row),)


def give_up_repair(saga: Saga, command: c.GiveUpRepair, _now: float) -> Events:
    if not saga.plan.version or not (saga.stage is Stage.PLANNING or is_ready_for_repair(saga)):
        raise NotAllowedError(f"saga {saga.id!r} is {status_of(saga).value}: there is nothing to repair", saga_id=saga.id)
    return (e.RepairGivenUp(command.reasons),)


def ask_approval(saga: Saga, _command: c.AskApproval, _now: float) -> Events:
    if saga.stage is Stage.AWAITING_APPROVAL:
        return ()
    _require(saga, Stage.PLANNING)
    return (e.ApprovalAsked(str(saga.plan.hash)),)


def approve_plan(saga: Saga, command: c.ApprovePlan, _now: float) -> Events:
    return by_row(command.request, lambda: _plan_approved(saga, command))


def _plan_approved(saga: Saga, command: c.ApprovePlan) -> Events:
    if not saga.plan.approved_by:
        _require(saga, Stage.AWAITING_APPROVAL)
    shown = _shown(saga, command.plan_hash)
    return () if saga.plan.approved_by else (e.PlanApproved(shown, command.by, command.request),)


def reject_plan(saga: Saga, command: c.RejectPlan, _now: float) -> Events:
    if saga.stage is Stage.REJECTED:
        return ()
    _require(saga, Stage.AWAITING_APPROVAL)
    rejected = e.PlanRejected(_shown(saga, command.plan_hash), command.by, command.reason)
    if not saga.plan.version:
        return (rejected,)
    return (rejected, e.SagaTurnedBack(command.reason or f"its repair was rejected by {command.by}"))


def _shown(saga: Saga, insisted: str | None) -> str:
    shown = str(saga.plan.hash)
    if insisted is not None and insisted != shown:
        raise ConflictError(
            f"saga {saga.id!r} shows plan {shown}, not {insisted}; look at it again before you decide", saga_id=saga.id
        )
    return shown


def accept_plan(saga: Saga, command: c.AcceptPlan, _now: float) -> Events:
    """Accept a plan. A replan is accepted only if what it removes is settled, and nothing kept depends on it (rules 2 and 8)."""
    if saga.stage not in (Stage.PLANNING, Stage.RUNNING) or saga.cancel_by:
        raise NotAllowedError(f"saga {saga.id!r} is {status_of(saga).value}: it takes no further plan", saga_id=saga.id)
    _check_pivot_allows(saga, command)
    removed = set(command.removed)
    for name in command.removed:
        _check_removable(saga, name, removed, command.replaced)
    if strays := sorted(set(command.replaced) - removed):
        raise ConflictError(f"saga {saga.id!r}: {strays[0]!r} is replaced without being removed", saga_id=saga.id)
    kept = [each.spec for each in saga.in_order() if not each.removed and each.id not in removed]
    gone = {each.id for each in saga.operations.values()} - {spec.id for spec in kept}
    if clash := [spec.id for spec in command.operations if spec.id in gone]:
        raise ConflictError(f"saga {saga.id!r}: {clash[0]!r} was an operation of an earlier plan; use a new id")
    rebound = [rebind(_without(spec, gone - command.replaced.keys()), command.replaced) for spec in kept]
    check_workflow([*rebound, *command.operations], behind_pivot=saga.driver is e.Driver.REVERSAL)
    check_amounts(saga, command.operations)
    version = saga.plan.version + 1
    return (e.PlanAccepted(version, command.operations, command.removed, dict(command.replaced), command.revisable),)


def _check_pivot_allows(saga: Saga, command: c.AcceptPlan) -> None:
    """Check rule 5: once the pivot may be live, its prerequisites stay, and new operations must not need compensation either."""
    if not (saga.pivot_is_open or saga.pivot_has_landed):
        return
    comes = [spec.id for spec in command.operations if spec.kind in (ActionKind.COMPENSATABLE, ActionKind.PIVOT)]
    if comes or command.removed:
        name = [*comes, *command.removed][0]
        raise ConflictError(
            f"saga {saga.id!r}: a plan that changes {name!r} comes too late: the pivot {saga.pivot!r} cannot be taken back; "
            "cancel the saga",
            saga_id=saga.id,
            operation_id=name,
        )


def _check_removable(saga: Saga, name: str, removed: set[str], replaced: Mapping[str, str]) -> None:
    operation = saga.operations.get(name)
    if operation is None:
        raise UnknownOperationError(f"saga {saga.id!r} has no operation {name!r}", saga_id=saga.id, operation_id=name)
    settled = is_closed(operation) or operation.status is OperationStatus.SUCCEEDED
    kept = _kept_below(saga, name, removed, replaced)
    if settled and not kept:
        return
    why = f"{kept[0]!r} depends on it" if settled else f"it is {operation.status.value}: settle it first"
    raise ConflictError(
        f"saga {saga.id!r}: operation {name!r} cannot be removed from the plan: {why}",
        saga_id=saga.id,
        operation_id=name,
    )


def _kept_below(saga: Saga, name: str, removed: set[str], replaced: Mapping[str, str]) -> list[str]:
    """Return the operations that are kept, may be live, and would still depend on `name`, because nothing replaces it."""
    if name not in replaced:
        below = (each for each in descendants(saga, name) if each not in removed)
    else:
        below = (each for each in saga.dependents.get(name, ()) if each not in removed and _uses(saga.operations[each], name))
    return [each for each in below if not is_closed(saga.operations[each])]


def _uses(operation: Operation, name: str) -> bool:
    """Tell whether the operation has yet to be called with an output of `name`."""
    return operation.status is not OperationStatus.SUCCEEDED and name in set(references(operation.spec.inputs))


def _without(spec: OperationSpec, gone: set[str]) -> OperationSpec:
    return replace(spec, depends_on=tuple(each for each in spec.depends_on if each not in gone), condition=None)


def _require(saga: Saga, stage: Stage) -> None:
    if saga.stage is not stage:
        raise NotAllowedError(f"saga {saga.id!r} is {status_of(saga).value}, not {stage.value}", saga_id=saga.id)

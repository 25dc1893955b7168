"""Changing a saga after its commit: by an amendment, a saga of its own (ADR-0011; PROTOCOL rules 5 and 8).

An amendment knows what it changes from its request alone: what stands of its parent, under which keys, and the plan that it
books. So it can be planned, repaired, compensated and carried on without its parent's journal (rule 7).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from msgspec import structs
from pydantic import BaseModel, ConfigDict

from sagagraph.errors import ConflictError, NotAllowedError, UnknownOperationError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Operation, Saga, Stage, operation_key
from sagagraph.saga.core.status import OperationStatus
from sagagraph.saga.engine.actions import REVERSING, Action
from sagagraph.saga.engine.reversal import Undone, is_live, nearest_dependents, reversing_action
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec, resolve

AMENDMENT = "~amendment-"
"""Before the number, at the end of the ids of sagas that amend another one."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Stands(_Part):
    """An operation of the parent that is live. `below`: those of them that depend on it, with none in between."""

    id: str
    action: str
    action_version: int
    request: Any
    result: Any
    key: str
    below: tuple[str, ...]


class Amendment(_Part):
    """The request of an amendment. `fees`: what undoing has cost the parent so far."""

    amends: str
    plan_version: int
    plan_hash: str | None
    request: Any
    """What is wished for now, in the domain's own words."""
    lost: tuple[str, ...]
    """What has fallen through outside, as far as somebody said so."""
    plan: Any
    fees: float
    stands: tuple[Stands, ...]

    @property
    def by_id(self) -> dict[str, Stands]:
        return {each.id: each for each in self.stands}


def is_amendment_id(saga_id: str) -> bool:
    """Only amendments have such ids."""
    return saga_id.rpartition(AMENDMENT)[2].isdigit() and AMENDMENT in saga_id


def parent_of(saga_id: str) -> str | None:
    """What the saga of this id amends; None for an id that is no amendment's."""
    return saga_id.rpartition(AMENDMENT)[0] if is_amendment_id(saga_id) else None


def amendment_of(saga: Saga) -> Amendment | None:
    """What `saga` is to amend; None for a saga that is no amendment."""
    return None if amended_by(saga) is None else amendment_in(saga.request)


def amendment_in(request: Any) -> Amendment | None:
    return Amendment.model_validate(request) if isinstance(request, Mapping) and "amends" in request else None


def amended_by(saga: Saga) -> str | None:
    """The id of the saga that `saga` amends."""
    amendment = is_amendment_id(saga.id) and isinstance(saga.request, Mapping) and "amends" in saga.request
    return str(saga.request["amends"]) if amendment else None


def next_amendment_id(saga: Saga) -> str:
    return f"{saga.id}{AMENDMENT}{len(saga.amendments) + 1}"


def amendment_request(saga: Saga, wish: Any, lost: Collection[str], fees: float) -> dict[str, Any]:
    """Raises `UnknownOperationError` or `NotAllowedError` for a lost operation that can not be one."""
    live = {each.id: each for each in saga.in_order() if is_live(each)}
    for name in lost:
        _check_can_be_lost(saga, name, live)
    stands = tuple(
        Stands(
            id=each.id,
            action=each.spec.action,
            action_version=each.spec.action_version,
            request=resolve(each.spec.inputs, saga.outputs),
            result=each.output,
            key=operation_key(saga.id, each),
            below=tuple(sorted(nearest_dependents(saga.dependents, each.id, live))),
        )
        for each in live.values()
    )
    return Amendment(
        amends=saga.id,
        plan_version=saga.plan.version,
        plan_hash=saga.plan.hash,
        request=wish,
        lost=tuple(lost),
        plan=saga.plan.content,
        fees=fees,
        stands=stands,
    ).model_dump(mode="json")


def _check_can_be_lost(saga: Saga, name: str, live: Mapping[str, Operation]) -> None:
    if name not in saga.operations:
        raise UnknownOperationError(f"saga {saga.id!r} has no operation {name!r}", saga_id=saga.id, operation_id=name)
    if name not in live or live[name].spec.kind is not ActionKind.COMPENSATABLE:
        why = "is no reservation" if name in live else "does not stand any more"
        raise NotAllowedError(
            f"saga {saga.id!r}: operation {name!r} {why}; name one that does", saga_id=saga.id, operation_id=name
        )


# -- what the parent decides -------------------------------------------------------------------------------------------


def begin_amendment(saga: Saga, command: c.BeginAmendment, _now: float) -> e.Events:
    """Only of a saga that has committed, as it stands, and one at a time; a cancel excludes it, and it a cancel."""
    if saga.amending and (saga.amending.saga, saga.amending.request) == (command.saga, command.request):
        return ()
    if saga.stage is not Stage.COMMITTED or saga.cancel_by:
        raise NotAllowedError(f"saga {saga.id!r} {_is_busy(saga)}: it can not be changed now", saga_id=saga.id)
    if saga.driver is not e.Driver.WORKFLOW:
        raise NotAllowedError(f"saga {saga.id!r} has no plan that could be changed", saga_id=saga.id)
    if parent := amended_by(saga):
        raise NotAllowedError(f"saga {saga.id!r} has changed saga {parent!r}: change that one", saga_id=saga.id)
    if saga.redacted:
        raise NotAllowedError(f"saga {saga.id!r} can not be changed: what that would need is redacted", saga_id=saga.id)
    amendment = Amendment.model_validate(command.request)
    if (amendment.plan_version, amendment.plan_hash) != (saga.plan.version, saga.plan.hash) or command.saga in saga.amendments:
        raise ConflictError(f"saga {saga.id!r} has been changed meanwhile; look at it again", saga_id=saga.id)
    return (e.AmendmentBegun(command.saga, command.request, command.by, command.approved_by),)


def _is_busy(saga: Saga) -> str:
    if saga.amending:
        return f"is being changed by {saga.amending.saga!r}"
    return "was cancelled" if saga.cancel_by else f"is {status_of(saga).value}"


def end_amendment(saga: Saga, command: c.EndAmendment, _now: float) -> e.Events:
    return (e.AmendmentEnded(command.saga, command.reason),) if _is_open(saga, command.saga) else ()


def amend_saga(saga: Saga, command: c.AmendSaga, _now: float) -> e.Events:
    if not _is_open(saga, command.saga):
        return ()
    amended = e.SagaAmended(
        command.saga,
        saga.plan.version + 1,
        command.request,
        command.plan,
        command.plan_hash,
        command.cost,
        command.operations,
        command.outputs,
        command.needs,
        command.reasons,
    )
    return (amended,)


def _is_open(saga: Saga, amendment: str) -> bool:
    return saga.amending is not None and saga.amending.saga == amendment


def why_not_cancelled(saga: Saga) -> str:
    """Why a cancel has to wait for another saga, or belongs to it; empty where it need not."""
    if saga.amending:
        name = saga.amending.saga
        return f"it is being changed by {name!r}: cancel that first, or resume it"
    if saga.pivot_has_landed and (parent := amended_by(saga)):
        return f"it has changed saga {parent!r}, and can not be taken back by itself: resume it, then cancel {parent!r}"
    return ""


# -- what the amendment does, and leaves behind ------------------------------------------------------------------------


def undoing_specs(
    amendment: Amendment, dropped: Collection[str], prefix: str, after: str, actions: Mapping[str, Action]
) -> Iterator[OperationSpec]:
    """What undoes `dropped` operations of the parent, dependents first, once `after` has committed; ids begin with `prefix`."""
    stands = amendment.by_id
    dependents = {each.id: each.below for each in amendment.stands}
    for name in dropped:
        each = stands[name]
        request = Undone(request=each.request, result=each.result, key=each.key)
        below = sorted(nearest_dependents(dependents, name, dropped))
        needs = (after, *(f"{prefix} {dependent}" for dependent in below))
        yield reversing_action(actions[each.action]).spec(f"{prefix} {name}", request, needs)


def is_undoing(operation: Operation) -> bool:
    """Undoes an operation of another saga."""
    return operation.spec.action.endswith(REVERSING)


def undone_id(undoing_id: str) -> str:
    """The parent's operation that an operation of this id undoes."""
    return undoing_id.partition(" ")[2]


def outcome_for_parent(child: Saga) -> c.AmendSaga | c.EndAmendment:
    """What its parent is to be told of an amendment that has ended."""
    amendment = amendment_of(child)
    if amendment is None or child.stage is not Stage.COMMITTED:
        said = child.turned_back_by or "; ".join(child.plan.infeasible)
        return c.EndAmendment(child.id, f"the change ended {status_of(child).value}{said and f': {said}'}")
    undone = [each for each in child.in_order() if is_undoing(each) and each.succeeded and not each.removed]
    return c.AmendSaga(
        child.id,
        amendment.request,
        child.plan.content,
        str(child.plan.hash),
        child.plan.cost,
        tuple(_brought_in(child, amendment)),
        {undone_id(each.id): each.output for each in undone},
        {each.id: _placed(each.spec, _known(child, amendment)).depends_on for each in _kept(child, amendment)},
        child.plan.reasons,
    )


def _own(child: Saga) -> Iterator[Operation]:
    """All that ever stood, so that its fees count too; what was only read, or undone for the parent, stays behind."""
    return (each for each in child.in_order() if each.has_effect and not is_undoing(each) and _has_stood(each))


def _kept(child: Saga, amendment: Amendment) -> Iterator[Operation]:
    """What was only looked at, because it stays."""
    stands = amendment.by_id
    return (each for each in child.in_order() if each.id in stands and each.succeeded and not each.removed)


def _known(child: Saga, amendment: Amendment) -> set[str]:
    return {each.id for each in _own(child)} | amendment.by_id.keys()


def _brought_in(child: Saga, amendment: Amendment) -> Iterator[e.BroughtIn]:
    known = _known(child, amendment)
    for each in _own(child):
        is_undone = each.status is not OperationStatus.SUCCEEDED
        spec = _placed(each.spec, known)
        yield e.BroughtIn(spec, each.generation, each.total_attempts, each.output, is_undone, each.undo_output)


def _has_stood(operation: Operation) -> bool:
    return operation.status in (OperationStatus.SUCCEEDED, OperationStatus.COMPENSATED, OperationStatus.VOIDED)


def _placed(spec: OperationSpec, known: Iterable[str]) -> OperationSpec:
    return structs.replace(spec, depends_on=tuple(each for each in spec.depends_on if each in known), condition=None)

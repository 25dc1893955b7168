"""Amendments: sagas that change another saga after its commit (ADR-0011; docs/protocol.md rules 5 and 8). Pure.

An amendment knows what it changes from its request alone: which operations of its parent still stand, under which keys, and the
plan that books them. So it can be planned, repaired, compensated and resumed without its parent's journal (rule 7).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec
from msgspec import Struct, structs

from sagagraph.errors import NotAllowedError, UnknownOperationError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.reversals import is_live, is_undoing, nearest_dependents
from sagagraph.saga.core.state import Operation, Saga, Stage, operation_key
from sagagraph.saga.core.status import OperationStatus
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec, resolve
from sagagraph.workflow.values import Json

AMENDMENT = "~amendment-"
"""Before the number, at the end of the ids of sagas that amend another one."""


class Stands(Struct, frozen=True):
    """An operation of the parent that is live. `below`: the live operations that depend on it, with none in between."""

    id: str
    action: str
    action_version: int
    request: Json
    result: Json
    key: str
    below: tuple[str, ...]


class Amendment(Struct, frozen=True):
    """Request of an amendment. `fees`: what undoing has cost the parent so far."""

    amends: str
    plan_version: int
    plan_hash: str | None
    request: Json
    """What is asked for now, in the domain's terms."""
    lost: tuple[str, ...]
    """What has fallen through outside, as far as somebody has reported it."""
    plan: Json
    fees: float
    stands: tuple[Stands, ...]

    @property
    def by_id(self) -> dict[str, Stands]:
        return {each.id: each for each in self.stands}


# -- which saga amends which -------------------------------------------------------------------------------------------


def is_amendment_id(saga_id: str) -> bool:
    """Tell whether the id is an amendment's; only amendments have such ids."""
    return saga_id.rpartition(AMENDMENT)[2].isdigit() and AMENDMENT in saga_id


def parent_of(saga_id: str) -> str | None:
    """Return the id of the saga that the saga with this id amends; None if the id is no amendment's."""
    return saga_id.rpartition(AMENDMENT)[0] if is_amendment_id(saga_id) else None


def next_amendment_id(saga: Saga) -> str:
    return f"{saga.id}{AMENDMENT}{len(saga.amendments) + 1}"


def amended_by(saga: Saga) -> str | None:
    """Return the id of the saga that `saga` amends."""
    amendment = is_amendment_id(saga.id) and isinstance(saga.request, Mapping) and "amends" in saga.request
    return str(saga.request["amends"]) if amendment else None


def amendment_of(saga: Saga) -> Amendment | None:
    """Return the amendment that `saga` makes; None for a saga that is no amendment."""
    return None if amended_by(saga) is None else amendment_in(saga.request)


def amendment_in(request: Json) -> Amendment | None:
    """Return the amendment in a request. Raises `ValueError` for a request that claims to amend something but is no amendment."""
    return msgspec.convert(request, Amendment) if isinstance(request, Mapping) and "amends" in request else None


# -- what an amendment is asked for ------------------------------------------------------------------------------------


def amendment_request(saga: Saga, wish: Json, lost: Collection[str], fees: float) -> dict[str, Json]:
    """Return the request as JSON. Raises `UnknownOperationError` or `NotAllowedError` for an operation that cannot have
    been lost.
    """
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
    amendment = Amendment(
        amends=saga.id,
        plan_version=saga.plan.version,
        plan_hash=saga.plan.hash,
        request=wish,
        lost=tuple(lost),
        plan=saga.plan.content,
        fees=float(fees),
        stands=stands,
    )
    document: dict[str, Json] = msgspec.json.decode(msgspec.json.encode(amendment))
    return document


def _check_can_be_lost(saga: Saga, name: str, live: Mapping[str, Operation]) -> None:
    if name not in saga.operations:
        raise UnknownOperationError(f"saga {saga.id!r} has no operation {name!r}", saga_id=saga.id, operation_id=name)
    if name not in live or live[name].spec.kind is not ActionKind.COMPENSATABLE:
        why = "is no reservation" if name in live else "does not stand any more"
        raise NotAllowedError(
            f"saga {saga.id!r}: operation {name!r} {why}; name one that does", saga_id=saga.id, operation_id=name
        )


# -- what an amendment hands over to its parent ------------------------------------------------------------------------


def outcome_for_parent(child: Saga) -> c.AmendSaga | c.EndAmendment:
    """Return the command that reports an ended amendment to its parent."""
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


def undone_id(undoing_id: str) -> str:
    """Return the id of the parent's operation that an operation with this id undoes."""
    return undoing_id.partition(" ")[2]


def _own(child: Saga) -> Iterator[Operation]:
    """Return all operations that ever stood, so that their fees count; reads, and undoing for the parent, stay behind."""
    return (each for each in child.in_order() if each.has_effect and not is_undoing(each) and _has_stood(each))


def _kept(child: Saga, amendment: Amendment) -> Iterator[Operation]:
    """Return the operations that were only looked at, because they stay."""
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

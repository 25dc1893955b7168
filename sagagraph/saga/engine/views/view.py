"""View of a saga, as people and programs see it (docs/formats.md section 5): derived from the journal, written nowhere."""

from __future__ import annotations

from dataclasses import dataclass

from sagagraph.saga.core.decide.providers import ProviderHere
from sagagraph.saga.core.doubt.remedies import Remedy, remedy_of
from sagagraph.saga.core.events import Blocker
from sagagraph.saga.core.locks import Holding, holdings_of
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import ModelUse, Operation, PlanState, Saga, Stage, operation_key
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.workflow.operation import resolve
from sagagraph.workflow.values import Json


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost: `total` is the price of what stands, `fees` what undoing has cost; plain numbers in `currency`."""

    total: float = 0.0
    currency: str | None = None
    fees: float = 0.0


@dataclass(frozen=True, slots=True)
class Account:
    """A domain's account of a saga's money, and of what can no longer be undone."""

    cost: Cost = Cost()
    residue: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OperationView:
    id: str
    action: str
    kind: str
    status: OperationStatus
    attempts: int
    idempotency_key: str
    depends_on: tuple[str, ...]
    inputs: Json
    output: Json
    error: dict[str, str] | None
    note: str = ""
    """Why it is held, is stuck or was skipped."""
    remedy: Remedy | None = None
    """What would settle it, if it is held in doubt."""


@dataclass(frozen=True, slots=True)
class LockView:
    operation: str
    key: str
    mode: str
    begins: float | None
    ends: float | None
    amount: int
    capacity: int


@dataclass(frozen=True, slots=True)
class SagaView:
    saga_id: str
    domain: str
    status: SagaStatus
    plan_version: int
    plan_hash: str | None
    operations: tuple[OperationView, ...]
    cost: Cost = Cost()
    residue: tuple[str, ...] = ()
    reason: str = ""
    """Why it compensated, is held or stuck as a whole, is infeasible, or is being repaired."""
    reversal: str | None = None
    """The saga that undoes this one, or has undone it (docs/protocol.md rule 5)."""
    amendment: str | None = None
    """The saga that is changing this one after its commit (ADR-0011)."""
    amendments: tuple[str, ...] = ()
    """All sagas that were ever begun to change it."""
    redacted: tuple[str, ...] = ()
    """Names under which its payloads were made unreadable."""
    models: tuple[ModelUse, ...] = ()
    """What models were asked for it, and what that cost, by who asked."""
    provider: ProviderHere | None = None
    """The provider that it works with, and its last known address; None where its domain names none."""
    unverified: tuple[str, ...] = ()
    """Operations that no probe could confirm at the end (docs/protocol.md rule 9)."""
    locks: tuple[LockView, ...] = ()
    """What it keeps from other sagas (docs/protocol.md rule 12)."""
    awaits: tuple[Blocker, ...] = ()
    """What it has to wait for, and who keeps it."""
    yielded_by: str = ""
    """Who let others have its locks."""
    trusts_exceptions: bool = False
    """Its graph declares that an exception of a node says that nothing happened."""


def view_of(saga: Saga, account: Account | None = None) -> SagaView:
    told = account or Account()
    return SagaView(
        saga_id=saga.id,
        domain=saga.domain,
        status=status_of(saga),
        plan_version=saga.plan.version,
        plan_hash=saga.plan.hash,
        operations=tuple(_operation_view(saga, operation) for operation in saga.in_order()),
        cost=told.cost,
        residue=(*saga.residue, *told.residue),
        reason=_reason(saga),
        reversal=saga.reversal,
        amendment=saga.amending.saga if saga.amending else None,
        amendments=saga.amendments,
        redacted=saga.redacted,
        models=saga.models,
        provider=ProviderHere(saga.provider, saga.provider_url) if saga.provider else None,
        unverified=saga.unverified,
        locks=tuple(_lock_view(each) for each in holdings_of(saga, saga.index.locking)),
        awaits=saga.awaits,
        yielded_by=saga.yielded_by,
        trusts_exceptions=saga.trusts_exceptions,
    )


def _lock_view(each: Holding) -> LockView:
    lock = each.lock
    return LockView(each.operation, lock.key, lock.mode.value, lock.begins, lock.ends, lock.amount, lock.capacity)


def reasons_of(plan: PlanState) -> tuple[str, ...]:
    """Return why the plan is as it is; a model that proposed it is named, with its own reasoning."""
    if plan.proposed_by in ("", "solver"):
        return plan.reasons
    return (*plan.reasons, f"proposed by {plan.proposed_by}{plan.reasoning and f': {plan.reasoning}'}")


def _reason(saga: Saga) -> str:
    if saga.turned_back_by or saga.plan.infeasible:
        return saga.turned_back_by or "; ".join(saga.plan.infeasible)
    if saga.amending or saga.amendment_note:
        return f"saga {saga.amending.saga!r} changes it" if saga.amending else _in_vain(saga)
    if saga.reversal:
        return saga.reversal_hold or f"saga {saga.reversal!r} {'undid' if saga.stage is Stage.COMPENSATED else 'undoes'} it"
    return saga.body_fault.message if saga.body_fault else saga.plan.disruption


def _in_vain(saga: Saga) -> str:
    lacking = f"; {', '.join(saga.missing)} fell through, and nothing has taken its place" if saga.missing else ""
    return saga.amendment_note + lacking


def _operation_view(saga: Saga, operation: Operation) -> OperationView:
    fault = operation.fault
    return OperationView(
        id=operation.id,
        action=operation.spec.action,
        kind=operation.spec.kind.value,
        status=operation.status,
        attempts=operation.total_attempts,
        idempotency_key=operation_key(saga.id, operation),
        depends_on=operation.spec.depends_on,
        inputs=resolve(operation.spec.inputs, saga.outputs),
        output=operation.output,
        error={"code": fault.code, "message": fault.message} if fault else None,
        note=operation.hold,
        remedy=remedy_of(saga, operation),
    )

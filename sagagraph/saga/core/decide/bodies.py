"""Bodies: what a body asks for, one operation at a time, and how it ends (docs/protocol.md rules 2, 5 and 8). Pure."""

from __future__ import annotations

from msgspec.structs import replace

from sagagraph.errors import ConflictError, ProviderMismatchError, SagaClosedError, UnknownOperationError, WorkflowError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.decide.locks import check_amounts
from sagagraph.saga.core.decide.providers import is_elsewhere, why_elsewhere
from sagagraph.saga.core.dependencies import around, comes_after_pivot, descendants, is_closed
from sagagraph.saga.core.events import Events
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.redaction import is_redacted
from sagagraph.saga.core.state import Operation, Saga, Stage
from sagagraph.saga.core.status import OperationStatus
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec


def trust_exceptions(saga: Saga, command: c.TrustExceptions, _now: float) -> Events:
    return () if saga.trusts_exceptions else (e.ExceptionsTrusted(command.graph),)


def plan_operation(saga: Saga, command: c.PlanOperation, _now: float) -> Events:
    spec = command.spec
    known = saga.operations.get(spec.id)
    if known is not None:
        _check_same(saga, known, command)
        return _with_other_prerequisites(saga, known, command)
    if saga.body_completed:  # the decision about what commits has been made, and its last check may be under way
        raise SagaClosedError(f"saga {saga.id!r}: its body has ended; it starts no further operation", saga_id=saga.id)
    if saga.stage is not Stage.RUNNING or saga.cancel_by:
        raise SagaClosedError(f"saga {saga.id!r} is {status_of(saga).value}: it starts no further operation", saga_id=saga.id)
    spec = _placed_around_pivot(saga, spec)
    if unknown := [each for each in spec.depends_on if each not in saga.operations]:
        raise UnknownOperationError(
            f"saga {saga.id!r}: operation {spec.id!r} is to run after {unknown[0]!r}, which it does not have",
            saga_id=saga.id,
            operation_id=unknown[0],
        )
    if command.locked_out:
        return (e.OperationPlanned(spec), e.OperationSkipped(spec.id, command.locked_out))
    check_amounts(saga, (spec,))
    return (e.OperationPlanned(spec),)


def _check_same(saga: Saga, known: Operation, command: c.PlanOperation) -> None:
    spec = command.spec
    if is_elsewhere(saga, known, spec.provider_id):
        raise ProviderMismatchError(
            f"saga {saga.id!r}: operation {spec.id!r}: {why_elsewhere(known, spec.provider_id)}; use that one, or say with "
            "engine.same_provider that they are the same",
            saga_id=saga.id,
            known=known.spec.provider_id,
            found=spec.provider_id,
            operation_id=spec.id,
        )
    if what := _unlike(known, spec, command.formerly):
        raise ConflictError(f"saga {saga.id!r}: operation {spec.id!r} {what}", saga_id=saga.id, operation_id=spec.id)


def _unlike(known: Operation, spec: OperationSpec, formerly: tuple[tuple[str, int], ...]) -> str:
    journalled = (known.spec.action, known.spec.action_version)
    another = "use another id for another effect"
    if known.removed and not known.rejected:
        return f"was removed from the plan; {another}"
    if known.spec.inputs != spec.inputs:
        if is_redacted(known.spec.inputs):
            return "was redacted: its body cannot be run again"
        return f"was journalled with other arguments; {another}"
    if journalled not in ((spec.action, spec.action_version), *formerly):
        name, version = journalled
        return (
            f"was journalled as action {name!r} version {version}; {another}, or say formerly=({f'{name}@{version}'!r},) "
            f"if {spec.action!r} version {spec.action_version} is what became of it"
        )
    return ""


def _with_other_prerequisites(saga: Saga, known: Operation, command: c.PlanOperation) -> Events:
    """Add what a body that was edited lets a known operation come after. What is journalled stays: rule 4 counts both."""
    named = (each for each in command.after if each not in known.spec.depends_on)
    more = [each for each in named if known.id not in descendants(saga, each)]
    if saga.stage is not Stage.RUNNING:  # the order in which it goes back, or would go back, is settled
        if more and command.insists:
            raise SagaClosedError(
                f"saga {saga.id!r} is {status_of(saga).value}: operation {known.id!r} no longer comes after {more[0]!r}",
                saga_id=saga.id,
                operation_id=known.id,
            )
        return ()
    found = {each: why for each in more if (why := _why_not_after(saga, known, each))}
    if found and command.insists:
        name, why = next(iter(found.items()))
        raise ConflictError(
            f"saga {saga.id!r}: operation {known.id!r} cannot come after {name!r} any more: {why}; use another id, or leave its "
            "`after=` as it was",
            saga_id=saga.id,
            operation_id=known.id,
        )
    added = tuple(each for each in more if each not in found)
    return (e.PrerequisitesAdded(known.id, added),) if added else ()


def _why_not_after(saga: Saga, known: Operation, name: str) -> str:
    other = saga.operations.get(name)
    if other is None:
        return "the saga does not have it"
    if name == known.id or name in descendants(saga, known.id):
        return f"the journal has it after {known.id!r}"
    if not is_closed(known) and not other.succeeded:  # it would stand on something that may have to go first
        return f"it is {other.status.value}"
    is_behind_pivot = name == saga.pivot or comes_after_pivot(saga, name)
    if is_behind_pivot and known.spec.kind in (ActionKind.COMPENSATABLE, ActionKind.PIVOT):
        return "that is behind the pivot"
    return ""


def _placed_around_pivot(saga: Saga, spec: OperationSpec) -> OperationSpec:
    """Place an operation around the pivot: rule 5 for a plan that becomes known one operation at a time."""
    if spec.kind is ActionKind.PIVOT and (outer := next((each for each in around(saga, spec.id) if each.has_effect), None)):
        raise WorkflowError(
            f"saga {saga.id!r}: the pivot {spec.id!r} would wait for {outer.id!r}, which runs it, and for ever: let {outer.id!r} "
            "have no effect of its own, or run the pivot after it",
            saga_id=saga.id,
            operation_id=spec.id,
        )
    pivot = saga.pivot_operation
    if pivot is None or pivot.status in _WITHOUT_EFFECT:
        if spec.kind is ActionKind.RETRIABLE:
            raise WorkflowError(f"saga {saga.id!r}: retriable operation {spec.id!r} does not come after a pivot", saga_id=saga.id)
        return spec
    waits = pivot.status is OperationStatus.PLANNED and not _is_behind_pivot(saga, spec)
    if spec.kind is ActionKind.PIVOT or (spec.kind is ActionKind.COMPENSATABLE and not waits):
        raise WorkflowError(
            f"saga {saga.id!r}: {spec.kind.value} operation {spec.id!r} cannot come after the pivot {pivot.id!r}; "
            "run it before the pivot",
            saga_id=saga.id,
            operation_id=spec.id,
        )
    if pivot.id in spec.depends_on or (waits and spec.kind is not ActionKind.RETRIABLE):
        return spec
    return replace(spec, depends_on=(*spec.depends_on, pivot.id))


_WITHOUT_EFFECT = frozenset(
    {OperationStatus.FAILED, OperationStatus.VOIDED, OperationStatus.SKIPPED, OperationStatus.COMPENSATED}
)


def _is_behind_pivot(saga: Saga, spec: OperationSpec) -> bool:
    return any(each == saga.pivot or comes_after_pivot(saga, each) for each in spec.depends_on)


def complete_body(saga: Saga, command: c.CompleteBody, _now: float) -> Events:
    """Complete a body. What only an earlier run of it asked for is removed, and so compensated (rule 8)."""
    if saga.body_completed or saga.stage is not Stage.RUNNING:
        return ()
    removed = tuple(
        each.id for each in saga.in_order() if each.id not in command.asked and not is_closed(each) and not each.removed
    )
    for name in removed:
        if comes_after_pivot(saga, name) or name == saga.pivot:
            raise ConflictError(
                f"saga {saga.id!r}: its body did not ask for {name!r} again, which cannot be undone any more",
                saga_id=saga.id,
                operation_id=name,
            )
    kept = {each for each in descendants(saga, *removed).difference(removed) if not is_closed(saga.operations[each])}
    if kept:
        name = next(each for each in removed if kept & descendants(saga, each))
        raise ConflictError(
            f"saga {saga.id!r}: its body did not ask for {name!r} again, but for {min(kept & descendants(saga, name))!r}, "
            "which depends on it",
            saga_id=saga.id,
            operation_id=name,
        )
    return (e.BodyCompleted(removed),)


def raise_body(saga: Saga, command: c.RaiseBody, _now: float) -> Events:
    return (e.BodyFailed(command.fault),) if saga.stage is Stage.RUNNING else ()

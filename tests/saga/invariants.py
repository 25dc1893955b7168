"""The invariants I1 to I8 of docs/protocol.md, judged state by state against the truth of the providers. (I9 has tests of its
own, and I10 is judged over whole explorations.)"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sagagraph.saga.core.dependencies import comes_after_pivot, descendants
from sagagraph.saga.core.events import Via
from sagagraph.saga.core.state import Operation, Saga, Stage
from sagagraph.saga.core.status import OperationStatus
from sagagraph.workflow.condition import Failed
from tests.saga.cases import place
from tests.saga.world import Provider

GONE = frozenset({OperationStatus.FAILED, OperationStatus.VOIDED, OperationStatus.COMPENSATED, OperationStatus.SKIPPED})
NAMED = frozenset({OperationStatus.HELD, OperationStatus.COMPENSATION_FAILED})


def said(key: int) -> str:
    """What a provider answers to the call that landed under this key."""
    return f"landed as {key}"


def violations(saga: Saga, providers: Sequence[Provider]) -> Iterator[str]:
    """All but I7, which is about what can still happen."""
    known = {place(each) for each in saga.operations}
    if saga.store_epoch == 1 and any(each.landings for index, each in enumerate(providers) if index not in known):
        yield "I8 an effect of an operation that the journal does not know"
    for operation in saga.operations.values():
        provider = providers[place(operation.id)]
        if saga.stage is Stage.COMMITTED and _is_uncaught_failure(saga, operation):
            yield "I1 committed although an operation failed"
        if operation.has_effect and (provider.landings or provider.undos or operation.succeeded):
            yield from _of_operation(saga, operation, provider, providers)
        handled = operation.spec.condition
        stands = isinstance(handled, Failed) and provider.landings > 0 and _stands_rejected(saga, providers, handled.operation)
        if stands and not (operation.doubted or operation.given_up):  # what a restored store has lost may have come before
            yield "I5 a handler landed while what it handles stands"
    if saga.pivot and providers[place(saga.pivot)].live and _anything_undone(saga, providers):
        yield "I6 undone although the pivot is live"


def _stands_rejected(saga: Saga, providers: Sequence[Provider], name: str) -> bool:
    return saga.operations[name].rejected and providers[place(name)].live > 0


def _of_operation(saga: Saga, operation: Operation, provider: Provider, providers: Sequence[Provider]) -> Iterator[str]:
    if saga.stage is Stage.COMMITTED:
        counts = operation.succeeded and not operation.removed
        if counts and not provider.live == 1 == provider.landings:
            yield "I1 committed, not landed exactly once"
        if not counts and provider.live:
            yield "I1 committed, a removed or failed operation is live"
        if counts and operation.via is not Via.PERSON and operation.output not in map(said, provider.landed_as):
            yield "I1 committed, with another output than that of what landed"
    elif provider.live > 1 and operation.succeeded and saga.stage is Stage.RUNNING:
        yield "I1 a silent duplicate"
    if saga.stage is Stage.COMPENSATED and provider.live:
        yield "I2 compensated, something is live"
    if provider.undos > provider.landings:
        yield "I3 undone more often than landed"
    if operation.status in GONE and provider.live:
        yield "I4 live although it is given as without effect"
    if provider.undos and not provider.live and _any_live(saga, operation, providers):
        yield "I5 undone while a dependent is live"
    is_known = saga.store_epoch == 1  # a journal that was restored learns of its intents only now
    if is_known and provider.landings and (not operation.total_attempts or max(provider.landed_as) > operation.generation):
        yield "I8 an effect without an intent"


def _is_uncaught_failure(saga: Saga, operation: Operation) -> bool:
    """After the pivot a person may let an operation be."""
    failed = operation.rejected or (operation.status in GONE - {OperationStatus.SKIPPED} and not operation.removed)
    return failed and not operation.spec.policy.catch and not comes_after_pivot(saga, operation.id)


def _any_live(saga: Saga, operation: Operation, providers: Sequence[Provider]) -> bool:
    """What handles its failure does not need it, but all that it needs."""
    resting = [
        name for name in saga.dependents.get(operation.id, ()) if saga.operations[name].spec.condition != Failed(operation.id)
    ]
    below = {*resting, *descendants(saga, *resting)} if resting else set()
    return any(saga.operations[name].has_effect and providers[place(name)].live for name in below)


def _anything_undone(saga: Saga, providers: Sequence[Provider]) -> bool:
    """A restored saga that is to be reversed begins by voiding what may have come after its pivot (rule 11)."""
    is_to_be_reversed = saga.cancel_by is not None and saga.store_epoch > 1
    others = (each for each in saga.operations.values() if each.id != saga.pivot and each.has_effect and not each.removed)
    counted = (each for each in others if not (is_to_be_reversed and comes_after_pivot(saga, each.id)))
    return any(providers[place(each.id)].undos for each in counted)


def names_somebody(saga: Saga) -> bool:
    """A held or stuck operation, or one with an open end; or a body that failed after the pivot and has to run again."""
    return saga.body_fault is not None or any(_is_named(operation) for operation in saga.operations.values())


def _is_named(operation: Operation) -> bool:
    has_open_end = operation.spec.open_end and operation.status is OperationStatus.PLANNED and not operation.removed
    return operation.status in NAMED or has_open_end

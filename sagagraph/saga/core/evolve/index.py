"""Index of a saga's operations: what `next_steps` asks about all of them, kept up to date so that no turn looks at each.

`index_of` builds it from all operations; `with_changed` and `with_planned` update it after one of them has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from immutables import Map
from msgspec.structs import replace

from sagagraph.saga.core.dependencies import (
    descendants,
    is_closed,
    is_done_with,
    is_free,
    is_settled,
    is_undoable,
    rests_on_rejected,
)
from sagagraph.saga.core.locks import keeps_locks
from sagagraph.saga.core.state import Index, Operation, Saga, Stage
from sagagraph.saga.core.status import OperationStatus
from sagagraph.workflow.kind import ActionKind


class _Traits(NamedTuple):
    """Counted traits of one operation."""

    in_flight: bool
    calling_forward: bool
    waiting_for_person: bool
    perhaps_live: bool
    unfinished: bool
    unclosed: bool
    unsettled: bool


def index_of(saga: Saga) -> Index:
    """Build the index from the operations, the plan and the stage alone: looks at every operation."""
    after_pivot = descendants(saga, saga.pivot) if saga.pivot else frozenset()
    traits = {name: _traits(operation) for name, operation in saga.operations.items()}
    unsettled, below = _unsettled(saga, traits), _below(saga)
    operations = saga.operations.values()
    return Index(
        names=Map({each.ordinal: each.id for each in operations}),
        in_flight=sum(each.in_flight for each in traits.values()),
        calling_forward=sum(each.calling_forward for each in traits.values()),
        waiting_for_person=sum(each.waiting_for_person for each in traits.values()),
        perhaps_live=sum(each.perhaps_live for each in traits.values()),
        locking=Map({each.id: each.ordinal for each in operations if keeps_locks(saga, each)}),
        unfinished=sum(each.unfinished for each in traits.values()),
        unfinished_before_pivot=sum(
            each.unfinished for name, each in traits.items() if name != saga.pivot and name not in after_pivot
        ),
        unclosed=sum(each.unclosed for each in traits.values()),
        fatal=Map({each.id: each.ordinal for each in operations if is_fatal(each)}),
        due=Map({each.id: each.ordinal for each in operations if _is_due(saga, each, unsettled, below)}),
        unsettled=Map(unsettled),
        below=Map(below),
        after_pivot=Map(dict.fromkeys(after_pivot)),
    )


def with_changed(saga: Saga, before: Operation) -> Index:
    """Update the index after one operation of `saga` has changed from `before`: looks at it and its neighbours only."""
    index, after = saga.index, saga.operations[before.id]
    was, now = _traits(before), _traits(after)
    touched = {after.id}
    unsettled, below = index.unsettled, index.below
    if was.unsettled != now.unsettled and saga.stage is Stage.RUNNING:
        dependents = saga.dependents.get(after.id, ())
        unsettled = _with_prerequisite(unsettled, dependents, now.unsettled - was.unsettled)
        touched.update(dependents)
    if after.removed and not before.removed:
        touched.update(saga.dependents.get(after.id, ()))
    if was.unclosed != now.unclosed and after.id in below:
        below, blocked = _spread(saga, below, after.id, by=now.unclosed - was.unclosed)
        touched.update(blocked)
    if after.removed and after.id not in below and saga.stage is Stage.RUNNING:
        below = below.update(_counted(saga, (after.id,), below))
    is_before_pivot = after.id != saga.pivot and after.id not in index.after_pivot
    return replace(
        index,
        in_flight=index.in_flight + now.in_flight - was.in_flight,
        calling_forward=index.calling_forward + now.calling_forward - was.calling_forward,
        waiting_for_person=index.waiting_for_person + now.waiting_for_person - was.waiting_for_person,
        perhaps_live=index.perhaps_live + now.perhaps_live - was.perhaps_live,
        locking=_with_member(index.locking, after, is_member=keeps_locks(saga, after)) if after.spec.locks else index.locking,
        unfinished=index.unfinished + now.unfinished - was.unfinished,
        unfinished_before_pivot=index.unfinished_before_pivot + is_before_pivot * (now.unfinished - was.unfinished),
        unclosed=index.unclosed + now.unclosed - was.unclosed,
        fatal=_with_member(index.fatal, after, is_member=is_fatal(after)),
        due=_due(saga, index.due, touched, unsettled, below),
        unsettled=unsettled,
        below=below,
    )


def with_planned(saga: Saga, planned: Operation) -> Index:
    """Update the index after one operation was planned that is no pivot and has no dependents yet."""
    index, name, needs = saga.index, planned.id, planned.spec.depends_on
    unsettled, below, after_pivot = index.unsettled, index.below, index.after_pivot
    if saga.stage is Stage.RUNNING:
        waits_for = sum(not is_settled(saga.operations[each]) for each in needs)
        unsettled = unsettled.set(name, waits_for) if waits_for else unsettled
    if saga.stage is Stage.COMPENSATING or any(each in below for each in needs):
        below = below.set(name, 0)
    if any(each == saga.pivot or each in after_pivot for each in needs):
        after_pivot = after_pivot.set(name, None)
    return replace(
        index,
        names=index.names.set(planned.ordinal, name),
        locking=_with_member(index.locking, planned, is_member=keeps_locks(saga, planned)),
        unfinished=index.unfinished + 1,
        unfinished_before_pivot=index.unfinished_before_pivot + (name not in after_pivot),
        due=_due(saga, index.due, (name,), unsettled, below),
        unsettled=unsettled,
        below=below,
        after_pivot=after_pivot,
    )


# -- one operation ---------------------------------------------------------------------------------------------------


def is_fatal(operation: Operation) -> bool:
    """Tell whether it failed for good, nobody catches that, and the plan counts on it: then a workflow must turn back."""
    if operation.removed and not operation.rejected:
        return False
    if operation.status is OperationStatus.COMPENSATED and not operation.rejected:
        return True  # a person undid what the plan still counts on
    gave_up = operation.failed or (operation.given_up and operation.spec.kind is not ActionKind.PIVOT)
    return gave_up and not operation.spec.policy.catches(operation.error_code or "")


def is_calling_forward(operation: Operation) -> bool:
    return operation.status is OperationStatus.STARTED and operation.in_flight and not operation.claiming


def is_perhaps_live(operation: Operation) -> bool:
    """Tell whether it is held or stuck with an effect that may stand, which a reversal would not see."""
    was_lost = operation.status is OperationStatus.HELD and operation.lost > 0
    return operation.has_effect and (was_lost or operation.status is OperationStatus.COMPENSATION_FAILED)


def _traits(operation: Operation) -> _Traits:
    """Return an operation's traits. They are cached by kind, because few kinds differ here and each turn asks about some of
    them.
    """
    kind = (
        operation.status,
        operation.in_flight,
        operation.claiming,
        operation.removed,
        operation.rejected,
        operation.lost > 0,
        operation.doubted,
        operation.spec.kind is ActionKind.READ_ONLY,
    )
    known = _KNOWN.get(kind)
    if known is None:
        known = _KNOWN[kind] = _traits_of(operation)
    return known


_KNOWN: dict[tuple[object, ...], _Traits] = {}


def _traits_of(operation: Operation) -> _Traits:
    return _Traits(
        operation.in_flight,
        is_calling_forward(operation),
        operation.waits_for_person,
        is_perhaps_live(operation),
        not is_done_with(operation),
        not is_closed(operation),
        not is_settled(operation),
    )


def _is_due(saga: Saga, operation: Operation, unsettled: Mapping[str, int], below: Mapping[str, int]) -> bool:
    """Tell whether there may be a step for it, now or at its time, without anything happening to another operation first."""
    status = operation.status
    if operation.in_flight or saga.stage not in (Stage.RUNNING, Stage.COMPENSATING):
        return False
    if saga.stage is Stage.RUNNING and not operation.removed:
        if status is OperationStatus.PLANNED:
            return operation.id not in unsettled or (operation.doubted and rests_on_rejected(saga, operation))
        return status is OperationStatus.IN_DOUBT or (status is OperationStatus.COMPENSATING and operation.undo is not None)
    if operation.doubted and status is OperationStatus.PLANNED:
        return True  # it comes after what it depends on, as going forward: only then is it known whether it was reached
    if status is OperationStatus.IN_DOUBT and saga.doubt is not None and not is_closed(operation):
        return True  # asking is free, and tells whether what may stand on it was reached
    if is_closed(operation) or not is_free(saga, operation, below):
        return False
    return status in (OperationStatus.IN_DOUBT, OperationStatus.COMPENSATING) or (
        status is OperationStatus.SUCCEEDED and is_undoable(operation)
    )


# -- going forward: what waits for its prerequisites ------------------------------------------------------------------


def _unsettled(saga: Saga, traits: Mapping[str, _Traits]) -> dict[str, int]:
    if saga.stage is not Stage.RUNNING:
        return {}
    waits_for = (
        (name, sum(traits[each].unsettled for each in operation.spec.depends_on)) for name, operation in saga.operations.items()
    )
    return {name: count for name, count in waits_for if count}


def _with_prerequisite(unsettled: Map[str, int], dependents: Iterable[str], by: int) -> Map[str, int]:
    for each in dependents:
        count = unsettled.get(each, 0) + by
        unsettled = unsettled.set(each, count) if count else unsettled.delete(each)
    return unsettled


# -- going back: what is blocked by what depends on it -----------------------------------------------------------------


def _below(saga: Saga) -> dict[str, int]:
    """Return the counts for what goes back and everything that depends on it; empty while nothing goes back."""
    match saga.stage:
        case Stage.COMPENSATING:
            return _counted(saga, saga.operations, {})
        case Stage.RUNNING:
            return _counted(saga, (each.id for each in saga.operations.values() if each.removed), {})
        case _:
            return {}


def blocked(saga: Saga) -> frozenset[str]:
    """Return what something keeps from being undone, whatever the saga's stage: looks at every operation."""
    below = _counted(saga, saga.operations, {})
    return frozenset(each.id for each in saga.operations.values() if not is_free(saga, each, below))


def _counted(saga: Saga, roots: Iterable[str], known: Mapping[str, int]) -> dict[str, int]:
    """Count for `roots` and everything that depends on them, except what is `known`; dependents are counted first."""
    counts: dict[str, int] = {}
    stack = [(root, False) for root in roots]
    while stack:
        name, is_next = stack.pop()
        dependents = saga.dependents.get(name, ())
        if is_next:
            counts[name] = sum(
                not is_closed(saga.operations[each]) or (counts[each] if each in counts else known[each]) > 0
                for each in dependents
            )
        elif name not in counts and name not in known:
            counts[name] = 0
            stack.append((name, True))
            stack.extend((each, False) for each in dependents)
    return counts


def _spread(saga: Saga, below: Map[str, int], origin: str, *, by: int) -> tuple[Map[str, int], list[str]]:
    """Return the new counts, and the operations concerned, after `origin` was closed (`by` -1) or opened (1)."""
    changed: list[str] = []
    stack = [] if below[origin] else [origin]  # still blocked from further below, it blocks as before
    while stack:
        for each in saga.operations[stack.pop()].spec.depends_on:
            if each not in below:
                continue
            count = below[each] + by
            below = below.set(each, count)
            changed.append(each)
            if is_closed(saga.operations[each]) and count == max(by, 0):
                stack.append(each)
    return below, changed


# -- sets ------------------------------------------------------------------------------------------------------------


def _due(saga: Saga, due: Map[str, int], touched: Iterable[str], unsettled: Map[str, int], below: Map[str, int]) -> Map[str, int]:
    for name in touched:
        operation = saga.operations[name]
        due = _with_member(due, operation, is_member=_is_due(saga, operation, unsettled, below))
    return due


def _with_member(members: Map[str, int], operation: Operation, *, is_member: bool) -> Map[str, int]:
    if is_member == (operation.id in members):
        return members
    return members.set(operation.id, operation.ordinal) if is_member else members.delete(operation.id)

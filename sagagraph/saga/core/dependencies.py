"""Dependencies: who depends on whom, over all plan versions (docs/protocol.md rule 4; SagaLLM section 3.2.2). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from sagagraph.saga.core.events import Driver
from sagagraph.saga.core.state import Operation, Saga
from sagagraph.saga.core.status import OperationStatus
from sagagraph.workflow import order
from sagagraph.workflow.condition import Failed, holds
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.wellformed import dependency_digraph

if TYPE_CHECKING:
    import networkx as nx

_CLOSED = frozenset(
    {
        OperationStatus.PLANNED,
        OperationStatus.FAILED,
        OperationStatus.COMPENSATED,
        OperationStatus.VOIDED,
        OperationStatus.SKIPPED,
    }
)
_SETTLED = frozenset(
    {
        OperationStatus.SUCCEEDED,
        OperationStatus.FAILED,
        OperationStatus.VOIDED,
        OperationStatus.SKIPPED,
        OperationStatus.COMPENSATED,
    }
)

_PERHAPS_UNDONE = frozenset(
    {
        OperationStatus.COMPENSATING,
        OperationStatus.COMPENSATION_FAILED,
        OperationStatus.COMPENSATED,
        OperationStatus.VOIDED,
    }
)


def is_closed(operation: Operation) -> bool:
    """Tell whether nothing of the operation is live outside, and nothing of it can become live."""
    if operation.in_flight or (operation.doubted and operation.status is OperationStatus.PLANNED):
        return False
    return operation.status in _CLOSED or not operation.has_effect


def descendants(saga: Saga, *names: str) -> frozenset[str]:
    """Return everything that depends on any of `names`, directly or not, through skipped and removed operations."""
    return order.descendants(saga.dependents, *names)


def is_free(saga: Saga, operation: Operation, below: Mapping[str, int]) -> bool:
    """Tell whether all that depends on it is closed, so that it may be undone. `below`: as in the index.

    What runs only because it failed does not rest on it, but on all that it rests on.
    """
    blocking = below.get(operation.id, 0)
    if not blocking or not operation.spec.policy.catch:
        return not blocking
    handlers = (saga.operations[each] for each in saga.dependents.get(operation.id, ()))
    return blocking == sum(
        _handles(each, operation.id) and (not is_closed(each) or below.get(each.id, 0) > 0) for each in handlers
    )


def _handles(operation: Operation, name: str) -> bool:
    condition = operation.spec.condition
    return isinstance(condition, Failed) and condition.operation == name


def rests_on_rejected(saga: Saga, operation: Operation) -> bool:
    """Tell whether it needs what was rejected, or given up, and is yet to be undone; what handles that does not need it."""
    needs = (saga.operations[each] for each in operation.spec.depends_on)
    return any(
        (each.rejected or (each.given_up and each.removed)) and not is_closed(each) and not _handles(operation, each.id)
        for each in needs
    )


def rests_on_undone(saga: Saga, operation: Operation) -> bool:
    """Tell whether what it rests on, directly or not, has been undone, or perhaps has been: then it must no longer land, not
    even to be undone.
    """
    above = {operation.id}
    frontier = [operation]
    while frontier:
        dependent = frontier.pop()
        needs = [saga.operations[each] for each in dependent.spec.depends_on if each not in above]
        if any(each.status in _PERHAPS_UNDONE and not _handles(dependent, each.id) for each in needs):
            return True
        above.update(each.id for each in needs)
        frontier += needs
    return False


def comes_after_pivot(saga: Saga, name: str) -> bool:
    if saga.driver is Driver.REVERSAL:
        return True
    return name in saga.index.after_pivot


def is_settled(operation: Operation) -> bool:
    """Tell whether dependents need no longer wait for it; a rejected operation settles when it has been undone."""
    return operation.status in _SETTLED and (not operation.rejected or is_closed(operation))


def condition_holds(saga: Saga, operation: Operation) -> bool:
    """Evaluate the operation's condition `c_ij`, once it is no longer waiting."""
    if operation.spec.condition is None:
        return all(saga.operations[each].succeeded for each in operation.spec.depends_on)
    return holds(operation.spec.condition, saga.operations)


def is_past_pivot_gate(saga: Saga) -> bool:
    """Tell whether everything not behind the pivot has committed, or holds nothing (docs/protocol.md rule 5).

    What runs the pivot goes on meanwhile: the node of a graph, named by the beginning of the pivot's id.
    """
    waiting = saga.index.unfinished_before_pivot
    return waiting == 0 or waiting == sum(
        1 for each in around(saga, saga.pivot or "") if not each.has_effect and not is_done_with(each)
    )


def around(saga: Saga, name: str) -> Iterator[Operation]:
    """Yield the operations whose code runs `name`."""
    while name := name.rpartition("/")[0]:
        operation = saga.operations.get(name)
        if operation is not None and operation.in_flight:
            yield operation


def is_done_with(operation: Operation) -> bool:
    """Tell whether nothing more is due going forward: it committed, or it holds nothing and will not be tried again."""
    if operation.removed:
        return is_closed(operation)
    return operation.status in _SETTLED  # a read in doubt is closed, but whether it fails is still open


def graph_of(saga: Saga) -> nx.DiGraph[str]:
    """Build the dependency graph D with an edge from each operation to its dependents."""
    return dependency_digraph((operation.id, operation.spec.depends_on) for operation in saga.in_order())


def undo_order(saga: Saga) -> tuple[str, ...]:
    """Return the operations in an order in which they could be undone: dependents first."""
    return tuple(reversed(order.in_order({each.id: each.spec.depends_on for each in saga.operations.values()})))


def is_undoable(operation: Operation) -> bool:
    return operation.spec.kind is ActionKind.COMPENSATABLE

"""Well-formedness of a workflow, checked before any of it may run (ALAS section 3.2; docs/protocol.md rule 5)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from graphlib import CycleError
from typing import TYPE_CHECKING

from sagagraph.errors import WorkflowError
from sagagraph.workflow.condition import operations_named
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec, references
from sagagraph.workflow.order import descendants, in_order

if TYPE_CHECKING:
    import networkx as nx


def check_workflow(specs: Sequence[OperationSpec], *, behind_pivot: bool = False) -> None:
    """Check a workflow. Raises `WorkflowError` with every fault found, and a better order if there is one.

    `behind_pivot`: all of it comes after the pivot of another workflow, as a reversal does.
    """
    faults = workflow_faults(specs, behind_pivot=behind_pivot)
    if not faults:
        return
    order = better_order(specs)
    hint = f"; an order that works: {' → '.join(order)}" if order else ""
    raise WorkflowError("; ".join(faults) + hint)


def workflow_faults(specs: Sequence[OperationSpec], *, behind_pivot: bool = False) -> list[str]:
    """Return every fault in words, as far as it can be told: without an order, the pivot's place cannot be checked."""
    found = [*naming_faults(specs)] or [*cycle_faults(specs)]
    return found or [*([] if behind_pivot else pivot_faults(specs)), *_handler_faults(specs)]


def dependency_digraph(edges: Iterable[tuple[str, tuple[str, ...]]]) -> nx.DiGraph[str]:
    """Return a graph with an edge from each operation to its dependents: for pictures, and for rows."""
    import networkx as nx  # it is slower to import than the rest of the engine, and no execution needs it

    graph: nx.DiGraph[str] = nx.DiGraph()
    for operation, prerequisites in edges:
        graph.add_node(operation)
        graph.add_edges_from((each, operation) for each in prerequisites)
    return graph


def better_order(specs: Sequence[OperationSpec]) -> tuple[str, ...] | None:
    """Return an order that respects all data flow between the operations, with the one pivot where rule 5 requires it; or
    None.
    """
    pivots = [spec.id for spec in specs if spec.kind is ActionKind.PIVOT]
    known = {spec.id for spec in specs}
    if len(pivots) != 1 or len(known) != len(specs):
        return None
    needs = {spec.id: known & _data_needs(spec) for spec in specs}
    for spec in specs:
        if spec.kind is ActionKind.COMPENSATABLE:
            needs[pivots[0]].add(spec.id)
        elif spec.kind is ActionKind.RETRIABLE:
            needs[spec.id].add(pivots[0])
    try:
        return in_order(needs)
    except CycleError:
        return None


def _data_needs(spec: OperationSpec) -> set[str]:
    named = operations_named(spec.condition) if spec.condition else frozenset()
    return {*references(spec.inputs), *named}


def naming_faults(specs: Sequence[OperationSpec]) -> Iterator[str]:
    counted = Counter(spec.id for spec in specs)
    yield from (f"operation id {name!r} occurs {times} times" for name, times in counted.items() if times > 1)
    for spec in specs:
        for each in spec.depends_on:
            if each not in counted:
                yield f"operation {spec.id!r} depends on {each!r}, which is not in the workflow"
        for each in sorted(_data_needs(spec)):
            if each not in spec.depends_on:
                yield f"operation {spec.id!r} uses the outcome of {each!r} without depending on it"


def cycle_faults(specs: Sequence[OperationSpec]) -> Iterator[str]:
    try:
        in_order({spec.id: spec.depends_on for spec in specs})
    except CycleError as exc:
        yield "operations wait for each other: " + " → ".join(exc.args[1])


def pivot_faults(specs: Sequence[OperationSpec]) -> Iterator[str]:
    pivots = [spec.id for spec in specs if spec.kind is ActionKind.PIVOT]
    if len(pivots) > 1:
        yield f"more than one pivot: {', '.join(pivots)}"
        return
    dependents: defaultdict[str, list[str]] = defaultdict(list)
    for spec in specs:
        for each in spec.depends_on:
            dependents[each].append(spec.id)
    after = descendants(dependents, *pivots)
    for spec in specs:
        if spec.kind is ActionKind.COMPENSATABLE and spec.id in after:
            yield f"operation {spec.id!r} is compensatable but comes after the pivot {pivots[0]!r}"
        elif spec.kind is ActionKind.RETRIABLE and spec.id not in after:
            yield f"operation {spec.id!r} is retriable but does not come after a pivot"


def _handler_faults(specs: Sequence[OperationSpec]) -> Iterator[str]:
    needs = {spec.id: spec.depends_on for spec in specs}
    for spec in specs:
        for catch in spec.policy.catch:
            if spec.id not in needs.get(catch.handler, ()):
                yield f"operation {spec.id!r} names {catch.handler!r} as its handler, which does not depend on it"

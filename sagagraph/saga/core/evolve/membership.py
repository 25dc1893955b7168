"""Membership: what a plan adds, removes and replaces among the operations of a saga, and who depends on whom then. Pure."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping

from msgspec.structs import replace

from sagagraph.errors import JournalError
from sagagraph.saga.core.evolve.operations import removed
from sagagraph.saga.core.state import Operation, Saga
from sagagraph.workflow.condition import operations_named
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec, rebind


def planned_operation(saga: Saga, name: str) -> Operation:
    operation = saga.operations.get(name)
    if operation is None:
        raise JournalError(
            f"saga {saga.id!r}: version {saga.version + 1} of its journal names operation {name!r}, which was never planned",
            saga_id=saga.id,
            operation_id=name,
        )
    return operation


def with_operations(saga: Saga, specs: tuple[OperationSpec, ...]) -> Saga:
    """Add operations, which may name each other in any order."""
    operations, dependents, pivot = saga.operations, saga.dependents, saga.pivot
    added: dict[str, list[str]] = {}
    for spec in specs:
        if spec.id in operations:
            raise JournalError(f"saga {saga.id!r}: its journal plans operation {spec.id!r} twice", saga_id=saga.id)
        doubted = saga.doubt is not None and spec.kind is not ActionKind.READ_ONLY
        operation = Operation(spec=spec, ordinal=len(operations), plan_version=saga.plan.version, doubted=doubted)
        operations = operations.set(spec.id, operation)
        pivot = spec.id if spec.kind is ActionKind.PIVOT else pivot
        for prerequisite in spec.depends_on:
            added.setdefault(prerequisite, []).append(spec.id)
    for spec in specs:
        _check_prerequisites(saga.id, spec, operations)
    for prerequisite, names in added.items():
        dependents = dependents.set(prerequisite, (*dependents.get(prerequisite, ()), *names))
    return replace(saga, operations=operations, dependents=dependents, pivot=pivot)


def _check_prerequisites(saga_id: str, spec: OperationSpec, planned: Container[str]) -> None:
    needed = spec.depends_on if spec.condition is None else (*spec.depends_on, *sorted(operations_named(spec.condition)))
    for name in needed:
        if name not in planned:
            raise JournalError(
                f"saga {saga_id!r}: operation {spec.id!r} depends on {name!r}, which its journal never planned",
                saga_id=saga_id,
                operation_id=spec.id,
            )


def with_removed(saga: Saga, names: tuple[str, ...]) -> Saga:
    operations = saga.operations
    for name in names:
        operations = operations.set(name, removed(planned_operation(saga, name)))
    return replace(saga, operations=operations)


def with_replaced(saga: Saga, replaced: dict[str, str]) -> Saga:
    """Make kept operations that depended on a removed one depend on its replacement."""
    operations, dependents = saga.operations, saga.dependents
    for old, new in replaced.items():
        planned_operation(saga, new)
        moved = tuple(each for each in dependents.get(old, ()) if not operations[each].removed)
        for name in moved:
            operation = planned_operation(saga, name)
            operations = operations.set(name, replace(operations[name], spec=rebind(operation.spec, {old: new})))
        dependents = dependents.set(old, tuple(each for each in dependents.get(old, ()) if each not in moved))
        dependents = dependents.set(new, tuple(dict.fromkeys((*dependents.get(new, ()), *moved))))
    return replace(saga, operations=operations, dependents=dependents)


def with_needs(saga: Saga, needs: Mapping[str, tuple[str, ...]], *, without: Collection[str]) -> Saga:
    """Make kept operations come after `needs` from now on, and no longer after any of `without`."""
    operations, dependents = saga.operations, saga.dependents
    for name, more in needs.items():
        operation = planned_operation(saga, name)
        before = operation.spec.depends_on
        after = tuple(dict.fromkeys((*(each for each in before if each not in without), *more)))
        operations = operations.set(name, replace(operation, spec=replace(operation.spec, depends_on=after)))
        for each in set(before) - set(after):
            dependents = dependents.set(each, tuple(other for other in dependents.get(each, ()) if other != name))
        for each in set(after) - set(before):
            dependents = dependents.set(each, (*dependents.get(each, ()), name))
    return replace(saga, operations=operations, dependents=dependents)

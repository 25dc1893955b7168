"""S_D: who depends on whom, through what, and who takes which resource."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sagagraph.saga.core import events as e
from sagagraph.saga.core.state import Operation, Saga
from sagagraph.saga.core.status import OperationStatus
from sagagraph.saga.stores.projections.conditions import in_words
from sagagraph.saga.stores.projections.step import Step
from sagagraph.workflow.operation import reference, references_with_paths, resolve


class DependencyKind(StrEnum):
    CAUSAL = "causal"
    DATA = "data"
    RESOURCE = "resource"


class DependencyStatus(StrEnum):
    OPEN = "open"
    """Not asked yet."""
    SATISFIED = "satisfied"
    UNSATISFIED = "unsatisfied"


@dataclass(frozen=True, slots=True)
class Dependency:
    """`operation` depends on `depends_on`. `through`: nothing (causal), the path in its output (data), the resource's name."""

    saga_id: str
    operation: str
    depends_on: str
    kind: str
    through: str
    condition: str | None
    """Causal: `c_ij` of the operation, in words."""
    value: Any
    """Data: what was handed over."""
    status: str
    plan_version: int
    planned_at: float
    decided_at: float | None


class AllocationState(StrEnum):
    WANTED = "wanted"
    UNCERTAIN = "uncertain"
    """Whether it is taken has to be found out, or is being undone."""
    TAKEN = "taken"
    NOT_TAKEN = "not_taken"
    RELEASED = "released"


@dataclass(frozen=True, slots=True)
class Allocation:
    saga_id: str
    operation: str
    resource: str
    state: str
    since: float


_ALLOCATIONS = {
    OperationStatus.PLANNED: AllocationState.WANTED,
    OperationStatus.SUCCEEDED: AllocationState.TAKEN,
    OperationStatus.FAILED: AllocationState.NOT_TAKEN,
    OperationStatus.SKIPPED: AllocationState.NOT_TAKEN,
    OperationStatus.COMPENSATED: AllocationState.RELEASED,
    OperationStatus.VOIDED: AllocationState.RELEASED,
}


def _allocation_of(operation: Operation) -> AllocationState:
    return _ALLOCATIONS.get(operation.status, AllocationState.UNCERTAIN)


class DependencyFold:
    def __init__(self) -> None:
        self._planned_at: dict[str, float] = {}
        self._decided: dict[str, tuple[float, bool]] = {}
        self._handed: dict[str, dict[tuple[str, str], Any]] = {}
        self._allocated: dict[str, tuple[AllocationState, float]] = {}

    def see(self, step: Step) -> None:
        event, at = step.entry.event, step.entry.at
        for operation in step.changed():
            self._planned_at.setdefault(operation.id, at)
            state = _allocation_of(operation)
            if operation.spec.resources and self._allocated.get(operation.id, (None, at))[0] is not state:
                self._allocated[operation.id] = (state, at)
        match event:
            case e.AttemptStarted() if event.operation not in self._handed:
                before = step.before.operations[event.operation]
                self._decided[before.id] = (at, True)
                self._handed[before.id] = dict(_handed_over(step.before, before))
            case e.OperationSkipped():
                self._decided[event.operation] = (at, False)

    def dependencies(self, saga: Saga) -> Iterator[Dependency]:
        last_user: dict[str, str] = {}
        for operation in saga.in_order():
            edges = [*_causal(operation), *self._data(operation), *_shared(operation, last_user)]
            for depends_on, kind, through, condition, value in edges:
                at, satisfied = self._decided.get(operation.id, (None, None))
                yield Dependency(
                    saga_id=saga.id,
                    operation=operation.id,
                    depends_on=depends_on,
                    kind=kind.value,
                    through=through,
                    condition=condition,
                    value=value,
                    status=_STATUS[satisfied].value,
                    plan_version=operation.plan_version,
                    planned_at=self._planned_at[operation.id],
                    decided_at=at,
                )

    def _data(self, operation: Operation) -> Iterator[_Edge]:
        handed = self._handed.get(operation.id, {})
        for name, path in _data_paths(operation):
            yield name, DependencyKind.DATA, path, None, handed.get((name, path))

    def allocations(self, saga: Saga) -> Iterator[Allocation]:
        for operation in saga.in_order():
            for resource in dict.fromkeys(operation.spec.resources):
                state, since = self._allocated[operation.id]
                yield Allocation(saga.id, operation.id, resource, state.value, since)


_Edge = tuple[str, DependencyKind, str, str | None, Any]
_STATUS = {None: DependencyStatus.OPEN, True: DependencyStatus.SATISFIED, False: DependencyStatus.UNSATISFIED}


def _causal(operation: Operation) -> Iterator[_Edge]:
    condition = in_words(operation.spec)
    for name in dict.fromkeys(operation.spec.depends_on):
        yield name, DependencyKind.CAUSAL, "", condition, None


def _data_paths(operation: Operation) -> list[tuple[str, str]]:
    found = ((name, _written(path)) for name, path in references_with_paths(operation.spec.inputs))
    return list(dict.fromkeys(found))


def _handed_over(saga: Saga, operation: Operation) -> Iterator[tuple[tuple[str, str], Any]]:
    for name, path in references_with_paths(operation.spec.inputs):
        source = saga.operations.get(name)
        outputs = {name: source.output} if source is not None and source.succeeded else {}
        yield (name, _written(path)), resolve(reference(name, *path), outputs)


def _written(path: tuple[str | int, ...]) -> str:
    return ".".join(str(each) for each in path)


def _shared(operation: Operation, last_user: dict[str, str]) -> Iterator[_Edge]:
    """Each operation is linked to the one before it in the plan that takes the same resource."""
    for resource in dict.fromkeys(operation.spec.resources):
        earlier = last_user.get(resource)
        last_user[resource] = operation.id
        if earlier is not None:
            yield earlier, DependencyKind.RESOURCE, resource, None, None

"""A saga as the ground of contexts: what its journal says at one version, and nothing of what a planner said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import to_builtins

from sagagraph.context.manager import GroundAt
from sagagraph.context.selector import Ground
from sagagraph.errors import UnknownOperationError
from sagagraph.saga.core.events import Entry
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.state import Operation, Saga
from sagagraph.workflow.operation import resolve


class SagaGround:
    def __init__(self, saga: Saga) -> None:
        self._saga = saga

    @property
    def wishes(self) -> Mapping[str, Any]:
        """The fields of the request, where it has any."""
        return self._saga.request if isinstance(self._saga.request, Mapping) else {}

    def inputs(self, operation: str) -> Any:
        return resolve(self._found(operation).spec.inputs, self._saga.outputs)

    def prerequisites(self, operation: str) -> Sequence[str]:
        return self._found(operation).spec.depends_on

    def constraint(self, operation: str) -> Any:
        condition = self._found(operation).spec.condition
        return None if condition is None else to_builtins(condition)

    def has_output(self, operation: str) -> bool:
        return self._found(operation).succeeded

    def output(self, operation: str) -> Any:
        return self._found(operation).output

    def _found(self, operation: str) -> Operation:
        if operation not in self._saga.operations:
            raise UnknownOperationError(f"saga {self._saga.id!r} has no operation {operation!r}", saga_id=self._saga.id)
        return self._saga.operations[operation]


def ground_at(saga_id: str, entries: Sequence[Entry]) -> GroundAt:
    """Any version of a saga, folded from its journal."""

    def at(version: int) -> Ground:
        return SagaGround(fold(saga_id, entries[:version]))

    return at

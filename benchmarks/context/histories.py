"""Long histories of one saga, of several shapes, and a source that counts what is asked of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from sagagraph.context.selector import ContextSource
from sagagraph.saga.core import events as e
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.state import Saga
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec

SAGA = "long"
LAST = "last"

Shape = Callable[[int, Random], Sequence[int]]
"""Which of the operations before number n it depends on."""


def _chain(number: int, _random: Random) -> Sequence[int]:
    return range(max(0, number - 1), number)


def _star(_number: int, _random: Random) -> Sequence[int]:
    return ()


def _tangle(number: int, random: Random) -> Sequence[int]:
    return sorted({random.randrange(number) for _ in range(min(number, 4))})


SHAPES: Mapping[str, Shape] = {"chain": _chain, "fan-in": _star, "tangle": _tangle}


def history(shape: str, operations: int) -> tuple[e.Entry, ...]:
    """So many operations that succeeded, and a last one; of a fan-in it depends on all of them, otherwise on the latest one."""
    random = Random(operations)  # noqa: S311 - the same history every time
    happened: list[e.Event] = [e.SagaBegun(e.Driver.BODY, "", {"budget": 5000, "stars": [3, 4], "direct": "preferred"})]
    for number in range(operations):
        before = tuple(f"book-{each}" for each in SHAPES[shape](number, random))
        happened += _succeeded(f"book-{number}", before)
    names = range(operations) if shape == "fan-in" else range(operations - 1, operations)
    happened.append(e.OperationPlanned(_spec(LAST, tuple(f"book-{each}" for each in names))))
    return tuple(e.Entry(version, 1, 1_700_000_000.0 + version, event) for version, event in enumerate(happened, 1))


def folded(entries: Sequence[e.Entry]) -> Saga:
    return fold(SAGA, entries)


def _succeeded(name: str, after: tuple[str, ...]) -> tuple[e.Event, ...]:
    output = {"id": f"r-{name}", "state": "confirmed", "price": 412.5, "currency": "EUR", "at": "2025-05-01T12:00:00Z"}
    planned, started = e.OperationPlanned(_spec(name, after)), e.AttemptStarted(name, 1, 1, f"{SAGA}/{name}/1", 1_800_000_000.0)
    return planned, started, e.OperationSucceeded(name, output)


def _spec(name: str, after: tuple[str, ...]) -> OperationSpec:
    return OperationSpec(name, "book", ActionKind.COMPENSATABLE, {"hotel": "Hotel am Dom", "nights": 3}, after)


class Counting:
    """A source that counts the questions: the work of choosing a slice, on any machine."""

    def __init__(self, source: ContextSource) -> None:
        self._source = source
        self.asked: Counter[str] = Counter()

    @property
    def wishes(self) -> Mapping[str, Any]:
        return self._source.wishes

    def inputs(self, operation: str) -> Any:
        return self._source.inputs(operation)

    def prerequisites(self, operation: str) -> Sequence[str]:
        self.asked["prerequisites"] += 1
        return self._source.prerequisites(operation)

    def constraint(self, operation: str) -> Any:
        return self._source.constraint(operation)

    def has_output(self, operation: str) -> bool:
        self.asked["visited"] += 1
        return self._source.has_output(operation)

    def output(self, operation: str) -> Any:
        self.asked["outputs"] += 1
        return self._source.output(operation)

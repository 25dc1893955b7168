"""What the pure core takes for one turn of the coordinator, and how that grows with the saga.

`python -m benchmarks.turns` prints the figures.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterable

from benchmarks.fold import folded, journal
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.decide.decide import decide, intent
from sagagraph.saga.core.evolve.evolve import evolve, fold
from sagagraph.saga.core.next_steps import is_quiet, next_steps, status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.core.steps import CallAction, CallCompensation, Record, Verify
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import OperationSpec

Shape = Callable[[int], tuple[str, ...]]
"""What the operation of this number depends on."""


def chain(number: int) -> tuple[str, ...]:
    return (str(number - 1),) if number else ()


def apart(_number: int) -> tuple[str, ...]:
    return ()


def star(number: int) -> tuple[str, ...]:
    return ("0",) if number else ()


def appended(saga: Saga, events: Iterable[e.Event], now: float) -> Saga:
    for event in events:
        saga = evolve(saga, e.Entry(saga.version + 1, saga.epoch, now, event))
    return saga


def planned(operations: int, shape: Shape, kind: ActionKind = ActionKind.COMPENSATABLE) -> Saga:
    """A workflow that is about to start."""
    specs = tuple(OperationSpec(str(number), "book", kind, None, shape(number)) for number in range(operations))
    begun = e.Entry(1, 1, 0.0, e.SagaBegun(e.Driver.WORKFLOW, "", None))
    return fold("trip", [begun, e.Entry(2, 1, 0.0, e.PlanAccepted(1, specs))])


def run(saga: Saga) -> Saga:
    """One reply a turn, until nothing is due: what the coordinator asks of the core, and nothing else."""
    waiting: list[str] = []
    now = saga.last_at
    while True:
        saga = _settled(saga, now)
        for step in next_steps(saga, now):
            if isinstance(step, CallAction | CallCompensation):
                saga = appended(saga, (intent(saga, step, now),), now)
                waiting.append(step.operation)
            elif isinstance(step, Verify):
                saga = appended(saga, decide(saga, c.Verified(step.committing, {}, ()), now), now)
        if not waiting:
            return saga
        name = waiting.pop(0)
        undoing = saga.operations[name].undo is not None
        reply = c.UndoReplied(name, None) if undoing else c.ActionReplied(name, None)
        saga = appended(saga, decide(saga, reply, now), now)
        is_quiet(saga)
        status_of(saga)


def _settled(saga: Saga, now: float) -> Saga:
    while records := [step.event for step in next_steps(saga, now) if isinstance(step, Record)]:
        saga = appended(saga, records, now)
    return saga


def one_more(saga: Saga, turns: int = 200) -> float:
    """Seconds for one more operation of a body: planned, started, succeeded. The median of some."""
    taken = []
    for number in range(turns):
        begun = time.perf_counter()
        spec = OperationSpec(f"more-{number}", "book", ActionKind.COMPENSATABLE, None)
        saga = appended(saga, decide(saga, c.PlanOperation(spec), saga.last_at), saga.last_at)
        saga = run(saga)
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def forward(operations: int, shape: Shape, kind: ActionKind = ActionKind.COMPENSATABLE) -> float:
    """Seconds for a whole workflow, from its plan to its end."""
    saga = planned(operations, shape, kind)
    return _seconds(saga, SagaStatus.COMMITTED)


def back(operations: int, shape: Shape) -> float:
    """Seconds to compensate a workflow all of whose operations but the last have succeeded."""
    saga = planned(operations, shape)
    for number in range(operations):
        name = str(number)
        saga = appended(saga, (e.AttemptStarted(name, 1, 1, name, 0.0),), 0.0)
        last = number == operations - 1
        fault = e.Fault("sold_out", "sold out")
        saga = appended(saga, (e.OperationFailed(name, fault) if last else e.OperationSucceeded(name, None),), 0.0)
    return _seconds(saga, SagaStatus.COMPENSATED)


def _seconds(saga: Saga, ends: SagaStatus) -> float:
    begun = time.perf_counter()
    ended = run(saga)
    taken = time.perf_counter() - begun
    if status_of(ended) is not ends:
        raise RuntimeError(f"the saga is {status_of(ended)}, not {ends}: nothing was measured")
    return taken


def main() -> None:
    for size in (100, 10_000):
        sys.stdout.write(f"a body of {size} operations: {one_more(folded(journal(size))) * 1e6:.0f} us for one more\n")
    for shape in (chain, apart, star):
        for size in (1_000, 10_000):
            seconds, undone = forward(size, shape), back(size, shape)
            sys.stdout.write(f"{shape.__name__} of {size}: {seconds:.2f} s forward, {undone:.2f} s back\n")
    sys.stdout.write(f"chain of 10000 reads: {forward(10_000, chain, ActionKind.READ_ONLY):.2f} s forward\n")


if __name__ == "__main__":
    main()

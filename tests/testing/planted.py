"""A storm over a library that is broken on purpose: `python -m tests.testing.planted FAULT [OPTIONS OF THE STORM]`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from unittest.mock import patch

import typer

from sagagraph.saga.core import in_doubt as settle
from sagagraph.saga.core import next_steps as agenda
from sagagraph.saga.core.events import Fault, OperationFailed, ProbeAnswer, Via
from sagagraph.saga.core.state import Operation
from sagagraph.saga.core.steps import Record, Step
from sagagraph.saga.engine.coordinator import Coordinator
from sagagraph.saga.stores.sql import INSERT_EVENT, Append, SqlSagaStore
from tests.support.storm.__main__ import storm

_seal = settle.seal


def believes_in_absence(operation: Operation, now: float, *, may_claim: bool) -> Step:
    """Rule 3b forgotten: a probe that found nothing is taken for a proof that nothing will land."""
    if operation.probe is ProbeAnswer.ABSENT:
        return Record(OperationFailed(operation.id, operation.fault or Fault("absent", "nothing was there"), Via.PROBE))
    return _seal(operation, now, may_claim=may_claim)


def appends_without_a_fence(self: SqlSagaStore, append: Append) -> None:
    """Rule 6 forgotten: whoever was superseded is not told."""
    lease, last = append.lease, append.rows[-1]
    moved = self._execute(
        "UPDATE sagas SET version = ?, stage = ?, updated_at = ? WHERE saga_id = ? AND epoch = ? AND version = ?",
        (last.version, append.stage.value, last.at, lease.saga_id, lease.epoch, append.version),
    )
    for parameters in append.parameters if moved.rowcount == 1 else ():
        self._execute(INSERT_EVENT, parameters)


async def is_sure(_self: Coordinator) -> None:
    """And whoever was frozen does not look."""


def forget_the_fence() -> None:
    patch.object(SqlSagaStore, "_append", appends_without_a_fence).start()
    patch.object(Coordinator, "check_still_held", is_sure).start()


FAULTS: dict[str, Callable[[], object]] = {
    "keys": lambda: patch.object(settle, "remembers_key", lambda _operation, _now: True).start(),
    "undo keys": lambda: patch.object(settle, "_remembers_undo_key", lambda _operation, _undo, _now: True).start(),
    "absence": lambda: patch.object(agenda, "seal", believes_in_absence).start(),
    "fence": forget_the_fence,
}


if __name__ == "__main__":
    FAULTS[sys.argv.pop(1)]()
    typer.run(storm)

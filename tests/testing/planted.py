"""A storm over a library that is broken on purpose: `python -m tests.testing.planted FAULT [OPTIONS OF THE STORM]`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from unittest.mock import patch

import typer

from sagagraph.saga.core import in_doubt, next_steps
from sagagraph.saga.core.events import Fault, OperationFailed, ProbeAnswer, Via
from sagagraph.saga.core.state import Operation
from sagagraph.saga.core.steps import Record, Step
from sagagraph.saga.engine.coordinator import Coordinator
from sagagraph.saga.stores.sql_store import Append
from tests.support.storm.__main__ import storm

_seal = in_doubt.seal


def believes_in_absence(operation: Operation, now: float, *, may_claim: bool, may_void: bool = True) -> Step:
    """Rule 3b forgotten: a probe that found nothing is taken for a proof that nothing will land."""
    if operation.probe is ProbeAnswer.ABSENT:
        return Record(OperationFailed(operation.id, operation.fault or Fault("absent", "nothing was there"), Via.PROBE))
    return _seal(operation, now, may_claim=may_claim, may_void=may_void)


def believes_that_it_was_appended(_self: Append, _held: bool) -> None:
    """Rule 6 forgotten: whoever was superseded is not told."""


async def is_sure(_self: Coordinator) -> None:
    """And whoever was frozen does not look."""


def forget_the_fence() -> None:
    patch.object(Append, "answer", believes_that_it_was_appended).start()
    patch.object(Coordinator, "check_still_held", is_sure).start()


FAULTS: dict[str, Callable[[], object]] = {
    "keys": lambda: patch.object(in_doubt, "remembers_key", lambda _operation, _now: True).start(),
    "undo keys": lambda: patch.object(in_doubt, "_remembers_undo_key", lambda _operation, _undo, _now: True).start(),
    "absence": lambda: patch.object(next_steps, "seal", believes_in_absence).start(),
    "fence": forget_the_fence,
}


if __name__ == "__main__":
    FAULTS[sys.argv.pop(1)]()
    typer.run(storm)

"""A storm over a library that is broken on purpose: `python -m tests.testing.planted FAULT [OPTIONS OF THE STORM]`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from unittest.mock import patch

import typer

from sagagraph.saga.core.decide import calls
from sagagraph.saga.core.doubt import in_doubt
from sagagraph.saga.engine.coordinator import Coordinator
from sagagraph.saga.stores.sql_store import Append
from tests.support.storm.__main__ import storm


def believes_that_it_was_appended(_self: Append, _held: bool) -> None:
    """Rule 6 forgotten: whoever was superseded is not told."""


async def is_sure(_self: Coordinator) -> None:
    """And whoever was frozen does not look."""


def forget_the_fence() -> None:
    patch.object(Append, "answer", believes_that_it_was_appended).start()
    patch.object(Coordinator, "check_still_held", is_sure).start()


def believe_in_absence() -> None:
    """Rule 3b forgotten: a probe that found nothing is taken for a proof that nothing will land, and no last check looks."""
    patch.object(in_doubt, "final_from", lambda _operation: 0.0).start()
    patch.object(in_doubt, "is_final", lambda _operation, _at: True).start()
    patch.object(calls, "is_final", lambda _operation, _at: True).start()
    patch.object(calls, "_contradictions", lambda _saga, _command: []).start()


FAULTS: dict[str, Callable[[], object]] = {
    "keys": lambda: patch.object(in_doubt, "remembers_key", lambda _operation, _now: True).start(),
    "undo keys": lambda: patch.object(in_doubt, "_remembers_undo_key", lambda _operation, _undo, _now: True).start(),
    "absence": believe_in_absence,
    "fence": forget_the_fence,
}


if __name__ == "__main__":
    FAULTS[sys.argv.pop(1)]()
    typer.run(storm)

"""The real engine, simulated: seed after seed, judged by the provider's ledger, and with faults planted in the core.

`SAGAGRAPH_SEEDS=100000` simulates so many. A seed that fails prints its history; `simulate(seed)` repeats it.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable

import pytest

from sagagraph.saga.core.evolve import index
from sagagraph.saga.core.status import SagaStatus

from . import test_planted_faults as planted
from .simulation import simulate

SEEDS = int(os.environ.get("SAGAGRAPH_SEEDS", "150"))
QUICK_SEEDS = 20
PATIENCE_SEEDS = 60
"""So many seeds find each fault below."""


@pytest.mark.quick
def test_a_seed_is_one_history() -> None:
    for seed in range(3):
        once, again = simulate(seed), simulate(seed)
        assert once.lines
        assert (once.lines, once.steps, once.status) == (again.lines, again.steps, again.status)


@pytest.mark.quick
def test_no_seed_of_a_few_breaks_an_invariant() -> None:
    _check(range(QUICK_SEEDS))


def test_no_seed_breaks_an_invariant() -> None:
    ends = _check(range(QUICK_SEEDS, SEEDS))
    assert min(ends[SagaStatus.COMMITTED], ends[SagaStatus.COMPENSATED]) > SEEDS / 10


def _check(seeds: range) -> Counter[SagaStatus]:
    ends: Counter[SagaStatus] = Counter()
    steps, begun = 0, time.monotonic()
    for seed in seeds:
        history = simulate(seed)
        assert not history.faults, str(history)
        ends[history.status] += 1
        steps += history.steps
    rate = len(seeds) / (time.monotonic() - begun)
    print(f"{len(seeds)} histories, {steps} steps, {rate:.0f} histories a second: {dict(ends)}")  # noqa: T201 - what it is for
    return ends


@pytest.mark.parametrize(
    ("plant", "breaks"),
    [
        (planted.lost_is_failed, "I2"),
        (planted.absent_allows_an_attempt, "I1"),
        (planted.a_claim_is_not_undone, "I2"),
        (planted.any_order, "I5"),
        (planted.ancestors_first, "I5"),
        (planted.any_undo_may_be_repeated, "I3"),
        (planted.a_takeover_forgets_what_was_under_way, "I1"),
        (planted.other_prerequisites_are_ignored, "I5"),
        (planted.other_prerequisites_do_not_bind, "I5"),
    ],
)
def test_a_planted_fault_is_found(
    plant: Callable[[pytest.MonkeyPatch], None], breaks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_KNOWN", {})
    plant(monkeypatch)
    found = next((history for seed in range(PATIENCE_SEEDS) if (history := simulate(seed)).faults), None)
    assert found is not None
    assert found.faults[0].startswith(breaks), str(found)

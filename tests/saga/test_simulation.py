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
from .simulation import FaultyStore, simulate

SEEDS = int(os.environ.get("SAGAGRAPH_SEEDS", "150"))
QUICK_SEEDS = 20


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


# -- faults planted in the core, and in what it stands on -------------------------------------------------------------------


def commits_are_acknowledged_early(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(FaultyStore, "acknowledges_early", True)


FOUND_BY = {
    planted.lost_is_failed: 15,
    planted.absent_allows_an_attempt: 17,
    planted.absent_closes_when_going_back: 91,
    planted.giving_up_does_not_seal: 15,
    planted.a_later_refusal_is_definite: 15,
    planted.keys_stay_after_a_final_refusal: 24,
    planted.any_order: 3,
    planted.ancestors_first: 3,
    planted.any_undo_may_be_repeated: 9,
    planted.an_open_pivot_is_ignored: 87,
    planted.a_cancel_is_not_queued: 87,
    planted.a_takeover_forgets_what_was_under_way: 5,
    planted.removed_operations_stay: 38,
    planted.other_prerequisites_are_ignored: 34,
    planted.what_becomes_ready_is_not_noticed: 12,
    planted.what_becomes_free_is_not_noticed: 12,
    commits_are_acknowledged_early: 3,
}
"""A seed for each; whoever changes what seeds draw looks for other ones."""


@pytest.mark.parametrize("plant", FOUND_BY, ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_found(plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_KNOWN", {})
    assert not simulate(FOUND_BY[plant]).faults
    plant(monkeypatch)
    monkeypatch.setattr(index, "_KNOWN", {})
    assert simulate(FOUND_BY[plant]).faults

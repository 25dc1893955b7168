"""The real engine, simulated: seed after seed, judged by the provider's ledger, and with faults planted in the core.

`SAGAGRAPH_SEEDS=100000` simulates so many. A seed that fails prints its history; `simulate(seed)` repeats it.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest
from msgspec.structs import replace

from sagagraph.errors import SagaClosedError, StoreError, UnknownSagaError
from sagagraph.saga.core.events import Entry
from sagagraph.saga.core.evolve import index
from sagagraph.saga.core.state import Stage
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine import coordinator, holder
from sagagraph.saga.engine.body import BodySaga
from sagagraph.saga.engine.clock import StoreClock
from sagagraph.saga.engine.leases import LeaseKeeper
from sagagraph.saga.stores import memory
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.port import Lease, RequestKind

from . import test_planted_faults as planted
from .simulated_world import ALIKE, SETTLING, SWARM
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


@pytest.mark.quick
def test_seeds_that_once_broke_something_break_nothing() -> None:
    _check([SWARM + 78, SWARM + 47_541, ALIKE + 138, ALIKE + 1615, ALIKE + 10_038, ALIKE + 47_414])


def test_no_seed_breaks_an_invariant() -> None:
    """A half of them have much of some troubles and nothing of others: of those, a third has a provider that promises one thing,
    and a third one of whom most operations settle, or have an undo that copes with doubt.
    """
    swarm = SEEDS // 6
    ends = _check(
        [*range(QUICK_SEEDS, SEEDS - 3 * swarm), *(first + n for first in (SWARM, ALIKE, SETTLING) for n in range(swarm))]
    )
    assert min(ends[SagaStatus.COMMITTED], ends[SagaStatus.COMPENSATED]) > SEEDS / 10


def _check(seeds: Sequence[int]) -> Counter[SagaStatus]:
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
    """What is acknowledged can be lost; so calls go out whose intents nobody will ever see."""
    patch.setattr(FaultyStore, "acknowledges_early", True)


def nobody_is_fenced(patch: pytest.MonkeyPatch) -> None:
    planted.epochs_are_not_checked(patch)
    real = MemorySagaStore.append

    async def append(store: MemorySagaStore, lease: Lease, entries: Sequence[Entry], **options: Any) -> None:
        saga = store._any(lease.saga_id)
        moved = [replace(each, version=len(saga.rows) + n, epoch=saga.epoch) for n, each in enumerate(entries, 1)]
        await real(store, dataclasses.replace(lease, epoch=saga.epoch), moved, **options)

    patch.setattr(MemorySagaStore, "append", append)


def any_provider_is_believed(patch: pytest.MonkeyPatch) -> None:
    for module in (holder, coordinator):
        patch.setattr(module, "is_elsewhere", lambda _saga, _operation, _provider: False)


def a_restored_store_is_believed(patch: pytest.MonkeyPatch) -> None:
    async def nothing(_store: MemorySagaStore) -> None: ...

    patch.setattr(MemorySagaStore, "restored", nothing)


def a_body_does_not_finish_its_compensation(patch: pytest.MonkeyPatch) -> None:
    real = BodySaga.__aenter__

    async def entered(body: BodySaga) -> BodySaga:
        with suppress(UnknownSagaError):
            if (await body._engine.load(body.id)).stage is Stage.COMPENSATING:
                raise SagaClosedError("it has turned back")
        return await real(body)

    patch.setattr(BodySaga, "__aenter__", entered)


def one_request_stops_the_heart(patch: pytest.MonkeyPatch) -> None:
    real = coordinator.command_of

    async def beaten(_keeper: LeaseKeeper, beat: Callable[[], Awaitable[None]]) -> None:
        with suppress(StoreError):
            await beat()

    patch.setattr(LeaseKeeper, "_safely", beaten)
    patch.setattr(coordinator, "command_of", lambda request: real(dataclasses.replace(request, kind=RequestKind(request.kind))))


def the_living_are_taken_for_dead(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(memory, "is_known_dead", lambda _owner: True)


def workers_believe_their_own_clocks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(StoreClock, "told", lambda _clock, _at: None)


FOUND_BY = {
    planted.lost_is_failed: 0,
    planted.absent_allows_an_attempt: 2,
    planted.absent_closes_when_going_back: 87,
    planted.giving_up_does_not_seal: 87,
    planted.a_later_refusal_is_definite: 81,
    planted.retention_is_eternal: 82,
    planted.clocks_are_one: 180,
    planted.a_probe_before_the_deadline_seals: 180,
    planted.absence_is_believed_too_early: SETTLING + 5,
    planted.a_sender_that_may_be_alive_is_forgotten: SETTLING + 4,
    planted.a_void_without_a_tombstone_does_not_wait: SETTLING + 5,
    planted.what_settled_proves_an_undo_too_early: SETTLING + 148,
    planted.a_claim_is_not_undone: 695,
    planted.keys_stay_after_a_final_refusal: 8,
    planted.any_order: 6,
    planted.ancestors_first: 6,
    planted.any_undo_may_be_repeated: 18,
    planted.calls_are_not_awaited: 18,
    planted.a_contradicted_undo_is_repeated: 18,
    planted.a_rejected_operation_counts_as_settled: 418,
    planted.no_gate: 50,
    planted.an_open_pivot_is_ignored: 81,
    planted.a_cancel_is_not_queued: 11,
    planted.what_a_person_undid_is_forgotten: 29,
    planted.a_takeover_forgets_what_was_under_way: 16,
    planted.removed_operations_stay: 106,
    planted.what_is_in_doubt_may_be_removed: 271,
    planted.a_plan_changes_although_the_pivot_has_landed: 271,
    planted.what_is_kept_rests_on_what_went: 47,
    planted.other_prerequisites_are_ignored: 95,
    planted.other_prerequisites_do_not_bind: 204,
    planted.other_prerequisites_are_not_checked: 16,
    planted.what_becomes_ready_is_not_noticed: 20,
    planted.what_becomes_free_is_not_noticed: 9,
    planted.a_refusal_for_now_is_definite: SWARM + 601,
    planted.absent_proves_an_undo: SWARM + 284,
    planted.a_pivot_gives_way_to_what_comes_after_it: SWARM + 280,
    planted.a_claim_rests_on_what_is_undone: ALIKE + 138,
    commits_are_acknowledged_early: 0,
    nobody_is_fenced: 64,
    any_provider_is_believed: 50,
    a_restored_store_is_believed: 307,
    a_body_does_not_finish_its_compensation: 19,
    one_request_stops_the_heart: 2,
    the_living_are_taken_for_dead: 16,
    workers_believe_their_own_clocks: 12,
}
"""A seed for each; whoever changes what seeds draw looks for other ones."""

OF_ITEMS = {
    any_provider_is_believed,
    a_restored_store_is_believed,
    a_body_does_not_finish_its_compensation,
    one_request_stops_the_heart,
    the_living_are_taken_for_dead,
    workers_believe_their_own_clocks,
}
"""Faults of the engine around the core."""

INSTEAD = {planted.nothing: commits_are_acknowledged_early, planted.epochs_are_not_checked: nobody_is_fenced}
"""What stands for a fault of the exploration: its calls before their intents, and the second fence, which is the store's."""


def test_every_fault_of_the_exploration_is_planted_here() -> None:
    assert {INSTEAD.get(each.plant, each.plant) for each in planted.PLANTED} == {*FOUND_BY} - OF_ITEMS


@pytest.mark.parametrize("plant", FOUND_BY, ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_found(plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "_KNOWN", {})
    assert not simulate(FOUND_BY[plant]).faults
    plant(monkeypatch)
    monkeypatch.setattr(index, "_KNOWN", {})
    assert simulate(FOUND_BY[plant]).faults

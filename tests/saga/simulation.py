"""Deterministic simulation of the real engine: coordinator, heart, leases and store on a virtual clock. One seed is one history.

Nothing waits: when no callback is ready, the clock jumps to the next timer. From the seed come delays, lost answers, refusals,
late landings, commits that fail or are not acknowledged, skewed clocks, deaths and freezes of workers, cancels, impatient bodies,
and edits of the body. The provider's ledger is the judge. Neither threads nor databases are simulated: the store is in memory.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

from sagagraph import Engine
from sagagraph.errors import (
    ConflictError,
    NotAllowedError,
    OperationHeldError,
    SagaGraphError,
    UnknownSagaError,
)
from sagagraph.saga.core.commands import AcceptPlan, GiveUpRepair
from sagagraph.saga.core.events import AttemptStarted, Driver, Entry, SagaBegun
from sagagraph.saga.core.next_steps import is_ready_for_repair
from sagagraph.saga.core.reversals import original_id
from sagagraph.saga.core.state import FINAL, Saga
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.engine.coordinator import Coordinator
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.port import RequestKind

from .simulated_world import LATEST_S, LEASE_TTL_S, FaultyStore, VirtualLoop, Worker, World

_GONE = frozenset({OperationStatus.FAILED, OperationStatus.COMPENSATED, OperationStatus.VOIDED, OperationStatus.SKIPPED})


class NoHolidayError(Exception):
    pass


@dataclass(frozen=True)
class History:
    seed: int
    steps: int
    status: SagaStatus
    faults: tuple[str, ...]
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join((f"seed {self.seed}: {self.status.value}, {'; '.join(self.faults) or 'sound'}", *self.lines))


def simulate(seed: int) -> History:
    """Return the history of this seed: always the same."""
    world = World(seed)
    asyncio.set_event_loop(world.loop)
    world.loop.set_exception_handler(lambda _loop, told: world.ledger.faults.append(f"unheard: {told.get('message')}"))
    try:
        status = world.loop.run_until_complete(_lived(world))
        gc.collect(1)  # an exception that nobody retrieves says so now
        faults = tuple(world.ledger.faults)
        return History(seed, world.loop.steps, status, faults, tuple(world.ledger.history))
    finally:
        _buried(world.loop)


def _buried(loop: VirtualLoop) -> None:
    for task in (left := asyncio.all_tasks(loop)):
        task.cancel()
    loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    asyncio.set_event_loop(None)
    loop.close()


async def _lived(world: World) -> SagaStatus:
    store = MemorySagaStore(world.loop.time)
    for number in range(1 if world.is_mild else world.random.randint(1, 4)):
        await _one_process(world, store, number)
        if world.is_mild:
            headline = await store.headline("s")
            if headline is None or headline.stage not in FINAL:
                world.ledger.faults.append("I7 nothing troubles it, and one process does not bring it to its end")
            break
        world.edit()
        if world.is_cancelled and world.random.random() < 0.5:
            with suppress(UnknownSagaError):
                await store.ask("s", RequestKind.CANCEL, "Ada", None)
    world.is_calm, world.contradiction = True, {}
    await asyncio.sleep(LATEST_S)  # what was under way has landed
    worker = Worker(world, 99, 0.0)
    engine = _engine(world, store, worker)
    for _try in range(30):
        try:
            await _driven(world, engine, worker)
        except ConflictError:  # a mistaken body was believed: now the sound one is not
            with suppress(SagaGraphError):
                await engine.cancel("s")
        except (NoHolidayError, TimeoutError, SagaGraphError):
            pass
        if (await engine.status("s")).status.is_final:
            break
        await _settled_by_a_person(world, engine)
    status = (await engine.status("s")).status
    faults = _judged(world, status, await engine.load("s"), await engine.journal("s"))
    world.ledger.faults += faults
    await engine.close()
    return status


def _engine(world: World, store: MemorySagaStore, worker: Worker) -> Engine:
    made = [world.action(worker, index) for index in range(world.count + 1)]
    faulty: Any = FaultyStore(store, worker)
    return Engine(faulty, actions=made, clock=worker.clock, random=Random(world.random.random()), lease_ttl_s=LEASE_TTL_S)


async def _one_process(world: World, store: MemorySagaStore, number: int) -> None:
    """A process runs the body, and is left alone, killed or frozen after a while."""
    worker = Worker(world, number, world.random.uniform(-3600.0, 3600.0))
    engine = _engine(world, store, worker)
    running = asyncio.create_task(_driven(world, engine, worker))
    running.add_done_callback(lambda task: task.cancelled() or task.exception())
    await asyncio.wait([running], timeout=world.random.random() * 4)
    match "ends" if world.is_mild else world.random.choice(["ends", "dies", "freezes"]):
        case "dies":
            world.tell(f"{number}: dies")
            worker.is_dead = True
            running.cancel()
        case "freezes":
            world.tell(f"{number}: freezes")
            worker.thawed.clear()
            world.loop.call_later(world.random.random() * 30, worker.thawed.set)
            return
    await asyncio.wait([running], timeout=60)
    running.cancel()


async def _driven(world: World, engine: Engine, worker: Worker) -> None:
    await (_body if world.driver is Driver.BODY else _plan)(world, engine, worker)


async def _plan(world: World, engine: Engine, worker: Worker) -> None:
    """A plan is accepted; another one may take its place, while it runs or when something failed."""
    async with engine.hold("s", begin=SagaBegun(Driver.WORKFLOW, "", "s")) as coordinator:
        if coordinator.saga.plan.version == 0:
            await _accepted(world, worker, coordinator, range(world.count), (), {})
        if world.replaced is not None and not world.is_revisable and world.random.random() < 0.7:
            await world.pause(2.0)
            await _replaced(world, worker, coordinator)
        saga = await coordinator.until_quiet()
        while is_ready_for_repair(saga):
            if not await _replaced(world, worker, coordinator):
                await coordinator.tell(GiveUpRepair(("no plan is left",)))
            saga = await coordinator.until_quiet()


async def _replaced(world: World, worker: Worker, coordinator: Coordinator) -> bool:
    """The last operation takes the place of one, and of all that failed. Returns whether the core permits it."""
    saga, new = coordinator.saga, world.count
    if world.replaced is None or f"T{new}" in saga.operations:
        return False
    gone = [each.id for each in saga.in_order() if each.status in _GONE and world.is_revisable]
    old = f"T{world.replaced}"
    needed = any(not saga.operations[each].removed for each in saga.dependents.get(old, ()))
    try:
        await _accepted(world, worker, coordinator, [new], {old, *gone}, {old: f"T{new}"} if needed else {})
    except (ConflictError, NotAllowedError):
        return False
    for each in saga.dependents.get(old, ()):
        world.ledger.below[old].discard(each)
        world.comes_after(each, [f"T{new}"])
    return True


async def _accepted(
    world: World,
    worker: Worker,
    coordinator: Coordinator,
    indexes: Iterable[int],
    removed: Collection[str],
    replaced: Mapping[str, str],
) -> None:
    specs = []
    for index in indexes:
        after = [f"T{each}" for each in world.after.get(index, ())]
        specs.append(world.action(worker, index).spec(f"T{index}", None, after))
        world.comes_after(f"T{index}", after)
    await coordinator.tell(AcceptPlan(tuple(specs), tuple(sorted(removed)), replaced, revisable=world.is_revisable))


async def _body(world: World, engine: Engine, worker: Worker) -> None:
    after = {index: set(each) for index, each in world.after.items()}
    async with engine.saga("s") as saga:
        done: set[int] = set()

        async def one(index: int) -> None:
            said = sorted(after[index] | world.contradiction.get(index, set()))
            await saga.run(world.action(worker, index), id=f"T{index}", after=[f"T{each}" for each in said])
            world.comes_after(f"T{index}", [f"T{each}" for each in after[index]])
            done.add(index)

        async with asyncio.timeout(world.patience_s):
            while len(done) < world.count:
                ready = [each for each in range(world.count) if each not in done and after[each] <= done]
                await asyncio.gather(*(one(each) for each in ready))
        if world.fails:
            raise NoHolidayError


async def _settled_by_a_person(world: World, engine: Engine) -> None:
    """A person looks at the provider's books, when nothing is under way any more, and says the truth."""
    view = await engine.status("s")
    if view.reversal is not None:
        await _reversal_settled(world, engine, view.reversal)
    for each in view.operations:
        if each.status in (OperationStatus.HELD, OperationStatus.COMPENSATION_FAILED):
            live = world.ledger.live(each.id)
            if live > 1:
                world.ledger.faults.append(f"I1 {each.id} stands {live} times")
            if live == 1 and world.may_be_undone_by_hand(each.id) and world.random.random() < 0.3:
                world.provider.undo_by_hand(each.id)
                live = 0
            was_undone = any(key.split("/")[1] == each.id for key in world.ledger.undos)
            said = "landed" if live else "compensated" if was_undone else "absent"
            world.tell(f"a person says that {each.id} is {said}")
            with suppress(OperationHeldError, NotAllowedError):  # it settled by itself when another one was
                await engine.resolve("s", each.id, said, output="by hand" if live else None)


async def _reversal_settled(world: World, engine: Engine, reversal: str) -> None:
    with suppress(UnknownSagaError):
        for each in (await engine.status(reversal)).operations:
            if each.status is OperationStatus.HELD:
                said = "absent" if world.ledger.live(original_id(each.id)) else "landed"
                world.tell(f"a person says that {each.id!r} is {said}")
                await engine.resolve(reversal, each.id, said)


def _judged(world: World, status: SagaStatus, saga: Saga, journal: Iterable[Entry]) -> list[str]:
    live = {each.id: world.ledger.live(each.id) for each in saga.in_order()}
    expected = {each.id: 0 if each.removed or each.status is OperationStatus.SKIPPED else 1 for each in saga.in_order()}
    faults = [f"I3 {key} was undone {n} times" for key, n in world.ledger.undos.items() if n > world.ledger.landings.get(key, 0)]
    lasting = {each.partition(":")[0] for each in saga.residue}
    intents = {each.event.key for each in journal if isinstance(each.event, AttemptStarted)}
    faults += [f"I8 {key} landed without an intent" for key in world.ledger.landings if key not in intents]
    match status:
        case SagaStatus.COMMITTED:
            faults += [f"I1 committed, and {name} stands {n} times" for name, n in live.items() if n != expected[name]]
        case SagaStatus.COMPENSATED:
            faults += [f"I2 compensated, and {name} stands" for name, n in live.items() if n and name not in lasting]
        case _ if not (saga.body_fault and saga.pivot_has_landed):  # that body is run again, or a person cancels
            faults.append(f"I7 it ends {status.value}")
    if world.is_mild and not world.fails and world.refused is None and status is not SagaStatus.COMMITTED:
        faults.append(f"I10 it was refused for now, and ends {status.value}")
    return faults

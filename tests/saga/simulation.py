"""Deterministic simulation of the real engine: coordinator, heart, leases and store on a virtual clock. One seed is one history.

Nothing waits: when no callback is ready, the clock jumps to the next timer. From the seed come delays, lost answers, refusals,
late landings, commits that fail or are not acknowledged, skewed clocks, deaths and freezes of workers, cancels, impatient bodies,
and edits of the body. The provider's ledger is the judge. Neither threads nor databases are simulated: the store is in memory.
"""

from __future__ import annotations

import asyncio
import dataclasses
import gc
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

from msgspec import structs

from sagagraph import Engine
from sagagraph.errors import (
    ConflictError,
    NotAllowedError,
    OperationHeldError,
    SagaGraphError,
    UnknownSagaError,
)
from sagagraph.saga.core.amendments import amendment_of
from sagagraph.saga.core.commands import AcceptPlan, GiveUpRepair, ProposePlan
from sagagraph.saga.core.events import (
    AmendmentBegun,
    AttemptStarted,
    CompensationStarted,
    Driver,
    Entry,
    OperationDoubted,
    PlanAccepted,
    PrerequisitesAdded,
    ReversalBegun,
    SagaBegun,
    VoidStarted,
)
from sagagraph.saga.core.evolve import evolve
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.next_steps import is_ready_for_repair
from sagagraph.saga.core.reversals import is_undoing
from sagagraph.saga.core.state import FINAL, Operation, Saga, Stage
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.engine.coordinator import Coordinator
from sagagraph.saga.engine.reversal import undoing_specs
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.port import RequestKind
from sagagraph.workflow.condition import Failed
from sagagraph.workflow.operation import OperationSpec

from .simulated_world import LATEST_S, LEASE_TTL_S, FaultyStore, VirtualLoop, Worker, World

_GONE = frozenset({OperationStatus.FAILED, OperationStatus.COMPENSATED, OperationStatus.VOIDED, OperationStatus.SKIPPED})


_LATER_KIND: Any = "sing"
"""A request as only a later release makes them."""


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
        try:
            status = world.loop.run_until_complete(_lived(world))
        except Exception as exc:
            world.ledger.faults.append(f"it breaks: {exc!r}")
            status = SagaStatus.RUNNING
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
    backups: list[dict[str, Any]] = []
    for number in range(1 if world.is_mild else world.random.randint(1, 4)):
        world.loop.call_later(world.random.random() * 4, lambda: backups.append(_copied(store)))
        await _one_process(world, store, number)
        if world.is_mild:
            headline = await store.headline("s")
            if headline is None or headline.stage not in FINAL:
                world.ledger.faults.append("I7 nothing troubles it, and one process does not bring it to its end")
            break
        world.edit()
        if world.is_cancelled and world.random.random() < 0.5:
            with suppress(UnknownSagaError):
                await store.ask("s", world.random.choice([RequestKind.CANCEL, RequestKind.CANCEL, _LATER_KIND]), "Ada", None)
        if world.is_restored and backups and await _may_be_put_back(store, backup := backups[-1]):
            await _put_back(world, store, backup)
            backups.clear()
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
        if world.random.random() < 0.7:
            await _settled_by_a_person(world, engine)
    status = (await engine.status("s")).status
    saga = await engine.load("s")
    journals = [await engine.journal(each) for each in ("s", *saga.amendments)]
    faults = _judged(world, status, saga, journals)
    world.ledger.faults += faults
    await engine.close()
    return status


def _copied(store: MemorySagaStore) -> dict[str, Any]:
    lists = ("rows", "notes", "requests")
    return {
        name: dataclasses.replace(saga, **{each: [*getattr(saga, each)] for each in lists}) for name, saga in store._sagas.items()
    }


async def _may_be_put_back(store: MemorySagaStore, backup: Mapping[str, Any]) -> bool:
    """Whether what the journal then lacks can be noticed: calls of what it still plans. Nothing else is promised (rule 11)."""
    for name in store._sagas:
        entries = await store.read(name)
        kept = len(backup[name].rows) if name in backup else 0
        known = fold(name, entries[:kept]).operations if kept else {}
        for event in (each.event for each in entries[kept:]):
            if isinstance(event, _NOT_NOTICED):
                return False
            if isinstance(event, AttemptStarted):
                operation = known.get(event.operation)
                if operation is None or event.generation > operation.generation:  # nobody asks for a key that nobody knows
                    return False
    return True


_NOT_NOTICED = (CompensationStarted, VoidStarted, PlanAccepted, PrerequisitesAdded, AmendmentBegun, ReversalBegun)


async def _put_back(world: World, store: MemorySagaStore, backup: dict[str, Any]) -> None:
    """All workers are stopped, and the store returns to an earlier state."""
    world.tell("the store is restored")
    for worker in world.workers:
        worker.is_dead = True
        worker.thawed.set()
    for name in store._sagas:
        world.lost |= {each.event.key for each in await store.read(name) if isinstance(each.event, AttemptStarted)}
    store._sagas = backup
    await store.restored()


def _engine(world: World, store: MemorySagaStore, worker: Worker) -> Engine:
    made = [*(world.action(worker, index) for index in range(world.count + 2)), world.look(worker)]
    faulty: Any = FaultyStore(store, worker)
    return Engine(faulty, actions=made, clock=worker.clock, random=Random(world.random.random()), lease_ttl_s=LEASE_TTL_S)


async def _one_process(world: World, store: MemorySagaStore, number: int) -> None:
    """A process runs the body, and is left alone, killed or frozen after a while."""
    worker = Worker(world, number, world.random.uniform(-3600.0, 3600.0))
    worker.is_elsewhere = not world.is_mild and number > 0 and world.random.random() < 0.1
    engine = _engine(world, store, worker)
    running = asyncio.create_task(_resumed(engine) if worker.is_elsewhere else _driven(world, engine, worker))
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


async def _resumed(engine: Engine) -> None:
    await engine.resume("s")


async def _driven(world: World, engine: Engine, worker: Worker) -> None:
    await (_body if world.driver is Driver.BODY else _plan)(world, engine, worker)


async def _plan(world: World, engine: Engine, worker: Worker) -> None:
    """A plan is accepted; another one may take its place, while it runs or when something failed."""
    async with engine.hold("s", begin=SagaBegun(Driver.WORKFLOW, "", "s")) as coordinator:
        if coordinator.saga.plan.version == 0:
            handlers = 0 if world.handled is None else 1
            await _accepted(world, worker, coordinator, range(world.count + handlers), (), {})
        if world.replaced is not None and not world.is_revisable and world.random.random() < 0.7:
            await world.pause(2.0)
            await _replaced(world, worker, coordinator)
        saga = await coordinator.until_quiet()
        while is_ready_for_repair(saga):
            if not await _replaced(world, worker, coordinator):
                await coordinator.tell(GiveUpRepair(("no plan is left",)))
            saga = await coordinator.until_quiet()
    if world.amended is not None:
        await _amended(world, engine, worker, world.amended)


async def _amended(world: World, engine: Engine, worker: Worker, old: int) -> None:
    """The saga is changed once after its commit: another operation, and another pivot, in the place of the old ones."""
    saga = await engine.load("s")
    if saga.stage is Stage.COMMITTED and not saga.amendments:
        await engine.begin_amendment("s", "something else", lost=(), by="Ada")
        saga = await engine.load("s")
    if saga.amending is None:
        return
    child, request = saga.amending.saga, saga.amending.request
    async with engine.hold(child, begin=SagaBegun(Driver.WORKFLOW, "", request)) as coordinator:
        if coordinator.saga.plan.version == 0:
            await coordinator.tell(ProposePlan("another", None, None))
            for name in (f"T{old}", f"T{world.pivot}"):
                world.ledger.below.pop(name, None)
            await coordinator.tell(AcceptPlan(_other_plan(world, worker, coordinator.saga, old)))
        await coordinator.until_quiet()
    await engine.conclude_amendment(child)
    if (saga := await engine.load("s")).amending is None:
        for each in saga.in_order():
            world.comes_after(each.id, each.spec.depends_on)


def _other_plan(world: World, worker: Worker, child: Saga, old: int) -> tuple[OperationSpec, ...]:
    new, pay, look = world.action(worker, world.count), world.action(worker, world.count + 1), world.look(worker)
    kept = [each for each in range(world.pivot or 0) if each != old]
    specs = [new.spec(f"T{world.count}", None, [f"T{each}" for each in world.after[old]])]
    for each in kept:
        after = {world.count if before == old else before for before in world.after[each]}
        specs.append(look.spec(f"T{each}", None, [f"T{before}" for before in sorted(after)]))
    specs.append(pay.spec(f"T{world.count + 1}", None, [f"T{each}" for each in (world.count, *kept)]))
    world.comes_after(specs[-1].id, specs[-1].depends_on)
    amendment = amendment_of(child)
    assert amendment is not None
    actions = {f"T{each}": world.action(worker, each) for each in (old, world.pivot or 0)}
    return (*specs, *undoing_specs(amendment, list(actions), "undo.1", specs[-1].id, actions))


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
        spec = world.action(worker, index).spec(f"T{index}", None, after)
        if world.handled is not None and index == world.count:
            failed = f"T{world.handled}"
            spec = structs.replace(spec, depends_on=(failed,), condition=Failed(failed))
        specs.append(spec)
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


async def _settled_by_a_person(world: World, engine: Engine, saga_id: str = "s") -> None:
    """A person looks at the provider's books, when nothing is under way any more, and says the truth."""
    with suppress(UnknownSagaError):
        await _family_settled(world, engine, await engine.load(saga_id))


async def _family_settled(world: World, engine: Engine, saga: Saga) -> None:
    for child in (saga.reversal, saga.amending and saga.amending.saga):
        if child:
            await _settled_by_a_person(world, engine, child)
    for each in saga.in_order():
        if each.status in (OperationStatus.HELD, OperationStatus.COMPENSATION_FAILED) and is_undoing(each):
            await _said(world, engine, saga.id, each.id, "absent" if world.ledger.live(each.id.rpartition(" ")[2]) else "landed")
        elif each.status in (OperationStatus.HELD, OperationStatus.COMPENSATION_FAILED):
            live = world.ledger.live(each.id)
            if live > 1:
                world.ledger.faults.append(f"I1 {each.id} stands {live} times")
            if live == 1 and world.may_be_undone_by_hand(each.id) and world.random.random() < 0.3:
                world.provider.undo_by_hand(each.id)
                live = 0
            was_undone = any(key.split("/")[1] == each.id for key in world.ledger.undos)
            said = "landed" if live else "compensated" if was_undone else "absent"
            await _said(world, engine, saga.id, each.id, said)


async def _said(world: World, engine: Engine, saga_id: str, operation: str, said: str) -> None:
    world.tell(f"a person says that {operation!r} is {said}")
    with suppress(OperationHeldError, NotAllowedError):  # it settled by itself when another one was
        await engine.resolve(saga_id, operation, said, output=world.ledger.receipt(operation) if said == "landed" else None)


def _expected(world: World, operation: Operation) -> int:
    is_handled = operation.id == f"T{world.handled}" and operation.status in _GONE
    return 0 if operation.removed or is_handled or operation.status is OperationStatus.SKIPPED else 1


def _hasty(saga_id: str, journal: Iterable[Entry]) -> Iterable[str]:
    first, *rest = journal
    saga = evolve.begin(saga_id, first)
    for entry in rest:
        if isinstance(entry.event, CompensationStarted | VoidStarted) and saga.stage is Stage.COMPENSATING:
            calling = [each.id for each in saga.in_order() if each.status is OperationStatus.STARTED and not each.claiming]
            if calling:
                yield f"I5 the undoing of {entry.event.operation} begins while {calling} are called"
        saga = evolve.evolve(saga, entry)


def _was_doubted(name: str, journal: Iterable[Entry]) -> bool:
    """Whether a restoration put it in doubt: then a claim may land it, to be sure that it is undone."""
    return any(isinstance(each.event, OperationDoubted) and each.event.operation == name for each in journal)


def _judged(world: World, status: SagaStatus, saga: Saga, journals: list[Sequence[Entry]]) -> list[str]:
    live = {each.id: world.ledger.live(each.id) for each in saga.in_order()}
    expected = {each.id: _expected(world, each) for each in saga.in_order()}
    faults = [f"I3 {key} was undone {n} times" for key, n in world.ledger.undos.items() if n > world.ledger.landings.get(key, 0)]
    lasting = {each.partition(":")[0] for each in saga.residue}
    intents = {each.event.key for journal in journals for each in journal if isinstance(each.event, AttemptStarted)}
    faults += [f"I8 {key} landed without an intent" for key in world.ledger.landings if key not in intents | world.lost]
    faults += [f"I1 {key} landed at another provider" for key in world.elsewhere.ledger.landings]
    faults += [
        f"I5 {each.id} landed after {below} was undone"
        for each in saga.in_order()
        for below in (each.spec.depends_on if each.spec.condition is None else ())
        if world.ledger.landed_on_what_was_undone(each.id, below)
    ]
    faults += _hasty(saga.id, journals[0])
    if world.handled is not None:
        handler, handled = f"T{world.count}", f"T{world.handled}"
        if world.ledger.landed_while_it_stood(handler, handled) and not _was_doubted(handler, journals[0]):
            faults.append(f"I5 the handler of {handled} landed while that stood")
    strays = {key.split("/")[1] for key in world.ledger.landings} - set(saga.operations)
    faults += [f"I2 {each} stands, and no plan has it" for each in sorted(strays) if world.ledger.live(each)]
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

"""Deterministic simulation of the real engine: coordinator, heart, leases and store on a virtual clock. One seed is one history.

Nothing waits: when no callback is ready, the clock jumps to the next timer. From the seed come delays, lost answers, refusals,
late landings, commits that fail or are not acknowledged, skewed clocks, deaths and freezes of workers, cancels, impatient bodies,
and edits of the body. The provider's ledger is the judge. Neither threads nor databases are simulated: the store is in memory.
"""

from __future__ import annotations

import asyncio
import gc
import selectors
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

from sagagraph import Backoff, Call, Engine, Guarantees, Policy, Probe, Retry, action
from sagagraph.errors import OperationHeldError, Refused, SagaGraphError, StoreError, UnknownSagaError
from sagagraph.saga.core.reversals import original_id
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.port import RequestKind
from sagagraph.workflow.policy import CompensationPolicy

BEGIN_S = 1_000_000.0
LEASE_TTL_S = 4.0
_MOST_STEPS = 200_000
_LATEST_S = 90.0
"""A call that its sender has lost may land so late."""


class _Selector(selectors.DefaultSelector):
    """Lets time pass instead of waiting for it."""

    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> list[Any]:
        self.loop.steps += 1
        if timeout is None or self.loop.steps > _MOST_STEPS:
            raise RuntimeError("nothing will ever happen again" if timeout is None else "it never ends")
        self.loop.now += max(timeout, 0.0)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.now, self.steps = BEGIN_S, 0
        selector = _Selector()
        selector.loop = self
        super().__init__(selector)
        self._clock_resolution = 1e-6  # finer than any delay, coarser than the last bit of a time

    def time(self) -> float:
        return self.now


class NoHolidayError(Exception):
    pass


@dataclass
class Ledger:
    """The truth: what landed under which key and what was undone, in order."""

    landings: dict[str, int] = field(default_factory=dict)
    undos: dict[str, int] = field(default_factory=dict)
    tombstones: set[str] = field(default_factory=set)
    undo_keys: set[str] = field(default_factory=set)
    history: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    below: dict[str, set[str]] = field(default_factory=dict)
    """Operation → what the body, in any of its forms, has run after it."""

    def live(self, operation: str) -> int:
        mine = [key for key in self.landings if key.split("/")[1] == operation]
        return sum(self.landings[key] - self.undos.get(key, 0) for key in mine)

    def dependents(self, operation: str) -> set[str]:
        found: set[str] = set()
        waiting = [operation]
        while waiting:
            new = self.below.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found


class World:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.loop = VirtualLoop()
        self.ledger = Ledger()
        self.is_calm = False
        self.late: set[asyncio.Task[None]] = set()
        self.promise = self.random.choice(["dedup", "void", "nothing"])
        self.count = self.random.randint(2, 5)
        self.after = {i: self._drawn(i) for i in range(self.count)}
        self.fails = self.random.random() < 0.3
        self.refused = self.random.randrange(self.count) if self.random.random() < 0.2 else None
        self.patience_s = self.random.random() * 3 if self.random.random() < 0.3 else None
        """The body gives up after so long, whatever it waits for."""
        self.is_cancelled = self.random.random() < 0.4
        self.troubles = self.random.choice([0.1, 0.3, 0.5])

    def _drawn(self, index: int) -> set[int]:
        return {each for each in range(index) if self.random.random() < 0.4}

    def edit(self) -> None:
        """The body is edited between two runs of it: something comes after more than before."""
        for index in range(self.count):
            if self.random.random() < 0.3:
                self.after[index] |= self._drawn(index)

    def strikes(self) -> bool:
        return not self.is_calm and self.random.random() < self.troubles

    def tell(self, what: str) -> None:
        self.ledger.history.append(f"{self.loop.now - BEGIN_S:9.3f} {what}")

    async def pause(self, most_s: float = 0.2) -> None:
        await asyncio.sleep(self.random.random() * most_s)

    # -- the provider ------------------------------------------------------------------------------------------------

    def action(self, worker: Worker, index: int) -> Action:
        name = f"T{index}"

        async def execute(_request: Any, call: Call) -> str:
            return await worker.call(f"do {name}", lambda: self._land(index, call.idempotency_key))

        async def compensate(_request: Any, _result: Any, call: Call) -> str:
            return await worker.call(f"undo {name}", lambda: self._undo(name, call.operation_key, call.idempotency_key))

        async def void(_request: Any, call: Call) -> str:
            return await worker.call(f"void {name}", lambda: self._void(name, call.idempotency_key))

        async def probe(_request: Any, call: Call) -> Probe:
            await worker.alive()
            await self.pause()
            if self.strikes():
                raise ConnectionError("no answer")
            landed, undone = self.ledger.landings.get(call.operation_key, 0), self.ledger.undos.get(call.operation_key, 0)
            if landed > 1:
                return Probe.multiple([call.operation_key] * landed)
            return Probe.absent() if not landed else Probe.undone() if undone else Probe.landed(call.operation_key)

        guarantees = Guarantees(
            dedup=timedelta(days=1) if self.promise == "dedup" else None, void=void if self.promise == "void" else None
        )
        return action(
            execute,
            name=name,
            compensate=compensate,
            probe=probe,
            guarantees=guarantees,
            provider="the ledger",
            policy=Policy(
                retry=Retry(max_attempts=3),
                backoff=Backoff(base_s=0.1, cap_s=1.0),
                timeout_s=2.0,
                compensation=CompensationPolicy(max_attempts=3, timeout_s=2.0),
            ),
        )

    def _land(self, index: int, key: str) -> str:
        if key in self.ledger.tombstones:
            raise Refused("it was voided", code="voided")
        if index == self.refused:
            raise Refused("sold out", code="sold_out")
        if not (self.promise == "dedup" and key in self.ledger.landings):
            self.ledger.landings[key] = self.ledger.landings.get(key, 0) + 1
            self.tell(f"LANDS {key}")
        return key

    def _undo(self, name: str, key: str, undo_key: str) -> str:
        if self.promise == "dedup" and undo_key in self.ledger.undo_keys:
            return key
        self.ledger.undo_keys.add(undo_key)
        self.ledger.undos[key] = self.ledger.undos.get(key, 0) + 1
        self.tell(f"UNDONE {key}")
        if standing := [each for each in sorted(self.ledger.dependents(name)) if self.ledger.live(each) > 0]:
            self.ledger.faults.append(f"I5 {name} was undone while {standing} stood")
        return key

    def _void(self, name: str, key: str) -> str:
        self.ledger.tombstones.add(key)
        if self.ledger.landings.get(key, 0) > self.ledger.undos.get(key, 0):
            self._undo(name, key, f"{key}/void")
        return key

    async def lands_late(self, land: Callable[[], object]) -> None:
        await self.pause(_LATEST_S)
        with suppress(Refused):
            land()


@dataclass
class Worker:
    """One process: its clock, and whether it still lives or is frozen."""

    world: World
    number: int
    skew_s: float
    is_dead: bool = False
    thawed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.thawed.set()

    def clock(self) -> float:
        return self.world.loop.now + self.skew_s

    async def alive(self) -> None:
        await self.thawed.wait()
        if self.is_dead:
            raise StoreError("this process is dead")

    async def call(self, what: str, land: Callable[[], str]) -> str:
        """One request to the provider, with all that may happen to it."""
        world = self.world
        await self.alive()
        await world.pause()
        if world.strikes():
            match world.random.choice(["lost", "late", "silent"]):
                case "late":
                    task = asyncio.create_task(world.lands_late(land))
                    world.late.add(task)
                case "silent":
                    land()
                    world.tell(f"{self.number}: {what}, its answer is lost")
            raise ConnectionError("the line went dead")
        landed = land()
        await world.pause()
        await self.alive()
        return landed


class FaultyStore:
    """A store whose commits take time, fail, or are not acknowledged; a dead worker's reach nobody."""

    def __init__(self, store: MemorySagaStore, worker: Worker) -> None:
        self._store, self._worker = store, worker

    @property
    def epoch(self) -> int:
        return self._store.epoch

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._store, name)
        world = self._worker.world

        async def called(*arguments: Any, **options: Any) -> Any:
            await self._worker.alive()
            await world.pause(0.02)
            await self._worker.alive()
            is_struck = name in ("append", "renew", "note") and world.strikes() and world.random.random() < 0.2
            if is_struck and world.random.random() < 0.5:
                raise StoreError("the database is away")
            answer = await method(*arguments, **options)
            await world.pause(0.02)
            if is_struck:
                raise StoreError("the commit was not acknowledged")
            return answer

        return called


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
        faults = (*world.ledger.faults, *_judged(world, status))
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
    for number in range(world.random.randint(1, 4)):
        await _one_process(world, store, number)
        world.edit()
        if world.is_cancelled and world.random.random() < 0.5:
            with suppress(UnknownSagaError):
                await store.ask("s", RequestKind.CANCEL, "Ada", None)
    world.is_calm = True
    await asyncio.sleep(_LATEST_S)  # what was under way has landed
    worker = Worker(world, 99, 0.0)
    engine = _engine(world, store, worker)
    for _try in range(30):
        with suppress(NoHolidayError, TimeoutError, SagaGraphError):
            await _body(world, engine, worker)
        if (await engine.status("s")).status.is_final:
            break
        await _settled_by_a_person(world, engine)
    status = (await engine.status("s")).status
    await engine.close()
    return status


def _engine(world: World, store: MemorySagaStore, worker: Worker) -> Engine:
    made = [world.action(worker, index) for index in range(world.count)]
    faulty: Any = FaultyStore(store, worker)
    return Engine(faulty, actions=made, clock=worker.clock, random=Random(world.random.random()), lease_ttl_s=LEASE_TTL_S)


async def _one_process(world: World, store: MemorySagaStore, number: int) -> None:
    """A process runs the body, and is left alone, killed or frozen after a while."""
    worker = Worker(world, number, world.random.uniform(-3600.0, 3600.0))
    engine = _engine(world, store, worker)
    running = asyncio.create_task(_body(world, engine, worker))
    running.add_done_callback(lambda task: task.cancelled() or task.exception())
    await asyncio.wait([running], timeout=world.random.random() * 4)
    match world.random.choice(["ends", "dies", "freezes"]):
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


async def _body(world: World, engine: Engine, worker: Worker) -> None:
    after = {index: set(each) for index, each in world.after.items()}
    async with engine.saga("s") as saga:
        done: set[int] = set()

        async def one(index: int) -> None:
            await saga.run(world.action(worker, index), id=f"T{index}", after=[f"T{each}" for each in sorted(after[index])])
            for each in after[index]:
                world.ledger.below.setdefault(f"T{each}", set()).add(f"T{index}")
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
            was_undone = any(key.split("/")[1] == each.id for key in world.ledger.undos)
            said = "landed" if live else "compensated" if was_undone else "absent"
            world.tell(f"a person says that {each.id} is {said}")
            with suppress(OperationHeldError):
                await engine.resolve("s", each.id, said, output="by hand" if live else None)


async def _reversal_settled(world: World, engine: Engine, reversal: str) -> None:
    with suppress(UnknownSagaError):
        for each in (await engine.status(reversal)).operations:
            if each.status is OperationStatus.HELD:
                said = "absent" if world.ledger.live(original_id(each.id)) else "landed"
                world.tell(f"a person says that {each.id!r} is {said}")
                await engine.resolve(reversal, each.id, said)


def _judged(world: World, status: SagaStatus) -> list[str]:
    live = {f"T{index}": world.ledger.live(f"T{index}") for index in range(world.count)}
    faults = [f"I3 {key} was undone {n} times" for key, n in world.ledger.undos.items() if n > world.ledger.landings.get(key, 0)]
    match status:
        case SagaStatus.COMMITTED:
            faults += [f"I1 committed, and {name} stands {n} times" for name, n in live.items() if n != 1]
        case SagaStatus.COMPENSATED:
            faults += [f"I2 compensated, and {name} stands" for name, n in live.items() if n]
        case _:
            faults.append(f"I7 it ends {status.value}")
    return faults

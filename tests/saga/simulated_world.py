"""The world of a simulation: its clock, what the seed draws, workers that die and freeze, and a store that fails."""

from __future__ import annotations

import asyncio
import dataclasses
import selectors
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

from msgspec.structs import replace

from sagagraph import Backoff, Call, Policy, Probe, Retry, action
from sagagraph.context.slice import ContextSlice
from sagagraph.errors import Refused, StoreError
from sagagraph.saga.core.events import Driver
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.validators.verdict import Verdict, VerdictStatus
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.policy import Catch, CompensationPolicy
from sagagraph.workflow.values import Json

from .simulated_provider import Ledger, Promises, Provider

T = TypeVar("T")

BEGIN_S = 1_000_000.0
LEASE_TTL_S = 4.0
_POLICY = Policy(
    retry=Retry(max_attempts=3),
    backoff=Backoff(base_s=0.1, cap_s=1.0),
    timeout_s=2.0,
    compensation=CompensationPolicy(max_attempts=3, timeout_s=2.0),
)
SWARM = 1_000_000
"""From here on, each seed has much of some troubles and nothing of others: one that has a little of everything seldom meets the
same kind twice (swarm testing: Groce and others, ISSTA 2012)."""
ALIKE = 2_000_000
"""From here on, in addition, all operations are those of a provider that promises one thing, or nothing."""
SETTLING = 3_000_000
"""From here on, as from `SWARM` on, and most operations settle, have an undo that copes with doubt, or both."""
_SETTLING_S = (0.0, 1.0, 6.0)
_SOLD_OUT = 0.15
_FIRST = 2
"""Generation and attempt of the first call, together."""
_MOST_STEPS = 200_000
LATEST_S = 90.0
"""A call that its sender has lost may land so late."""
_SOON_S = 4.0
"""Or before and about its deadline."""


_NOTHING = Promises(None, void=False, deadline=False, refusals_final=False, probe=True, reverse=True)
_KEYED = dataclasses.replace(_NOTHING, dedup_s=86_400.0)
_ONE_THING = (
    _NOTHING,
    dataclasses.replace(_NOTHING, void=True),
    dataclasses.replace(_KEYED, reverse=False),
    dataclasses.replace(_NOTHING, deadline=True),
    dataclasses.replace(_KEYED, refusals_final=True),
    dataclasses.replace(_NOTHING, probe=False),
)


class _Never:
    name, version = "never", 1

    def validate(self, _artifact: Json, _context: ContextSlice) -> Verdict:
        return Verdict(verdict=VerdictStatus.INVALID)


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


class World:
    """What the seed draws: the saga, what its provider promises, and who troubles it how.

    In a mild world nothing happens but refusals for now, and perhaps one for good: one process must bring the saga to its end.
    """

    def __init__(self, seed: int) -> None:
        self.random = random = Random(seed)
        self._swarm = Random(f"swarm {seed}") if seed >= SWARM else None
        self.loop = VirtualLoop()
        self.provider = Provider(random, self.loop.time, self.tell)
        self.elsewhere = Provider(random, self.loop.time, lambda what: self.tell(f"ELSEWHERE {what}"))
        """Another provider, of which the saga must know nothing."""
        self.workers: list[Worker] = []
        self.is_calm = False
        self.late: set[asyncio.Task[None]] = set()
        self.count = self._either(random.randint(1, 5), 1, 2, 2)
        self.driver = random.choice([Driver.BODY, Driver.WORKFLOW])
        alike = Promises.drawn(random) if random.random() < 0.5 else None
        self.promises = [self._often(alike or Promises.drawn(random)) for _each in range(self.count + 2)]
        self.may_hang = seed >= SETTLING
        """A call may go on when its time is over, as a thread does."""
        if self.may_hang:
            self.promises = [self._settling(each) for each in self.promises]
        elif seed >= ALIKE:
            self.promises = [_ONE_THING[seed % len(_ONE_THING)]] * len(self.promises)
        self.pivot = self._either(random.randrange(self.count) if random.random() < 0.4 else None, None, 0)
        self.contradiction: dict[int, set[int]] = {}
        """What a mistaken body says beside; the core must refuse it."""
        self.is_apart = random.random() < 0.5
        self.after = {i: self._drawn(i) for i in range(self.count)}
        self.is_mild = random.random() < 0.15 and self._swarm is None
        self.refused = random.choice(self._may_fail()) if random.random() < 0.3 else None
        self.amended = random.choice([None, *range(self.pivot)]) if self.driver is Driver.WORKFLOW and self.pivot else None
        """Once all is committed, the last but one operation takes the place of this one, and the last one that of the pivot."""
        if self.amended is not None and self.pivot is not None:
            self.promises[self.pivot] = dataclasses.replace(self.promises[self.pivot], reverse=True)
            self.refused = random.choice([self.refused, self.refused, self.count, self.count + 1])
        self.is_restored = self._unlikely(0.3, True) is not None
        self.lost: set[str] = set()
        """Keys of intents that were in the journal before the store was restored."""
        self.is_rejected = random.random() < 0.3
        """What is refused for good lands instead, and a validator rejects its output."""
        self.mistakes = self._either(self._unlikely(0.5, random.randint(1, 3)) or 0, 0, 4, 9)
        self.fails = self.pivot is None and random.random() < 0.3
        self.patience_s = self._unlikely(0.3, random.random() * 3)
        """The body gives up after so long, whatever it waits for."""
        self.is_cancelled = self._either(self._unlikely(0.4, True) is not None, True, False)
        may_be_replaced = self.driver is Driver.WORKFLOW and self.amended is None
        self.replaced = self._unlikely(0.6, random.randrange(self.count)) if may_be_replaced else None
        """The last operation may take the place of this one."""
        self.is_revisable = random.random() < 0.5
        plain = self.driver is Driver.WORKFLOW and self.pivot is self.replaced is None
        self.handled = self.refused if plain and random.random() < 0.5 else None
        """The last operation runs only if this one fails, and then the saga goes on."""
        self.troubles = random.choice([0.1, 0.3, 0.5])
        self.refuses = self._either(0.5, 0.0, 1.5)
        """How often a call is refused out of the blue, for each time that trouble strikes."""
        self.errs_in = self._either(0.3, 0.7)
        self.struck = self._either(["lost", "late", "silent"], ["lost"], ["late"], ["silent", "late"])
        if self.may_hang:
            self.struck = self._either(self.struck, [*self.struck, "hangs"])
        self.provider.mistakes = self._either(self.provider.mistakes, ["multiple"], ["absent"])
        if self.amended is self.handled is self.pivot is None:
            self.refused = self._either(self.refused, self.count - 1)
        self.sold_out = self._either(_SOLD_OUT, 0.6)
        """How likely a refusal that comes out of the blue is one for good."""
        indexes = range(self.count + 2)
        irreversible = [i for i in indexes if self.kind(i) is not ActionKind.COMPENSATABLE and not self.promises[i].reverse]
        self.ledger.lasting.update(f"T{each}" for each in irreversible)

    @property
    def ledger(self) -> Ledger:
        return self.provider.ledger

    def _either(self, drawn: T, *instead: T) -> T:
        return drawn if self._swarm is None else self._swarm.choice([drawn, *instead])

    def _often(self, promises: Promises) -> Promises:
        names = ("void", "deadline", "refusals_final", "probe")
        said = {name: self._either(getattr(promises, name), True, False) for name in names}
        return dataclasses.replace(promises, **said, dedup_s=self._either(promises.dedup_s, 86_400.0, None))

    def _settling(self, promises: Promises) -> Promises:
        plain = dataclasses.replace(promises, dedup_s=self._either(None, promises.dedup_s), void=False)
        return dataclasses.replace(
            plain,
            settles_s=self._either(None, *_SETTLING_S),
            copes=self._either(False, True),
            probe=self._either(True, True, False),
        )

    def _unlikely(self, chance: float, drawn: T) -> T | None:
        return drawn if self.random.random() < chance and not self.is_mild else None

    def _drawn(self, index: int) -> set[int]:
        drawn = {each for each in range(index) if self.random.random() < 0.4}
        if self.pivot is not None and self.driver is Driver.BODY and index <= self.pivot:
            # A body plans what can be undone before its pivot: all of it at once, or the pivot last.
            drawn = set() if self.is_apart else set(range(index)) if index == self.pivot else drawn
        return drawn | {self.pivot} if self.pivot is not None and index > self.pivot else drawn

    def may_be_undone_by_hand(self, name: str) -> bool:
        stands_below = any(self.ledger.live(each) for each in self.ledger.dependents(name))
        return self.kind(int(name[1:])) is ActionKind.COMPENSATABLE and self.pivot is None and not stands_below

    def _may_fail(self) -> list[int]:
        """A body cannot turn back once its pivot has landed: what fails then must come before that."""
        if self.pivot is None or self.driver is Driver.WORKFLOW:
            return list(range(self.count if self.pivot is None else self.pivot + 1))
        return [self.pivot, *self.after[self.pivot]]

    def rejects(self, index: int) -> bool:
        return index == self.refused and self.is_rejected and self.kind(index) is ActionKind.COMPENSATABLE

    def kind(self, index: int) -> ActionKind:
        comes_after = self.pivot is not None and (index > self.pivot or (index == self.count and self.replaced != self.pivot))
        if index in (self.pivot, self.count + 1) or (index == self.count and self.replaced == self.pivot is not None):
            return ActionKind.PIVOT
        return ActionKind.RETRIABLE if comes_after and index < self.count else ActionKind.COMPENSATABLE

    def edit(self) -> None:
        """The body is edited between two runs of it: something comes after more than before, or after what comes after it."""
        below = [(index, each) for index, before in self.after.items() for each in before]
        last, first = self.random.choice(below or [(0, 0)])
        self.contradiction = {first: {last}} if below and self._unlikely(0.15, True) else {}
        for index in range(self.count):
            if self.random.random() < 0.3:
                self.after[index] |= self._drawn(index)

    def strikes(self) -> bool:
        return not self.is_calm and not self.is_mild and self.random.random() < self.troubles

    def _errs(self) -> bool:
        """Whether a probe is mistaken although nothing else troubles anybody any more: that happens a few times."""
        self.mistakes -= (errs := self.mistakes > 0 and self.random.random() < self.errs_in)
        return errs

    def tell(self, what: str) -> None:
        self.provider.ledger.history.append(f"{self.loop.now - BEGIN_S:9.3f} {what}")

    async def pause(self, most_s: float = 0.2) -> None:
        await asyncio.sleep(self._drawn_s(most_s))

    def _drawn_s(self, most_s: float) -> float:
        return self.random.random() * most_s

    def comes_after(self, name: str, prerequisites: Iterable[str]) -> None:
        for each in prerequisites:
            self.ledger.below.setdefault(each, set()).add(name)

    # -- the provider ------------------------------------------------------------------------------------------------

    def action(self, worker: Worker, index: int) -> Action:
        name, promises, provider = f"T{index}", self.promised(index), self.elsewhere if worker.is_elsewhere else self.provider

        async def execute(_request: Any, call: Call) -> str:
            return await worker.call(
                f"do {name}",
                call,
                lambda: provider.land(promises, call),
                lambda: self._refused(index, call),
                settles_s=promises.settles_s,
            )

        async def undo(_request: Any, result: Any, call: Call) -> str:
            provider.undoing.add(call.operation_key)

            def land() -> str:
                return provider.cope(promises, call.operation_key) if promises.copes else provider.undo(promises, result, call)

            return await worker.call(f"undo {name}", call, land, settles_s=promises.settles_s)

        async def void(_request: Any, call: Call) -> str:
            return await worker.call(f"void {name}", call, lambda: provider.void(promises, call.idempotency_key))

        async def probe(_request: Any, call: Call) -> Probe:
            await worker.alive()
            await self.pause()
            if self.strikes() or self._errs():
                return provider.mistaken(promises, call.operation_key)
            return provider.found(call.operation_key)

        kind = self.kind(index)
        backward: dict[str, Any] = {"compensate": undo} if kind is ActionKind.COMPENSATABLE else {}
        if kind is not ActionKind.COMPENSATABLE and promises.reverse:
            backward = {"reverse": undo}
        return action(
            execute,
            name=name,
            kind=kind,
            **backward,
            probe=probe if promises.probe else None,
            guarantees=promises.guarantees(void),
            provider="another ledger" if worker.is_elsewhere else "the ledger",
            validators=(_Never(),) if self.rejects(index) else (),
            policy=replace(_POLICY, catch=(Catch(("*",), f"T{self.count}"),)) if index == self.handled else _POLICY,
        )

    def promised(self, index: int) -> Promises:
        promises = self.promises[index]
        return promises if self.kind(index) is ActionKind.COMPENSATABLE else dataclasses.replace(promises, copes=False)

    def look(self, worker: Worker) -> Action:
        async def look(_request: Any, _call: Call) -> str:
            await worker.alive()
            await self.pause()
            return "it stands"

        return action(look, kind=ActionKind.READ_ONLY)

    def _refused(self, index: int, call: Call) -> str | None:
        """What the provider says instead of doing it, if it does not do it now or ever."""
        promises, key = self.promises[index], call.idempotency_key
        if index == self.refused and not self.rejects(index):
            return self.provider.refuse(promises, key, "sold out")
        if self.is_mild:
            is_first = call.generation + call.attempt == _FIRST
            return self.provider.refuse(promises, key, "not now", transient=True) if is_first else None
        if not self.is_calm and self.random.random() < self.troubles * self.refuses:
            is_drawn = self.random.random() < self.sold_out
            is_final = is_drawn and self.kind(index) is ActionKind.COMPENSATABLE and self.pivot is None
            return self.provider.refuse(promises, key, "not now", transient=not is_final)
        return None

    async def lands_late(self, call: Call, land: Callable[[], object], settles_s: float | None) -> None:
        """Soon, much later, or right at its deadline; within its time to settle if there is one, often just so."""
        key, left_s = call.idempotency_key, call.deadline.timestamp() - self.loop.now
        self.provider.under_way[key] += 1
        later = [left_s + 1.0 - self._drawn_s(2.0), self._drawn_s(_SOON_S), self._drawn_s(LATEST_S)]
        if settles_s is not None:
            later = [self._drawn_s(settles_s), settles_s]
        await asyncio.sleep(self.random.choice(later))
        with suppress(Refused):
            land()
        self.provider.under_way[key] -= 1


@dataclass
class Worker:
    """One process: its clock, and whether it still lives or is frozen."""

    world: World
    number: int
    skew_s: float
    is_dead: bool = False
    is_elsewhere: bool = False
    """It calls another provider."""
    thawed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.thawed.set()
        self.world.workers.append(self)

    def clock(self) -> float:
        return self.world.loop.now + self.skew_s

    async def alive(self) -> None:
        await self.thawed.wait()
        if self.is_dead:
            raise StoreError("this process is dead")

    async def call(
        self,
        what: str,
        call: Call,
        land: Callable[[], str],
        refused: Callable[[], str | None] = lambda: None,
        *,
        settles_s: float | None = None,
    ) -> str:
        """One request to the provider, with all that may happen to it."""
        world = self.world
        await self.alive()
        await world.pause()
        if world.strikes():
            match world.random.choice(world.struck):
                case "late":
                    task = asyncio.create_task(world.lands_late(call, land, settles_s))
                    world.late.add(task)
                case "hangs":
                    await self.hangs(call, land)
                case "silent":
                    with suppress(Refused):
                        land()
                    world.tell(f"{self.number}: {what}, its answer is lost")
            raise ConnectionError("the line went dead")
        landed = refused() or land()
        await world.pause()
        await self.alive()
        return landed

    async def hangs(self, call: Call, land: Callable[[], str]) -> None:
        """Go on until it lands, whoever gives up waiting for it."""
        world, until = self.world, self.world.loop.now + self.world.random.random() * LATEST_S / 2
        world.provider.under_way[call.idempotency_key] += 1
        while world.loop.now < until or not self.thawed.is_set():
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(until - world.loop.now)
                await self.thawed.wait()
        with suppress(Refused):
            if not self.is_dead:
                land()
        world.provider.under_way[call.idempotency_key] -= 1
        if self.is_dead:
            raise asyncio.CancelledError


class FaultyStore:
    """A store whose commits take time, fail, or are not acknowledged; a dead worker's reach nobody."""

    acknowledges_early = False
    """A fault to be planted: what is acknowledged is durable only a while later, if its worker lives so long."""

    def __init__(self, store: MemorySagaStore, worker: Worker) -> None:
        self._store, self._worker = store, worker
        self._pending: asyncio.Task[None] | None = None

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
            before = await self._store.headline(arguments[0]) if name == "take" else None
            if self.acknowledges_early and name == "append":
                return await self._append_later(method, *arguments, **options)
            answer = await method(*arguments, **options)
            if before is not None and before.owner not in (None, options["owner"]) and before.lease_until > world.loop.now:
                world.ledger.faults.append(f"I8 the lease of {before.saga_id} was taken from a worker that lives")
            await world.pause(0.02)
            if is_struck:
                raise StoreError("the commit was not acknowledged")
            return answer

        return called

    async def _append_later(self, append: Callable[..., Awaitable[None]], *arguments: Any, **options: Any) -> None:
        if self._pending is not None:
            await self._pending

        async def write() -> None:
            await self._worker.world.pause(0.3)
            await self._worker.alive()
            await append(*arguments, **options)

        self._pending = asyncio.create_task(write())
        self._pending.add_done_callback(lambda task: task.cancelled() or task.exception())

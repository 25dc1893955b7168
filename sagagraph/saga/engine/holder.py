"""Holder of sagas: the actions, leases and coordinators of the sagas that this process holds."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, nullcontext, suppress
from random import Random
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sagagraph.errors import (
    BusyError,
    ConflictError,
    DrainedError,
    InvalidInputError,
    ProviderMismatchError,
    RetiredError,
    SagaGraphError,
    SupersededError,
    UnknownActionError,
    UnknownSagaError,
)
from sagagraph.saga.core import commands as c
from sagagraph.saga.core.amendments import AMENDMENT, amendment_in, is_amendment_id, parent_of
from sagagraph.saga.core.decide.decide import decide
from sagagraph.saga.core.decide.people import why_not_cancelled
from sagagraph.saga.core.decide.providers import ProviderHere, is_elsewhere, recognised, why_elsewhere
from sagagraph.saga.core.dependencies import is_closed
from sagagraph.saga.core.doubt.settling import owner_of, senders_in
from sagagraph.saga.core.events import Driver, Entry, SagaBegun
from sagagraph.saga.core.evolve.evolve import evolve, fold
from sagagraph.saga.core.locks import lock_change
from sagagraph.saga.core.redaction import is_redacted
from sagagraph.saga.core.reversals import REVERSAL, REVERSING, original_id, reversal_id
from sagagraph.saga.core.state import Operation, Saga, Stage
from sagagraph.saga.engine.actions import DECLARED, Action, ActionRegistry, warn_of_no_provider
from sagagraph.saga.engine.calling.calls import AroundCall, Effects
from sagagraph.saga.engine.calling.under_way import HasEnded, has_ended
from sagagraph.saga.engine.clock import StoreClock
from sagagraph.saga.engine.coordinator import Coordinator, Observer
from sagagraph.saga.engine.driving import Drive
from sagagraph.saga.engine.leases import LeaseKeeper
from sagagraph.saga.engine.reversal import plan_reversal, reversing_action
from sagagraph.saga.engine.views.view import Account
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.owner import this_owner
from sagagraph.saga.stores.port import Lease, SagaStore
from sagagraph.saga.telemetry.holding import Telemetry

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

LEASE_TTL_S = 4.0
"""A dead worker's saga can be taken over after this long at the latest."""
DRAIN_S = 10.0
"""A worker that is told to stop lets what is out end for so long."""
POLL_S = 0.1
PARKS_AFTER_S = 1.0
"""A driver lets go of a saga that waits for longer than this."""


class SagaHolder:
    """Holds sagas on one store; `Engine` adds what people do with them.

    `account`: what a domain says of a saga's money. `tracer`: makes the spans, instead of the tracer of the program's own
    provider (docs/telemetry.md).
    """

    def __init__(
        self,
        store: SagaStore,
        *,
        actions: Iterable[Action] = (),
        account: Callable[[Saga], Account] | None = None,
        clock: Callable[[], float] | None = None,
        random: Random | None = None,
        lease_ttl_s: float = LEASE_TTL_S,
        observers: Iterable[Observer] = (),
        around_call: AroundCall = lambda _call: nullcontext(),
        tracer: Tracer | None = None,
        has_ended: HasEnded = has_ended,
    ) -> None:
        self.store = store
        self._actions = ActionRegistry(actions)
        self._account = account or (lambda _saga: Account())
        self._clock = StoreClock(clock)
        self._has_ended = has_ended
        self._ttl_s = lease_ttl_s
        self._observers = tuple(observers)
        self.telemetry = Telemetry(tracer)
        jitter = random or Random()  # noqa: S311 - jitter needs no secrecy
        self._owner = this_owner(uuid.uuid4().hex[:8])
        self._effects = Effects(self._owner, jitter, self._clock, around_call, self._check_held, self.telemetry)
        self._drivers: dict[str, Drive] = {}
        """Domain → what carries on with its sagas."""
        self._providers: dict[str, ProviderHere] = {}
        """Domain → the provider that its actions call here."""
        self._entered: set[str] = set()
        self._held: dict[str, Coordinator] = {}
        self._driven: dict[str, int | None] = {}
        """Saga that is driven for a fleet → the version at which it was looked at, until it is taken."""
        self._is_draining = False
        report = self.telemetry.stumbled
        self._keeper = LeaseKeeper(store, self._held, clock=self._clock, lease_ttl_s=lease_ttl_s, report=report)

    async def drain(self, within_s: float = DRAIN_S) -> None:
        """Prepare for a shutdown: begin nothing, let calls under way end (for at most this long), journal them, release all
        sagas.

        Everybody who waits for one of them, or enters one from now on, gets a `DrainedError`.
        """
        self._is_draining = True
        await asyncio.gather(*(each.drain(within_s) for each in list(self._held.values())))

    async def close(self) -> None:
        """Stop what this engine still holds, so that it can be resumed, and close the store."""
        for coordinator in list(self._held.values()):
            await coordinator.stop()
        self._held.clear()
        self._keeper.stop()
        await self.store.close()

    # -- actions -----------------------------------------------------------------------------------------------------

    def register(self, action: Action) -> None:
        self._actions.add(action)

    def register_of_program(self, action: Action) -> None:
        """Register an action that a program brings; logs, once, that one with effects names no provider."""
        self.register(action)
        if not isinstance(self.store, MemorySagaStore):  # what is kept in memory is never resumed
            warn_of_no_provider(action)

    def work_with(self, domain: str, provider: ProviderHere) -> None:
        """Have sagas of this domain work with this provider: those that know another one are refused from now on."""
        self._providers[domain] = provider

    def find(self, name: str, version: int) -> Action:
        """Return the action with that name. Raises `UnknownActionError`."""
        if name.endswith(REVERSING):
            return reversing_action(self.find(name.removesuffix(REVERSING), version))
        return (self._actions if self._actions.knows(name, version) else DECLARED).find(name, version)

    # -- holding -----------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def hold(
        self, saga_id: str, *, begin: SagaBegun | None = None, wait: bool = True, looks_again: bool = True
    ) -> AsyncIterator[Coordinator]:
        """Be the saga's only writer for a while; with `begin`, begin it if no saga has this id.

        With `wait`, and unless a fleet drives it, waits for a dead worker's lease. Raises `BusyError` if another worker holds it,
        `UnknownSagaError`, `ConflictError` if it was begun with something else, `ProviderMismatchError` for another provider.
        """
        wait = wait and saga_id not in self._driven
        async with self._one_at_a_time(saga_id, wait=wait):
            if self._is_draining:
                raise DrainedError(f"saga {saga_id!r}: this worker was told to stop; resume it elsewhere", saga_id=saga_id)
            await self._check_family(saga_id, begin)
            begin = begin and self._with_provider(begin)
            lease = (begin and await self._created(saga_id, begin)) or await self._take(
                saga_id, wait=wait, looks_again=looks_again
            )
            saga = await self.load(saga_id) if lease.first is None else fold(saga_id, (lease.first,))
            if saga.epoch != lease.epoch:
                raise SupersededError(f"saga {saga_id!r} was taken over by another worker", saga_id=saga_id)
            self._clock.told(saga.last_at)  # of the event that took it
            first = (*await self._recognised(saga, lease), *self._calls_ended(saga))
            async with self._coordinated(saga, lease, first) as coordinator:
                yield coordinator

    @asynccontextmanager
    async def _one_at_a_time(self, saga_id: str, *, wait: bool) -> AsyncIterator[None]:
        """Let one caller at a time hold a saga within this engine, whose lease would let it take over its own sagas."""
        give_up_at = self._give_up_at(wait=wait)
        while saga_id in self._entered:
            if self._clock() >= give_up_at:
                raise BusyError(f"saga {saga_id!r} is running in this engine already", saga_id=saga_id)
            await asyncio.sleep(POLL_S)
        self._entered.add(saga_id)
        try:
            yield
        finally:
            self._entered.discard(saga_id)

    def _calls_ended(self, saga: Saga) -> tuple[c.CallsEnded, ...]:
        """Report whose calls are known to have ended, of those that a new holder found in doubt."""
        ended = (
            c.CallsEnded(name, tuple(each for each in senders if self._has_ended(saga.id, name, owner_of(each))))
            for name, senders in senders_in(saga).items()
        )
        return tuple(each for each in ended if each.senders)

    @asynccontextmanager
    async def _coordinated(self, saga: Saga, lease: Lease, first: tuple[c.Command, ...]) -> AsyncIterator[Coordinator]:
        telling = self.telemetry.begin(saga, self._owner)
        coordinator = Coordinator(
            saga,
            lease,
            store=self.store,
            effects=self._effects,
            find=self.find,
            clock=self._clock,
            lease_ttl_s=self._ttl_s,
            reverse=self._reverse,
            first=first,
            observers=(*self._observers, telling.observe) if telling.has_listeners else self._observers,
            on_failure=telling.failed,
            **({"parks_after_s": PARKS_AFTER_S} if saga.id in self._driven else {}),
        )
        self._held[saga.id] = coordinator
        self._keeper.start()
        with telling.entered():
            coordinator.start()
        try:
            yield coordinator
        finally:
            self._held.pop(saga.id, None)
            try:
                await asyncio.shield(coordinator.stop())
            finally:
                telling.end(coordinator.saga)

    async def _check_held(self, saga_id: str) -> None:
        coordinator = self._held.get(saga_id)
        if coordinator is None:
            raise SupersededError(f"saga {saga_id!r} is not held any more", saga_id=saga_id)
        await coordinator.check_still_held()

    async def _created(self, saga_id: str, begun: SagaBegun) -> Lease | None:
        """Return the first lease of a new saga; None if it exists with the same beginning, or must be taken with doubts."""
        if await self.store.headline(saga_id) is None:
            if is_amendment_id(saga_id) and amendment_in(begun.request) is None:
                raise InvalidInputError(f"ids that end in {AMENDMENT!r} and a number are those of amendments", field="saga_id")
            if saga_id.endswith(REVERSAL) and begun.driver is not Driver.REVERSAL:
                raise InvalidInputError(f"ids that end in {REVERSAL!r} are those of reversals", field="saga_id")
            stage = Stage.RUNNING if begun.driver is Driver.BODY else Stage.PLANNING
            begun_in = await self._begun_in(saga_id)
            told = replace(begun, store_epoch=begun_in if begun_in > 1 else None, owner=self._owner)
            with suppress(ConflictError):  # another process was faster: compare with what it began
                lease = await self.store.create(saga_id, told, stage=stage, owner=self._owner, ttl_s=self._ttl_s)
                return lease if begun_in == self.store.epoch else None
        first = (await self.store.read(saga_id))[0].event
        if not isinstance(first, SagaBegun) or not _asks_for_the_same(first, begun):
            was_redacted = isinstance(first, SagaBegun) and is_redacted(first.request)
            another = "a request that is redacted now" if was_redacted else "another request"
            raise ConflictError(f"saga {saga_id!r} exists with {another}; use another id", saga_id=saga_id)
        return None

    async def _begun_in(self, saga_id: str) -> int:
        """Return the store's epoch for a new saga: that of the saga that it undoes or changes, which may have begun it before
        the store was restored.
        """
        parent = parent_of(saga_id) or (saga_id.removesuffix(REVERSAL) if saga_id.endswith(REVERSAL) else None)
        return self.store.epoch if parent is None else (await self.load(parent)).begun_in

    async def _take(self, saga_id: str, *, wait: bool, looks_again: bool) -> Lease:
        give_up_at = self._give_up_at(wait=wait)
        while True:
            try:
                seen = self._driven.get(saga_id)
                again = looks_again and seen is None
                lease = await self.store.take(saga_id, owner=self._owner, ttl_s=self._ttl_s, looks_again=again, seen=seen)
                if seen is not None:
                    self._driven[saga_id] = None
                return lease
            except BusyError:
                if self._clock() >= give_up_at:
                    raise
            await asyncio.sleep(POLL_S)

    def _give_up_at(self, *, wait: bool) -> float:
        return self._clock() + (self._ttl_s + 1.0 if wait else 0.0)

    # -- providers ---------------------------------------------------------------------------------------------------

    async def check_provider(self, saga_id: str) -> None:
        """Raises `ProviderMismatchError` if the saga works with another provider than the one that is here."""
        await self._check_family(saga_id, None)

    async def recognise(self, saga_id: str, *, stated_by: str) -> None:
        """Journal that the provider here is the one that this saga, its amendment and its reversal work with, at another address.

        Raises `ProviderMismatchError` where both state ids of their own, and those differ.
        """
        saga = await self.load(saga_id)
        family = [await self.load(each) for each in saga_and_family(saga) if await self.store.headline(each) is not None]
        for each in family:
            await self._record(each.id, self._commands_for(each, stated_by))

    async def same_provider(self, saga_id: str, was: str, now: str, *, by: str = "user") -> None:
        """Journal a person's statement that provider `now` is the one that the saga's operations were planned with as `was`."""
        await self._record(saga_id, (c.StateSameProvider(was, now, by),))

    async def _record(self, saga_id: str, commands: tuple[c.Command, ...], *, looks_again: bool = True) -> None:
        """Journal what follows from these commands, and start nothing."""
        if not commands:
            return
        async with self._one_at_a_time(saga_id, wait=True):
            lease = await self._take(saga_id, wait=True, looks_again=looks_again)
            before = saga = await self.load(saga_id)
            entries: list[Entry] = []
            try:
                for command in commands:
                    for event in decide(saga, command, self._clock()):
                        entries.append(Entry(saga.version + 1, lease.epoch, max(self._clock(), saga.last_at), event))
                        saga = evolve(saga, entries[-1])
                if entries:
                    await self.store.append(lease, entries, stage=saga.headline_stage, locks=lock_change(before, saga))
            finally:
                await self.store.release(lease)

    async def _check_family(self, saga_id: str, begin: SagaBegun | None) -> None:
        """Compare the provider that is here with that of the saga, and of the saga that it undoes or changes, before taking it.

        A body brings actions of its own: they are compared as it asks for them.
        """
        if begin is not None and begin.driver is Driver.BODY:
            return
        parent = parent_of(saga_id) or (saga_id.removesuffix(REVERSAL) if saga_id.endswith(REVERSAL) else None)
        for each in (parent, saga_id):
            if each is not None and (begin is None or await self.store.headline(each) is not None):
                with suppress(RetiredError, UnknownSagaError):
                    saga = await self.load(each)
                    self._commands_for(saga)
                    for operation in saga.operations.values():
                        self._check_operation(saga, operation)

    async def _recognised(self, saga: Saga, lease: Lease) -> tuple[c.Command, ...]:
        """Return what its journal must say of the provider before anything goes out; lets go of it if that is another one."""
        try:
            return self._commands_for(saga)
        except ProviderMismatchError:
            await self.store.release(lease)
            raise

    def _commands_for(self, saga: Saga, stated_by: str = "") -> tuple[c.Command, ...]:
        here = self._providers.get(saga.domain)
        return () if here is None else recognised(saga, here, stated_by=stated_by)

    def _check_operation(self, saga: Saga, operation: Operation) -> None:
        if saga.domain in self._providers or is_closed(operation):
            return
        with suppress(UnknownActionError):
            provider = self.find(operation.spec.action, operation.spec.action_version).provider
            if is_elsewhere(saga, operation, provider):
                raise ProviderMismatchError(
                    f"saga {saga.id!r}: operation {operation.id!r}: {why_elsewhere(operation, provider)}",
                    saga_id=saga.id,
                    known=operation.spec.provider_id,
                    found=provider,
                    operation_id=operation.id,
                )

    def _with_provider(self, begun: SagaBegun) -> SagaBegun:
        here = self._providers.get(begun.domain)
        return begun if here is None else replace(begun, provider_id=here.identity, provider_url=here.url)

    # -- journals ----------------------------------------------------------------------------------------------------

    async def load(self, saga_id: str) -> Saga:
        """Return the saga's current state, folded from its journal."""
        return fold(saga_id, await self.journal(saga_id))

    async def journal(self, saga_id: str) -> tuple[Entry, ...]:
        if saga_id in self._held:
            with suppress(SagaGraphError):  # the store has what is durable, whatever became of its holder
                await self._held[saga_id].flush()
        return await self.store.read(saga_id)

    # -- reversal ----------------------------------------------------------------------------------------------------

    async def _reverse(self, saga: Saga) -> c.Command:
        """Run the saga that undoes `saga`; begun again after a crash, it resumes where it was (docs/protocol.md rule 5)."""
        if why := why_not_cancelled(saga):
            return c.BeginReversal(None, why)
        plan = plan_reversal(saga, self.find)
        if saga.stage is not Stage.REVERSING:
            if saga.pivot in plan.lasting:
                return c.BeginReversal(None, f"its pivot {saga.pivot!r} has landed and has no reverse")
            return c.BeginReversal(reversal_id(saga.id))
        child = saga.reversal or reversal_id(saga.id)
        begun = SagaBegun(Driver.REVERSAL, saga.domain, {"reverses": saga.id})
        async with self.hold(child, begin=begun) as coordinator:
            if coordinator.saga.stage is Stage.PLANNING:
                await coordinator.tell(c.AcceptPlan(plan.operations))
            ended = await coordinator.until_quiet()
        if ended.stage is not Stage.COMMITTED:
            held = ", ".join(each.id for each in ended.in_order() if each.hold)
            return c.HoldReversal(f"its reversal {child!r} is held at {held}: resolve that, and resume")
        outputs = {original_id(each.id): each.output for each in ended.in_order()}
        return c.EndReversal(outputs, tuple(f"{name}: cannot be undone" for name in plan.lasting))


def saga_and_family(saga: Saga) -> tuple[str, ...]:
    """Return the ids of a saga, and of those that undo or change it."""
    return tuple(each for each in (saga.id, saga.amending and saga.amending.saga, saga.reversal) if each)


def _asks_for_the_same(first: SagaBegun, begun: SagaBegun) -> bool:
    """Tell whether a saga was begun as it would be now. Who approved it in advance and who began it, where its provider is, and
    what the store has been through, may differ.
    """
    around = ("approved_by", "provider_id", "provider_url", "store_epoch", "owner")
    return replace(first, **{name: getattr(begun, name) for name in around}) == begun

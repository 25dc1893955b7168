"""The engine: opens a store, holds sagas, and is the door to all that can be done with them (door 1)."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from random import Random
from typing import Any

from sagagraph.errors import BusyError, ConflictError, InvalidInputError, NotAllowedError, SupersededError
from sagagraph.saga import commands as c
from sagagraph.saga import events as e
from sagagraph.saga.action import DECLARED, REVERSING, Action, ActionRegistry, to_json
from sagagraph.saga.agenda import is_quiet, status_of
from sagagraph.saga.body import BodySaga
from sagagraph.saga.coordinator import Coordinator, Observer
from sagagraph.saga.effects import AroundCall, Effects
from sagagraph.saga.events import Driver, Entry, Resolution, SagaBegun
from sagagraph.saga.evolve import fold
from sagagraph.saga.model import Saga, Stage
from sagagraph.saga.owner import this_owner
from sagagraph.saga.ports import Headline, Lease, RequestKind, SagaStore
from sagagraph.saga.preview import CancelPreview, preview_cancel
from sagagraph.saga.reversal import REVERSAL, original_id, plan_reversal, reversal_id, reversing_action
from sagagraph.saga.status import SagaStatus
from sagagraph.saga.stores.opening import open_store
from sagagraph.saga.view import Account, SagaView, view_of

LEASE_TTL_S = 4.0
"""A dead worker's saga can be taken over after this long at the latest."""
_POLL_S = 0.1
_THREADS = 32


class Engine:
    """One process's access to a store. Make it with `Engine.open`; several may share a store."""

    def __init__(
        self,
        store: SagaStore,
        *,
        actions: Iterable[Action] = (),
        account: Callable[[Saga], Account] | None = None,
        clock: Callable[[], float] = time.time,
        random: Random | None = None,
        lease_ttl_s: float = LEASE_TTL_S,
        observers: Iterable[Observer] = (),
        around_call: AroundCall = lambda _call: nullcontext(),
    ) -> None:
        self.store = store
        self._actions = ActionRegistry(actions)
        self._account = account or (lambda _saga: Account())
        self._clock = clock
        self._ttl_s = lease_ttl_s
        self._observers = tuple(observers)
        self._threads = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="sagagraph-call")
        self._effects = Effects(self._threads, random or Random(), clock, around_call)  # noqa: S311 - jitter is no secret
        self._owner = this_owner(uuid.uuid4().hex[:8])
        self._entered: set[str] = set()
        self._held: dict[str, Coordinator] = {}

    @staticmethod
    def open(store_url: str, **options: Any) -> EngineOpening:
        """Open `sqlite:///FILE` or `memory:`; use it as `async with`, or as `with` for the synchronous form.

        Raises `InvalidInputError` for a URL that it does not know, `StoreError` for a store that can not be opened.
        """
        return EngineOpening(store_url, options)

    async def close(self) -> None:
        """Stop what this engine still holds, resumably, and close the store."""
        for coordinator in list(self._held.values()):
            await coordinator.stop()
        self._held.clear()
        self._threads.shutdown(wait=False, cancel_futures=True)
        await self.store.close()

    # -- doors -------------------------------------------------------------------------------------------------------

    def saga(self, saga_id: str) -> BodySaga:
        """A saga whose operations the body of an `async with` runs: begins it, or runs it again."""
        return BodySaga(self, saga_id)

    def register(self, action: Action) -> None:
        self._actions.add(action)

    def find(self, name: str, version: int) -> Action:
        """Raises `UnknownActionError`."""
        if name.endswith(REVERSING):
            return reversing_action(self.find(name.removesuffix(REVERSING), version))
        return (self._actions if self._actions.knows(name, version) else DECLARED).find(name, version)

    @asynccontextmanager
    async def hold(
        self, saga_id: str, *, begin: SagaBegun | None = None, wait: bool = True, looks_again: bool = True
    ) -> AsyncIterator[Coordinator]:
        """Be the saga's one writer for a while; with `begin`, begin it if there is none of this id.

        With `wait`, waits for a dead worker's lease to run out. Raises `BusyError` if another worker holds it,
        `UnknownSagaError`, and `ConflictError` if the saga was begun with something else.
        """
        async with self._one_at_a_time(saga_id, wait=wait):
            lease = (begin and await self._created(saga_id, begin)) or await self._take(
                saga_id, wait=wait, looks_again=looks_again
            )
            saga = await self.load(saga_id)
            if saga.epoch != lease.epoch:
                raise SupersededError(f"saga {saga_id!r} was taken over by another worker", saga_id=saga_id)
            async with self._coordinated(saga, lease) as coordinator:
                yield coordinator

    @asynccontextmanager
    async def _one_at_a_time(self, saga_id: str, *, wait: bool) -> AsyncIterator[None]:
        """Within this engine, whose lease would let it take its own sagas over."""
        give_up_at = self._give_up_at(wait=wait)
        while saga_id in self._entered:
            if self._clock() >= give_up_at:
                raise BusyError(f"saga {saga_id!r} is running in this engine already", saga_id=saga_id)
            await asyncio.sleep(_POLL_S)
        self._entered.add(saga_id)
        try:
            yield
        finally:
            self._entered.discard(saga_id)

    @asynccontextmanager
    async def _coordinated(self, saga: Saga, lease: Lease) -> AsyncIterator[Coordinator]:
        coordinator = Coordinator(
            saga,
            lease,
            store=self.store,
            effects=self._effects,
            find=self.find,
            clock=self._clock,
            lease_ttl_s=self._ttl_s,
            reverse=self._reverse,
            observers=self._observers,
        )
        self._held[saga.id] = coordinator
        coordinator.start()
        try:
            yield coordinator
        finally:
            self._held.pop(saga.id, None)
            await asyncio.shield(coordinator.stop())

    async def _created(self, saga_id: str, begun: SagaBegun) -> Lease | None:
        """The first lease of a new saga, or None where it exists with the same beginning."""
        if await self.store.headline(saga_id) is None:
            if saga_id.endswith(REVERSAL) and begun.driver is not Driver.REVERSAL:
                raise InvalidInputError(f"ids that end in {REVERSAL!r} are those of reversals", field="saga_id")
            stage = Stage.RUNNING if begun.driver is Driver.BODY else Stage.PLANNING
            with suppress(ConflictError):  # another process was faster: compare with what it began
                return await self.store.create(saga_id, begun, stage=stage, owner=self._owner, ttl_s=self._ttl_s)
        first = (await self.store.read(saga_id))[0].event
        if not isinstance(first, SagaBegun) or replace(first, approved_by=begun.approved_by) != begun:
            raise ConflictError(f"saga {saga_id!r} exists with another request; use another id", saga_id=saga_id)
        return None

    async def _take(self, saga_id: str, *, wait: bool, looks_again: bool) -> Lease:
        give_up_at = self._give_up_at(wait=wait)
        while True:
            try:
                return await self.store.take(saga_id, owner=self._owner, ttl_s=self._ttl_s, looks_again=looks_again)
            except BusyError:
                if self._clock() >= give_up_at:
                    raise
            await asyncio.sleep(_POLL_S)

    def _give_up_at(self, *, wait: bool) -> float:
        return self._clock() + (self._ttl_s + 1.0 if wait else 0.0)

    # -- what people do ----------------------------------------------------------------------------------------------

    async def status(self, saga_id: str) -> SagaView:
        saga = await self.load(saga_id)
        return view_of(saga, self._account(saga))

    async def load(self, saga_id: str) -> Saga:
        """The saga's state now, folded from its journal."""
        return fold(saga_id, await self.store.read(saga_id))

    async def journal(self, saga_id: str) -> tuple[Entry, ...]:
        return await self.store.read(saga_id)

    async def sagas(self) -> tuple[Headline, ...]:
        return await self.store.headlines()

    async def resume(self, saga_id: str, *, wait: bool = True) -> SagaView:
        """Go on with an open saga until it is quiet; a finished one is only reported.

        A workflow is carried on. A saga of a body that is not run again is settled and then compensated.
        """
        if not status_of(await self.load(saga_id)).is_final:
            async with self.hold(saga_id, wait=wait) as coordinator:
                await self._without_body(coordinator)
                await coordinator.until_quiet()
        return await self.status(saga_id)

    async def _without_body(self, coordinator: Coordinator) -> None:
        saga = coordinator.saga
        if saga.driver is Driver.BODY and not saga.body_completed:
            await coordinator.until_quiet()
            await coordinator.tell(c.RaiseBody(e.Fault("resumed", "resumed without its body")))

    async def cancel(self, saga_id: str, *, preview: bool = False, by: str = "user") -> SagaView | CancelPreview:
        """Undo the saga: compensate it, or reverse it if its pivot has landed. `preview` only says what that would do.

        Raises `NotAllowedError`, naming the residue, for a saga whose pivot has landed and can not be reversed.
        """
        saga = await self.load(saga_id)
        if preview:
            return await preview_cancel(saga, self.find)
        self._check_cancellable(saga)
        if status_of(saga) in (SagaStatus.COMPENSATED, SagaStatus.REJECTED, SagaStatus.INFEASIBLE):
            return await self.status(saga_id)
        request = await self.store.ask(saga_id, RequestKind.CANCEL, by, None)
        await self._see_to(saga_id, request.number)
        return await self.status(saga_id)

    def _check_cancellable(self, saga: Saga) -> None:
        if saga.driver is Driver.REVERSAL:
            raise NotAllowedError(
                f"saga {saga.id!r} undoes another one, and can only go on: resume it, or resolve what is held", saga_id=saga.id
            )
        if saga.pivot_has_landed and not plan_reversal(saga, self.find).is_possible:
            left = ", ".join(plan_reversal(saga, self.find).lasting)
            raise NotAllowedError(
                f"saga {saga.id!r} can not be cancelled: its pivot {saga.pivot!r} has landed; {left} would remain",
                saga_id=saga.id,
                operation_id=saga.pivot,
            )

    async def resolve(
        self, saga_id: str, operation_id: str, resolution: Resolution | str, *, output: Any = None, by: str = "user"
    ) -> SagaView:
        """A person settles an operation that is held or stuck, and the saga goes on with that.

        What they know is heard before anything else is tried: a cancellation made by hand must not be made again.
        """
        said = Resolution(resolution)
        async with self.hold(saga_id, looks_again=False) as coordinator:
            operation = coordinator.saga.operations.get(operation_id)
            if operation is not None and not operation.waits_for_person:
                await coordinator.until_quiet()  # it may be held once it has been asked about
            await coordinator.tell(c.Resolve(operation_id, said, by, to_json(output)))
            await coordinator.until_quiet()
        return await self.status(saga_id)

    async def _see_to(self, saga_id: str, request: int) -> None:
        """Until `request` is consumed and the saga is quiet: by whoever holds it, or by us once nobody does."""
        while not _has_seen_to(await self.load(saga_id), request):
            with suppress(BusyError):
                async with self.hold(saga_id, wait=False) as coordinator:
                    await coordinator.until(lambda saga: saga.last_request >= request)
                    await coordinator.until_quiet()
                    return
            await asyncio.sleep(_POLL_S)

    # -- reversal ----------------------------------------------------------------------------------------------------

    async def _reverse(self, saga: Saga) -> c.Command:
        """Run the saga that undoes `saga`; begun again after a crash it goes on where it was (PROTOCOL rule 5)."""
        plan = plan_reversal(saga, self.find)
        if saga.stage is not Stage.REVERSING:
            if not plan.is_possible:
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
        return c.EndReversal(outputs, tuple(f"{name}: can not be undone" for name in plan.lasting))


def _has_seen_to(saga: Saga, request: int) -> bool:
    return saga.last_request >= request and is_quiet(saga)


class EngineOpening:
    """What `Engine.open` returns: enter it with `async with`, or with `with` from code without an event loop."""

    def __init__(self, store_url: str, options: dict[str, Any]) -> None:
        self._url = store_url
        self._options = options
        self._engine: Engine | None = None
        self._sync: Any = None

    async def __aenter__(self) -> Engine:
        self._engine = Engine(await open_store(self._url), **self._options)
        return self._engine

    async def __aexit__(self, *_exc: object) -> None:
        if self._engine is not None:
            await self._engine.close()

    def __enter__(self) -> Any:
        from sagagraph.saga.synchronous import SyncEngine

        self._sync = SyncEngine(self)
        return self._sync

    def __exit__(self, *_exc: object) -> None:
        self._sync.close()

"""The engine: opens a store, holds sagas, and is the door to all that can be done with them (door 1)."""

from __future__ import annotations

import asyncio
import dataclasses
import time
import uuid
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, nullcontext, suppress
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from opentelemetry.trace import Tracer

from sagagraph.errors import (
    BusyError,
    ConflictError,
    DrainedError,
    InvalidInputError,
    NotAllowedError,
    RetiredError,
    SagaGraphError,
    SupersededError,
    UnknownSagaError,
)
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.amendments import (
    AMENDMENT,
    amended_by,
    amendment_in,
    amendment_request,
    is_amendment_id,
    next_amendment_id,
    outcome_for_parent,
)
from sagagraph.saga.core.decide.people import check_cancellable, check_not_redacted, check_reversible, why_not_cancelled
from sagagraph.saga.core.events import Driver, Entry, Resolution, SagaBegun
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.in_doubt import waits_for_answer
from sagagraph.saga.core.next_steps import is_quiet, status_of
from sagagraph.saga.core.redaction import checked_fields, is_redacted
from sagagraph.saga.core.reversals import REVERSAL, REVERSING, original_id, reversal_id
from sagagraph.saga.core.state import FINAL, Saga, Stage
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.actions import DECLARED, Action, ActionRegistry, to_json
from sagagraph.saga.engine.body import BodySaga
from sagagraph.saga.engine.calls import AroundCall, Effects
from sagagraph.saga.engine.coordinator import Coordinator, Observer
from sagagraph.saga.engine.leases import Heart
from sagagraph.saga.engine.maintenance.redact import redact_journals
from sagagraph.saga.engine.maintenance.replay import JudgePlan, Replay, replay
from sagagraph.saga.engine.maintenance.retention import Retirement, retire, unfinished
from sagagraph.saga.engine.reversal import plan_reversal, reversing_action
from sagagraph.saga.engine.unheard import is_unheard, open_sagas
from sagagraph.saga.engine.views.preview import CancelPreview, preview_cancel
from sagagraph.saga.engine.views.view import Account, SagaView, view_of
from sagagraph.saga.stores.owner import this_owner
from sagagraph.saga.stores.port import Headline, Lease, RequestKind, SagaStore
from sagagraph.saga.telemetry.holding import Telemetry

if TYPE_CHECKING:
    from sagagraph.saga.engine.opening import EngineOpening
    from sagagraph.saga.stores.projections import Projection

LEASE_TTL_S = 4.0
"""A dead worker's saga can be taken over after this long at the latest."""
DRAIN_S = 10.0
"""A worker that is told to stop lets what is out end for so long."""
_POLL_S = 0.1
_THREADS = 32


class Engine:
    """One process's access to a store. Make it with `Engine.open`; several may share a store.

    `tracer`: makes the spans, rather than one of the program's own provider (docs/telemetry.md).
    """

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
        tracer: Tracer | None = None,
    ) -> None:
        self.store = store
        self._actions = ActionRegistry(actions)
        self._account = account or (lambda _saga: Account())
        self._clock = clock
        self._ttl_s = lease_ttl_s
        self._observers = tuple(observers)
        self._threads = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="sagagraph-call")
        self.telemetry = Telemetry(tracer)
        jitter = random or Random()  # noqa: S311 - jitter is no secret
        self._effects = Effects(self._threads, jitter, clock, around_call, self._check_held, self.telemetry)
        self._owner = this_owner(uuid.uuid4().hex[:8])
        self._entered: set[str] = set()
        self._held: dict[str, Coordinator] = {}
        self._is_draining = False
        self._heart = Heart(store, self._held, clock=clock, lease_ttl_s=lease_ttl_s)

    @staticmethod
    def open(store_url: str, **options: Any) -> EngineOpening:
        """Open `sqlite:///FILE`, `postgresql://…` or `memory:`; use it as `async with`, or as `with` for the synchronous form.

        Raises `InvalidInputError` for a URL that it does not know, `StoreError` for a store that can not be opened.
        """
        from sagagraph.saga.engine.opening import EngineOpening

        return EngineOpening(store_url, options)

    async def drain(self, within_s: float = DRAIN_S) -> None:
        """Before a shutdown: begin nothing, let the calls that are out end (for so long), journal how, and let go of all sagas.

        Whoever waits for one of them gets a `DrainedError`, and so does whoever enters one from now on.
        """
        self._is_draining = True
        await asyncio.gather(*(each.drain(within_s) for each in list(self._held.values())))

    async def close(self) -> None:
        """Stop what this engine still holds, resumably, and close the store."""
        for coordinator in list(self._held.values()):
            await coordinator.stop()
        self._held.clear()
        self._heart.stop()
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
            if self._is_draining:
                raise DrainedError(f"saga {saga_id!r}: this worker was told to stop; resume it elsewhere", saga_id=saga_id)
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
            observers=(*self._observers, telling.observe) if telling.has_listeners else self._observers,
            on_failure=telling.failed,
        )
        self._held[saga.id] = coordinator
        self._heart.beat()
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
        """The first lease of a new saga, or None where it exists with the same beginning."""
        if await self.store.headline(saga_id) is None:
            if is_amendment_id(saga_id) and amendment_in(begun.request) is None:
                raise InvalidInputError(f"ids that end in {AMENDMENT!r} and a number are those of amendments", field="saga_id")
            if saga_id.endswith(REVERSAL) and begun.driver is not Driver.REVERSAL:
                raise InvalidInputError(f"ids that end in {REVERSAL!r} are those of reversals", field="saga_id")
            stage = Stage.RUNNING if begun.driver is Driver.BODY else Stage.PLANNING
            with suppress(ConflictError):  # another process was faster: compare with what it began
                return await self.store.create(saga_id, begun, stage=stage, owner=self._owner, ttl_s=self._ttl_s)
        first = (await self.store.read(saga_id))[0].event
        if not isinstance(first, SagaBegun) or replace(first, approved_by=begun.approved_by) != begun:
            was_redacted = isinstance(first, SagaBegun) and is_redacted(first.request)
            another = "a request that is redacted now" if was_redacted else "another request"
            raise ConflictError(f"saga {saga_id!r} exists with {another}; use another id", saga_id=saga_id)
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
        view = view_of(saga, self._account(saga))
        return view if saga.amending is None else await self._beside_amendment(view, saga.amending.saga)

    async def _beside_amendment(self, view: SagaView, amendment: str) -> SagaView:
        """A saga that is being amended waits for whatever its amendment waits for; the plan that is shown is that one's."""
        try:
            child = await self.load(amendment)
        except UnknownSagaError:  # to be begun
            return view
        status = status_of(child)
        if status.is_final:  # to be taken over
            return view
        plan_hash = child.plan.hash if status is SagaStatus.AWAITING_APPROVAL else view.plan_hash
        return dataclasses.replace(view, status=status, plan_hash=plan_hash)

    async def state_at(self, saga_id: str, version: int) -> SagaView:
        """Where the saga stood when its journal had `version` events. Raises `InvalidInputError` for one that it never had."""
        entries = await self.store.read(saga_id)
        if not 1 <= version <= len(entries):
            raise InvalidInputError(
                f"saga {saga_id!r} has versions 1 to {len(entries)}, and no version {version}", field="version"
            )
        saga = fold(saga_id, entries[:version])
        return view_of(saga, self._account(saga))

    async def replay(self, saga_id: str, *, judge_plan: JudgePlan | None = None) -> Replay:
        """Fold the journal again and run the validators again on what they were shown; writes nothing.

        `judge_plan` judges plans: a domain's `validate`. Raises `JournalError` for a journal that can not be folded.
        """
        entries = await self.store.read(saga_id)
        return await replay(saga_id, entries, await self.store.headline(saga_id), self.find, judge_plan)

    async def retire(
        self, saga_id: str | None = None, *, older_than: timedelta | None = None, archive: Path | None, dry_run: bool = False
    ) -> Retirement:
        """Let go of the journal of a finished saga, or of all that ended so long ago; safe to repeat.

        With `archive`, their lines are in that file, on disk, before anything is deleted; None drops them. A saga that is open,
        or that something open needs, is kept. The ids stay: they are never used again.
        """
        if (saga_id is None) is (older_than is None):
            raise InvalidInputError("name a saga or say how old, one of them", field="older_than")
        now = self._clock()
        names = [saga_id] if saga_id is not None else await self._ended_before(now, older_than or timedelta())
        retirement = await retire(self.store, names, archive=archive, at=now, dry_run=dry_run)
        if not dry_run:
            await self._withdraw(retirement.retired)
        return retirement

    async def _ended_before(self, now: float, older_than: timedelta) -> list[str]:
        if older_than < timedelta():
            raise InvalidInputError("is less than nothing", field="older_than")
        latest = now - older_than.total_seconds()
        return [each.saga_id for each in await self.store.headlines() if each.stage in FINAL and each.updated_at <= latest]

    async def redact(self, saga_id: str, fields: Iterable[str], *, by: str = "user") -> SagaView:
        """Make what stands under these names, in payloads at any depth, unreadable for good; in its reversal too.

        Only for a finished saga: undoing needs what it did. Afterwards it can not be undone or run again. Safe to repeat. Raises
        `InvalidInputError` for a name that is nowhere in the journal, `NotAllowedError` for a saga that is not finished.
        """
        names = checked_fields(fields)
        saga = await self.load(saga_id)
        if why := await unfinished(self.store, saga):
            raise NotAllowedError(f"saga {saga_id!r} can not be redacted: {why}, and that needs its data", saga_id=saga_id)
        beside = [*saga.amendments, *([saga.reversal] if saga.reversal else [])]
        together = [saga, *[await self.load(each) for each in beside]]
        await redact_journals(self.store, together, names, by=by, now=self._clock())
        await self._withdraw([each.id for each in together])
        return await self.status(saga_id)

    async def _withdraw(self, saga_ids: Iterable[str]) -> None:
        """The rows that were projected from what the journals do not say any more."""
        from sagagraph.saga.stores.projections.projector import Projector

        projector = Projector(self.store)
        try:
            for saga_id in saga_ids:
                await projector.forget(saga_id)
        finally:
            projector.close()

    async def load(self, saga_id: str) -> Saga:
        """The saga's state now, folded from its journal."""
        return fold(saga_id, await self.journal(saga_id))

    async def journal(self, saga_id: str) -> tuple[Entry, ...]:
        if saga_id in self._held:
            with suppress(SagaGraphError):  # the store has what is durable, whatever became of its holder
                await self._held[saga_id].flush()
        return await self.store.read(saga_id)

    async def sagas(self) -> tuple[Headline, ...]:
        return await self.store.headlines()

    async def open_sagas(self) -> tuple[Headline, ...]:
        return await open_sagas(self.store)

    async def project(self, saga_id: str) -> Projection:
        """The saga as rows (docs/projections.md); a store in a database has them in its tables when this returns."""
        from sagagraph.saga.stores.projections.projector import Projector

        projector = Projector(self.store)
        try:
            return await projector.project(saga_id)
        finally:
            projector.close()

    async def resume(self, saga_id: str, *, wait: bool = True) -> SagaView:
        """Go on with an open saga until it is quiet, or with what amends it; a finished one is only reported.

        A workflow is carried on. A saga of a body that is not run again is settled and then compensated; one that waits for an
        answer is only reported: its graph is told the answer, or it is cancelled.
        """
        saga = await self.load(saga_id)
        if saga.amending is not None:
            with suppress(UnknownSagaError):  # only its planner can begin it
                await self.resume(saga.amending.saga, wait=wait)
        elif (not status_of(saga).is_final or await is_unheard(self.store, saga)) and not any(
            waits_for_answer(each) for each in saga.operations.values()
        ):
            async with self.hold(saga_id, wait=wait) as coordinator:
                await self._without_body(coordinator)
                await coordinator.until_quiet()
        await self.conclude_amendment(saga_id)
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
        check_not_redacted(saga)
        if preview:
            return await preview_cancel(saga, self.find)
        check_cancellable(saga)
        if saga.pivot_has_landed:
            check_reversible(saga, plan_reversal(saga, self.find).lasting)
        if status_of(saga) in (SagaStatus.COMPENSATED, SagaStatus.REJECTED, SagaStatus.INFEASIBLE):
            return await self.status(saga_id)
        request = await self.store.ask(saga_id, RequestKind.CANCEL, by, None)
        await self._see_to(saga_id, request.number)
        await self.conclude_amendment(saga_id)
        return await self.status(saga_id)

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
        await self.conclude_amendment(saga_id)
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

    # -- amendments --------------------------------------------------------------------------------------------------

    async def begin_amendment(self, saga_id: str, wish: Any, *, lost: Collection[str], by: str, approved_by: str = "") -> None:
        """Set a committed saga on the way to another plan; `PlanningGraph.change` does that, and all that follows.

        Where nothing is lost and nothing else is wished for, nothing happens. Raises `NotAllowedError` where a cancel or another
        amendment goes on, and where the pivot can not be reversed: nothing could take its place.
        """
        async with self.hold(saga_id) as coordinator:
            saga = coordinator.saga
            if not (lost or saga.missing) and wish == saga.request and saga.stage is Stage.COMMITTED and not saga.cancel_by:
                return
            if saga.pivot_has_landed and saga.pivot in plan_reversal(saga, self.find).lasting:
                raise NotAllowedError(
                    f"saga {saga_id!r} can not be changed any more: its pivot {saga.pivot!r} has landed for good",
                    saga_id=saga_id,
                    operation_id=saga.pivot,
                )
            request = amendment_request(saga, wish, lost, self._account(saga).cost.fees)
            await coordinator.tell(c.BeginAmendment(next_amendment_id(saga), request, by, approved_by))

    async def conclude_amendment(self, saga_id: str) -> None:
        """If `saga_id` is an amendment that has ended, tell its parent what came of it. Safe to repeat, also after a crash."""
        child = await self.load(saga_id)
        parent_id = amended_by(child)
        if parent_id is None or not status_of(child).is_final:
            return
        with suppress(RetiredError):  # a parent that was let go of has been told
            amending = (await self.load(parent_id)).amending
            if amending is None or amending.saga != saga_id:
                return
            async with self.hold(parent_id) as coordinator:
                await coordinator.tell(outcome_for_parent(child))

    # -- reversal ----------------------------------------------------------------------------------------------------

    async def _reverse(self, saga: Saga) -> c.Command:
        """Run the saga that undoes `saga`; begun again after a crash it goes on where it was (PROTOCOL rule 5)."""
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
        return c.EndReversal(outputs, tuple(f"{name}: can not be undone" for name in plan.lasting))


def _has_seen_to(saga: Saga, request: int) -> bool:
    return saga.last_request >= request and is_quiet(saga)

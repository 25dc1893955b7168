"""Engine: everything that can be done with sagas (door 1), for code with an event loop and for code without one."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Collection, Iterable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sagagraph.errors import (
    BusyError,
    InvalidInputError,
    NotAllowedError,
    OperationFailedError,
    OperationHeldError,
    ParkedError,
    RetiredError,
    SagaClosedError,
    UnknownSagaError,
)
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.amendments import amended_by, amendment_request, next_amendment_id, outcome_for_parent
from sagagraph.saga.core.decide.decide import decide
from sagagraph.saga.core.decide.people import check_cancellable, check_not_redacted, check_reversible
from sagagraph.saga.core.doubt.in_doubt import waits_for_answer
from sagagraph.saga.core.doubt.remedies import held_by
from sagagraph.saga.core.events import Driver, Resolution, SagaBegun
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.next_steps import is_quiet, status_of
from sagagraph.saga.core.redaction import checked_fields
from sagagraph.saga.core.state import FINAL, Saga, Stage
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.actions import to_json
from sagagraph.saga.engine.body import PROGRAM, BodySaga
from sagagraph.saga.engine.coordinator import Coordinator
from sagagraph.saga.engine.driving import Drive, Parked, check_drivable, goes_on_by_itself, original_of
from sagagraph.saga.engine.holder import PARKS_AFTER_S, POLL_S, SagaHolder, saga_and_family
from sagagraph.saga.engine.maintenance.redact import redact_journals
from sagagraph.saga.engine.maintenance.replay import JudgePlan, Replay, replay
from sagagraph.saga.engine.maintenance.retention import Retirement, retire, unfinished
from sagagraph.saga.engine.reversal import plan_reversal
from sagagraph.saga.engine.synchronous import LoopThread, SyncSaga
from sagagraph.saga.engine.views.open_sagas import has_unseen_requests, open_sagas
from sagagraph.saga.engine.views.preview import CancelPreview, preview_cancel
from sagagraph.saga.engine.views.view import SagaView, view_of
from sagagraph.saga.stores.guards.durability import Durability
from sagagraph.saga.stores.port import Headline, RequestKind, SagaStore
from sagagraph.saga.stores.urls import open_store
from sagagraph.workflow.values import Json

if TYPE_CHECKING:
    from sagagraph.saga.stores.projections import Projection


class Engine(SagaHolder):
    """One process's access to a store. Make it with `Engine.open`; several engines may share a store."""

    @staticmethod
    def open(store_url: str, *, create: bool = True, unsafe_durability: bool = False, **options: Any) -> EngineOpening:
        """Open `sqlite:///FILE`, `postgresql://…` or `memory:`; use it with `async with`, or with `with` for the synchronous
        form. With `create`, a store that is not there is made.

        A database whose settings let it lose what it has acknowledged is refused. `unsafe_durability`, for tests only, leaves
        the settings as they are: a crash may then make effects happen twice.

        Raises `InvalidInputError` for an unknown kind of URL, `MissingStoreError` without `create`, `StoreError` for a store
        that cannot be opened.
        """
        durability = Durability.UNSAFE if unsafe_durability else Durability.CHECKED
        return EngineOpening(partial(open_store, store_url, create=create, durability=durability), options)

    def saga(self, saga_id: str, *, begin: SagaBegun = PROGRAM, wait: bool = True) -> BodySaga:
        """Begin a saga, or run it again; the body of an `async with` runs its operations.

        `begin`: what its journal is to say first, if other programs can run its body, too. `wait`: for a dead worker's lease.
        """
        return BodySaga(self, saga_id, begin, wait=wait)

    # -- what people do ----------------------------------------------------------------------------------------------

    async def status(self, saga_id: str) -> SagaView:
        saga = await self.load(saga_id)
        view = view_of(saga, self._account(saga))
        return view if saga.amending is None else await self._beside_amendment(view, saga.amending.saga)

    async def _beside_amendment(self, view: SagaView, amendment: str) -> SagaView:
        """Return the status of a saga; one that is being amended waits for what its amendment waits for, and shows that one's
        plan.
        """
        try:
            child = await self.load(amendment)
        except UnknownSagaError:  # has yet to begin
            return view
        status = status_of(child)
        if status.is_final:  # its outcome has yet to be taken over
            return view
        plan_hash = child.plan.hash if status is SagaStatus.AWAITING_APPROVAL else view.plan_hash
        return dataclasses.replace(view, status=status, plan_hash=plan_hash)

    async def state_at(self, saga_id: str, version: int) -> SagaView:
        """Return the saga's state when its journal had `version` events. Raises `InvalidInputError` if it never had that
        version.
        """
        entries = await self.store.read(saga_id)
        if not 1 <= version <= len(entries):
            raise InvalidInputError(
                f"saga {saga_id!r} has versions 1 to {len(entries)}, and no version {version}", field="version"
            )
        saga = fold(saga_id, entries[:version])
        return view_of(saga, self._account(saga))

    async def replay(self, saga_id: str, *, judge_plan: JudgePlan | None = None) -> Replay:
        """Fold the journal again and run the validators again on what they were shown; writes nothing.

        `judge_plan` judges plans: a domain's `validate`. Raises `JournalError` for a journal that cannot be folded.
        """
        entries = await self.store.read(saga_id)
        return await replay(saga_id, entries, await self.store.headline(saga_id), self.find, judge_plan)

    async def retire(
        self, saga_id: str | None = None, *, older_than: timedelta | None = None, archive: Path | None, dry_run: bool = False
    ) -> Retirement:
        """Delete the journal of a finished saga, or of all sagas that ended at least that long ago; safe to repeat.

        With `archive`, their lines are in that file, on disk, before anything is deleted; None drops them. A saga that is open,
        or that something open needs, is kept. Ids remain and are never used again.
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
        """Make the values under these names, in payloads at any depth, permanently unreadable, also in the saga's reversal.

        Works only on a finished saga, because undoing needs what it did. Afterwards it can be neither undone nor run again. Safe
        to repeat. Raises `InvalidInputError` for a name that is nowhere in the journal, `NotAllowedError` for a saga that is not
        finished.
        """
        names = checked_fields(fields)
        saga = await self.load(saga_id)
        if why := await unfinished(self.store, saga):
            raise NotAllowedError(f"saga {saga_id!r} cannot be redacted: {why}, and that needs its data", saga_id=saga_id)
        beside = [*saga.amendments, *([saga.reversal] if saga.reversal else [])]
        together = [saga, *[await self.load(each) for each in beside]]
        await redact_journals(self.store, together, names, by=by, now=self._clock())
        await self._withdraw([each.id for each in together])
        await self.store.forget(saga_id)
        return await self.status(saga_id)

    async def _withdraw(self, saga_ids: Iterable[str]) -> None:
        """Withdraw the rows that were projected from what the journals no longer say."""
        from sagagraph.saga.stores.projections.projector import Projector

        projector = Projector(self.store)
        try:
            for saga_id in saga_ids:
                await projector.forget(saga_id)
        finally:
            projector.close()

    async def sagas(self, *, most: int | None = None, skip: int = 0, prefix: str = "") -> tuple[Headline, ...]:
        """Return the sagas whose ids begin with `prefix`, the latest first; with `most`, so many of them after `skip`."""
        return await self.store.headlines(most=most, skip=skip, prefix=prefix)

    async def open_sagas(self) -> tuple[Headline, ...]:
        return await open_sagas(self.store)

    async def restored(self) -> tuple[str, ...]:
        """Say that an earlier state of the store was put back: a backup, or a replica that may have lagged.

        From now on, whatever an open saga does next is in doubt before it is called (docs/protocol.md rule 11). Returns the open
        sagas. Safe to repeat. Raises `BusyError` while another worker holds one: stop all workers before the store is restored.
        """
        await self.store.restored()
        names = tuple(each.saga_id for each in await self.open_sagas())
        for saga_id in names:
            await self.store.release(await self.store.take(saga_id, owner=self._owner, ttl_s=self._ttl_s))
        return names

    async def project(self, saga_id: str) -> Projection:
        """Project the saga as rows (docs/projections.md); a store in a database has them in its tables when this returns."""
        from sagagraph.saga.stores.projections.projector import Projector

        projector = Projector(self.store)
        try:
            return await projector.project(saga_id)
        finally:
            projector.close()

    async def resume(self, saga_id: str, *, wait: bool = True) -> SagaView:
        """Resume an open saga, or its amendment, until it is quiet; a finished saga is only reported.

        A workflow is carried on. A saga whose body is not run again is settled and then compensated. A saga that waits for an
        answer is only reported: answer its graph, or cancel it.
        """
        saga = await self.load(saga_id)
        if saga.amending is not None:
            with suppress(UnknownSagaError):  # only its planner can begin it
                await self.resume(saga.amending.saga, wait=wait)
        elif (not status_of(saga).is_final or await has_unseen_requests(self.store, saga)) and not any(
            waits_for_answer(each) for each in saga.operations.values()
        ):
            async with self.hold(saga_id, wait=wait) as coordinator:
                await self._without_body(coordinator)
                await coordinator.until_quiet()
        await self.conclude_amendment(saga_id)
        return await self.status(saga_id)

    def drives(self, domain: str, drive: Drive) -> None:
        """Have `drive` carry on with the sagas of a domain when a fleet drives them: a graph, or a body (whose domain is '')."""
        self._drivers[domain] = drive

    async def drive(self, saga_id: str) -> Parked:
        """Drive a saga for a fleet, as long as something is out or due soon, and let go of it until something is due again.

        One that amends or reverses another is driven with that. Safe to repeat, at any time and anywhere. Raises `BusyError` if
        another worker holds it, and what `check_drivable` raises if it cannot be driven here; nothing is written then.
        """
        saga = await self.load(original_of(saga_id))
        until: float | None = None
        if goes_on_by_itself(saga) or await has_unseen_requests(self.store, saga):
            drive = self._drivers.get(saga.domain)
            check_drivable(saga, self.find, has_driver=drive is not None)
            family = [await self.load(each) for each in await self._family(saga)]
            self._driven |= {each.id: each.version for each in family}
            try:
                by_itself = self._carry_on if saga.amending is None else partial(self.resume, wait=False)
                await (by_itself if drive is None or status_of(saga).is_final else drive)(saga.id)
            except* ParkedError as parked:  # a body may have been told it in several tasks at once
                until = _earliest(parked)
            except* (OperationFailedError, OperationHeldError, SagaClosedError):  # what a body is told stands in the journal
                pass
            finally:
                for each in family:
                    self._driven.pop(each.id, None)
            was, saga = saga, await self.load(saga.id)
            if saga.amending is not None and was.amending is None:  # somebody asked for a change
                return await self.drive(saga.id)
        return await self._parked(saga, until)

    async def _carry_on(self, saga_id: str) -> None:
        async with self.hold(saga_id, wait=False) as coordinator:
            await coordinator.until_quiet()

    async def _family(self, saga: Saga) -> list[str]:
        """Return the saga, and those that amend or reverse it and have begun."""
        beside = [each for each in saga_and_family(saga)[1:] if await self.store.headline(each) is not None]
        return [saga.id, *beside]

    async def _parked(self, saga: Saga, until: float | None) -> Parked:
        """Note until when nothing is due. What was asked meanwhile, or could not be noted, is due at once."""
        is_final, now = status_of(saga).is_final, self._clock()
        if until is None and not is_quiet(saga) and not is_final:
            until = now + PARKS_AFTER_S
        is_noted = True
        for name in await self._family(saga):
            each = saga if name == saga.id else await self.load(name)
            is_noted &= await self.store.park(name, each.version, until=until, heard=each.last_request)
        return Parked(until, is_final) if is_noted else Parked(now, False)

    async def _without_body(self, coordinator: Coordinator) -> None:
        saga = coordinator.saga
        if saga.driver is Driver.BODY and not saga.body_completed:
            await coordinator.until_quiet()
            await coordinator.tell(c.RaiseBody(e.Fault("resumed", "resumed without its body")))

    async def cancel(self, saga_id: str, *, preview: bool = False, by: str = "user") -> SagaView | CancelPreview:
        """Undo the saga: compensate it, or reverse it if its pivot has landed. `preview` only reports what that would do.

        Raises `NotAllowedError`, naming the residue, for a saga whose pivot has landed and cannot be reversed.
        """
        saga = await self.load(saga_id)
        check_not_redacted(saga)
        await self.check_provider(saga_id)
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
        self,
        saga_id: str,
        operation_id: str | Iterable[str],
        resolution: Resolution | str,
        *,
        output: object = None,
        because: str = "",
        by: str = "user",
    ) -> SagaView:
        """Settle operations that are held or stuck, all in the same way, as a person says, and resume the saga.

        The person's answer is heard before anything else is tried: a cancellation made by hand must not be made again.
        `because`: how the person knows; it is journalled.
        """
        said, names = Resolution(resolution), (operation_id,) if isinstance(operation_id, str) else tuple(operation_id)
        async with self.hold(saga_id, looks_again=False) as coordinator:
            known = [each for name in names if (each := coordinator.saga.operations.get(name)) is not None]
            if not all(each.waits_for_person for each in known):
                await coordinator.until_quiet()  # it may be held once it has been probed
            for name in names:
                await coordinator.tell(c.Resolve(name, said, by, to_json(output), because=because))
            await coordinator.until_quiet()
        await self.conclude_amendment(saga_id)
        return await self.status(saga_id)

    async def held_alike(self, action: str, error: str = "", *, sagas: Iterable[str] | None = None) -> dict[str, tuple[str, ...]]:
        """Return the held operations of an action whose last call ended with this exception (its class's name; any, if empty), by
        saga; of these sagas, or of all that are open.
        """
        names = [each.saga_id for each in await self.open_sagas()] if sagas is None else list(sagas)
        alike = {name: tuple(each.id for each in held_by(await self.load(name), action, error)) for name in names}
        return {name: found for name, found in alike.items() if found}

    async def yield_locks(self, saga_id: str, *, by: str = "user") -> SagaView:
        """Let other sagas have what a saga keeps that stands still: a person's decision, which is journalled.

        It goes back without them, and goes forward only when it has all of them again (docs/protocol.md rule 12). Raises
        `NotAllowedError` for a saga that can go on.
        """
        if (await self.load(saga_id)).index.locking:
            await self._record(saga_id, (c.YieldLocks(by),), looks_again=False)
        return await self.status(saga_id)

    async def _see_to(self, saga_id: str, request: int) -> None:
        """Wait until `request` is consumed and the saga is quiet: its holder does that, or this engine once nobody holds it."""
        while not _has_seen_to(await self.load(saga_id), request):
            with suppress(BusyError):
                async with self.hold(saga_id, wait=False) as coordinator:
                    await coordinator.until(lambda saga: saga.last_request >= request)
                    await coordinator.until_quiet()
                    return
            await asyncio.sleep(POLL_S)

    # -- amendments --------------------------------------------------------------------------------------------------

    async def begin_amendment(self, saga_id: str, wish: Json, *, lost: Collection[str], by: str, approved_by: str = "") -> None:
        """Begin changing a committed saga to another plan; `PlanningGraph.change` does this, and everything that follows.

        Nothing happens if nothing is lost and nothing different is asked for. Raises `NotAllowedError` while a cancel or another
        amendment is under way, and where the pivot cannot be reversed, so that nothing could replace it.
        """
        async with self.hold(saga_id) as coordinator:
            saga = coordinator.saga
            if not (lost or saga.missing) and wish == saga.request and saga.stage is Stage.COMMITTED and not saga.cancel_by:
                return
            await coordinator.tell(self._amending(saga, wish, lost, by, approved_by))

    def _amending(self, saga: Saga, wish: Json, lost: Collection[str], by: str, approved_by: str) -> c.BeginAmendment:
        if saga.pivot_has_landed and saga.pivot in plan_reversal(saga, self.find).lasting:
            raise NotAllowedError(
                f"saga {saga.id!r} cannot be changed any more: its pivot {saga.pivot!r} has landed for good",
                saga_id=saga.id,
                operation_id=saga.pivot,
            )
        request = amendment_request(saga, wish, lost, self._account(saga).cost.fees)
        return c.BeginAmendment(next_amendment_id(saga), request, by, approved_by)

    async def ask_change(self, saga_id: str, wish: Json, *, lost: Collection[str] = (), by: str, approved_by: str = "") -> None:
        """Write down that a saga is to be changed, for whoever drives it. What does not fit is refused: at once, or, if the saga
        moves on meanwhile, in its journal.
        """
        saga = await self.load(saga_id)
        change: c.ChangeRequest | c.BeginAmendment = c.ChangeRequest(wish, by, approved_by)
        if lost or saga.stage is Stage.COMMITTED:
            change = self._amending(saga, wish, lost, by, approved_by)
        if not decide(saga, change, saga.last_at) or (wish == saga.request and not lost):
            raise NotAllowedError(f"saga {saga_id!r} is asked for just that already", saga_id=saga_id)
        amendment = change.saga if isinstance(change, c.BeginAmendment) else ""
        data = {"request": change.request, "amendment": amendment, "approved_by": approved_by}
        await self.store.ask(saga_id, RequestKind.CHANGE, by, data)

    async def conclude_amendment(self, saga_id: str) -> None:
        """Tell the parent what came of `saga_id`, if that is an amendment that has ended. Safe to repeat, also after a crash."""
        child = await self.load(saga_id)
        parent_id = amended_by(child)
        if parent_id is None or not status_of(child).is_final:
            return
        with suppress(RetiredError):  # a parent that was retired has been told
            amending = (await self.load(parent_id)).amending
            if amending is None or amending.saga != saga_id:
                return
            async with self.hold(parent_id) as coordinator:
                await coordinator.tell(outcome_for_parent(child))


class EngineOpening:
    """Result of `Engine.open`: enter it with `async with`, or with `with` from code without an event loop."""

    def __init__(self, open_it: Callable[[], Awaitable[SagaStore]], options: dict[str, Any]) -> None:
        self._open = open_it
        self._options = options
        self._engine: Engine | None = None
        self._sync: SyncEngine | None = None

    async def __aenter__(self) -> Engine:
        self._engine = Engine(await self._open(), **self._options)
        return self._engine

    async def __aexit__(self, *_exc: object) -> None:
        if self._engine is not None:
            await self._engine.close()

    def __enter__(self) -> SyncEngine:
        self._sync = SyncEngine(self)
        return self._sync

    def __exit__(self, *_exc: object) -> None:
        if self._sync is not None:
            self._sync.close()


class SyncEngine:
    """The engine for scripts: the same methods without `await`, on an event loop in a thread that it owns."""

    def __init__(self, opening: EngineOpening) -> None:
        self.thread = LoopThread()
        self.engine = self.thread.enter(opening)
        awaited = self.thread.without_await
        self.status = awaited(self.engine.status)
        self.state_at = awaited(self.engine.state_at)
        self.replay = awaited(self.engine.replay)
        self.retire = awaited(self.engine.retire)
        self.redact = awaited(self.engine.redact)
        self.restored = awaited(self.engine.restored)
        self.resume = awaited(self.engine.resume)
        self.cancel = awaited(self.engine.cancel)
        self.resolve = awaited(self.engine.resolve)
        self.yield_locks = awaited(self.engine.yield_locks)

    def saga(self, saga_id: str) -> SyncSaga:
        return SyncSaga(self.thread, self.engine.saga(saga_id))

    def close(self) -> None:
        self.thread.close()


def _earliest(parked: BaseExceptionGroup[ParkedError]) -> float:
    return min(_earliest(each) if isinstance(each, BaseExceptionGroup) else each.until for each in parked.exceptions)


def _has_seen_to(saga: Saga, request: int) -> bool:
    return saga.last_request >= request and is_quiet(saga)

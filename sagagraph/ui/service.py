"""The service: what can be done with sagas from a page or over REST.

Each function checks who owns the saga; work outlives its callers.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

from sagagraph.access.keys import Keys
from sagagraph.errors import (
    ConflictError,
    InvalidInputError,
    NotAllowedError,
    ProviderError,
    SagaGraphError,
    UnknownOperationError,
    UnknownSagaError,
)
from sagagraph.graph.planning_graph import PlanningGraph, planning_graph
from sagagraph.operating.meters import Meters
from sagagraph.planning.checking import judge_plan_of
from sagagraph.planning.domain import Infeasible, Json, Proposal
from sagagraph.planning.models.llm import ChatModel
from sagagraph.planning.monitor import MONITOR, latest, watched
from sagagraph.planning.page import Disruption, Download, Draft, Page
from sagagraph.planning.remedies import Remedy, remedies_for, remedies_of
from sagagraph.planning.sketch import SKETCH, Sketch
from sagagraph.registry import boards, limits_of, model_of, open_engine, open_pages
from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.amendments import parent_of
from sagagraph.saga.core.events import Driver, Entry, Resolution
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import FINAL, AcceptedPlan, Saga, Stage
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.maintenance.replay import Replay
from sagagraph.saga.engine.views.document import entry_json, plain
from sagagraph.saga.engine.views.preview import CancelPreview
from sagagraph.saga.engine.views.view import SagaView
from sagagraph.saga.stores.port import Document
from sagagraph.services.person import Tasks
from sagagraph.services.service import now_in_utc
from sagagraph.settings import Settings
from sagagraph.ui.jobs import Bell, IsRecorded, Jobs
from sagagraph.ui.missions import Missions
from sagagraph.ui.oversight import Oversight
from sagagraph.ui.shared_reads import SharedReads
from sagagraph.ui.sharing import SHARED_PATH, Sharing
from sagagraph.ui.versions import Version, version_before, versions_of
from sagagraph.ui.visitors import TOKEN_BYTES, Visitor

if TYPE_CHECKING:
    from sagagraph.harness.life.records import Records

_AT_ONCE = 16
"""How many sagas are resumed at the same time."""
_SAID = "said"
_LEFT_OUT = "left out"
"""The kind of document that keeps what was said about a plan: the journal has only its consequences."""
_DAY_HOLDS_S = 60.0


class CannotBeHadError(InvalidInputError):
    """A change for which there is no plan: nothing was changed. `remedies`: what can be asked for instead."""

    def __init__(self, request: Any, found: Infeasible) -> None:
        super().__init__(f"That cannot be had: {'; '.join(found.reasons)}. Your plan stays as it was", field="request")
        self.reasons = found.reasons
        self.remedies = tuple(remedies_for(request, found))


class Service:
    """Service made by `open_service`; it belongs to one event loop."""

    def __init__(
        self,
        engine: Engine,
        pages: Mapping[str, Page],
        graphs: Mapping[str, PlanningGraph],
        bell: Bell,
        meters: Meters,
        settings: Settings,
    ) -> None:
        self.settings = settings
        self.pages = pages
        self.boards = boards()
        self._engine = engine
        self._graphs = graphs
        self._bell = bell
        self._jobs = Jobs(bell)
        self._days: dict[str, tuple[float, date]] = {}
        self._sketches: dict[str, Sketch] = {}
        self._sharing = Sharing(engine.store)
        self.tasks = Tasks(engine.store, now_in_utc)
        self._followed = SharedReads(engine.journal)
        self.missions = Missions(engine, settings)
        self.keys = Keys(engine.store, time.time)
        self.oversight = Oversight(engine, meters)

    def page(self, domain: str) -> Page:
        """Return a page. Raises `InvalidInputError` if there is no such domain."""
        if domain not in self.pages:
            raise InvalidInputError(f"there are {', '.join(self.pages)}, not {domain!r}", field="domain")
        return self.pages[domain]

    @property
    def first_page(self) -> Page:
        """Return the page that is opened by default."""
        return next(iter(self.pages.values()))

    def harness_records(self, harness_id: str) -> Records:
        """Return what people decided about a harness, in the store of the sagas. Needs the extra `harness`."""
        from sagagraph.harness.life.records import Records

        return Records(self._engine.store, harness_id)

    # -- beginning and settling ----------------------------------------------------------------------------------------

    async def begin(self, visitor: Visitor, domain: str, request: Any, *, not_understood: tuple[str, ...] = ()) -> str:
        """Begin to plan, and return the saga's id at once. `not_understood`: what of the words the request leaves out."""
        page = self.page(domain)
        name = visitor.new_id(page.name, uuid.uuid4().hex[:8])
        if not_understood:
            await self._engine.store.put(Document(name, _LEFT_OUT, "begin", list(not_understood)))

        async def is_there() -> bool:
            return await self._engine.store.headline(name) is not None

        beginning = self._sketched(name, partial(self._graphs[page.name].start, name, request))
        await self._jobs.take_on(name, ("begin",), beginning, is_there)
        return name

    async def not_understood(self, saga_id: str) -> tuple[str, ...]:
        """Return what of the words with which a saga began is not in its request."""
        found = await self._engine.store.documents(saga_id, _LEFT_OUT)
        return tuple(words for each in found for words in each.data)

    async def _sketched(self, saga_id: str, planning: Callable[[], Awaitable[object]]) -> None:
        """Plan; whoever looks meanwhile sees the best plan so far."""
        sketch = Sketch(lambda _plan: self._bell.ring(saga_id))
        self._sketches[saga_id] = sketch
        SKETCH.set(sketch)
        try:
            await planning()
        finally:
            if self._sketches.get(saga_id) is sketch:
                del self._sketches[saga_id]

    def sketch(self, saga_id: str) -> Json:
        """Return the best plan so far of a saga whose planning goes on; None: there is none."""
        sketch = self._sketches.get(saga_id)
        return None if sketch is None else sketch.plan

    def take_sketch(self, visitor: Visitor, saga_id: str) -> None:
        """End the search with the best plan so far: it is proposed, judged and put up for approval like any other.

        Raises `NotAllowedError` if there is none.
        """
        visitor.check_sees(saga_id)
        sketch = self._sketches.get(saga_id)
        if sketch is None or not sketch.take():
            raise NotAllowedError(f"saga {saga_id!r}: no plan is there to be taken while others are sought", saga_id=saga_id)

    async def decide(self, visitor: Visitor, saga_id: str, plan_hash: str, *, approved: bool) -> None:
        """Approve or reject exactly the plan of this hash, and continue in the background; a second click does nothing.

        Raises `ConflictError` if another plan is shown now, `NotAllowedError` where none waits for approval.
        """
        saga = await self.saga(visitor, saga_id)
        shown = await self.shown(saga)
        purpose = ("approve" if approved else "reject", plan_hash)
        if _is_decided(shown, plan_hash, approved=approved):
            return
        if shown.plan.hash != plan_hash:
            other = f"shows plan {shown.plan.hash}, not {plan_hash}"
            raise ConflictError(f"saga {saga_id!r} {other}; look at it again before you decide", saga_id=saga_id)
        if status_of(shown) is not SagaStatus.AWAITING_APPROVAL:
            raise NotAllowedError(f"saga {saga_id!r} is {status_of(shown).value}: no plan waits for approval", saga_id=saga_id)
        graph = self._graphs[saga.domain]
        deciding = graph.decide(saga_id, approved=approved, by=visitor.name, plan_hash=plan_hash)
        await self._jobs.take_on(saga_id, purpose, deciding, self._journalling(shown, e.PlanApproved, e.PlanRejected))

    async def choose(self, visitor: Visitor, saga_id: str, plan_hash: str) -> None:
        saga = await self.saga(visitor, saga_id)
        known = {saga.plan.hash, *(each["plan_hash"] for each in saga.plan.alternatives)}
        if plan_hash not in known:
            raise ConflictError(f"saga {saga_id!r} offers no plan {plan_hash}; look at what it offers now", saga_id=saga_id)
        choosing = self._graphs[saga.domain].choose(saga_id, plan_hash)
        await self._jobs.take_on(saga_id, ("choose", plan_hash), choosing, self._journalling(saga, e.PlanProposed))

    async def change(self, visitor: Visitor, saga_id: str, request: Any, lost: tuple[str, ...] = ()) -> None:
        """Change the request, or replace reservations that have fallen through; planning for the old request is abandoned.

        Raises `CannotBeHadError` if there is no plan for it, and that is known at once; otherwise the plan that stands comes back
        as soon as it is known.
        """
        saga = await self.saga(visitor, saga_id)
        has_plan = status_of(saga) is SagaStatus.AWAITING_APPROVAL or saga.plan.stood is not None
        if has_plan and self.page(saga.domain).plans_quickly:
            with suppress(ProviderError):  # whatever else is wrong with it is said by the change itself
                found = await self.what_if(saga.domain, request)
                if isinstance(found, Infeasible):
                    raise CannotBeHadError(request, found)
        await self._change(visitor, saga, request, lost)

    async def versions(self, visitor: Visitor, saga_id: str) -> tuple[Version, ...]:
        """Return every plan that the saga has shown."""
        return versions_of(saga_id, await self.journal(visitor, saga_id))

    async def go_back(self, visitor: Visitor, saga_id: str, number: int | None = None) -> Version:
        """Return to an earlier version, by default to the one before. Its plan is judged again, and waits for approval; where
        something has been carried out, it is changed as for any other request.

        Raises `NotAllowedError` if there is none.
        """
        saga, entries = await self.saga(visitor, saga_id), await self._engine.journal(saga_id)
        known = versions_of(saga_id, entries)
        if number is not None:
            version = next((each for each in known if each.number == number), None)
        else:  # of what is carried out, nothing is undone without saying what
            version = None if saga.plan.version else version_before(saga, entries)
        if version is None:
            what = "no earlier version of its plan" if number is None else f"no version {number} of its plan"
            raise NotAllowedError(f"saga {saga_id!r} has {what} to go back to", saga_id=saga_id)
        if version.is_of(saga):
            return version
        if isinstance(version.plan, AcceptedPlan) or saga.plan.version:
            await self._change(visitor, saga, version.request)
        elif version.request == saga.request and saga.stage is Stage.AWAITING_APPROVAL:
            await self.choose(visitor, saga_id, str(version.plan.hash))
        else:
            await self._jobs.stop(saga_id)
            own = version.plan
            again = c.ProposePlan(
                str(own.hash), own.content, own.cost, own.alternatives, own.reasons, own.proposed_by, own.reasoning, own.agents
            )
            returning = self._graphs[saga.domain].return_to(saga_id, version.request, again, by=visitor.name)
            await self._jobs.take_on(saga_id, ("back", again.plan_hash), returning, self._journalling(saga, e.PlanProposed))
        return version

    async def _change(self, visitor: Visitor, saga: Saga, request: Any, lost: tuple[str, ...] = (), *, by: str = "") -> None:
        saga_id = saga.id
        if not saga.plan.version:
            await self._jobs.stop(saga_id)
        purpose = ("change", json.dumps([request, lost], sort_keys=True))
        change = partial(self._graphs[saga.domain].change, saga_id, request, by=by or visitor.name, lost=lost)
        changing = self._sketched(saga_id, change)
        await self._jobs.take_on(saga_id, purpose, changing, self._journalling(saga, e.RequestChanged, e.AmendmentBegun))

    async def what_if(self, domain: str, request: Any) -> Proposal | Infeasible:
        """Return the plan that another request would lead to. Nothing is journalled, and nothing changes."""
        proposed = await self.page(domain).domain.propose(request)
        return proposed if isinstance(proposed, Infeasible) else proposed[0]

    async def disrupt(self, visitor: Visitor, saga_id: str, disruption: Disruption) -> None:
        """Make the disruption happen, and have the plan changed as little as necessary."""
        saga = await self.saga(visitor, saga_id)
        await self._engine.check_provider(saga_id)
        await self.pages[saga.domain].happens(saga, disruption)
        wanted = saga.request if disruption.request is None else disruption.request
        await self._change(visitor, saga, wanted, disruption.lost)

    async def foresee(self, visitor: Visitor, saga_id: str, news: Json) -> None:
        """Judge what is foreseen for a running plan; one that would break is repaired, and the repair waits for approval."""
        saga = await self.saga(visitor, saga_id)
        foreseen = await watched(self.page(saga.domain).domain, saga, news, self._engine.store)
        if foreseen.must_repair:
            await self._change(visitor, saga, foreseen.request, foreseen.lost, by=MONITOR)

    async def foreseen(self, saga_id: str) -> dict[str, Any] | None:
        """Return what was foreseen last, and how it was judged."""
        return await latest(saga_id, self._engine.store)

    async def order_fault(
        self, visitor: Visitor, saga_id: str, *, kind: str, call: str, fault: str, nth: int = 1, seconds: float | None = None
    ) -> None:
        """Make the sandbox produce a fault for calls of this saga only, so that nobody else is affected."""
        saga = await self.shown(await self.saga(visitor, saga_id))
        desk = self.pages[saga.domain].desk
        if desk is None or not await desk.is_open():
            raise NotAllowedError("faults can only be injected into a sandbox, and this provider is not one", saga_id=saga_id)
        await desk.order(saga.id, kind=kind, call=call, fault=fault, nth=nth, seconds=seconds)

    async def resume(self, visitor: Visitor, saga_id: str) -> None:
        saga = await self.saga(visitor, saga_id)
        if saga.stage not in FINAL:
            self._jobs.start(saga_id, ("resume",), self._resumed(saga))

    async def preview(self, visitor: Visitor, saga_id: str) -> CancelPreview:
        visitor.check_sees(saga_id)
        told = await self._engine.cancel(saga_id, preview=True)
        if not isinstance(told, CancelPreview):
            raise TypeError("a preview was asked for")
        return told

    async def cancel(self, visitor: Visitor, saga_id: str) -> None:
        """Undo the saga. Planning that is running is abandoned first: nothing would be gained by waiting for it."""
        saga = await self.saga(visitor, saga_id)
        if not saga.plan.version:
            await self._jobs.stop(saga_id)
        before = max((each.number for each in await self._engine.store.requests({saga_id: 0})), default=0)

        async def is_asked() -> bool:
            return bool(await self._engine.store.requests({saga_id: before}))

        await self._jobs.take_on(saga_id, ("cancel",), self._engine.cancel(saga_id, by=visitor.name), is_asked)

    async def resolve(
        self, visitor: Visitor, saga_id: str, operation: str, said: Resolution, output: Any = None, because: str = ""
    ) -> None:
        saga = await self.saga(visitor, saga_id)
        if operation not in saga.operations:
            raise UnknownOperationError(
                f"saga {saga_id!r} has no operation {operation!r}", saga_id=saga_id, operation_id=operation
            )
        resolving = self._engine.resolve(saga_id, operation, said, output=output, because=because, by=visitor.name)
        await self._jobs.take_on(saga_id, ("resolve", operation), resolving, self._journalling(saga, e.OperationResolved))

    async def pick_up(self) -> tuple[str, ...]:
        """Resume every open saga of this store that this program can run; those that wait for a person keep waiting."""
        room = asyncio.Semaphore(_AT_ONCE)
        names = [each.saga_id for each in await self._engine.open_sagas() if each.domain in self._graphs]
        names = [each for each in names if parent_of(each) not in names]  # an amendment resumes with the saga that it changes
        await self.missions.pick_up()
        for name in names:
            self._jobs.start(name, ("resume",), self._picked_up(name, room))
        return tuple(names)

    async def _picked_up(self, saga_id: str, room: asyncio.Semaphore) -> None:
        async with room:
            await self._resumed(await self._engine.load(saga_id))

    async def _resumed(self, saga: Saga) -> None:
        if saga.driver is Driver.WORKFLOW:
            if saga.domain not in self._graphs:
                what = f"a saga of {saga.domain!r}, which is not installed here"
                raise NotAllowedError(f"saga {saga.id!r} is {what}: resume it where it is", saga_id=saga.id)
            await self._sketched(saga.id, partial(self._graphs[saga.domain].resume, saga.id))
        else:
            await self._engine.resume(saga.id)

    # -- looking -------------------------------------------------------------------------------------------------------

    async def sagas(self, visitor: Visitor) -> tuple[Saga, ...]:
        """Return the visitor's own sagas, the latest first; one that cannot be read does not hide the others."""
        found: list[Saga] = []
        for each in await self._engine.sagas(prefix=visitor.prefix):
            with suppress(SagaGraphError):
                found.append(await self._engine.load(each.saga_id))
        return tuple(sorted(found, key=lambda saga: saga.begun_at, reverse=True))

    async def with_habits(self, visitor: Visitor, page: Page, draft: Draft) -> Draft:
        """Return a draft that lacks something, with what holds as in this visitor's last saga of the domain."""
        last = next((each for each in await self.sagas(visitor) if each.domain == page.name), None)
        return draft if last is None else page.as_before(draft, last.request)

    async def saga(self, visitor: Visitor, saga_id: str) -> Saga:
        visitor.check_sees(saga_id)
        return await self._engine.load(saga_id)

    async def shown(self, saga: Saga) -> Saga:
        """Return the saga whose plan is shown: the one that changes it after its commit, while there is one."""
        if saga.amending is None or await self._engine.store.headline(saga.amending.saga) is None:
            return saga
        return await self._engine.load(saga.amending.saga)

    async def remedies(self, saga: Saga) -> tuple[Remedy, ...]:
        """Return what can be asked for instead of what was asked for last, and could not be had."""
        if saga.stage is Stage.COMMITTED and saga.amendment_note and saga.amendments:
            return remedies_of(await self._engine.load(saga.amendments[-1]))
        return remedies_of(saga)

    async def share(self, visitor: Visitor, saga_id: str) -> str:
        """Return the path of a page that shows the saga's plan to whoever knows it, until `share_no_more`."""
        await self.saga(visitor, saga_id)
        return SHARED_PATH + await self._sharing.begin(saga_id, secrets.token_urlsafe(TOKEN_BYTES))

    async def shared_at(self, visitor: Visitor, saga_id: str) -> str:
        """Return the path of the page that shows the saga's plan to others; empty if there is none."""
        visitor.check_sees(saga_id)
        token = await self._sharing.of(saga_id)
        return token and SHARED_PATH + token

    async def share_no_more(self, visitor: Visitor, saga_id: str) -> None:
        visitor.check_sees(saga_id)
        await self._sharing.end(saga_id)

    async def shared(self, token: str) -> Saga:
        """Return the saga whose plan a link shows. Raises `UnknownSagaError` if there is no such link, or no plan any more."""
        shown = await self.shown(await self._engine.load(await self._sharing.saga_of(token)))
        if shown.plan.content is None or shown.domain not in self.pages:
            raise UnknownSagaError("there is no plan to be seen here now: try again later")
        return shown

    async def status(self, visitor: Visitor, saga_id: str, version: int | None = None) -> SagaView:
        visitor.check_sees(saga_id)
        return await (self._engine.status(saga_id) if version is None else self._engine.state_at(saga_id, version))

    async def today(self, domain: str) -> date:
        """Return today's date by the clock of a domain's provider, asked once a minute."""
        asked, day = self._days.get(domain, (0.0, None))
        if day is None or time.monotonic() > asked + _DAY_HOLDS_S:
            day = await self.page(domain).today()
            self._days[domain] = (time.monotonic(), day)
        return day

    async def said(self, visitor: Visitor, saga_id: str) -> list[dict[str, str]]:
        """Return what was said about the saga's plan, each with its role and text."""
        visitor.check_sees(saga_id)
        return [each.data for each in await self._engine.store.documents(saga_id, _SAID)]

    async def remember(self, visitor: Visitor, saga_id: str, messages: Iterable[Mapping[str, str]]) -> None:
        """Keep what was said, so that a restart does not lose anybody's words."""
        visitor.check_sees(saga_id)
        for each in messages:
            await self._engine.store.put(Document(saga_id, _SAID, uuid.uuid4().hex, dict(each)))

    async def journal(self, visitor: Visitor, saga_id: str) -> tuple[Entry, ...]:
        visitor.check_sees(saga_id)
        return await self._engine.journal(saga_id)

    async def downloads(self, visitor: Visitor, saga_id: str) -> tuple[Download, ...]:
        """Return the domain's documents, the saga's state and its journal, as JSON."""
        saga = await self.saga(visitor, saga_id)
        page = self.pages.get(saga.domain)
        events = [entry_json(entry) for entry in await self._engine.journal(saga_id)]
        standing = plain(await self._engine.status(saga_id))
        return (
            *(page.downloads(saga) if page else ()),
            _as_file("saga.json", standing),
            _as_file("log.json", {"saga_id": saga_id, "events": events}),
        )

    async def replay(self, visitor: Visitor, saga_id: str) -> Replay:
        saga = await self.saga(visitor, saga_id)
        page = self.pages.get(saga.domain)
        return await self._engine.replay(saga_id, judge_plan=judge_plan_of(page.domain) if page else None)

    async def events(self, visitor: Visitor, saga_id: str, after: int = 0) -> AsyncIterator[Entry]:
        """Stream the journal from there on, as it is written; ends when nothing is running and nothing new has arrived."""
        visitor.check_sees(saga_id)
        while True:
            since, under_way = self.rings, self.is_busy(saga_id)
            for entry in await self._followed(saga_id):
                if entry.version > after:
                    after = entry.version
                    yield entry
            if not under_way:
                return
            await self.moved(saga_id, since)

    @property
    def rings(self) -> int:
        """Return a moment, for `moved`: take it before looking at a saga, and nothing that happens meanwhile is missed."""
        return self._bell.rings

    async def moved(self, saga_id: str, since: int | None = None) -> None:
        """Return when the saga may have advanced since that moment, by default from now on, or after a while."""
        await self._bell.wait(saga_id, since)

    def is_busy(self, saga_id: str) -> bool:
        return self._jobs.is_busy(saga_id)

    def problem(self, saga_id: str) -> str:
        """Return why the last request for the saga failed; empty otherwise."""
        return self._jobs.problem(saga_id)

    def _journalling(self, saga: Saga, *kinds: type[e.Event]) -> IsRecorded:
        """Tell whether events of these kinds have been appended since `saga` was read."""

        async def is_recorded() -> bool:
            entries = await self._engine.store.read(saga.id)
            return any(isinstance(entry.event, kinds) for entry in entries[saga.version :])

        return is_recorded

    async def close(self) -> None:
        """Let running work end, and journal it; everything resumes where it was when the next server starts."""
        await self._engine.drain()
        await self.missions.close()
        await self._jobs.stop_all()


def _as_file(name: str, document: Any) -> Download:
    return Download(name, "application/json", json.dumps(document, ensure_ascii=False, indent=2).encode())


def _is_decided(saga: Saga, plan_hash: str, *, approved: bool) -> bool:
    if approved:
        return saga.plan.hash == plan_hash and bool(saga.plan.approved_by)
    return saga.plan.hash == plan_hash and status_of(saga) is SagaStatus.REJECTED


@asynccontextmanager
async def open_service(settings: Settings) -> AsyncIterator[Service]:
    """Open the service on the settings' store and provider, with every domain that has pages.

    It uses no checkpoints: the journal has everything that they hold, and planning that is abandoned in the middle of writing one
    would leave the store's file locked.
    """
    bell, meters, model, limits = Bell(), Meters(), model_of(settings), limits_of(settings)
    if isinstance(model, ChatModel):
        model.open()  # it takes seconds, which nobody waits for yet
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(open_engine(settings, [bell, meters], create=True))
        pages = await stack.enter_async_context(open_pages(settings, engine.store))
        graphs = {
            name: planning_graph(domain=page.domain, engine=engine, model=model, limits=limits) for name, page in pages.items()
        }
        service = Service(engine, pages, graphs, bell, meters, settings)
        stack.push_async_callback(service.close)
        yield service

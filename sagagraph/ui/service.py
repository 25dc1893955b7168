"""What can be done with sagas from a page or over REST. Each function checks whose saga it is; work outlives its callers."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from sagagraph.bootstrap import DOMAINS, Settings, model_of, open_engine
from sagagraph.context.model import Model
from sagagraph.domains.reunion.page.page import ReunionSubject
from sagagraph.domains.travel.page.page import TravelSubject
from sagagraph.errors import ConflictError, InvalidInputError, NotAllowedError, SagaGraphError, UnknownOperationError
from sagagraph.graph.planning_graph import PlanningGraph, planning_graph
from sagagraph.planning.checking import judge_plan_of
from sagagraph.planning.page import Disruption, Download, Subject
from sagagraph.saga.core import events as e
from sagagraph.saga.core.events import Driver, Entry, Resolution
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import FINAL, Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.amendment import parent_of
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.maintenance.replay import Replay
from sagagraph.saga.engine.views.document import entry_json, plain
from sagagraph.saga.engine.views.preview import CancelPreview
from sagagraph.saga.engine.views.view import SagaView
from sagagraph.saga.stores.projections import Projection
from sagagraph.ui.visitors import Visitor

_LOOK_AGAIN_S = 1.0
"""Other workers may move a saga on, and tell us nothing."""
_LOOK_CLOSELY_S = 0.05
"""Until what was asked is on record."""
_AT_ONCE = 16
"""How many sagas are picked up at the same time."""

SUBJECTS: Mapping[str, Callable[[Any, Model | None], Subject]] = {"travel": TravelSubject, "reunion": ReunionSubject}

_log = logging.getLogger("sagagraph.ui")
"""On standard error even where nobody has asked for logs: what comes here is a fault of this program."""


class Bell:
    """Wakes whoever waits for a saga to move on. An observer of the engine."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = defaultdict(set)

    def __call__(self, saga: Saga, _entries: tuple[Entry, ...]) -> None:
        self.ring(saga.id)
        if parent := parent_of(saga.id):
            self.ring(parent)

    def ring(self, saga_id: str) -> None:
        for each in self._waiting.get(saga_id, ()):
            each.set()

    async def wait(self, saga_id: str, timeout_s: float) -> None:
        rung = asyncio.Event()
        self._waiting[saga_id].add(rung)
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(rung.wait(), timeout_s)
        finally:
            self._waiting[saga_id].discard(rung)
            if not self._waiting[saga_id]:
                del self._waiting[saga_id]


IsRecorded = Callable[[], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Job:
    """Something under way for a saga. `purpose` tells a second click from another wish; the task returns what went wrong."""

    purpose: tuple[str, ...]
    task: asyncio.Task[SagaGraphError | None]
    is_recorded: IsRecorded | None = None
    """Whether what was asked is durable by now: whatever happens to this server, it will be seen to."""


class Service:
    """Made by `open_service`; belongs to one event loop."""

    def __init__(self, engine: Engine, subjects: Mapping[str, Subject], graphs: Mapping[str, PlanningGraph], bell: Bell) -> None:
        self.subjects = subjects
        self._engine = engine
        self._graphs = graphs
        self._bell = bell
        self._jobs: dict[str, list[Job]] = defaultdict(list)
        self._problems: dict[str, str] = {}

    # -- beginning and settling ----------------------------------------------------------------------------------------

    async def begin(self, visitor: Visitor, domain: str, request: Any) -> str:
        """Begins to plan, and returns the saga's id at once."""
        if domain not in self.subjects:
            raise InvalidInputError(f"there are {', '.join(self.subjects)}, not {domain!r}", field="domain")
        name = visitor.new_id(domain, uuid.uuid4().hex[:8])

        async def is_there() -> bool:
            return await self._engine.store.headline(name) is not None

        await self._take_on(name, ("begin",), self._graphs[domain].start(name, request), is_there)
        return name

    async def decide(self, visitor: Visitor, saga_id: str, plan_hash: str, *, approved: bool) -> None:
        """Approve or reject exactly the plan of this hash, and go on in the background; a second click does nothing.

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
        await self._take_on(saga_id, purpose, deciding, self._journalling(shown, e.PlanApproved, e.PlanRejected))

    async def choose(self, visitor: Visitor, saga_id: str, plan_hash: str) -> None:
        saga = await self.saga(visitor, saga_id)
        known = {saga.plan.hash, *(each["plan_hash"] for each in saga.plan.alternatives)}
        if plan_hash not in known:
            raise ConflictError(f"saga {saga_id!r} offers no plan {plan_hash}; look at what it offers now", saga_id=saga_id)
        choosing = self._graphs[saga.domain].choose(saga_id, plan_hash)
        await self._take_on(saga_id, ("choose", plan_hash), choosing, self._journalling(saga, e.PlanProposed))

    async def change(self, visitor: Visitor, saga_id: str, request: Any, lost: tuple[str, ...] = ()) -> None:
        """Other wishes, or reservations that have fallen through; planning for the old wishes, if under way, is given up."""
        saga = await self.saga(visitor, saga_id)
        if not saga.plan.version:
            await self._stop(saga_id)
        purpose = ("change", json.dumps([request, lost], sort_keys=True))
        changing = self._graphs[saga.domain].change(saga_id, request, by=visitor.name, lost=lost)
        await self._take_on(saga_id, purpose, changing, self._journalling(saga, e.RequestChanged, e.AmendmentBegun))

    async def disrupt(self, visitor: Visitor, saga_id: str, disruption: Disruption) -> None:
        """Let it happen, and have the plan changed as little as that needs."""
        saga = await self.saga(visitor, saga_id)
        await self.subjects[saga.domain].happens(saga, disruption)
        wanted = saga.request if disruption.request is None else disruption.request
        await self.change(visitor, saga_id, wanted, disruption.lost)

    async def order_fault(
        self, visitor: Visitor, saga_id: str, *, kind: str, call: str, fault: str, nth: int = 1, seconds: float | None = None
    ) -> None:
        """Of the sandbox, for calls of this saga only: nobody else's trip is struck."""
        saga = await self.shown(await self.saga(visitor, saga_id))
        desk = self.subjects[saga.domain].desk
        if desk is None or not await desk.is_open():
            raise NotAllowedError("faults can be ordered of a sandbox only, and this provider is none", saga_id=saga_id)
        await desk.order(saga.id, kind=kind, call=call, fault=fault, nth=nth, seconds=seconds)

    async def resume(self, visitor: Visitor, saga_id: str) -> None:
        saga = await self.saga(visitor, saga_id)
        if saga.stage not in FINAL:
            self._start(saga_id, ("resume",), self._resumed(saga))

    async def preview(self, visitor: Visitor, saga_id: str) -> CancelPreview:
        visitor.check_owns(saga_id)
        told = await self._engine.cancel(saga_id, preview=True)
        if not isinstance(told, CancelPreview):
            raise TypeError("a preview was asked for")
        return told

    async def cancel(self, visitor: Visitor, saga_id: str) -> None:
        """Undo it. Planning that is under way is given up first: there is nothing to wait for."""
        saga = await self.saga(visitor, saga_id)
        if not saga.plan.version:
            await self._stop(saga_id)
        before = max((each.number for each in await self._engine.store.requests({saga_id: 0})), default=0)

        async def is_asked() -> bool:
            return bool(await self._engine.store.requests({saga_id: before}))

        await self._take_on(saga_id, ("cancel",), self._engine.cancel(saga_id, by=visitor.name), is_asked)

    async def resolve(self, visitor: Visitor, saga_id: str, operation: str, said: Resolution, output: Any = None) -> None:
        saga = await self.saga(visitor, saga_id)
        if operation not in saga.operations:
            raise UnknownOperationError(
                f"saga {saga_id!r} has no operation {operation!r}", saga_id=saga_id, operation_id=operation
            )
        resolving = self._engine.resolve(saga_id, operation, said, output=output, by=visitor.name)
        await self._take_on(saga_id, ("resolve", operation), resolving, self._journalling(saga, e.OperationResolved))

    async def pick_up(self) -> tuple[str, ...]:
        """Go on with every open saga of this store that this program can run; those that wait for a person go on waiting."""
        room = asyncio.Semaphore(_AT_ONCE)
        names = [each.saga_id for each in await self._engine.open_sagas() if each.domain in self._graphs]
        names = [each for each in names if parent_of(each) not in names]  # an amendment goes on with what it changes
        for name in names:
            self._start(name, ("resume",), self._picked_up(name, room))
        return tuple(names)

    async def _picked_up(self, saga_id: str, room: asyncio.Semaphore) -> None:
        async with room:
            await self._resumed(await self._engine.load(saga_id))

    async def _resumed(self, saga: Saga) -> None:
        if saga.driver is Driver.WORKFLOW:
            await self._graphs[saga.domain].resume(saga.id)
        else:
            await self._engine.resume(saga.id)

    # -- looking -------------------------------------------------------------------------------------------------------

    async def sagas(self, visitor: Visitor) -> tuple[Saga, ...]:
        """The visitor's own, the latest first; one that can not be read does not hide the others."""
        found: list[Saga] = []
        for each in await self._engine.sagas():
            if visitor.owns(each.saga_id):
                with suppress(SagaGraphError):
                    found.append(await self._engine.load(each.saga_id))
        return tuple(sorted(found, key=lambda saga: saga.begun_at, reverse=True))

    async def saga(self, visitor: Visitor, saga_id: str) -> Saga:
        visitor.check_owns(saga_id)
        return await self._engine.load(saga_id)

    async def shown(self, saga: Saga) -> Saga:
        """The saga whose plan there is to see: the one that changes it after its commit, while there is one."""
        if saga.amending is None or await self._engine.store.headline(saga.amending.saga) is None:
            return saga
        return await self._engine.load(saga.amending.saga)

    async def status(self, visitor: Visitor, saga_id: str, version: int | None = None) -> SagaView:
        visitor.check_owns(saga_id)
        return await (self._engine.status(saga_id) if version is None else self._engine.state_at(saga_id, version))

    async def journal(self, visitor: Visitor, saga_id: str) -> tuple[Entry, ...]:
        visitor.check_owns(saga_id)
        return await self._engine.journal(saga_id)

    async def projection(self, visitor: Visitor, saga_id: str) -> Projection:
        visitor.check_owns(saga_id)
        return await self._engine.project(saga_id)

    async def downloads(self, visitor: Visitor, saga_id: str) -> tuple[Download, ...]:
        """What its domain makes of it, and where it stands and its journal, as JSON."""
        saga = await self.saga(visitor, saga_id)
        subject = self.subjects.get(saga.domain)
        events = [entry_json(entry) for entry in await self._engine.journal(saga_id)]
        standing = plain(await self._engine.status(saga_id))
        return (
            *(subject.downloads(saga) if subject else ()),
            _as_file("saga.json", standing),
            _as_file("log.json", {"saga_id": saga_id, "events": events}),
        )

    async def replay(self, visitor: Visitor, saga_id: str) -> Replay:
        saga = await self.saga(visitor, saga_id)
        subject = self.subjects.get(saga.domain)
        return await self._engine.replay(saga_id, judge_plan=judge_plan_of(subject.domain) if subject else None)

    async def events(self, visitor: Visitor, saga_id: str, after: int = 0) -> AsyncIterator[Entry]:
        """The journal from there on, as it is written; ends when nothing is under way and nothing new has come."""
        visitor.check_owns(saga_id)
        while True:
            under_way = self.is_busy(saga_id)
            for entry in await self._engine.journal(saga_id):
                if entry.version > after:
                    after = entry.version
                    yield entry
            if not under_way:
                return
            await self._bell.wait(saga_id, _LOOK_AGAIN_S)

    async def moved(self, saga_id: str) -> None:
        """Returns when the saga may have moved on, or after a while."""
        await self._bell.wait(saga_id, _LOOK_AGAIN_S)

    def is_busy(self, saga_id: str) -> bool:
        return any(not job.task.done() for job in self._jobs.get(saga_id, ()))

    def problem(self, saga_id: str) -> str:
        """Why the last thing that was asked of it did not work out; empty otherwise."""
        return self._problems.get(saga_id, "")

    # -- jobs ----------------------------------------------------------------------------------------------------------

    def _under_way(self, saga_id: str, purpose: tuple[str, ...]) -> Job | None:
        there = (job for job in self._jobs.get(saga_id, ()) if job.purpose == purpose and not job.task.done())
        return next(there, None)

    async def _take_on(
        self, saga_id: str, purpose: tuple[str, ...], work: Coroutine[Any, Any, Any], is_recorded: IsRecorded
    ) -> None:
        """Start it, and return once it is durable that it was asked for: then it outlives this server, and can be promised.

        Raises what keeps it from that.
        """
        job = self._start(saga_id, purpose, work, is_recorded)
        while True:
            is_over = job.task.done()
            if job.is_recorded is None or await job.is_recorded():
                return
            if is_over:
                self._problems.pop(saga_id, None)
                if job.task.cancelled():
                    raise NotAllowedError(
                        f"saga {saga_id!r}: this was given up for something that came after it", saga_id=saga_id
                    )
                if problem := job.task.result():
                    raise problem
                return  # there was nothing to do
            await self._bell.wait(saga_id, _LOOK_CLOSELY_S)

    def _journalling(self, saga: Saga, *kinds: type[e.Event]) -> IsRecorded:
        """Whether events of these kinds have come after all that `saga` knows of."""

        async def is_recorded() -> bool:
            entries = await self._engine.store.read(saga.id)
            return any(isinstance(entry.event, kinds) for entry in entries[saga.version :])

        return is_recorded

    def _start(
        self, saga_id: str, purpose: tuple[str, ...], work: Coroutine[Any, Any, Any], is_recorded: IsRecorded | None = None
    ) -> Job:
        if under_way := self._under_way(saga_id, purpose):
            work.close()
            return under_way
        self._problems.pop(saga_id, None)
        task = asyncio.create_task(self._see_through(saga_id, work), name=f"{purpose[0]} {saga_id}")
        job = Job(purpose, task, is_recorded)
        self._jobs[saga_id] = [*(each for each in self._jobs[saga_id] if not each.task.done()), job]
        task.add_done_callback(lambda _task: self._bell.ring(saga_id))
        return job

    async def _see_through(self, saga_id: str, work: Coroutine[Any, Any, Any]) -> SagaGraphError | None:
        try:
            await work
        except SagaGraphError as exc:
            problem = exc
        except Exception:  # noqa: BLE001 - nobody awaits a job: what broke is told on the page and in the log
            _log.exception("saga %s: what was asked of it failed", saga_id)
            problem = SagaGraphError("something went wrong in this program; its log says what. Try to resume it", saga_id=saga_id)
        else:
            return None
        self._problems[saga_id] = str(problem)
        return problem

    async def _stop(self, saga_id: str) -> None:
        await self._end(self._jobs.get(saga_id, ()))

    async def _end(self, jobs: Iterable[Job]) -> None:
        tasks = [job.task for job in jobs if not job.task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def close(self) -> None:
        """Let what is under way end and journal it; everything goes on where it was when the next server starts."""
        await self._engine.drain()
        await self._end([job for jobs in self._jobs.values() for job in jobs])


def _as_file(name: str, document: Any) -> Download:
    return Download(name, "application/json", json.dumps(document, ensure_ascii=False, indent=2).encode())


def _is_decided(saga: Saga, plan_hash: str, *, approved: bool) -> bool:
    if approved:
        return saga.plan.hash == plan_hash and bool(saga.plan.approved_by)
    return saga.plan.hash == plan_hash and status_of(saga) is SagaStatus.REJECTED


@asynccontextmanager
async def open_service(settings: Settings) -> AsyncIterator[Service]:
    """On the settings' store and provider, with every domain that there are pages for.

    Without checkpoints: the journal has all that they hold, and planning that is given up in the middle of writing one would
    leave the store's file locked.
    """
    bell, model = Bell(), model_of(settings)
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(open_engine(settings, [bell]))
        subjects: dict[str, Subject] = {}
        graphs: dict[str, PlanningGraph] = {}
        for name in SUBJECTS:
            domain = await stack.enter_async_context(DOMAINS[name](settings, engine.store))
            subjects[name] = SUBJECTS[name](domain, model)
            graphs[name] = planning_graph(domain=domain, engine=engine, model=model)
        service = Service(engine, subjects, graphs, bell)
        stack.push_async_callback(service.close)
        yield service

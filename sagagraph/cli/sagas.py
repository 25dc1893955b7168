"""What the commands do: open what they need, ask it once, print the answer, return the exit code."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import threading
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sagagraph.bootstrap import DOMAINS, Settings, check_url, model_of, open_engine, open_travel, read_settings, title_of
from sagagraph.cli import output
from sagagraph.cli.files import json_file
from sagagraph.context.model import Model
from sagagraph.domains.travel.amending import wish_of
from sagagraph.domains.travel.domain import Travel
from sagagraph.domains.travel.problem import parse_request
from sagagraph.domains.travel.reading import PartialRequest, read_request
from sagagraph.domains.travel.reading.rewording import reworded
from sagagraph.errors import (
    BusyError,
    DrainedError,
    InvalidInputError,
    JournalError,
    NotAllowedError,
    ProviderError,
    SagaGraphError,
)
from sagagraph.planning.checking import judge_plan_of
from sagagraph.planning.domain import Infeasible
from sagagraph.saga.agenda import status_of
from sagagraph.saga.amendment import parent_of
from sagagraph.saga.coordinator import Observer
from sagagraph.saga.dependency import graph_of
from sagagraph.saga.document import entry_json, log_line
from sagagraph.saga.engine import Engine
from sagagraph.saga.events import Resolution, SagaBegun
from sagagraph.saga.model import FINAL, Saga
from sagagraph.saga.preview import CancelPreview
from sagagraph.saga.replay import JudgePlan
from sagagraph.saga.status import SagaStatus
from sagagraph.saga.stores.opening import public_name
from sagagraph.saga.view import SagaView

if TYPE_CHECKING:
    from sagagraph.saga.stores.projecting import Projector

PERSON = "command line"

_EXIT = {SagaStatus.COMMITTED: 0, SagaStatus.AWAITING_APPROVAL: 0, SagaStatus.RUNNING: 0}
"""A saga that still runs when a command returns has done what there was to do, and has an open end."""
_VERDICT_AGAINST = 1
_LONGEST_ID = 200
_AT_ONCE = 16
"""How many sagas `resume --all` works on at the same time."""


@dataclass(frozen=True, slots=True)
class Door:
    """The options that every command takes."""

    store: str
    provider: str
    as_json: bool

    @property
    def settings(self) -> Settings:
        settings = read_settings()
        store, provider = self.store or settings.store, self.provider or settings.provider_url
        return settings.model_copy(update={"store": store, "provider_url": check_url(provider, "--provider")})

    def show(self, view: SagaView) -> int:
        if self.as_json:
            output.print_json(view)
        else:
            output.print_saga(view)
        return _EXIT.get(view.status, _VERDICT_AGAINST)


@dataclass(frozen=True, slots=True)
class Opened:
    """An engine that can also act: with the actions of the saga's domain."""

    engine: Engine
    domain: Any
    graph: Any


@asynccontextmanager
async def _acting(door: Door, domain: str) -> AsyncIterator[Opened]:
    from sagagraph.graph.checkpointer import open_checkpointer
    from sagagraph.graph.planning import planning_graph

    settings = door.settings
    async with AsyncExitStack() as stack:
        observers: tuple[Observer, ...] = () if door.as_json else (output.show_progress,)
        engine = await stack.enter_async_context(open_engine(settings, observers))
        served = await stack.enter_async_context(DOMAINS[domain](settings))
        checkpointer = await stack.enter_async_context(open_checkpointer(settings.store_url))
        async with _drained_when_told_to_stop(engine):
            graph = planning_graph(domain=served, engine=engine, checkpointer=checkpointer, model=model_of(settings))
            yield Opened(engine, served, graph)


@asynccontextmanager
async def _drained_when_told_to_stop(engine: Engine) -> AsyncIterator[None]:
    """SIGTERM lets what is under way end, and journals it, before this process ends."""
    loop, command = asyncio.get_running_loop(), asyncio.current_task()
    draining: list[asyncio.Task[None]] = []

    async def drain() -> None:
        await engine.drain()
        if command is not None:
            command.cancel()

    with suppress(NotImplementedError, RuntimeError, ValueError):  # not on every system, and not in every thread
        loop.add_signal_handler(signal.SIGTERM, lambda: draining.append(loop.create_task(drain())))
    try:
        yield
    except asyncio.CancelledError:
        if draining:
            raise DrainedError("told to stop; what was under way has ended and is journalled") from None
        raise
    finally:
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.remove_signal_handler(signal.SIGTERM)
        for each in draining:
            each.cancel()


async def _domain_of(door: Door, saga_id: str, *, only: str | None = None) -> str:
    """The domain of a saga that this program can run; `only`: of the one that the command is for."""
    async with open_engine(door.settings) as engine:
        saga = await engine.load(saga_id)
    if saga.domain not in DOMAINS:
        raise NotAllowedError(f"saga {saga_id!r} belongs to a Python program: run that again", saga_id=saga_id)
    if only not in (None, saga.domain):
        raise NotAllowedError(f"saga {saga_id!r} is one of domain {saga.domain!r}, not {only!r}", saga_id=saga_id)
    return saga.domain


# -- trip ------------------------------------------------------------------------------------------------------------


async def trip(
    door: Door, text: str | None, request: Path | None, saga_id: str | None, *, approved: bool, plan_only: bool
) -> int:
    if text is not None and request is not None:
        raise InvalidInputError("give a sentence or --request, not both", field="TEXT")
    if plan_only:
        return await _plan_only(door, text, request)
    name = f"trip-{uuid.uuid4().hex[:8]}" if saga_id is None else _checked_id(saga_id)
    with _interruptible(name):
        async with _acting(door, "travel") as opened:
            if text is None and request is None and saga_id is not None:
                wanted = await _first_request(opened.engine, saga_id)
            else:
                wanted = await _wanted(opened.domain, text, request, model=model_of(door.settings))
            view = await opened.graph.start(name, wanted, approved_by=f"{PERSON}, --yes" if approved else None)
            view = await _approved_or_not(door, opened, view)
    return door.show(view)


async def _first_request(engine: Engine, saga_id: str) -> Any:
    """What the saga was begun with, whatever it was changed to since."""
    begun = (await engine.journal(saga_id))[0].event
    return begun.request if isinstance(begun, SagaBegun) else None


async def _approved_or_not(door: Door, opened: Opened, view: SagaView) -> SagaView:
    """A person at a terminal is asked, and asked again about what becomes of it; anybody else is told what to do."""
    while view.status is SagaStatus.AWAITING_APPROVAL and _is_conversation(door):
        decided = await _ask(opened, view)
        if decided is None:
            return view
        view = decided
    if view.status is SagaStatus.AWAITING_APPROVAL and not door.as_json:
        _show_waiting(view.saga_id, await _waiting(opened.engine, view))
    return view


async def change(door: Door, saga_id: str, text: str | None, request: Path | None, lost: Sequence[str], *, approved: bool) -> int:
    if (text is not None and request is not None) or (text is None and request is None and not lost):
        raise InvalidInputError(
            "say what is wished otherwise, or give --request FILE.json, one of them; or name what is --lost", field="TEXT"
        )
    with _interruptible(saga_id):
        async with _acting(door, await _domain_of(door, saga_id, only="travel")) as opened:
            before = await opened.engine.load(saga_id)
            wanted = before.request
            if text is not None or request is not None:
                current = PartialRequest.of(wish_of(before.request))
                wanted = await _wanted(opened.domain, text, request, current)
            approver = f"{PERSON}, --yes" if approved else None
            view = await opened.graph.change(saga_id, wanted, by=PERSON, approved_by=approver, lost=lost)
            view = await _approved_or_not(door, opened, view)
    code = door.show(view)
    is_unchanged = view.amendments != before.amendments and view.plan_version == before.plan.version
    return _VERDICT_AGAINST if is_unchanged and view.status is SagaStatus.COMMITTED else code


async def _plan_only(door: Door, text: str | None, request: Path | None) -> int:
    async with open_travel(door.settings) as travel:
        proposed = await travel.propose(await _wanted(travel, text, request, model=model_of(door.settings)))
    if isinstance(proposed, Infeasible):
        return _infeasible(door, proposed)
    plans = [asdict(each) for each in proposed]
    if door.as_json:
        output.print_json({"plans": plans})
    for number, each in enumerate(plans, 1) if not door.as_json else ():
        output.print_plan(number, each)
    return 0


def _infeasible(door: Door, found: Infeasible) -> int:
    if door.as_json:
        output.print_json({"plans": [], "verdict": "INVALID", **asdict(found)})
    for reason in found.reasons if not door.as_json else ():
        output.stdout.print(f"no plan: {reason}", markup=False)
    return _VERDICT_AGAINST


async def _wanted(
    travel: Travel, text: str | None, request: Path | None, known: PartialRequest | None = None, model: Model | None = None
) -> Any:
    """The request as JSON; what is missing is asked for on a terminal, and named otherwise. `known`: what was wished before.

    A sentence that does not make a request by itself is first shown to the model, where there is one.
    """
    today = (await travel.provider.now()).date()
    if request is not None:
        return parse_request(json_file(request, "--request"), cities=travel.cities, today=today).model_dump(mode="json")
    if not (text or "").strip():
        raise InvalidInputError("say where the trip goes, or give --request FILE.json", field="TEXT")
    partial = read_request(text or "", cities=travel.cities, today=today, known=known)
    if model is not None and partial.missing():
        plainer = await reworded(text or "", model=model, cities=travel.cities, today=today)
        if plainer is not None:
            output.stderr.print(f"put in plain words by {model.name}", markup=False)
        partial = plainer or partial
    while (questions := partial.missing()) and sys.stdin.isatty() and sys.stdout.isatty():
        _name_what_was_not_understood(partial)
        answer = await _asked(f"{questions[0].text} ")
        if answer is None:
            break
        partial = read_request(answer, cities=travel.cities, today=today, known=partial)
    if questions:
        unread = [f"Not understood: {', '.join(partial.unread)}."] if partial.unread else []
        raise InvalidInputError(" ".join([*(each.text for each in questions), *unread]), field=questions[0].field)
    _name_what_was_not_understood(partial)
    return partial.complete().model_dump(mode="json")


def _name_what_was_not_understood(partial: PartialRequest) -> None:
    if partial.unread:
        output.stderr.print(f"not understood: {', '.join(partial.unread)}", markup=False)


async def _asked(question: str) -> str | None:
    """What a person types; None at the end of input. Its thread can be left behind: nothing interrupts a wait for a line."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[str | None] = loop.create_future()

    def settle(answer: str | None) -> None:
        if not answered.done():
            answered.set_result(answer)

    def ask() -> None:
        try:
            answer = output.stderr.input(question, markup=False)
        except EOFError:
            answer = None
        with suppress(RuntimeError):  # the loop has ended: nobody waits for it any more
            loop.call_soon_threadsafe(settle, answer)

    threading.Thread(target=ask, name="question", daemon=True).start()
    return await answered


def _checked_id(saga_id: str) -> str:
    """Ids go into keys, file names and other sagas' ids."""
    if not saga_id.strip() or saga_id != saga_id.strip() or not saga_id.isprintable() or len(saga_id) > _LONGEST_ID:
        raise InvalidInputError(f"an id has 1 to {_LONGEST_ID} printable characters, and no space at its ends", field="--saga-id")
    return saga_id


def _is_conversation(door: Door) -> bool:
    return not door.as_json and sys.stdin.isatty() and sys.stdout.isatty()


async def _ask(opened: Opened, view: SagaView) -> SagaView | None:
    """None where nobody answers."""
    saga = await _waiting(opened.engine, view)
    _show_plan(saga)
    answer = await _asked("Book it? [y/N] ")
    if answer is None:
        return None
    approved = answer.strip().lower() in ("y", "yes")
    decided: SagaView = await opened.graph.decide(view.saga_id, approved=approved, by=PERSON, plan_hash=saga.plan.hash)
    return decided


@contextmanager
def _interruptible(saga_id: str, again: str = "resume") -> Iterator[None]:
    """Whoever interrupts is told which command goes on. A cancel is asked for again: it may not have been heard yet."""
    try:
        yield
    except (KeyboardInterrupt, asyncio.CancelledError, DrainedError):
        output.stderr.print(f"interrupted; go on with: sagagraph {again} {saga_id}", markup=False)
        raise


# -- settling, resuming, cancelling ----------------------------------------------------------------------------------


async def settle_plan(door: Door, saga_id: str, plan_hash: str | None, *, approved: bool) -> int:
    with _interruptible(saga_id):
        async with _acting(door, await _domain_of(door, saga_id)) as opened:
            view = await opened.graph.decide(saga_id, approved=approved, by=PERSON, plan_hash=plan_hash)
            view = await _approved_or_not(door, opened, view)
    code = door.show(view)
    return 0 if view.status is SagaStatus.REJECTED and not approved else code


async def resume(door: Door, saga_id: str, *, wait: bool) -> int:
    with _interruptible(saga_id):
        async with _acting(door, await _domain_of(door, saga_id)) as opened:
            view = await _resumed(opened, saga_id, wait=wait)
    return door.show(view)


async def _resumed(opened: Opened, saga_id: str, *, wait: bool) -> SagaView:
    saga = await opened.engine.load(saga_id)
    is_planned = saga.driver.value == "workflow"
    if status_of(saga).is_final:
        await opened.engine.conclude_amendment(saga_id)
        return await opened.engine.status(saga_id)
    view: SagaView = await (opened.graph if is_planned else opened.engine).resume(saga_id, wait=wait)
    return view


async def resume_all(door: Door, *, wait: bool) -> int:
    """Every open saga that this program can run, several at once. One that fails or is busy does not keep the others back."""
    async with open_engine(door.settings) as engine:
        waiting = {each.domain for each in await engine.sagas() if each.stage not in FINAL}
    ended = [each for domain in DOMAINS if domain in waiting for each in await _resume_domain(door, domain, wait=wait)]
    views = [each for each in ended if isinstance(each, SagaView)]
    code = max([0, *(each for each in ended if isinstance(each, int)), *(_EXIT.get(each.status, 1) for each in views)])
    if door.as_json:
        output.print_json(views)
    for view in views if not door.as_json else ():
        output.print_saga(view)
    if not views and not code and not door.as_json:
        output.stdout.print("no saga is open: there is nothing to resume")
    return code


async def _resume_domain(door: Door, domain: str, *, wait: bool) -> list[SagaView | int]:
    async with _acting(door, domain) as opened:
        room = asyncio.Semaphore(_AT_ONCE)
        mine = [each.saga_id for each in await opened.engine.sagas() if each.domain == domain and each.stage not in FINAL]
        mine = [each for each in mine if parent_of(each) not in mine]  # an amendment goes on with what it changes
        return await asyncio.gather(*(_resumed_in_turn(opened, name, room, wait=wait) for name in mine))


async def _resumed_in_turn(opened: Opened, saga_id: str, room: asyncio.Semaphore, *, wait: bool) -> SagaView | int:
    """Where the saga stands then, or the exit code of what keeps it from going on, which is told."""
    async with room:
        try:
            return await _resumed_beside_others(opened, saga_id, wait=wait)
        except DrainedError:
            raise
        except SagaGraphError as exc:
            output.stderr.print(f"sagagraph: {exc}", markup=False)
            return exc.exit_code


async def _resumed_beside_others(opened: Opened, saga_id: str, *, wait: bool) -> SagaView:
    """By us or by another worker: as long as it moves, somebody is at it."""
    version = 0
    while True:
        try:
            return await _resumed(opened, saga_id, wait=wait)
        except BusyError:
            now = await opened.engine.store.headline(saga_id)
            if not wait or now is None or now.version == version:
                raise
            version = now.version


async def cancel(door: Door, saga_id: str, *, preview: bool) -> int:
    with _interruptible(saga_id, "cancel"):
        async with _acting(door, await _domain_of(door, saga_id)) as opened:
            told = await opened.engine.cancel(saga_id, preview=preview, by=PERSON)
    if isinstance(told, CancelPreview):
        if door.as_json:
            output.print_json(told)
        else:
            output.print_preview(told)
        return 0
    door.show(told)
    return 0 if told.status is SagaStatus.COMPENSATED else _VERDICT_AGAINST


async def resolve(door: Door, saga_id: str, operation: str, resolution: Resolution, given: str | None) -> int:
    try:
        returned = None if given is None else json.loads(given)
    except ValueError as exc:
        raise InvalidInputError(f"is not JSON: {exc}", field="--output") from exc
    with _interruptible(saga_id):
        async with _acting(door, await _domain_of(door, saga_id)) as opened:
            view = await opened.engine.resolve(saga_id, operation, resolution, output=returned, by=PERSON)
    return door.show(view)


# -- looking ---------------------------------------------------------------------------------------------------------


async def status(door: Door, saga_id: str, version: int | None) -> int:
    async with open_engine(door.settings) as engine:
        view = await (engine.status(saga_id) if version is None else engine.state_at(saga_id, version))
        if view.status is SagaStatus.AWAITING_APPROVAL and not door.as_json:
            _show_waiting(saga_id, await _waiting(engine, view))
    door.show(view)
    return 0


def _show_plan(saga: Saga) -> None:
    """The plan that waits for approval, as whoever is to approve it should see it."""
    plan = {"plan_hash": saga.plan.hash, "cost": saga.plan.cost, "reasons": saga.plan.reasons, "title": title_of(saga)}
    output.print_plan(1, plan)


def _show_waiting(saga_id: str, saga: Saga) -> None:
    _show_plan(saga)
    output.stdout.print(f"approve it with: sagagraph approve {saga_id} --plan {saga.plan.hash}", markup=False)


async def _waiting(engine: Engine, view: SagaView) -> Saga:
    """The saga whose plan is shown: this one, or the one that changes it."""
    return await engine.load(view.amendment or view.saga_id)


async def list_all(door: Door) -> int:
    """One whose journal can not be read does not hide the others."""
    sagas: list[Saga] = []
    code = 0
    async with open_engine(door.settings) as engine:
        for headline in await engine.sagas():
            try:
                sagas.append(await engine.load(headline.saga_id))
            except JournalError as exc:
                output.stderr.print(f"sagagraph: {exc}", markup=False)
                code = exc.exit_code
    if door.as_json:
        output.print_json({"sagas": [_row(saga) for saga in sagas]})
    else:
        output.print_sagas(sagas)
    return code


def _row(saga: Saga) -> dict[str, Any]:
    beside = {"reversal": saga.reversal, "amendments": saga.amendments}
    return {"saga_id": saga.id, "domain": saga.domain, "status": status_of(saga).value, **beside}


async def replay(door: Door, saga_id: str) -> int:
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(open_engine(door.settings))
        domain = (await engine.load(saga_id)).domain
        judge_plan: JudgePlan | None = None
        if domain in DOMAINS:
            try:
                served = await stack.enter_async_context(DOMAINS[domain](door.settings))
            except ProviderError as exc:
                output.stderr.print(f"sagagraph: the plan is not judged again: {exc}", markup=False)
            else:
                judge_plan = judge_plan_of(served)
                for each in served.actions:
                    engine.register(each)
        replayed = await engine.replay(saga_id, judge_plan=judge_plan)
    if door.as_json:
        output.print_json(replayed)
    else:
        output.print_replay(replayed)
    return _VERDICT_AGAINST if replayed.differences else 0


async def redact(door: Door, saga_id: str, fields: Sequence[str]) -> int:
    async with open_engine(door.settings) as engine:
        view = await engine.redact(saga_id, fields, by=PERSON)
    if door.as_json:
        output.print_json(view)
    else:
        output.stdout.print(f"saga {saga_id}: what is called {', '.join(view.redacted)} is unreadable now", markup=False)
    return 0


async def retire(door: Door, older_than_days: float, archive: Path | None, *, dry_run: bool) -> int:
    try:
        age = timedelta(days=older_than_days)
    except (OverflowError, ValueError) as exc:
        raise InvalidInputError("is no number of days that there can be", field="--older-than") from exc
    async with open_engine(door.settings) as engine:
        told = await engine.retire(older_than=age, archive=archive, dry_run=dry_run)
    if door.as_json:
        output.print_json({**asdict(told), "archive": None if archive is None else str(archive), "dry_run": dry_run})
    else:
        output.print_retirement(told, archive, dry_run=dry_run)
    return 0


async def log(door: Door, saga_id: str) -> int:
    async with open_engine(door.settings) as engine:
        entries = await engine.journal(saga_id)
    if door.as_json:
        output.print_json({"saga_id": saga_id, "events": [entry_json(entry) for entry in entries]})
    for entry in entries if not door.as_json else ():
        output.stdout.print(log_line(entry), markup=False)
    return 0


async def graph(door: Door, saga_id: str, *, mermaid: bool) -> int:
    async with open_engine(door.settings) as engine:
        saga = await engine.load(saga_id)
    if mermaid:
        output.stdout.print(_mermaid(saga), markup=False)
    else:
        output.print_json(_graph_json(saga))
    return 0


def _graph_json(saga: Saga) -> dict[str, Any]:
    nodes = [
        {"id": each.id, "action": each.spec.action, "kind": each.spec.kind.value, "status": each.status.value}
        for each in saga.in_order()
    ]
    return {"saga_id": saga.id, "nodes": nodes, "edges": [{"from": a, "to": b} for a, b in graph_of(saga).edges]}


def _mermaid(saga: Saga) -> str:
    names = {each.id: f"n{number}" for number, each in enumerate(saga.in_order())}
    lines = ["flowchart LR"]
    for each in saga.in_order():
        label = f"{each.id}<br/>{each.spec.action}<br/>{each.status.value}".replace('"', "'")
        lines.append(f'  {names[each.id]}["{label}"]')
    lines += [f"  {names[a]} --> {names[b]}" for a, b in graph_of(saga).edges]
    return "\n".join(lines)


async def upgrade(door: Door) -> int:
    """Opening a store brings its tables to this release."""
    async with open_engine(door.settings):
        url = public_name(door.settings.store_url)
    if door.as_json:
        output.print_json({"store": url, "status": "up to date"})
    else:
        output.stdout.print(f"{url} is up to date", markup=False)
    return 0


async def project(door: Door, saga_id: str | None) -> int:
    from sagagraph.saga.stores.projecting import Projector

    async with open_engine(door.settings) as engine:
        projector = Projector(engine.store)
        try:
            if saga_id is None:
                return await _project_all(door, projector)
            projection = await projector.project(saga_id)
        finally:
            projector.close()
    return _projected(door, {saga_id: projection.saga.journal_version})


async def _project_all(door: Door, projector: Projector) -> int:
    """One saga that can not be read does not keep the others back."""
    versions: dict[str, int] = {}
    code = 0
    forgotten = await projector.forget_lost()
    for saga_id in await projector.behind():
        try:
            versions[saga_id] = (await projector.project(saga_id)).saga.journal_version
        except SagaGraphError as exc:
            output.stderr.print(f"sagagraph: {exc}", markup=False)
            code = max(code, exc.exit_code)
    return max(code, _projected(door, versions, forgotten))


def _projected(door: Door, versions: dict[str, int], forgotten: tuple[str, ...] = ()) -> int:
    if door.as_json:
        rows = [{"saga_id": saga_id, "version": version} for saga_id, version in versions.items()]
        output.print_json({"projected": rows, "forgotten": forgotten})
        return 0
    for saga_id, version in versions.items():
        output.stdout.print(f"{saga_id}: projected up to version {version}", markup=False)
    for saga_id in forgotten:
        output.stdout.print(f"{saga_id}: withdrawn, its journal is gone", markup=False)
    return 0

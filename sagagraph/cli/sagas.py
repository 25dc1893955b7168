"""What the commands do: open what they need, ask it once, print the answer, return the exit code."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sagagraph.bootstrap import DOMAINS, Settings, check_url, open_engine, open_travel
from sagagraph.cli import output
from sagagraph.domains.travel.domain import Travel
from sagagraph.domains.travel.problem import parse_request
from sagagraph.domains.travel.reading import read_request
from sagagraph.errors import InvalidInputError, NotAllowedError, SagaGraphError
from sagagraph.planning.domain import Infeasible
from sagagraph.saga.agenda import status_of
from sagagraph.saga.coordinator import Observer
from sagagraph.saga.dependency import graph_of
from sagagraph.saga.engine import Engine
from sagagraph.saga.events import Resolution
from sagagraph.saga.model import Saga
from sagagraph.saga.preview import CancelPreview
from sagagraph.saga.status import SagaStatus
from sagagraph.saga.view import SagaView

PERSON = "command line"

_EXIT = {SagaStatus.COMMITTED: 0, SagaStatus.AWAITING_APPROVAL: 0}
_VERDICT_AGAINST = 1
_LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class Door:
    """The options that every command takes."""

    store: str
    provider: str
    as_json: bool

    @property
    def settings(self) -> Settings:
        settings = Settings()
        store, provider = self.store or settings.store, self.provider or settings.provider_url
        return Settings(store=store, provider_url=check_url(provider, "--provider"))

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
        yield Opened(engine, served, planning_graph(domain=served, engine=engine, checkpointer=checkpointer))


async def _domain_of(door: Door, saga_id: str) -> str:
    """The domain of a saga that this program can run."""
    async with open_engine(door.settings) as engine:
        saga = await engine.load(saga_id)
    if saga.domain not in DOMAINS:
        raise NotAllowedError(f"saga {saga_id!r} belongs to a Python program: run that again", saga_id=saga_id)
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
                wanted = (await opened.engine.load(saga_id)).request
            else:
                wanted = await _wanted(opened.domain, text, request)
            view = await opened.graph.start(name, wanted, approved_by=f"{PERSON}, --yes" if approved else None)
            if view.status is SagaStatus.AWAITING_APPROVAL and _is_conversation(door):
                view = await _ask(opened, view)
    return door.show(view)


async def _plan_only(door: Door, text: str | None, request: Path | None) -> int:
    async with open_travel(door.settings) as travel:
        proposed = await travel.propose(await _wanted(travel, text, request))
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
        output.print_json({"plans": [], "verdict": "INVALID", "reasons": list(found.reasons)})
    for reason in found.reasons if not door.as_json else ():
        output.stdout.print(f"no plan: {reason}", markup=False)
    return _VERDICT_AGAINST


async def _wanted(travel: Travel, text: str | None, request: Path | None) -> Any:
    """The request as JSON; what is missing is asked for on a terminal, and named otherwise."""
    today = (await travel.provider.now()).date()
    if request is not None:
        return parse_request(_json_file(request, "--request"), cities=travel.cities, today=today).model_dump(mode="json")
    if not (text or "").strip():
        raise InvalidInputError("say where the trip goes, or give --request FILE.json", field="TEXT")
    partial = read_request(text or "", cities=travel.cities, today=today)
    while (questions := partial.missing()) and sys.stdin.isatty() and sys.stdout.isatty():
        answer = await _asked(f"{questions[0].text} ")
        if answer is None:
            break
        partial = read_request(answer, cities=travel.cities, today=today, known=partial)
    if questions:
        raise InvalidInputError(" ".join(each.text for each in questions), field=questions[0].field)
    return partial.complete().model_dump(mode="json")


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


def _json_file(path: Path, field: str) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as exc:
        raise InvalidInputError(f"{path} can not be read: {exc.strerror}", field=field) from exc
    except ValueError as exc:
        raise InvalidInputError(f"{path} is not JSON: {exc}", field=field) from exc


def _is_conversation(door: Door) -> bool:
    return not door.as_json and sys.stdin.isatty() and sys.stdout.isatty()


async def _ask(opened: Opened, view: SagaView) -> SagaView:
    saga = await opened.engine.load(view.saga_id)
    plan = {"plan_hash": saga.plan.hash, "cost": saga.plan.cost, "reasons": saga.plan.reasons}
    title = opened.domain.title(saga.plan.content)
    output.print_plan(1, {**plan, "title": title})
    answer = await _asked("Book it? [y/N] ")
    if answer is None:
        return view
    approved = answer.strip().lower() in ("y", "yes")
    decided: SagaView = await opened.graph.decide(view.saga_id, approved=approved, by=PERSON, plan_hash=saga.plan.hash)
    return decided


@contextmanager
def _interruptible(saga_id: str, again: str = "resume") -> Iterator[None]:
    """Whoever interrupts is told which command goes on. A cancel is asked for again: it may not have been heard yet."""
    try:
        yield
    except (KeyboardInterrupt, asyncio.CancelledError):
        output.stderr.print(f"interrupted; go on with: sagagraph {again} {saga_id}", markup=False)
        raise


# -- settling, resuming, cancelling ----------------------------------------------------------------------------------


async def settle_plan(door: Door, saga_id: str, plan_hash: str | None, *, approved: bool) -> int:
    with _interruptible(saga_id):
        async with _acting(door, await _domain_of(door, saga_id)) as opened:
            view = await opened.graph.decide(saga_id, approved=approved, by=PERSON, plan_hash=plan_hash)
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
        return await opened.engine.status(saga_id)
    view: SagaView = await (opened.graph if is_planned else opened.engine).resume(saga_id, wait=wait)
    return view


async def resume_all(door: Door, *, wait: bool) -> int:
    """Every open saga that this program can run. One that fails or is busy does not keep the others back."""
    async with _acting(door, "travel") as opened:
        views: list[SagaView] = []
        code = 0
        for headline in await opened.engine.sagas():
            if headline.domain not in DOMAINS:
                continue
            try:
                if status_of(await opened.engine.load(headline.saga_id)).is_final:
                    continue
                views.append(await _resumed(opened, headline.saga_id, wait=wait))
            except SagaGraphError as exc:
                output.stderr.print(f"sagagraph: {exc}", markup=False)
                code = max(code, exc.exit_code)
        code = max([code, *(_EXIT.get(view.status, _VERDICT_AGAINST) for view in views)])
    if door.as_json:
        output.print_json(views)
    for view in views if not door.as_json else ():
        output.print_saga(view)
    return code


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


async def status(door: Door, saga_id: str) -> int:
    async with open_engine(door.settings) as engine:
        view = await engine.status(saga_id)
    door.show(view)
    return 0


async def list_all(door: Door) -> int:
    async with open_engine(door.settings) as engine:
        sagas = [await engine.load(headline.saga_id) for headline in await engine.sagas()]
    rows = [{"saga_id": saga.id, "domain": saga.domain, "status": status_of(saga).value} for saga in sagas]
    if door.as_json:
        output.print_json({"sagas": rows})
    for row in rows if not door.as_json else ():
        output.stdout.print(f"{row['saga_id']}: {row['status']}", markup=False)
    return 0


async def log(door: Door, saga_id: str) -> int:
    async with open_engine(door.settings) as engine:
        entries = await engine.journal(saga_id)
    if door.as_json:
        output.print_json({"saga_id": saga_id, "events": [output.entry_json(entry) for entry in entries]})
    for entry in entries if not door.as_json else ():
        output.stdout.print(output.describe(entry), markup=False)
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
        url = door.settings.store_url
    if door.as_json:
        output.print_json({"store": url, "status": "up to date"})
    else:
        output.stdout.print(f"{url} is up to date", markup=False)
    return 0

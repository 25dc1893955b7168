"""Session: what a command keeps open until it ends: an engine, the domain of a saga, and the graph that runs it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sagagraph.cli import render
from sagagraph.cli.options import Options
from sagagraph.errors import DrainedError, InvalidInputError, NotAllowedError, ProviderError
from sagagraph.planning.domain import Provided
from sagagraph.registry import MISSIONS, limits_of, model_of, open_domain, open_engine, require_entry, runs_sagas
from sagagraph.saga.core.amendments import parent_of
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.views.view import SagaView
from sagagraph.workflow.language.document import WORKFLOWS

if TYPE_CHECKING:
    from sagagraph.context.model import Model
    from sagagraph.graph.planning_graph import PlanningGraph
    from sagagraph.planning.domain import Domain
    from sagagraph.planning.page import Page
    from sagagraph.saga.core.decide.providers import ProviderHere
    from sagagraph.saga.core.state import Saga
    from sagagraph.saga.engine.coordinator import Observer
    from sagagraph.saga.engine.engine import Engine
    from sagagraph.settings import Settings

EXIT = {SagaStatus.COMMITTED: 0, SagaStatus.AWAITING_APPROVAL: 0, SagaStatus.RUNNING: 0}
"""A saga that is still running when a command returns has done everything it can, and has an open end."""
VERDICT_AGAINST = 1
WITHOUT_ENTRY = (MISSIONS, WORKFLOWS)
"""Domains that no plug-in brings, whose sagas can be carried on here all the same."""
_LONGEST_ID = 200


def exit_code(view: SagaView) -> int:
    return EXIT.get(view.status, VERDICT_AGAINST)


def show(options: Options, view: SagaView) -> int:
    """Show the state of the saga; returns the matching exit code."""
    render.printed(view, render.print_saga, as_json=options.as_json)
    return exit_code(view)


@dataclass(frozen=True, slots=True)
class Opened:
    """Engine that can also act, with the actions of the saga's domain."""

    engine: Engine
    domain: Any
    """Its type is what its entry opens: a domain's commands know it."""
    graph: PlanningGraph
    model: Model | None
    name: str

    def page(self) -> Page:
        """Return the part that reads sentences and requests. Raises `InvalidInputError` if the domain has none."""
        page = require_entry(self.name).page(self.domain, self.model)
        if page is None:
            raise InvalidInputError(f"{self.name} reads no requests", field="DOMAIN")
        return page


@asynccontextmanager
async def acting(options: Options, domain: str, saga_id: str | None = None, *, create: bool = False) -> AsyncIterator[Opened]:
    """Open what the commands that act need: for the saga with this id at its own provider, unless --provider names one.

    `create`: for a new saga, whose store need not be there yet. What is open is drained on SIGTERM.
    """
    async with opening(options, domain, saga_id, create=create) as opened, drained_when_told_to_stop(opened.engine):
        yield opened


@asynccontextmanager
async def opening(
    options: Options, domain: str, saga_id: str | None = None, also: tuple[Observer, ...] = (), *, create: bool = False
) -> AsyncIterator[Opened]:
    """Open the same, for a program that handles signals itself."""
    from sagagraph.graph.checkpoints.checkpointer import open_checkpointer
    from sagagraph.graph.planning_graph import planning_graph

    settings = options.settings
    async with AsyncExitStack() as stack:
        observers: tuple[Observer, ...] = (render.show_waits, *((render.show_progress,) if options.verbose else ()), *also)
        engine = await stack.enter_async_context(open_engine(settings, observers, create=create))
        begun = None if saga_id is None else await saga_if_begun(engine, saga_id)
        served = await stack.enter_async_context(_open_domain_of(options, domain, begun, engine))
        checkpointer = await stack.enter_async_context(open_checkpointer(settings.store_url))
        model = model_of(settings)
        limits = limits_of(settings)
        graph = planning_graph(domain=served, engine=engine, checkpointer=checkpointer, model=model, limits=limits)
        yield Opened(engine, served, graph, model, domain)


Resume = Callable[..., Awaitable[SagaView]]
"""Carries a saga on until it is quiet: `(saga_id, wait=…)`."""


@asynccontextmanager
async def carrying(
    options: Options, domain: str, saga_id: str, also: tuple[Observer, ...] = ()
) -> AsyncIterator[tuple[Engine, Resume]]:
    """Open an engine that can act on this saga and those opened alike, and what carries them on: a graph, a coordinator, or the
    interpreter of its document.
    """
    if domain == MISSIONS:
        from sagagraph.cli.mission.missions import coordinating

        async with coordinating(options, saga_id, also=also) as coordinator:
            yield coordinator.engine, coordinator.resume
    elif domain == WORKFLOWS:
        from sagagraph.cli.workflow.sagas import opening_saga, resumed

        async with opening_saga(options, saga_id, also) as opened_saga:
            yield opened_saga[0], partial(resumed, *opened_saga)
    else:
        async with opening(options, domain, saga_id, also) as opened:
            yield opened.engine, opened.graph.resume


def opened_alike(options: Options, saga: Saga) -> tuple[str, ...]:
    """Return what sagas have in common that are carried on together: a domain and a provider, or the agents of a mission.
    Each document has an engine of its own: another one may mean another action by the same name.
    """
    if saga.domain == WORKFLOWS:
        return saga.domain, saga.id
    if saga.domain == MISSIONS:
        from sagagraph.coordination.coordinator import source_of

        return saga.domain, *source_of(saga)
    return saga.domain, settings_for(options, saga).provider_url


async def saga_if_begun(engine: Engine, saga_id: str) -> Saga | None:
    """Return the saga, or the one that it changes while it has not begun itself; None if there is neither."""
    for each in (saga_id, parent_of(saga_id)):
        if each is not None and await engine.store.headline(each) is not None:
            return await engine.load(each)
    return None


def settings_for(options: Options, saga: Saga | None) -> Settings:
    """Return the settings with the provider of a saga that has one, unless --provider names one."""
    settings = options.settings
    if saga is None or not saga.provider or options.provider:
        return settings
    return replace(settings, provider_url=saga.provider_url)


@asynccontextmanager
async def _open_domain_of(options: Options, domain: str, saga: Saga | None, engine: Engine) -> AsyncIterator[Domain]:
    async with AsyncExitStack() as stack:
        try:
            served = await stack.enter_async_context(open_domain(domain, settings_for(options, saga), engine.store))
        except ProviderError as exc:
            if saga is None or not saga.provider or options.provider:
                raise
            moved = "if it has moved, say --provider URL, and --same-provider unless it states its own id"
            raise ProviderError(f"{exc}; saga {saga.id!r} works with it and with no other; {moved}") from exc
        if saga is not None and not saga.provider and isinstance(served, Provided):
            _tell_assumed(saga, served.provider_here)
        yield served


def _tell_assumed(saga: Saga, here: ProviderHere) -> None:
    where = here.url or "the one inside the command"
    render.stderr.print(
        f"saga {saga.id!r} does not say which provider it began with; it is taken to be {where} ({here.identity})", markup=False
    )


@asynccontextmanager
async def drained_when_told_to_stop(engine: Engine) -> AsyncIterator[None]:
    """Let calls under way end, and journal them, before this process ends on SIGTERM."""
    loop, command = asyncio.get_running_loop(), asyncio.current_task()
    draining: list[asyncio.Task[None]] = []

    async def drain() -> None:
        await engine.drain()
        if command is not None:
            command.cancel()

    with suppress(NotImplementedError, RuntimeError, ValueError):  # not available on every system, nor in every thread
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


async def domain_of(options: Options, saga_id: str, *, only: str | None = None, has_graph: bool = True) -> str:
    """Return the domain of a saga, if this program can run it. `only`: the domain that the command is for. `has_graph`: the
    command needs a plan, which missions and workflow documents do not have.
    """
    async with open_engine(options.settings) as engine:
        saga = await engine.load(saga_id)
    if saga.domain in WITHOUT_ENTRY:
        if not has_graph:
            return saga.domain
        is_mission = "is a mission: say sagagraph mission, and what to do with it"
        why = is_mission if saga.domain == MISSIONS else "carries out a workflow document: say resume, cancel or resolve"
        raise NotAllowedError(f"saga {saga_id!r} {why}", saga_id=saga_id)
    if not runs_sagas(saga.domain):
        raise NotAllowedError(f"saga {saga_id!r} belongs to a Python program: run that again", saga_id=saga_id)
    if only not in (None, saga.domain):
        raise NotAllowedError(f"saga {saga_id!r} is one of domain {saga.domain!r}, not {only!r}", saga_id=saga_id)
    return saga.domain


def checked_id(saga_id: str) -> str:
    """Check an id, which becomes part of keys, file names and other sagas' ids."""
    if not saga_id.strip() or saga_id != saga_id.strip() or not saga_id.isprintable() or len(saga_id) > _LONGEST_ID:
        raise InvalidInputError(f"an id has 1 to {_LONGEST_ID} printable characters, and no space at its ends", field="--saga-id")
    return saga_id

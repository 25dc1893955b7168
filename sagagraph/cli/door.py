"""What every command stands on: the options it takes, what it opens, a person at a terminal, how it is interrupted."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from typing import Any

from sagagraph.bootstrap import DOMAINS, Settings, check_url, model_of, open_engine, read_settings
from sagagraph.cli import output
from sagagraph.errors import DrainedError, InvalidInputError, NotAllowedError
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.coordinator import Observer
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.views.view import SagaView

PERSON = "command line"

EXIT = {SagaStatus.COMMITTED: 0, SagaStatus.AWAITING_APPROVAL: 0, SagaStatus.RUNNING: 0}
"""A saga that still runs when a command returns has done what there was to do, and has an open end."""
VERDICT_AGAINST = 1
_LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class Door:
    """The options that every command takes."""

    store: str
    provider: str
    as_json: bool
    today: date | None = None

    @property
    def settings(self) -> Settings:
        settings = read_settings()
        store, provider = self.store or settings.store, self.provider or settings.provider_url
        if self.today and provider:
            raise InvalidInputError("sets the clock of the service inside the command; another one has its own", field="--today")
        today = self.today or settings.today
        return settings.model_copy(update={"store": store, "provider_url": check_url(provider, "--provider"), "today": today})

    def show(self, view: SagaView) -> int:
        if self.as_json:
            output.print_json(view)
        else:
            output.print_saga(view)
        return EXIT.get(view.status, VERDICT_AGAINST)


@dataclass(frozen=True, slots=True)
class Opened:
    """An engine that can also act: with the actions of the saga's domain."""

    engine: Engine
    domain: Any
    graph: Any


@asynccontextmanager
async def acting(door: Door, domain: str) -> AsyncIterator[Opened]:
    from sagagraph.graph.checkpoints.checkpointer import open_checkpointer
    from sagagraph.graph.planning_graph import planning_graph

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


async def domain_of(door: Door, saga_id: str, *, only: str | None = None) -> str:
    """The domain of a saga that this program can run; `only`: of the one that the command is for."""
    async with open_engine(door.settings) as engine:
        saga = await engine.load(saga_id)
    if saga.domain not in DOMAINS:
        raise NotAllowedError(f"saga {saga_id!r} belongs to a Python program: run that again", saga_id=saga_id)
    if only not in (None, saga.domain):
        raise NotAllowedError(f"saga {saga_id!r} is one of domain {saga.domain!r}, not {only!r}", saga_id=saga_id)
    return saga.domain


async def asked(question: str) -> str | None:
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


def checked_id(saga_id: str) -> str:
    """Ids go into keys, file names and other sagas' ids."""
    if not saga_id.strip() or saga_id != saga_id.strip() or not saga_id.isprintable() or len(saga_id) > _LONGEST_ID:
        raise InvalidInputError(f"an id has 1 to {_LONGEST_ID} printable characters, and no space at its ends", field="--saga-id")
    return saga_id


def is_conversation(door: Door) -> bool:
    return not door.as_json and sys.stdin.isatty() and sys.stdout.isatty()


@contextmanager
def interruptible(saga_id: str, again: str = "resume") -> Iterator[None]:
    """Whoever interrupts is told which command goes on. A cancel is asked for again: it may not have been heard yet."""
    try:
        yield
    except (KeyboardInterrupt, asyncio.CancelledError, DrainedError):
        output.stderr.print(f"interrupted; go on with: sagagraph {again} {saga_id}", markup=False)
        raise

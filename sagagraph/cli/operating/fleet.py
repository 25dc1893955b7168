"""Fleet: `sagagraph worker` drives what is due until it is told to stop."""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sagagraph.cli import render
from sagagraph.cli.logs import warn_at_least
from sagagraph.cli.options import Options
from sagagraph.cli.session import WITHOUT_ENTRY, carrying, opened_alike, show
from sagagraph.errors import FleetError, InvalidInputError
from sagagraph.extras import needing
from sagagraph.fleet.port import Fleet
from sagagraph.fleet.store_fleet import StoreFleet
from sagagraph.registry import domain_names, open_engine, require_entry, runs_sagas
from sagagraph.saga.engine.collector import collect_seldom
from sagagraph.saga.engine.coordinator import Observer
from sagagraph.saga.engine.driving import Parked, original_of
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.port import SagaStore
from sagagraph.workflow.language.document import WORKFLOWS

if TYPE_CHECKING:
    from sagagraph.fleet.health import Health


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker is to do. `queues`: domains; all that run sagas here, if none is named."""

    queues: tuple[str, ...] = ()
    slots: int = 16
    health_port: int | None = None
    temporal: str = ""
    build_id: str = ""
    promotes: bool = False
    most_per_second: float | None = None

    def domains(self) -> tuple[str, ...]:
        for each in self.queues:
            if each not in WITHOUT_ENTRY and not require_entry(each).runs_sagas:
                raise InvalidInputError(f"{each} runs no sagas", field="--queue")
        return self.queues or (*filter(runs_sagas, domain_names()), *WITHOUT_ENTRY)


async def work(options: Options, job: Work) -> int:
    """Drive sagas until SIGTERM or Ctrl-C; what is under way then ends first."""
    domains = job.domains()
    warn_at_least(as_json=options.as_json)
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(open_engine(options.settings, create=True))
        health, observers = None, tuple[Observer, ...]()
        if job.health_port is not None:
            with needing("fleet"):
                from sagagraph.fleet.health import Health
                from sagagraph.fleet.metrics import Metrics
                from sagagraph.operating.meters import Meters
            meters = Meters()
            health, observers = Health(Metrics(meters.registry), time.monotonic), (meters,)
            tell = render.announce("the worker is healthy as long as it answers on", as_json=options.as_json)
            await stack.enter_async_context(health.served(job.health_port, tell))
        sessions = _Sessions(options, engine, stack, observers)
        fleet = await _fleet(engine.store, job, health)
        collect_seldom()
        serving = asyncio.create_task(fleet.serve(sessions.drive, domains, job.slots, job.build_id))
        await _told_to_stop(serving)
        if health is not None:
            health.is_draining = True
        await sessions.drain()
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
    return 0


async def _fleet(store: SagaStore, job: Work, health: Health | None) -> Fleet:
    metrics, heard = (health.metrics, health.heard) if health else (None, lambda: None)
    if not job.temporal:
        return StoreFleet(store, metrics=metrics, on_look=heard, most_per_second=job.most_per_second)
    with needing("temporal"):
        from sagagraph.fleet.temporal.temporal_fleet import TemporalFleet, connect
    client, limit = await connect(job.temporal), job.most_per_second
    return TemporalFleet(client, store, metrics=metrics, on_answer=heard, most_per_second=limit, promotes=job.promotes)


async def told_to_worker(options: Options, engine: Engine, saga_id: str) -> int:
    """Have a saga driven of which something was just asked; show it. Without a Temporal server workers see that by themselves."""
    temporal = options.settings.temporal
    if temporal:
        domain = (await engine.load(saga_id)).domain
        await (await _fleet(engine.store, Work(temporal=temporal), None)).wake(saga_id, domain)
    show(options, await engine.status(saga_id))
    return 0


async def up(port: int, database: Path, ui_port: int | None, *, as_json: bool) -> int:
    """Run a Temporal server until SIGTERM or Ctrl-C."""
    from sagagraph.fleet.temporal.server import temporal_server

    with temporal_server(port, database, ui_port=ui_port) as running:
        ended = asyncio.create_task(asyncio.to_thread(running.wait))
        render.announce("Temporal listens on", as_json=as_json)(f"127.0.0.1:{port}")
        await _told_to_stop(ended)
        if ended.done():
            raise FleetError("the Temporal server ended by itself")
    return 0


async def _told_to_stop(serving: asyncio.Task[Any]) -> None:
    """Return when this process is told to stop. Raises what ends the serving."""
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    waiting = asyncio.create_task(stopped.wait())
    await asyncio.wait((serving, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if serving.done():
        await serving


class _Sessions:
    """What sagas are driven with: an engine for all that are opened alike, opened when the first saga needs it."""

    def __init__(self, options: Options, engine: Engine, stack: AsyncExitStack, observers: tuple[Observer, ...]) -> None:
        self._observers = observers
        self._options = options
        self._engine = engine
        self._stack = stack
        self._opened: dict[tuple[str, ...], Engine] = {}
        self._opening = asyncio.Lock()
        self._of_documents: set[Engine] = set()

    async def drive(self, saga_id: str) -> Parked:
        saga = await self._engine.load(original_of(saga_id))
        if saga.domain == WORKFLOWS:
            return await self._drive_document(saga.id)
        key = opened_alike(self._options, saga)
        async with self._opening:
            if key not in self._opened:
                opening = carrying(self._options, saga.domain, saga.id, self._observers)
                self._opened[key], _resume = await self._stack.enter_async_context(opening)
        return await self._opened[key].drive(saga_id)

    async def _drive_document(self, saga_id: str) -> Parked:
        """Drive it with an engine of its own, which is closed again: no other saga is opened alike."""
        async with carrying(self._options, WORKFLOWS, saga_id, self._observers) as (engine, _resume):
            self._of_documents.add(engine)
            try:
                return await engine.drive(saga_id)
            finally:
                self._of_documents.discard(engine)

    async def drain(self) -> None:
        await asyncio.gather(*(each.drain() for each in (*self._opened.values(), *self._of_documents)))

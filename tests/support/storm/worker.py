"""A worker of a storm: it takes what is free, goes on with it, releases it, and begins again, until all sagas are at rest."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

from sagagraph.errors import BusyError, NotAllowedError, SagaGraphError, StoreError, SupersededError, UnknownSagaError
from sagagraph.saga.core import commands as c
from sagagraph.saga.core.events import Driver, SagaBegun
from sagagraph.saga.core.next_steps import is_quiet
from sagagraph.saga.core.state import Saga, Stage
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.owner import is_known_dead
from sagagraph.saga.stores.port import Headline, RequestKind, SagaStore
from sagagraph.saga.stores.urls import open_store
from tests.support.storm.fleet import begin_all, serve
from tests.support.storm.harms import CLOCK, Struck, harm, wrong_clock
from tests.support.storm.provider import Provider
from tests.support.storm.shape import Shape, saga_id, shape_of

LEASE_TTL_S = 1.0
_WIDTH = 16
"""Sagas at once."""
_LOOK_S = 0.1
_LETS_GO = 0.1
"""How likely a worker releases a saga before it is quiet."""


@dataclass(frozen=True)
class Batch:
    """What all processes of one batch know. `folder` is theirs.

    They stop at `until`, in seconds since the epoch, or when their supervisor is gone.
    """

    seed: str
    sagas: int
    store_url: str
    folder: Path
    until: float
    supervisor: int
    fleet: str = ""
    """How workers find what to do: by themselves; "store", from a fleet's port; or HOST:PORT of a Temporal server."""

    @property
    def goes_on(self) -> bool:
        return time.time() < self.until and os.getppid() == self.supervisor

    @property
    def provider(self) -> Provider:
        return Provider(self.folder / "ledger.db", self.seed)

    @property
    def all_was_asked(self) -> Path:
        """Is there once people have asked for all that they will ask for."""
        return self.folder / "asked"

    @property
    def at_rest(self) -> Path:
        """Is there once a worker has seen that nothing is left to do: the others need not live long enough to see it, too."""
        return self.folder / "at_rest"

    @property
    def struck(self) -> Struck:
        return Struck(self.folder / "struck")

    @property
    def problems(self) -> Path:
        """A line for everything that no storm excuses."""
        return self.folder / "problems"

    @cached_property
    def actions(self) -> Mapping[str, Action]:
        return {each.name: each for each in self.provider.actions()}

    @cached_property
    def shapes(self) -> Mapping[str, Shape]:
        return {saga_id(number): shape_of(self.seed, number, self.actions) for number in range(self.sagas)}

    def draw(self) -> None:
        """The shapes, once for all processes that are about to be forked."""
        self.shapes  # noqa: B018 - it is kept

    async def store(self) -> SagaStore:
        """The store, as soon as it can be opened."""
        while True:
            try:
                return await open_store(self.store_url)
            except StoreError as exc:
                if not is_excused(exc) or not self.goes_on:
                    raise
            await asyncio.sleep(_LOOK_S)

    @asynccontextmanager
    async def engine(self, *, harms: Random | None = None) -> AsyncIterator[Engine]:
        """With `harms`, one whose clock is wrong and whose store is harmed by these draws."""
        store = await self.store()
        if harms is not None:
            harm(store, harms, self.struck)
            self.struck.note(CLOCK)
        clock = None if harms is None else wrong_clock(harms)
        engine = Engine(store, actions=self.actions.values(), lease_ttl_s=LEASE_TTL_S, clock=clock)
        try:
            yield engine
        finally:
            await engine.close()

    def complain(self, problem: str) -> None:
        with self.problems.open("a") as lines:
            lines.write(f"{problem}\n")


async def work(batch: Batch, name: str) -> None:
    """Returns when all sagas have been seen at rest."""
    random = Random(f"{batch.seed} {name}")
    async with batch.engine(harms=random) as engine:
        if batch.fleet:
            await serve(batch, engine, random)
        else:
            await _Worker(batch, engine, random).run()


def is_excused(exc: SagaGraphError) -> bool:
    """Tell whether the database was away or full. That it is lost or damaged is no part of a storm."""
    return type(exc) is StoreError


async def ask(batch: Batch) -> None:
    """A person who changes their mind: asks for cancels, each a while after its saga began."""
    async with AsyncExitStack() as stack:
        store = await batch.store()
        stack.push_async_callback(store.close)
        beginning = asyncio.create_task(begin_all(batch)) if batch.fleet else None
        waiting = {each.saga_id: each.cancel_after_s for each in batch.shapes.values() if each.cancel_after_s is not None}
        while waiting and batch.goes_on:
            with suppress(StoreError):
                for headline in await store.headlines():
                    delay_s = waiting.get(headline.saga_id)
                    if delay_s is not None and time.time() >= headline.begun_at + delay_s:
                        await store.ask(headline.saga_id, RequestKind.CANCEL, "person", None)
                        del waiting[headline.saga_id]
            await asyncio.sleep(_LOOK_S)
        if beginning is not None:
            await beginning
    batch.all_was_asked.touch()


class _Worker:
    def __init__(self, batch: Batch, engine: Engine, random: Random) -> None:
        self._batch = batch
        self._engine = engine
        self._random = random
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._resting: dict[str, int] = {}
        """The version at which a saga was seen at rest."""
        self._heard: dict[str, int] = {}
        """The request that a saga had consumed then."""

    async def run(self) -> None:
        while self._batch.goes_on:
            asked_before = self._batch.all_was_asked.exists()
            try:
                due, all_rest = await self._look()
            except StoreError as exc:
                if not is_excused(exc):
                    raise
                due, all_rest = {}, False
            if all_rest and asked_before:
                return
            room = _WIDTH - len(self._tasks)
            for each in self._random.sample(sorted(due), min(room, len(due))):
                self._tasks[each] = asyncio.create_task(self._go_on(each, due[each]))
            await asyncio.sleep(_LOOK_S * self._random.uniform(0.5, 1.5))
            self._tasks = {name: task for name, task in self._tasks.items() if not task.done()}
        self._batch.complain("the time was over before all sagas were at rest")

    async def _look(self) -> tuple[dict[str, int], bool]:
        """Sagas that somebody must go on with, with the request that they must hear of; and whether there are no others."""
        headlines = {each.saga_id: each for each in await self._engine.sagas()}
        due = {name: 0 for name in self._batch.shapes if name not in headlines and name not in self._tasks}
        free = [each for name, each in headlines.items() if name not in self._tasks and not _is_held(each)]
        resting = {each.saga_id: self._heard.get(each.saga_id, 0) for each in free if self._is_resting(each)}
        due |= {each.saga_id: 0 for each in free if each.saga_id not in resting}
        for request in await self._engine.store.requests(resting):
            due[request.saga_id] = request.number
        return due, not due and not self._tasks and len(free) == len(headlines)

    def _is_resting(self, headline: Headline) -> bool:
        ended = headline.stage in (Stage.COMMITTED, Stage.COMPENSATED)
        return ended or self._resting.get(headline.saga_id) == headline.version

    async def _go_on(self, name: str, asked: int) -> None:
        try:
            if await self._is_at_rest(name, asked):
                return
            patience_s = self._random.uniform(0.01, 1.0) if self._random.random() < _LETS_GO else None
            async with asyncio.timeout(patience_s):
                await self._hold(name, asked)
        except (BusyError, SupersededError, TimeoutError):
            pass  # somebody else has it, or will
        except SagaGraphError as exc:
            if not is_excused(exc):
                self._batch.complain(f"{name}: {exc!r}")

    async def _is_at_rest(self, name: str, asked: int) -> bool:
        try:
            saga = await self._engine.load(name)
        except UnknownSagaError:
            return False
        return self._rests(saga, asked)

    async def _hold(self, name: str, asked: int) -> None:
        shape = self._batch.shapes.get(name)
        begun = SagaBegun(Driver.WORKFLOW, "storm", name) if shape else None
        async with self._engine.hold(name, begin=begun, wait=False) as coordinator:
            if shape and coordinator.saga.plan.version == 0:
                with suppress(NotAllowedError):  # cancelled before it had a plan
                    await coordinator.tell(c.AcceptPlan(shape.specs))
            await coordinator.until(lambda saga: saga.last_request >= asked)
            self._rests(await coordinator.until_quiet(), asked)

    def _rests(self, saga: Saga, asked: int) -> bool:
        if saga.stage is Stage.PLANNING or saga.last_request < asked or not is_quiet(saga):
            return False
        self._resting[saga.id], self._heard[saga.id] = saga.version, saga.last_request
        return True


def _is_held(headline: Headline) -> bool:
    return headline.owner is not None and headline.lease_until > time.time() and not is_known_dead(headline.owner)

"""Store fleet: workers that need nothing but the store. Each looks there for what is due; one takes it, the others see that."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection
from random import Random
from typing import TYPE_CHECKING

import structlog

from sagagraph.errors import LostStoreError, StoreError
from sagagraph.fleet.driver import Outcome, driven
from sagagraph.fleet.port import Drive, tenant_of
from sagagraph.saga.stores.port import Headline, SagaStore

if TYPE_CHECKING:
    from sagagraph.fleet.metrics import Metrics

_LOG = structlog.get_logger("sagagraph.fleet")
LOOK_EVERY_S = 0.1
"""A worker with a free slot looks so often, give or take a half."""
_LOOKS_AT = 4
"""So many sagas for each free slot: workers that look at the same time choose different ones among them."""
_LEFT_FOR_S = 10.0
"""What could not be driven here is left alone for so long."""


class StoreFleet:
    def __init__(
        self,
        store: SagaStore,
        *,
        random: Random | None = None,
        metrics: Metrics | None = None,
        on_look: Callable[[], None] = lambda: None,
        most_per_second: float | None = None,
    ) -> None:
        """`on_look` is called whenever the store has answered. `most_per_second`: drives of each queue, in the whole fleet."""
        self._store = store
        self._random = random or Random()  # noqa: S311 - which worker takes what needs no secrecy
        self._metrics = metrics
        self._on_look = on_look
        self._most_per_second = most_per_second
        self._is_held_back = False
        self._running: dict[str, asyncio.Task[None]] = {}
        self._left: dict[str, float] = {}
        """Saga → until when it is left alone, by the loop's clock."""

    async def wake(self, saga_id: str, queue: str, at: float | None = None, fairness: str | None = None) -> None:  # noqa: ARG002
        """Have the saga looked at. Its domain, and its tenant, are in the store."""
        await self._store.wake(saga_id, at or 0.0)

    async def driving(self, saga_id: str) -> str | None:
        headline = await self._store.headline(saga_id)
        return headline.owner if headline is not None else None

    async def serve(self, drive: Drive, queues: Collection[str], slots: int, build_id: str) -> None:  # noqa: ARG002 - a drive says
        # by itself what its build does not have
        if self._metrics:
            self._metrics.serves(slots)
        try:
            while True:
                found = await self._look(queues, slots)
                for each in found:
                    self._running[each.saga_id] = asyncio.create_task(self._drive(drive, each.saga_id), name=each.saga_id)
                await self._pause(is_full=len(self._running) >= slots)
        finally:
            for task in self._running.values():
                task.cancel()
            await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _look(self, queues: Collection[str], slots: int) -> list[Headline]:
        """Return what to drive next. While the store is away, that is nothing."""
        now, free = asyncio.get_running_loop().time(), slots - len(self._running)
        self._left = {name: until for name, until in self._left.items() if until > now}
        if free <= 0:
            return []
        try:
            return await self._found(free, queues)
        except LostStoreError:
            raise
        except StoreError:
            return []

    async def _found(self, free: int, queues: Collection[str]) -> list[Headline]:
        due = await self._store.due(len(self._left) + _LOOKS_AT * free, queues)
        self._on_look()
        if self._metrics:
            self._metrics.looked(len(due))
        others = [each for each in due if each.saga_id not in self._running and each.saga_id not in self._left]
        return await self._permitted(self._chosen(others, free))

    def _chosen(self, others: list[Headline], free: int) -> list[Headline]:
        """Choose what to drive: of the tenant that has the fewest slots here, any saga, since other workers look at the same."""
        has = Counter(map(tenant_of, self._running))
        waiting, chosen = self._random.sample(others, len(others)), list[Headline]()
        while waiting and len(chosen) < free:
            chosen.append(min(waiting, key=lambda each: has[tenant_of(each.saga_id)]))
            waiting.remove(chosen[-1])
            has[tenant_of(chosen[-1].saga_id)] += 1
        return chosen

    async def _permitted(self, chosen: list[Headline]) -> list[Headline]:
        """Return those of them that the limit lets through, and tell when it begins to hold others back, and when it ends."""
        if self._most_per_second is None:
            return chosen
        permitted, exhausted = [], set[str]()
        for each in chosen:
            if each.domain not in exhausted and await self._store.draw(f"fleet {each.domain}", self._most_per_second):
                permitted.append(each)
            else:
                exhausted.add(each.domain)
        if self._metrics:
            self._metrics.held_back(len(chosen) - len(permitted))
        if exhausted and not self._is_held_back:
            _LOG.warning("held back", queues=sorted(exhausted), most_per_second=self._most_per_second)
        self._is_held_back = bool(exhausted)
        return permitted

    async def _pause(self, *, is_full: bool) -> None:
        """Wait until a slot is free if none is, and otherwise for a moment, or until a drive ends."""
        every_s = None if is_full else LOOK_EVERY_S * self._random.uniform(0.5, 1.5)
        if self._running:
            await asyncio.wait(self._running.values(), timeout=every_s, return_when=asyncio.FIRST_COMPLETED)
        else:
            await asyncio.sleep(every_s or 0.0)

    async def _drive(self, drive: Drive, saga_id: str) -> None:
        try:
            ended = await driven(drive, saga_id, self._metrics)
            if ended.outcome is Outcome.LEFT:
                self._left[saga_id] = asyncio.get_running_loop().time() + _LEFT_FOR_S * self._random.uniform(0.5, 1.5)
        finally:
            del self._running[saga_id]

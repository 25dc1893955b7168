"""Leases: renewing all that an engine holds together, and listening for people's requests to those sagas."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from sagagraph.errors import StoreError
from sagagraph.saga.engine.coordinator import Coordinator
from sagagraph.saga.stores.port import SagaStore

LISTEN_EVERY_S = 0.5
"""How often requests are looked for."""


class LeaseKeeper:
    """Renews leases with two statements each time, however many sagas there are. `held` is the engine's mapping, by saga id.

    `report` is told of failures that nobody expects; renewing and listening go on.
    """

    def __init__(
        self,
        store: SagaStore,
        held: Mapping[str, Coordinator],
        *,
        clock: Callable[[], float],
        lease_ttl_s: float,
        report: Callable[[Exception], None],
    ) -> None:
        self._store = store
        self._held = held
        self._clock = clock
        self._ttl_s = lease_ttl_s
        self._report = report
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start renewing; safe to repeat."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="leases")

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        renew_at = self._clock()
        while True:
            await self._safely(self._listen)
            if self._clock() >= renew_at:
                renew_at = self._clock() + self._ttl_s / 3
                await self._safely(self._renew)
            await asyncio.sleep(LISTEN_EVERY_S)

    async def _safely(self, beat: Callable[[], Awaitable[None]]) -> None:
        """Beat once. Whatever fails, the heart goes on: every saga of this engine depends on it, and one row must not stop it."""
        try:
            await beat()
        except StoreError:  # a worker that appends meanwhile will report it; the database may come back
            pass
        except Exception as exc:  # noqa: BLE001 - reported below
            self._report(exc)

    async def _listen(self) -> None:
        held = dict(self._held)
        if not held:
            return
        for request in await self._store.requests({saga_id: each.heard for saga_id, each in held.items()}):
            held[request.saga_id].hear(request)

    async def _renew(self) -> None:
        held, now = list(self._held.values()), self._clock()
        if not held:
            return
        kept = await self._store.renew([each.lease for each in held], self._ttl_s)
        for each in held:
            if each.lease in kept:
                each.renewed(now)

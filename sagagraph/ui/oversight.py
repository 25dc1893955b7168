"""Oversight: what operators see of all sagas, and what only they may do. Who is one is decided before (`access.roles`)."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from sagagraph.errors import SagaGraphError, StoreError
from sagagraph.operating.audit import ACT
from sagagraph.operating.meters import Meters
from sagagraph.saga.core.locks import Holding
from sagagraph.saga.core.state import FINAL
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.views.survey import Overview, Standing, Survey, standing
from sagagraph.saga.stores.port import Document
from sagagraph.ui.visitors import Visitor

ON_A_PAGE: Final = 50
_READ_AT_ONCE: Final = 50
_FRESH_S: Final = 1.0
_LOOK_AGAIN_S: Final = 5.0
_GO_ON_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Asked:
    """What a list is to show."""

    status: str = ""
    domain: str = ""
    within: str = ""
    page: int = 1


class Oversight:
    """Oversight of one store. Its meters are an observer of the engine."""

    def __init__(self, engine: Engine, meters: Meters) -> None:
        self.meters = meters
        self._engine = engine
        self._survey = Survey(engine.store)
        self._last = Overview(0.0, {}, ())

    async def overview(self) -> Overview:
        """Return how things stand, as of a second ago at most."""
        now = time.time()
        if now - self._last.at > _FRESH_S:
            self._last = await self._survey.look(now, _READ_AT_ONCE)
            self.meters.show(self._last)
        return self._last

    async def keep_looking(self) -> None:
        """Look again and again, so that whoever opens the page need not wait until every journal has been read."""
        while True:
            with suppress(StoreError):  # it says so itself where somebody asks
                self._last = await self._survey.look(time.time(), _READ_AT_ONCE)
                self.meters.show(self._last)
            await asyncio.sleep(_LOOK_AGAIN_S if all(each.is_read for each in self._last.open) else _GO_ON_S)

    async def sagas(self, asked: Asked) -> tuple[Sequence[Standing], bool]:
        """Return one page of sagas, the latest first, and whether there are more."""
        overview = await self.overview()
        start = ON_A_PAGE * (asked.page - 1)
        if asked.status and asked.status not in FINAL:
            fitting = [each for each in overview.open if _fits(each, asked)]
            return fitting[start : start + ON_A_PAGE], len(fitting) > start + ON_A_PAGE
        found = await self._engine.store.headlines(
            most=ON_A_PAGE + 1,
            skip=start,
            domain=asked.domain or None,
            within=asked.within,
            stages=(asked.status,) if asked.status else (),
        )
        known = {each.saga_id: each for each in overview.open}
        shown = [known.get(each.saga_id) or await standing(self._engine.store, each) for each in found[:ON_A_PAGE]]
        return shown, len(found) > ON_A_PAGE

    async def holdings(self) -> tuple[Holding, ...]:
        return await self._engine.store.holdings()

    async def yield_locks(self, visitor: Visitor, saga_id: str) -> None:
        await self._engine.yield_locks(saga_id, by=visitor.name)

    async def redact(self, visitor: Visitor, saga_id: str, fields: Sequence[str]) -> None:
        await self._engine.redact(saga_id, fields, by=visitor.name)

    async def record(self, visitor: Visitor, saga_id: str, what: str) -> None:
        """Put on record that a person had something done that no event names them for."""
        told = {"by": visitor.name, "what": what, "at": time.time()}
        await self._engine.store.put(Document(saga_id, ACT, uuid.uuid4().hex, told))

    async def is_ready(self) -> str:
        """Return why the store does not answer; empty if it does."""
        try:
            await self._engine.store.headline("ready?")
        except SagaGraphError as exc:
            return type(exc).__name__
        return ""


def _fits(each: Standing, asked: Asked) -> bool:
    is_it = each.status == asked.status and asked.domain in ("", each.domain)
    return is_it and asked.within.lower() in each.saga_id.lower()

"""Audit: what people did to sagas, and who made or ended a key, from journals and documents that nobody can change."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

from sagagraph.access.keys import Keys
from sagagraph.errors import SagaGraphError
from sagagraph.saga.core.events import Entry
from sagagraph.saga.engine.engine import Engine

ACT: Final = "act"
"""The kind of documents about acts of operators that change nothing themselves, so that no event has a name in it."""
_KEPT: Final = ("operation", "resolution", "because", "plan_hash", "fields")
"""What is told of an act beside its name: decisions, and no payload."""


@dataclass(frozen=True, slots=True)
class ActOnRecord:
    """Act of a person. `at`: seconds since the epoch; `what`: the name of the event."""

    at: float
    by: str
    what: str
    saga_id: str
    version: int
    details: dict[str, Any]


async def acts(engine: Engine, since: float = 0.0) -> AsyncIterator[ActOnRecord]:
    """Yield what people did since then: keys first, then saga by saga; a journal that cannot be read does not hide the others."""
    for key in await Keys(engine.store, time.time).all():
        for at, by, what in ((key.made_at, key.name, f"{key.kind} made"), (key.ended_at, key.ended_by, f"{key.kind} ended")):
            if by and at >= since:
                yield ActOnRecord(at, by, what, "", 0, {"key": key.id, "of": key.name, "role": key.role.value})
    for headline in await engine.sagas():
        if headline.updated_at < since:
            continue
        try:
            entries = await engine.journal(headline.saga_id)
        except SagaGraphError:
            continue
        for each in await engine.store.documents(headline.saga_id, ACT):
            if each.data["at"] >= since:
                yield ActOnRecord(each.data["at"], each.data["by"], each.data["what"], headline.saga_id, 0, {})
        for entry in entries:
            if entry.at >= since and (act := _act_in(headline.saga_id, entry)):
                yield act


def _act_in(saga_id: str, entry: Entry) -> ActOnRecord | None:
    event = entry.event
    by = getattr(event, "by", "") or getattr(event, "approved_by", "")
    if not by:
        return None
    details = {name: str(value) for name in _KEPT if (value := getattr(event, name, None))}
    return ActOnRecord(entry.at, str(by), type(event).__name__, saga_id, entry.version, details)

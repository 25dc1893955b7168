"""Redaction of journals: rewrites those of finished sagas; `core/redaction.py` decides what is hidden."""

from __future__ import annotations

from collections.abc import Sequence

from sagagraph.saga.core.events import Entry, FieldsRedacted
from sagagraph.saga.core.redaction import redaction_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.stores.port import SagaStore
from sagagraph.workflow.values import Json


async def redact_journals(store: SagaStore, sagas: Sequence[Saga], fields: tuple[str, ...], *, by: str, now: float) -> None:
    """Redact all journals together, so that none of them quotes what stands under these names in another. Safe to repeat.

    Raises `InvalidInputError` for a name that is in none of them.
    """
    journals = [(each, await store.read(each.id), await _rows_beside(store, each.id)) for each in sagas]
    redaction = redaction_of(
        fields,
        (entry.event for _saga, entries, _rows in journals for entry in entries),
        (row for _saga, _entries, rows in journals for row in rows),
    )
    for saga, entries, _rows in journals:
        recorded = Entry(len(entries) + 1, saga.epoch, max(now, saga.last_at), FieldsRedacted(fields, by))
        await store.rewrite(saga.id, recorded, redaction.event, redaction.payload)


async def _rows_beside(store: SagaStore, saga_id: str) -> list[Json]:
    requests = await store.requests({saga_id: 0})
    documents = await store.documents(saga_id)
    notes = await store.notes(saga_id)
    return [*(each.data for each in requests), *(each.data for each in documents), *(each.output for each in notes)]

"""Open sagas: those that can be resumed, and those with requests that nobody has seen, as after a crash."""

from __future__ import annotations

from sagagraph.errors import JournalError
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.state import FINAL, Saga
from sagagraph.saga.stores.port import Headline, SagaStore


async def has_unseen_requests(store: SagaStore, saga: Saga) -> bool:
    """Tell whether there is a request that the saga's journal does not know."""
    return bool(await store.requests({saga.id: saga.last_request}))


async def open_sagas(store: SagaStore) -> tuple[Headline, ...]:
    """Return the sagas that can be resumed, including committed ones with requests that nobody has seen.

    A journal that cannot be read counts as open: whoever resumes it is told why.
    """
    found = await store.open_headlines()
    ended = [each.saga_id for each in found if each.stage in FINAL]
    seen = {name for name in ended if not await _may_have_unseen_requests(store, name)}
    return tuple(each for each in found if each.saga_id not in seen)


async def _may_have_unseen_requests(store: SagaStore, saga_id: str) -> bool:
    try:
        return await has_unseen_requests(store, fold(saga_id, await store.read(saga_id)))
    except JournalError:
        return True

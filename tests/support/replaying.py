"""Every journal that a test makes is folded again (docs/protocol.md rule 10): at each version, and against what its writer held
then."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sagagraph.saga.core.events import Entry
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.maintenance.replay import refold, turns
from sagagraph.saga.stores.port import SagaStore
from sagagraph.saga.stores.sqlite import SqliteSagaStore


class Witness:
    """An observer: remembers the state that a coordinator went on with after each commit."""

    def __init__(self) -> None:
        self.seen: list[Saga] = []

    def __call__(self, saga: Saga, _entries: tuple[Entry, ...]) -> None:
        self.seen.append(saga)


async def check_replays(store: SagaStore, seen: Iterable[Saga] = ()) -> int:
    """Returns how many states of writers were compared with their journals."""
    journals = {each.saga_id: each for each in await store.headlines()}
    folded: dict[tuple[str, int], Saga] = {}
    for saga_id in journals:
        entries = await store.read(saga_id)
        headline = await store.headline(saga_id)
        if headline is not None and headline.version != len(entries):
            headline = None  # somebody appended between the two looks
        assert refold(saga_id, entries, headline) == ()
        folded.update({(saga_id, turn.entry.version): turn.after for turn in turns(saga_id, entries)})
    compared = 0
    for saga in seen:
        headline = await store.headline(saga.id)
        assert headline is not None
        if headline.retired_at is not None or folded[saga.id, headline.version].redacted:
            continue  # it is not meant to be there any more
        assert folded[saga.id, saga.version] == saga, f"saga {saga.id!r} folds to another state at version {saga.version}"
        compared += 1
    return compared


async def check_file(path: Path) -> None:
    store = await SqliteSagaStore.open(path)
    try:
        await check_replays(store)
    finally:
        await store.close()

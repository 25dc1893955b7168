"""Survey: all sagas of a store at a glance, and what of each open one waits for whom. Derived from journals, written nowhere."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from sagagraph.errors import SagaGraphError
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import FINAL, Saga
from sagagraph.saga.core.status import OperationStatus, SagaStatus
from sagagraph.saga.engine.views.view import view_of
from sagagraph.saga.stores.port import Headline, SagaStore

NEEDS_PERSON: Final = frozenset({SagaStatus.HELD.value, SagaStatus.STUCK.value})
UNREADABLE: Final = "unreadable"
"""The status of a saga whose journal is not as it was written."""
_WAITING: Final = (OperationStatus.HELD, OperationStatus.COMPENSATION_FAILED, OperationStatus.IN_DOUBT)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Operation that is held, stuck or in doubt."""

    operation: str
    status: OperationStatus
    why: str


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a saga stands. `since`: when its journal last grew."""

    saga_id: str
    domain: str
    status: str
    begun_at: float
    since: float
    owner: str | None
    lease_until: float
    why: str = ""
    waiting: tuple[Waiting, ...] = ()
    keeps: tuple[str, ...] = ()
    """The keys of its locks."""
    waits_for: tuple[str, ...] = ()
    """Sagas whose locks it waits for."""
    is_read: bool = True
    """Otherwise only the stage that was journalled last is known."""

    @property
    def needs_person(self) -> bool:
        return self.status in NEEDS_PERSON or self.status == UNREADABLE


@dataclass(frozen=True, slots=True)
class Overview:
    """All sagas at one moment. `counts`: domain and status → how many; `open`: those that have not ended, the latest first."""

    at: float
    counts: Mapping[tuple[str, str], int]
    open: tuple[Standing, ...]

    @property
    def needing_person(self) -> tuple[Standing, ...]:
        """Return those that wait for a person, the longest first."""
        return tuple(sorted((each for each in self.open if each.needs_person), key=lambda each: each.since))

    def oldest(self, status: OperationStatus) -> float:
        """Return for how many seconds an operation has had this status, at most; 0 if none has it."""
        since = (each.since for each in self.open if any(one.status is status for one in each.waiting))
        return max((self.at - moment for moment in since), default=0.0)


@dataclass(slots=True)
class Survey:
    """Survey of a store. A journal that has not grown since the last look is not read again."""

    store: SagaStore
    _known: dict[str, tuple[int, Standing]] = field(default_factory=dict)
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def look(self, now: float, most: int) -> Overview:
        """Return how things stand at `now`. At most so many journals are read; the next look reads what is left over."""
        async with self._looking:
            headlines = [each for each in await self.store.open_headlines() if each.stage not in FINAL]
            tally = await self.store.tally()
            known: dict[str, tuple[int, Standing]] = {}
            for each in headlines:
                version, before = self._known.get(each.saga_id, (0, None))
                if before is None or version != each.version:
                    reads, most = most > 0, most - 1
                    before = await standing(self.store, each) if reads else _unread(each)
                version = each.version if before.is_read else 0
                known[each.saga_id] = version, _leased(before, each)
            self._known = known
        return overview_of(now, tally, [each for _version, each in known.values()])


def overview_of(now: float, tally: Mapping[tuple[str, str], int], found: Iterable[Standing]) -> Overview:
    """Count by status: ended sagas by their last stage, open ones as they were found."""
    ended = {(domain, stage): number for (domain, stage), number in tally.items() if stage in FINAL}
    open_now = tuple(found)
    return Overview(now, Counter(ended) + Counter((each.domain, each.status) for each in open_now), open_now)


async def standing(store: SagaStore, headline: Headline) -> Standing:
    """Read one saga's journal; one that has ended is known by its headline."""
    if headline.stage in FINAL:
        return _unread(headline, is_read=True)
    try:
        saga = fold(headline.saga_id, await store.read(headline.saga_id))
    except SagaGraphError as exc:
        return replace(_unread(headline, is_read=True), status=UNREADABLE, why=str(exc))
    view = view_of(saga)
    held = tuple(Waiting(each.id, each.status, each.note) for each in view.operations if each.status in _WAITING)
    keys, sagas = tuple(each.key for each in view.locks), tuple(dict.fromkeys(each.saga for each in saga.awaits))
    known = _unread(headline, is_read=True)
    return replace(known, status=status_of(saga).value, why=_why(saga, view.reason), waiting=held, keeps=keys, waits_for=sagas)


def _why(saga: Saga, reason: str) -> str:
    return reason or next((each.hold for each in saga.in_order() if each.hold and each.waits_for_person), "")


def _unread(headline: Headline, *, is_read: bool = False) -> Standing:
    """Return what the headline alone says."""
    leased = headline.owner, headline.lease_until
    return Standing(
        headline.saga_id, headline.domain, str(headline.stage), headline.begun_at, headline.updated_at, *leased, is_read=is_read
    )


def _leased(known: Standing, headline: Headline) -> Standing:
    """Return the standing with today's lease, which changes without a word in the journal."""
    if (known.owner, known.lease_until) == (headline.owner, headline.lease_until):
        return known
    return replace(known, owner=headline.owner, lease_until=headline.lease_until)

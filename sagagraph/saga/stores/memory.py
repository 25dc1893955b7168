"""A store in memory: for tests, examples, and sagas that need not outlive their process. Fenced like the others."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sagagraph.errors import BusyError, ConflictError, SupersededError, UnknownSagaError
from sagagraph.saga.codec import Record, decode, encode
from sagagraph.saga.events import Entry, Event, LeaseTaken, SagaBegun
from sagagraph.saga.model import Stage
from sagagraph.saga.owner import is_known_dead
from sagagraph.saga.ports import Headline, Lease, Note, Request, RequestKind


@dataclass(slots=True)
class _Saga:
    headline: Headline
    epoch: int
    records: list[tuple[int, float, Record]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)


class MemorySagaStore:
    """Keeps events encoded, so that what it returns went through the same codec as on disk."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._sagas: dict[str, _Saga] = {}
        self._requests = 0

    async def create(self, saga_id: str, begun: SagaBegun, *, stage: Stage, owner: str, ttl_s: float) -> Lease:
        if saga_id in self._sagas:
            raise ConflictError(f"saga {saga_id!r} exists already", saga_id=saga_id)
        now = self._clock()
        headline = Headline(saga_id, begun.domain, stage, 1, owner, now + ttl_s, now, now)
        self._sagas[saga_id] = _Saga(headline, 1, [(1, now, encode(begun))])
        return Lease(saga_id, 1, owner)

    async def take(self, saga_id: str, *, owner: str, ttl_s: float, looks_again: bool = True) -> Lease:
        saga, now = self._saga(saga_id), self._clock()
        held_by, until = saga.headline.owner, saga.headline.lease_until
        if held_by not in (None, owner) and until > now and not is_known_dead(held_by):
            raise BusyError(f"saga {saga_id!r} is held by another worker for {until - now:.1f} s more", saga_id=saga_id)
        saga.epoch += 1
        saga.records.append((saga.epoch, now, encode(LeaseTaken(owner, looks_again))))
        saga.headline = replace(saga.headline, version=len(saga.records), owner=owner, lease_until=now + ttl_s, updated_at=now)
        return Lease(saga_id, saga.epoch, owner)

    async def append(self, lease: Lease, version: int, events: Sequence[Event], *, at: float, stage: Stage) -> None:
        saga = self._saga(lease.saga_id)
        if saga.epoch != lease.epoch or len(saga.records) != version:
            raise SupersededError(f"saga {lease.saga_id!r} was taken over by another worker", saga_id=lease.saga_id)
        saga.records.extend((lease.epoch, at, encode(event)) for event in events)
        saga.headline = replace(saga.headline, version=len(saga.records), stage=stage, updated_at=at)

    async def renew(self, lease: Lease, ttl_s: float) -> bool:
        saga = self._saga(lease.saga_id)
        if saga.epoch != lease.epoch:
            return False
        saga.headline = replace(saga.headline, lease_until=self._clock() + ttl_s)
        return True

    async def release(self, lease: Lease) -> None:
        saga = self._saga(lease.saga_id)
        if saga.epoch == lease.epoch:
            saga.headline = replace(saga.headline, owner=None, lease_until=0.0)

    async def read(self, saga_id: str) -> tuple[Entry, ...]:
        records = self._saga(saga_id).records
        return tuple(Entry(version, epoch, at, decode(record)) for version, (epoch, at, record) in enumerate(records, 1))

    async def headlines(self) -> tuple[Headline, ...]:
        return tuple(sorted((saga.headline for saga in self._sagas.values()), key=lambda each: -each.begun_at))

    async def headline(self, saga_id: str) -> Headline | None:
        saga = self._sagas.get(saga_id)
        return saga.headline if saga else None

    async def note(self, saga_id: str, note: Note) -> None:
        self._saga(saga_id).notes.append(note)

    async def notes(self, saga_id: str) -> tuple[Note, ...]:
        return tuple(self._saga(saga_id).notes)

    async def ask(self, saga_id: str, kind: RequestKind, by: str, data: Any) -> Request:
        saga = self._saga(saga_id)
        self._requests += 1
        request = Request(self._requests, kind, by, data)
        saga.requests.append(request)
        return request

    async def requests(self, saga_id: str, *, after: int) -> tuple[Request, ...]:
        return tuple(each for each in self._saga(saga_id).requests if each.number > after)

    async def close(self) -> None:
        """Nothing to close: the journals live as long as the store."""

    def _saga(self, saga_id: str) -> _Saga:
        try:
            return self._sagas[saga_id]
        except KeyError:
            raise UnknownSagaError(f"there is no saga {saga_id!r}", saga_id=saga_id) from None

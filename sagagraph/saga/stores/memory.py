"""Memory store: for tests, examples, and sagas that need not outlive their process. It is fenced like the others."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sagagraph.errors import BusyError, ConflictError, SupersededError, UnknownSagaError
from sagagraph.saga.core.events import Entry, Event, LeaseTaken, SagaBegun
from sagagraph.saga.core.locks import Holding, LockChange, in_the_way, refused
from sagagraph.saga.core.state import FINAL, Stage
from sagagraph.saga.stores.owner import is_known_dead
from sagagraph.saga.stores.port import KEPT_S, Document, Headline, Lease, Note, Request, RequestKind
from sagagraph.saga.stores.rows import Head, Row, entries_of, moved_on, moved_on_since, retired, row_json, row_of


@dataclass(slots=True)
class _Saga:
    headline: Headline
    epoch: int
    rows: list[Row] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    due_at: float | None = 0.0


class MemorySagaStore:
    """A store that keeps events encoded, so that what it returns went through the same codec as on disk."""

    shortfalls: tuple[str, ...] = ()

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.epoch = 1
        self._clock = clock
        self._sagas: dict[str, _Saga] = {}
        self._locks: list[Holding] = []
        self._requests = 0
        self._limits: dict[str, float] = {}
        """Limit → when its next token is free."""
        self._documents: dict[str, dict[tuple[str, str], Document]] = {}
        """By saga, which need not have begun."""

    async def restored(self) -> int:
        self.epoch += 1
        return self.epoch

    async def create(self, saga_id: str, begun: SagaBegun, *, stage: Stage, owner: str, ttl_s: float) -> Lease:
        if saga_id in self._sagas:
            self._saga(saga_id)
            raise ConflictError(f"saga {saga_id!r} exists already", saga_id=saga_id)
        now = self._clock()
        headline = Headline(saga_id, begun.domain, stage, 1, owner, now + ttl_s, now, now)
        self._sagas[saga_id] = _Saga(headline, 1, [row_of(saga_id, Entry(1, 1, now, begun))])
        return Lease(saga_id, 1, owner)

    async def take(self, saga_id: str, *, owner: str, ttl_s: float, looks_again: bool = True, seen: int | None = None) -> Lease:
        saga, now = self._saga(saga_id), self._clock()
        held_by, until = saga.headline.owner, saga.headline.lease_until
        if held_by not in (None, owner) and until > now and not is_known_dead(held_by):
            raise BusyError(f"saga {saga_id!r} is held by another worker for {until - now:.1f} s more", saga_id=saga_id)
        if seen not in (None, len(saga.rows)):
            raise moved_on_since(saga_id)
        saga.epoch += 1
        event = LeaseTaken(owner, looks_again, self.epoch if self.epoch > 1 else None, goes_on=seen is not None)
        taken = Entry(len(saga.rows) + 1, saga.epoch, now, event)
        saga.rows.append(row_of(saga_id, taken))
        saga.due_at = min(saga.due_at or 0.0, 0.0)
        saga.headline = replace(saga.headline, version=len(saga.rows), owner=owner, lease_until=now + ttl_s, updated_at=now)
        return Lease(saga_id, saga.epoch, owner)

    async def append(self, lease: Lease, entries: Sequence[Entry], *, stage: Stage, locks: LockChange | None = None) -> None:
        saga = self._any(lease.saga_id)
        if saga.epoch != lease.epoch or len(saga.rows) != entries[0].version - 1:
            raise SupersededError(f"saga {lease.saga_id!r} was taken over by another worker", saga_id=lease.saga_id)
        if locks is not None:
            self._change_locks(lease.saga_id, locks)
        saga.rows.extend(row_of(lease.saga_id, each) for each in entries)
        saga.headline = replace(saga.headline, version=len(saga.rows), stage=stage, updated_at=entries[-1].at)

    def _change_locks(self, saga_id: str, locks: LockChange) -> None:
        if blockers := in_the_way(locks.asked, self._locks):
            raise refused(saga_id, blockers)
        kept = (each for each in self._locks if each.saga_id != saga_id or each.operation not in locks.freed)
        self._locks = [*kept, *locks.asked, *locks.recorded]

    async def holdings(self, keys: Collection[str] | None = None) -> tuple[Holding, ...]:
        found = (each for each in self._locks if keys is None or each.lock.key in keys)
        return tuple(sorted(found, key=lambda each: each[:2]))

    async def renew(self, leases: Collection[Lease], ttl_s: float) -> frozenset[Lease]:
        held = frozenset(each for each in leases if self._any(each.saga_id).epoch == each.epoch)
        for lease in held:
            saga = self._any(lease.saga_id)
            saga.headline = replace(saga.headline, lease_until=self._clock() + ttl_s)
        return held

    async def release(self, lease: Lease) -> None:
        saga = self._any(lease.saga_id)
        if saga.epoch == lease.epoch:
            saga.headline = replace(saga.headline, owner=None, lease_until=0.0)

    async def read(self, saga_id: str) -> tuple[Entry, ...]:
        saga = self._saga(saga_id)
        return entries_of(saga_id, Head(saga.headline.version, saga.epoch), saga.rows)

    async def headlines(
        self,
        *,
        most: int | None = None,
        skip: int = 0,
        domain: str | None = None,
        prefix: str = "",
        within: str = "",
        stages: Collection[str] = (),
    ) -> tuple[Headline, ...]:
        kept = (saga.headline for saga in self._sagas.values() if saga.headline.retired_at is None)
        named = (each for each in kept if each.saga_id.startswith(prefix) and within in each.saga_id)
        alike = (each for each in named if domain in (None, each.domain) and (not stages or each.stage in stages))
        latest = sorted(alike, key=lambda each: (each.begun_at, each.saga_id), reverse=True)
        return tuple(latest if most is None else latest[skip : skip + most])

    async def tally(self) -> Mapping[tuple[str, str], int]:
        return Counter((each.domain, str(each.stage)) for each in await self.headlines())

    async def open_headlines(self) -> tuple[Headline, ...]:
        asked = {name for name, saga in self._sagas.items() if saga.requests}
        everything = await self.headlines()
        return tuple(
            each for each in everything if each.stage not in FINAL or (each.stage is Stage.COMMITTED and each.saga_id in asked)
        )

    async def due(self, most: int, domains: Collection[str]) -> tuple[Headline, ...]:
        now = self._clock()
        ready = [
            (saga.due_at, saga.headline.begun_at, saga.headline)
            for saga in self._sagas.values()
            if saga.due_at is not None
            and saga.due_at <= now
            and (saga.headline.stage not in FINAL or saga.due_at < 0)
            and saga.headline.lease_until <= now
            and saga.headline.domain in domains
        ]
        turns: Counter[str] = Counter()
        queued = []
        for due_at, begun_at, headline in sorted(ready, key=lambda each: each[:2]):
            tenant = headline.saga_id.partition(":")[0] if ":" in headline.saga_id else ""
            turns[tenant] += 1
            queued.append((turns[tenant], due_at, begun_at, headline))
        return tuple(each[-1] for each in sorted(queued, key=lambda each: each[:3])[:most])

    async def park(self, saga_id: str, version: int, *, until: float | None, heard: int) -> bool:
        saga = self._saga(saga_id)
        is_free = saga.headline.owner is None or saga.headline.lease_until <= self._clock()
        is_noted = is_free and len(saga.rows) == version and not any(each.number > heard for each in saga.requests)
        if is_noted:
            saga.due_at = until
        return is_noted

    async def wake(self, saga_id: str, at: float = 0.0) -> None:
        saga = self._any(saga_id)
        if saga.due_at is None or saga.due_at > at:
            saga.due_at = at

    async def draw(self, name: str, per_second: float) -> bool:
        now = self._clock()
        free_at = self._limits.get(name, 0.0)
        if free_at <= now:
            self._limits[name] = max(free_at, now - KEPT_S) + 1.0 / per_second
        return free_at <= now

    async def headline(self, saga_id: str) -> Headline | None:
        saga = self._sagas.get(saga_id)
        return saga.headline if saga else None

    async def note(self, saga_id: str, note: Note) -> None:
        saga = self._any(saga_id)
        if saga.headline.retired_at is None:
            saga.notes.append(note)

    async def notes(self, saga_id: str) -> tuple[Note, ...]:
        return tuple(self._any(saga_id).notes)

    async def ask(self, saga_id: str, kind: RequestKind, by: str, data: Any) -> Request:
        saga = self._saga(saga_id)
        self._requests += 1
        request = Request(saga_id, self._requests, kind, by, data)
        saga.requests.append(request)
        saga.due_at = -float(request.number)
        return request

    async def requests(self, after: Mapping[str, int]) -> tuple[Request, ...]:
        asked = (each for saga_id, number in after.items() for each in self._any(saga_id).requests if each.number > number)
        return tuple(sorted(asked, key=lambda each: each.number))

    async def put(self, document: Document) -> Document:
        if document.saga_id in self._sagas:
            self._saga(document.saga_id)
        return self._documents.setdefault(document.saga_id, {}).setdefault((document.kind, document.key), document)

    async def documents(self, saga_id: str, *kinds: str) -> tuple[Document, ...]:
        kept = self._documents.get(saga_id, {}).values()
        return tuple(each for each in kept if not kinds or each.kind in kinds)

    async def dump(self, saga_id: str) -> dict[str, Any]:
        saga = self._saga(saga_id)
        head = {**asdict(saga.headline), "stage": str(saga.headline.stage), "epoch": saga.epoch}
        del head["retired_at"]
        return {
            "saga": head,
            "events": [row_json(each) for each in saga.rows],
            "evidence": [{**asdict(each), "call": each.call.value} for each in saga.notes],
            "requests": [
                {"number": each.number, "kind": str(each.kind), "by": each.by, "data": each.data} for each in saga.requests
            ],
            "documents": [{"kind": each.kind, "key": each.key, "data": each.data} for each in await self.documents(saga_id)],
        }

    async def retire(self, saga_id: str, version: int, *, heard: int, at: float) -> None:
        saga = self._saga(saga_id)
        if saga.headline.version != version or any(each.number > heard for each in saga.requests):
            raise moved_on(saga_id)
        saga.epoch += 1
        saga.headline = replace(saga.headline, owner=None, lease_until=0.0, retired_at=at)
        saga.rows, saga.notes, saga.requests, saga.due_at = [], [], [], None
        self._documents.pop(saga_id, None)

    async def rewrite(self, saga_id: str, recorded: Entry, change: Callable[[Event], Event], hide: Callable[[Any], Any]) -> None:
        saga = self._saga(saga_id)
        entries = await self.read(saga_id)
        if recorded.version != len(entries) + 1:
            raise moved_on(saga_id)
        changed = [Entry(each.version, each.epoch, each.at, change(each.event)) for each in entries]
        saga.rows = [row_of(saga_id, each) for each in (*changed, recorded)]
        saga.notes = [replace(each, output=hide(each.output)) for each in saga.notes]
        saga.requests = [replace(each, data=hide(each.data)) for each in saga.requests]
        kept = self._documents.get(saga_id, {})
        self._documents[saga_id] = {name: replace(each, data=hide(each.data)) for name, each in kept.items()}
        saga.headline = replace(saga.headline, version=recorded.version, updated_at=recorded.at)

    async def forget(self, saga_id: str) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing: the journals live as long as the store."""

    def _saga(self, saga_id: str) -> _Saga:
        saga = self._any(saga_id)
        if saga.headline.retired_at is not None:
            raise retired(saga_id, saga.headline.retired_at)
        return saga

    def _any(self, saga_id: str) -> _Saga:
        """Return the saga, even without a journal."""
        try:
            return self._sagas[saga_id]
        except KeyError:
            raise UnknownSagaError(f"there is no saga {saga_id!r}", saga_id=saga_id) from None

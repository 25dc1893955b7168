"""What the engine asks of a store. Small on purpose: a journal with one writer; evidence, requests and documents beside it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from sagagraph.saga.core.commands import CallKind
from sagagraph.saga.core.events import Entry, Event, SagaBegun
from sagagraph.saga.core.state import Stage


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to append to one journal, at `epoch`, until somebody takes a higher one."""

    saga_id: str
    epoch: int
    owner: str


@dataclass(frozen=True, slots=True)
class Headline:
    """One saga as a list shows it. `stage` is the last one journalled; held and stuck are told apart by folding."""

    saga_id: str
    domain: str
    stage: Stage
    version: int
    owner: str | None
    lease_until: float
    begun_at: float
    updated_at: float
    retired_at: float | None = None
    """When its journal was archived or dropped."""


@dataclass(frozen=True, slots=True)
class Note:
    """Evidence: an acknowledgement that a superseded worker received (docs/protocol.md rule 6)."""

    operation: str
    call: CallKind
    key: str
    output: Any


class RequestKind(StrEnum):
    CANCEL = "cancel"
    RESOLVE = "resolve"


@dataclass(frozen=True, slots=True)
class Request:
    """What a person asked for, outside the fence; `number` grows and is journalled when it is consumed."""

    saga_id: str
    number: int
    kind: RequestKind
    by: str
    data: Any


@dataclass(frozen=True, slots=True)
class Document:
    """JSON that is kept beside a journal under a key of its own, written once and never changed."""

    saga_id: str
    kind: str
    key: str
    """Within its saga and kind."""
    data: Any


class Documents(Protocol):
    """Where a domain keeps what its actions leave: in the database of the journals."""

    async def put(self, document: Document) -> Document:
        """Keep it, unless one of its kind is kept under its key; returns the one that is kept. Safe to repeat.

        The saga need not have begun. Raises `RetiredError` for one that was archived or dropped.
        """

    async def documents(self, saga_id: str, *kinds: str) -> tuple[Document, ...]:
        """Those of a saga, of these kinds or of all, in the order in which they were kept."""


class SagaStore(Documents, Protocol):
    """Appends are fenced by epoch and version in their own transaction; everything else may be called by anybody.

    All methods raise `StoreError` when the database fails, and those that need a journal raise `RetiredError` if it was archived
    or dropped. Instants are the store's own clock, seconds since the epoch.
    """

    async def create(self, saga_id: str, begun: SagaBegun, *, stage: Stage, owner: str, ttl_s: float) -> Lease:
        """Begin a journal with `begun` as version 1 of epoch 1. Raises `ConflictError` if there is one."""

    async def take(self, saga_id: str, *, owner: str, ttl_s: float, looks_again: bool = True) -> Lease:
        """Take the next epoch and append `LeaseTaken(owner, looks_again)` with it.

        Raises `BusyError` while another owner's lease runs, unless that owner is known to be dead; `UnknownSagaError`.
        """

    async def append(self, lease: Lease, entries: Sequence[Entry], *, stage: Stage) -> None:
        """Append `entries`, durably; several sagas' appends may share one commit.

        Raises `SupersededError` if the journal's epoch or version has moved on. An acknowledgement of the commit that was lost
        is looked up: the batch at the head means success.
        """

    async def renew(self, leases: Collection[Lease], ttl_s: float) -> frozenset[Lease]:
        """Prolong these leases; returns those that were not superseded."""

    async def release(self, lease: Lease) -> None:
        """Let anybody take the saga at once. Does nothing if it was superseded."""

    async def read(self, saga_id: str) -> tuple[Entry, ...]:
        """The whole journal, in order. Raises `UnknownSagaError`, and `JournalError` for one that is not as it was written."""

    async def headlines(self) -> tuple[Headline, ...]:
        """All sagas that have a journal, the latest first."""

    async def headline(self, saga_id: str) -> Headline | None:
        """Also of a saga whose journal was archived or dropped."""

    async def note(self, saga_id: str, note: Note) -> None:
        """Write evidence down; never fenced."""

    async def notes(self, saga_id: str) -> tuple[Note, ...]: ...

    async def ask(self, saga_id: str, kind: RequestKind, by: str, data: Any) -> Request:
        """Write a request down; never fenced. Raises `UnknownSagaError`."""

    async def requests(self, after: Mapping[str, int]) -> tuple[Request, ...]:
        """For each of these sagas, its requests with a higher number; in order."""

    async def dump(self, saga_id: str) -> dict[str, Any]:
        """All rows of a saga as they are kept, as JSON: `saga`, `events` with checksums, `evidence`, `requests`, `documents`."""

    async def retire(self, saga_id: str, version: int, *, heard: int, at: float) -> None:
        """Delete the journal and all that belongs to it, in one transaction; its id stays, and is never used again.

        Raises `SupersededError` if the journal is not at `version` any more, or has a request with a number above `heard`.
        """

    async def rewrite(self, saga_id: str, recorded: Entry, change: Callable[[Event], Event], hide: Callable[[Any], Any]) -> None:
        """Replace every event by `change` of it, the contents of evidence, requests and documents by `hide` of them, and
        append `recorded`.

        All of it in one transaction; what was there is then gone from the database's files, as far as the store can see to it.
        Raises `SupersededError` if `recorded` does not follow the journal's last event.
        """

    async def close(self) -> None: ...

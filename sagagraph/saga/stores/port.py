"""Port of a store: what the engine needs. Small on purpose: a journal with one writer, and evidence, requests and documents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from sagagraph.saga.core.commands import CallKind
from sagagraph.saga.core.events import Entry, Event, SagaBegun
from sagagraph.saga.core.locks import Holding, LockChange
from sagagraph.saga.core.state import Stage

KEPT_S = 0.2
"""Tokens that nobody draws are kept for so long: whoever looks for work comes by less often than each of them is due."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to append to one journal, at `epoch`, until somebody takes a higher one."""

    saga_id: str
    epoch: int
    owner: str
    first: Entry | None = field(default=None, compare=False)
    """All of the journal, as it is read, if the saga was begun with this lease: nobody need read it. None: it has to be read."""


@dataclass(frozen=True, slots=True)
class Headline:
    """One saga in a list. `stage` is the last one journalled, a text if only a newer release knows it; only folding tells held
    and stuck apart.
    """

    saga_id: str
    domain: str
    stage: Stage | str
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
    APPROVE = "approve"
    CHANGE = "change"


@dataclass(frozen=True, slots=True)
class Request:
    """A person's request, outside the fence; `number` grows and is journalled when the request is consumed.

    A row may be damaged, or a newer release's: then `kind` is none of `RequestKind`, or `damage` says why `data` is None.
    """

    saga_id: str
    number: int
    kind: RequestKind | str
    by: str
    data: Any
    damage: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """JSON kept beside a journal under its own key, written once and never changed."""

    saga_id: str
    kind: str
    key: str
    """Unique within its saga and kind."""
    data: Any


class Documents(Protocol):
    """Where a domain keeps what its actions leave: in the database of the journals."""

    async def put(self, document: Document) -> Document:
        """Keep the document unless one of its kind exists under its key; returns the one that is kept. Safe to repeat.

        The saga need not have begun. Raises `RetiredError` for one that was archived or dropped.
        """

    async def documents(self, saga_id: str, *kinds: str) -> tuple[Document, ...]:
        """Return a saga's documents, of these kinds or of all, in the order in which they were stored."""


class SagaStore(Documents, Protocol):
    """Store of journals. Appends are fenced by epoch and version in their transaction; anybody may call everything else.

    All methods raise `StoreError` when the database fails, and those that need a journal raise `RetiredError` if it was archived
    or dropped. Instants are read from the store's clock, in seconds since the epoch.
    """

    shortfalls: tuple[str, ...]
    """Settings of the database under which it can lose what it has acknowledged, as `name=value`; permitted, or not yet used."""

    epoch: int
    """How often the store began anew from an earlier state of itself, from 1 (docs/protocol.md rule 11)."""

    async def restored(self) -> int:
        """Count the epoch up: an earlier state of the store was put back. Returns the new one."""

    async def create(self, saga_id: str, begun: SagaBegun, *, stage: Stage, owner: str, ttl_s: float) -> Lease:
        """Begin a journal with `begun` as version 1 of epoch 1. Raises `ConflictError` if there is one."""

    async def take(self, saga_id: str, *, owner: str, ttl_s: float, looks_again: bool = True, seen: int | None = None) -> Lease:
        """Take the next epoch and append `LeaseTaken(owner, looks_again, store_epoch)` with it.

        With `seen`, only if the journal is still at that version; the saga then goes on as it stands (`LeaseTaken.goes_on`).

        Raises `BusyError` while another owner's lease runs, unless that owner is known to be dead, and for another version than
        the one `seen`; `UnknownSagaError`.
        """

    async def append(self, lease: Lease, entries: Sequence[Entry], *, stage: Stage, locks: LockChange | None = None) -> None:
        """Append `entries`, durably, and with them what they change of the saga's locks; several sagas' appends may share one
        commit.

        Raises `SupersededError` if the journal's epoch or version has moved on, and `LockedError`, having written nothing, if
        other sagas keep what is asked for. An acknowledgement of the commit that was lost is looked up: the batch at the head
        means success.
        """

    async def holdings(self, keys: Collection[str] | None = None) -> tuple[Holding, ...]:
        """Return the locks that sagas keep on these things, or on all, in the order of sagas and operations."""

    async def renew(self, leases: Collection[Lease], ttl_s: float) -> frozenset[Lease]:
        """Renew these leases; returns those that were not superseded."""

    async def release(self, lease: Lease) -> None:
        """Let anybody take the saga at once. Does nothing if it was superseded."""

    async def read(self, saga_id: str) -> tuple[Entry, ...]:
        """Read the whole journal, in order. Raises `UnknownSagaError`, and `JournalError` if it is not as it was written."""

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
        """Return the sagas that have a journal, the latest first: all, or those of `domain`, whose ids begin with `prefix` and
        contain `within`, at one of these stages.

        `most` of them, after the first `skip`; `skip` counts only with `most`.
        """

    async def tally(self) -> Mapping[tuple[str, str], int]:
        """Return how many sagas have a journal, by domain and last stage."""

    async def open_headlines(self) -> tuple[Headline, ...]:
        """Return the sagas that have not ended, and committed ones of which anything was ever asked, the latest first.

        It costs no more the more sagas have ended.
        """

    async def due(self, most: int, domains: Collection[str]) -> tuple[Headline, ...]:
        """Return sagas of these domains that somebody should drive now, and nobody holds: the tenants (what an id has before its
        first colon) take turns, and of each the one that has been due for longest comes first.

        Due is what was begun and never parked, whose time has come, or of which something was asked. What has ended costs
        nothing.
        """

    async def park(self, saga_id: str, version: int, *, until: float | None, heard: int) -> bool:
        """Note that nothing is due before `until`; None: before somebody asks. Returns whether it is noted: not if the journal
        is no longer at `version`, somebody holds the saga, or anything was asked after request number `heard`.
        """

    async def wake(self, saga_id: str, at: float = 0.0) -> None:
        """Have the saga due at `at`, unless it is earlier."""

    async def draw(self, name: str, per_second: float) -> bool:
        """Draw one of so many tokens a second, which everybody on this store shares. Returns whether there was one."""

    async def headline(self, saga_id: str) -> Headline | None:
        """Return a saga's headline, also if its journal was archived or dropped."""

    async def note(self, saga_id: str, note: Note) -> None:
        """Write evidence down; never fenced."""

    async def notes(self, saga_id: str) -> tuple[Note, ...]: ...

    async def ask(self, saga_id: str, kind: RequestKind, by: str, data: Any) -> Request:
        """Write a request down; never fenced. Raises `UnknownSagaError`."""

    async def requests(self, after: Mapping[str, int]) -> tuple[Request, ...]:
        """Return, for each of these sagas, its requests with a higher number, in order."""

    async def dump(self, saga_id: str) -> dict[str, Any]:
        """Return all rows of a saga, as stored, as JSON: `saga`, `events` with checksums, `evidence`, `requests`, `documents`."""

    async def retire(self, saga_id: str, version: int, *, heard: int, at: float) -> None:
        """Delete the journal and everything that belongs to it, in one transaction; its id remains and is never used again.

        Raises `SupersededError` if the journal is no longer at `version`, or has a request with a number above `heard`.
        """

    async def rewrite(self, saga_id: str, recorded: Entry, change: Callable[[Event], Event], hide: Callable[[Any], Any]) -> None:
        """Replace every event by `change` of it, and the contents of evidence, requests and documents by `hide` of them, and
        append `recorded`.

        All of it happens in one transaction. The old contents stay in the database's files until `forget`. Raises
        `SupersededError` if `recorded` does not follow the journal's last event.
        """

    async def forget(self, saga_id: str) -> None:
        """Remove what was overwritten, of this saga and all others, from the database's files, as far as the store can."""

    async def close(self) -> None: ...

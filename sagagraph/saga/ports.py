"""What the engine asks of a store. Small on purpose: a journal with one writer, requests and evidence beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from sagagraph.saga.commands import CallKind
from sagagraph.saga.events import Entry, Event, SagaBegun
from sagagraph.saga.model import Stage


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


@dataclass(frozen=True, slots=True)
class Note:
    """Evidence: an acknowledgement that a superseded worker received (PROTOCOL rule 6)."""

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

    number: int
    kind: RequestKind
    by: str
    data: Any


class SagaStore(Protocol):
    """Appends are fenced by epoch and version in their own transaction; everything else may be called by anybody.

    All methods raise `StoreError` when the database fails. Instants are the store's own clock, seconds since the epoch.
    """

    async def create(self, saga_id: str, begun: SagaBegun, *, stage: Stage, owner: str, ttl_s: float) -> Lease:
        """Begin a journal with `begun` as version 1 of epoch 1. Raises `ConflictError` if there is one."""

    async def take(self, saga_id: str, *, owner: str, ttl_s: float, looks_again: bool = True) -> Lease:
        """Take the next epoch and append `LeaseTaken(owner, looks_again)` with it.

        Raises `BusyError` while another owner's lease runs, unless that owner is known to be dead; `UnknownSagaError`.
        """

    async def append(self, lease: Lease, version: int, events: Sequence[Event], *, at: float, stage: Stage) -> None:
        """Append `events` after `version`, durably. Raises `SupersededError` if the epoch or the version has moved on.

        An acknowledgement of the commit that was lost is looked up: the batch at the head means success.
        """

    async def renew(self, lease: Lease, ttl_s: float) -> bool:
        """Prolong the lease; False if it was superseded."""

    async def release(self, lease: Lease) -> None:
        """Let anybody take the saga at once. Does nothing if it was superseded."""

    async def read(self, saga_id: str) -> tuple[Entry, ...]:
        """The whole journal, in order. Raises `UnknownSagaError`, and `JournalError` for what can not be read."""

    async def headlines(self) -> tuple[Headline, ...]:
        """All sagas, the latest first."""

    async def headline(self, saga_id: str) -> Headline | None: ...

    async def note(self, saga_id: str, note: Note) -> None:
        """Write evidence down; never fenced."""

    async def notes(self, saga_id: str) -> tuple[Note, ...]: ...

    async def ask(self, saga_id: str, kind: RequestKind, by: str, data: Any) -> Request:
        """Write a request down; never fenced. Raises `UnknownSagaError`."""

    async def requests(self, saga_id: str, *, after: int) -> tuple[Request, ...]:
        """The requests with a higher number than `after`, in order."""

    async def close(self) -> None: ...

"""Rows: events as the stores keep them, and the check that they are still what was written.

A checksum covers a whole row and the saga it belongs to. Together with the head (how many rows there are, and the epoch of the
last one) it detects a flipped byte, a missing event and a foreign one.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sagagraph.errors import BusyError, JournalError, RetiredError, SupersededError
from sagagraph.saga.core.codec import Record, decode, encode
from sagagraph.saga.core.commands import CallKind
from sagagraph.saga.core.events import Entry
from sagagraph.saga.core.locks import Holding
from sagagraph.saga.core.state import Stage
from sagagraph.saga.stores.port import Headline, Note, Request, RequestKind
from sagagraph.workflow.lock import Lock, LockMode


class Row(NamedTuple):
    version: int
    epoch: int
    at: float
    type: str
    schema_version: int
    data: str
    checksum: int


def row_json(row: Sequence[object]) -> dict[str, object]:
    """Return a row as an archive stores it."""
    return dict(zip(Row._fields, row, strict=True))


class Head(NamedTuple):
    """How far a journal has come: its fence."""

    version: int
    epoch: int


def row_of(saga_id: str, entry: Entry) -> Row:
    record = encode(entry.event)
    return Row(entry.version, entry.epoch, entry.at, *record, checksum(saga_id, entry.version, entry.epoch, entry.at, *record))


def checksum(saga_id: str, version: int, epoch: int, at: float, kind: str, schema_version: int, data: str) -> int:
    """Return a CRC-32: it finds every flipped byte, but does not protect against deliberate deception."""
    numbers = struct.pack("<qqdq", version, epoch, at, schema_version)
    return zlib.crc32(numbers + f"{saga_id}\0{kind}\0{data}".encode())


def entries_of(saga_id: str, head: Head, rows: Iterable[Sequence[object]]) -> tuple[Entry, ...]:
    """Decode rows. Raises `JournalError` for a journal that is not, row by row, what was appended to it."""
    entries: list[Entry] = []
    for number, each in enumerate(rows, 1):
        row = Row(*each)  # type: ignore[arg-type]  # as the table declares them
        if row.version != number:
            raise _damaged(saga_id, f"event {number} is missing: version {row.version} follows")
        if not _is_as_written(saga_id, row):
            raise _damaged(saga_id, f"event {number} was changed after it was written, or is another saga's")
        try:
            event = decode(Record(row.type, row.schema_version, row.data), row.at)
        except JournalError as exc:
            raise JournalError(f"saga {saga_id!r}: event {number}: {exc}", saga_id=saga_id) from exc
        entries.append(Entry(row.version, row.epoch, row.at, event))
    if not entries or Head(entries[-1].version, entries[-1].epoch) != head:
        found = f"version {entries[-1].version} of epoch {entries[-1].epoch}" if entries else "nothing"
        raise _damaged(saga_id, f"it ends with {found}, but had come to version {head.version} of epoch {head.epoch}")
    return tuple(entries)


def request_of(number: int, saga_id: str, kind: str, by: str, data: str) -> Request:
    """Read a row of a request, whatever is in it: one that cannot be read must not hide the others."""
    known = RequestKind(kind) if kind in _KNOWN_REQUESTS else str(kind)
    try:
        return Request(saga_id, number, known, str(by), json.loads(data))
    except (TypeError, ValueError, RecursionError) as exc:
        return Request(saga_id, number, known, str(by), None, f"its data is no JSON ({exc})")


_KNOWN_REQUESTS = frozenset(RequestKind)


def notes_of(rows: Iterable[Sequence[Any]]) -> tuple[Note, ...]:
    """Read rows of evidence. What cannot be read is no evidence: the saga does without it."""
    return tuple(note for row in rows if (note := _note_of(*row)))


def _note_of(operation: str, call: str, key: str, output: str) -> Note | None:
    try:
        return Note(operation, CallKind(call), key, json.loads(output))
    except (TypeError, ValueError, RecursionError):
        return None


def lock_row(holding: Holding) -> tuple[Any, ...]:
    """Return a row of the locks, in the order of `statements.LOCK_ROW`."""
    lock = holding.lock
    taken = (lock.key, lock.mode.value, lock.begins, lock.ends, lock.amount, lock.capacity)
    return (holding.saga_id, holding.operation, *taken, holding.begun_at, holding.epoch)


def holding_of(saga_id: str, operation: str, key: str, mode: str, *rest: Any) -> Holding:
    begins, ends, amount, capacity, begun_at, epoch = rest
    return Holding(saga_id, operation, Lock(key, LockMode(mode), begins, ends, amount, capacity), begun_at, epoch)


def headline_of(saga_id: str, domain: str, stage: str, *rest: Any) -> Headline:
    return Headline(saga_id, domain, Stage(stage) if stage in _KNOWN_STAGES else stage, *rest)


_KNOWN_STAGES = frozenset(Stage)


def retired(saga_id: str, at: float) -> RetiredError:
    when = datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
    return RetiredError(
        f"saga {saga_id!r} has no journal any more: it was archived or dropped at {when}; use another id", saga_id=saga_id
    )


def moved_on(saga_id: str) -> SupersededError:
    return SupersededError(f"saga {saga_id!r} has moved on since it was looked at: look again", saga_id=saga_id)


def moved_on_since(saga_id: str) -> BusyError:
    return BusyError(f"saga {saga_id!r} was driven by another worker since it was looked at: look again", saga_id=saga_id)


def _is_as_written(saga_id: str, row: Row) -> bool:
    try:
        return checksum(saga_id, *row[:-1]) == row.checksum
    except (AttributeError, TypeError, UnicodeEncodeError, struct.error):  # even the types differ from what was written
        return False


def _damaged(saga_id: str, what: str) -> JournalError:
    return JournalError(f"saga {saga_id!r}: its journal is damaged: {what}; restore it from a backup", saga_id=saga_id)

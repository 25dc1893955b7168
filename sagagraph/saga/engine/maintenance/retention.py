"""Retention: finished sagas are archived or dropped, but never one that something open still needs.

An archive is on disk, line by line and complete, before anything is deleted; after an interruption, repeat the command.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sagagraph.errors import InvalidInputError, RetiredError, SagaGraphError, StoreError
from sagagraph.saga.core.amendments import amended_by
from sagagraph.saga.core.events import Driver
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.next_steps import is_quiet, status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.stores.port import SagaStore
from sagagraph.workflow.values import Json

_AT_ONCE = 50
"""Sagas that are archived with one fsync."""
_BEGINS = b'{"saga": '


@dataclass(frozen=True, slots=True)
class Kept:
    """A saga that was kept, and why."""

    saga_id: str
    why: str


@dataclass(frozen=True, slots=True)
class Retirement:
    """Sagas whose journals were deleted (or would be), and sagas that were kept although they were named or old enough."""

    retired: tuple[str, ...]
    kept: tuple[Kept, ...]


async def unfinished(store: SagaStore, saga: Saga) -> str:
    """Return why the saga cannot be retired or redacted yet; empty if nothing needs it any more."""
    if not status_of(saga).is_final or not is_quiet(saga):
        return f"it is {'being undone' if status_of(saga).is_final else status_of(saga).value}"
    if await store.requests({saga.id: saga.last_request}):
        return "somebody asked for its cancellation, and nobody has seen to that yet: cancel it again"
    return ""


async def retire(store: SagaStore, saga_ids: Iterable[str], *, archive: Path | None, at: float, dry_run: bool) -> Retirement:
    """Retire sagas. Raises `InvalidInputError` for a file that is no archive, `StoreError` if it cannot be written: then nothing
    is deleted.
    """
    retired: list[str] = []
    kept: list[Kept] = []
    waiting = list(saga_ids)
    while waiting:
        batch, waiting = waiting[:_AT_ONCE], waiting[_AT_ONCE:]
        free: list[Saga] = []
        for saga_id in batch:
            try:
                saga = fold(saga_id, await store.read(saga_id))
                why = await unfinished(store, saga) or await _needed_by(store, saga)
            except SagaGraphError as exc:
                why = str(exc)
            if why:
                kept.append(Kept(saga_id, why))
            else:
                free.append(saga)
        if archive is not None and not dry_run:
            await asyncio.to_thread(append_to_archive, archive, [await store.dump(each.id) for each in free])
        for saga in free:
            try:
                if not dry_run:
                    await store.retire(saga.id, saga.version, heard=saga.last_request, at=at)
            except StoreError:
                raise
            except SagaGraphError as exc:
                kept.append(Kept(saga.id, str(exc)))
            else:
                retired.append(saga.id)
    return Retirement(tuple(retired), tuple(kept))


async def _needed_by(store: SagaStore, saga: Saga) -> str:
    """Return the reason to keep a reversal or an amendment that has ended before its original has taken over its outcome."""
    if saga.driver is Driver.REVERSAL and isinstance(saga.request, dict):
        original_id = str(saga.request["reverses"])
    elif (amended := amended_by(saga)) is not None:
        original_id = amended
    else:
        return ""
    try:
        original = fold(original_id, await store.read(original_id))
    except RetiredError:
        return ""
    why = await unfinished(store, original)
    does = "undoes" if saga.driver is Driver.REVERSAL else "changes"
    return why and f"it {does} saga {original_id!r}, which needs it: {why}"


def append_to_archive(path: Path, documents: Iterable[dict[str, Json]]) -> None:
    """Append one line for each saga, on disk when this returns; a line that is there already is not written again.

    A partial last line from an interrupted run is removed first: nothing that it stood for had been deleted.
    """
    lines = [json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in documents]
    try:
        is_new = not path.exists()
        with path.open("a+b") as file:
            known = _complete_lines(file, path)
            for line in lines:
                if hashlib.sha256(line).digest() not in known:
                    file.write(line)
            file.flush()
            os.fsync(file.fileno())
        if is_new:
            _sync_folder(path.parent)
    except OSError as exc:
        raise StoreError(f"the archive {path} cannot be written: {exc}; nothing was deleted") from exc


def _complete_lines(file: BinaryIO, path: Path) -> set[bytes]:
    """Return the hashes of the complete lines, and truncate the file after the last of them."""
    file.seek(0)
    known: set[bytes] = set()
    end = 0
    for line in file:
        if not line.startswith(_BEGINS) and not _BEGINS.startswith(line):
            raise InvalidInputError(f"{path} is no archive of sagas", field="--archive")
        if line.endswith(b"\n"):
            known.add(hashlib.sha256(line).digest())
            end += len(line)
    file.truncate(end)
    file.seek(0, os.SEEK_END)
    return known


def _sync_folder(folder: Path) -> None:
    """Sync the folder, so that the file's name also survives a power cut; not every system can open a folder."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

"""File watch: notices that the file of an open SQLite store was removed, replaced or changed by anything but SQLite.

SQLite itself does not look: it goes on in a file that nobody can open any more, and in the pages that it remembers. In WAL mode
the file changes only while a checkpoint runs, whose progress stands in the index of the log (https://sqlite.org/walformat.html,
section 2.1.2). So a change without progress came from outside.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

from sagagraph.errors import LostStoreError

_HEADER = b"SQLite format 3\x00"
_INDEX_BYTES = 136
_SALTS, _BACKFILLED, _ATTEMPTED = slice(32, 40), slice(96, 100), slice(128, 132)
_OPEN_FILES = Path("/dev/fd")
_MOMENT_S = 0.005
"""A file can go between a look and a write in any case. A second look so soon tells no more than the one after the write."""

_Identity = tuple[int, int]
"""Device and inode."""


class FileWatch:
    """Watch over the file at `path` and its log, which a connection has open. Cheap enough for every commit.

    Raises `LostStoreError` if they are not there.
    """

    def __init__(self, path: Path) -> None:
        self._path = os.fspath(path)
        file = path.resolve()
        self._log = os.fspath(file.with_name(f"{file.name}-wal"))
        try:
            self._has_log = os.path.exists(self._log)  # noqa: PTH110 - a text is what is looked at later
            self._log_identity, self._log_bytes = self._stat_log()
            index = _identity(file.with_name(f"{file.name}-shm").stat()) if self._has_log else None
            self._index = _OpenFile(index)
            self._seen_index = self._index.read(_INDEX_BYTES)
            now = path.stat()
        except OSError as exc:
            raise self._lost("was removed") from exc
        self._file = _OpenFile(_identity(now))
        self._written = _written(now)
        self._looked_at = 0.0

    def check_before(self) -> None:
        """Check, before anything is written, unless the last look was a moment ago. What is written is checked in any case."""
        if time.monotonic() - self._looked_at > _MOMENT_S:
            self.check()

    def check(self) -> None:
        """Raise `LostStoreError` if this is no longer the file that was opened, or if it was changed from outside."""
        index = self._index.read(
            _INDEX_BYTES
        )  # before the look at the file: what it explains may be seen twice, and never missed
        try:
            now = os.stat(self._path)  # noqa: PTH116 - a third of the time
            log_identity, log_bytes = self._stat_log()
        except OSError as exc:
            raise self._lost("was removed") from exc
        written = _written(now)
        if _identity(now) != self._file.identity or log_identity != self._log_identity:
            raise self._lost("was replaced by another one")
        if self._has_log and (written != self._written or log_bytes < self._log_bytes):
            self._check_change()
        self._seen_index, self._written, self._log_bytes = index, written, log_bytes
        self._looked_at = time.monotonic()

    def _check_change(self) -> None:
        header = self._file.read(len(_HEADER))
        if header is not None and header != _HEADER:
            raise self._lost("was overwritten or cut off")
        progress = _progress(self._index.read(_INDEX_BYTES))
        if progress is not None and progress == _progress(self._seen_index) and not progress.is_under_way:
            raise self._lost("was changed by another program")

    def _stat_log(self) -> tuple[_Identity | None, int]:
        if not self._has_log:
            return None, 0
        log = os.stat(self._log)  # noqa: PTH116 - as above
        return _identity(log), log.st_size

    def _lost(self, what: str) -> LostStoreError:
        return LostStoreError(
            f"the store {self._path} {what} while it was in use: nothing more goes out. Stop what uses it, restore it from a "
            "backup, and say sagagraph db restored"
        )


class _Progress(NamedTuple):
    """Progress of checkpoints; each changes it."""

    log: bytes
    """Names the log, which begins anew once all of it is in the file."""
    backfilled: bytes
    attempted: bytes

    @property
    def is_under_way(self) -> bool:
        return self.attempted != self.backfilled


def _progress(index: bytes | None) -> _Progress | None:
    """Return how far checkpoints have come; None if that cannot be read on this system."""
    if index is None or len(index) < _INDEX_BYTES:
        return None
    return _Progress(index[_SALTS], index[_BACKFILLED], index[_ATTEMPTED])


class _OpenFile:
    """A file that SQLite has open in this process, read through what has it open.

    Opening it once more would do harm: closing it again would release SQLite's locks on it, as POSIX has it.
    """

    def __init__(self, identity: _Identity | None) -> None:
        self.identity = identity
        self._descriptor = -1

    def read(self, size: int) -> bytes | None:
        """Return its beginning; None if nothing here has it open, or this system does not tell."""
        if self.identity is None:
            return None
        found = self._read(self._descriptor, size)
        if found is not None:
            return found
        try:
            candidates = [int(each.name) for each in _OPEN_FILES.iterdir()]
        except OSError:
            return None
        for self._descriptor in candidates:
            found = self._read(self._descriptor, size)
            if found is not None:
                return found
        return None

    def _read(self, descriptor: int, size: int) -> bytes | None:
        try:
            return os.pread(descriptor, size, 0) if _identity(os.fstat(descriptor)) == self.identity else None
        except OSError:  # closed meanwhile, or not a file
            return None


def _identity(found: os.stat_result) -> _Identity:
    return found.st_dev, found.st_ino


def _written(found: os.stat_result) -> tuple[int, int]:
    return found.st_size, found.st_mtime_ns

"""File watch: notices that the file of an open SQLite store was removed, replaced or changed by anything but SQLite.

SQLite itself does not look: it goes on in a file that nobody can open any more, and in the pages that it remembers. In WAL mode
the file changes only while a checkpoint runs, whose progress stands in the index of the log (https://sqlite.org/walformat.html,
section 2.1.2). So a change without progress came from outside.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from sagagraph.errors import LostStoreError

_HEADER = b"SQLite format 3\x00"
_INDEX_BYTES = 136
_SALTS, _BACKFILLED, _ATTEMPTED = slice(32, 40), slice(96, 100), slice(128, 132)
_OPEN_FILES = Path("/dev/fd")

_Identity = tuple[int, int]
"""Device and inode."""


class FileWatch:
    """Watch over the file at `path` and its log, which a connection has open. Cheap enough for every commit.

    Raises `LostStoreError` if they are not there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        file = path.resolve()
        self._log = file.with_name(f"{file.name}-wal")
        try:
            self._has_log = self._log.exists()
            self._log_identity, self._log_bytes = self._stat_log()
            index = _identity(file.with_name(f"{file.name}-shm").stat()) if self._has_log else None
            self._index = _OpenFile(index)
            self._progress = self._checkpoints()
            now = path.stat()
        except OSError as exc:
            raise self._lost("was removed") from exc
        self._file = _OpenFile(_identity(now))
        self._written = _written(now)

    def check(self) -> None:
        """Raise `LostStoreError` if this is no longer the file that was opened, or if it was changed from outside."""
        progress = self._checkpoints()  # before the look at the file: what it explains may then be seen twice, and never missed
        try:
            now = self._path.stat()
            log_identity, log_bytes = self._stat_log()
        except OSError as exc:
            raise self._lost("was removed") from exc
        if _identity(now) != self._file.identity or log_identity != self._log_identity:
            raise self._lost("was replaced by another one")
        if self._has_log and (_written(now) != self._written or log_bytes < self._log_bytes):
            self._check_change()
        self._progress, self._written, self._log_bytes = progress, _written(now), log_bytes

    def _check_change(self) -> None:
        header = self._file.read(len(_HEADER))
        if header is not None and header != _HEADER:
            raise self._lost("was overwritten or cut off")
        progress = self._checkpoints()
        if progress is not None and progress == self._progress and not progress.is_under_way:
            raise self._lost("was changed by another program")

    def _stat_log(self) -> tuple[_Identity | None, int]:
        if not self._has_log:
            return None, 0
        log = self._log.stat()
        return _identity(log), log.st_size

    def _checkpoints(self) -> _Progress | None:
        """Return how far checkpoints have come; None if that cannot be read on this system."""
        index = self._index.read(_INDEX_BYTES)
        if index is None or len(index) < _INDEX_BYTES:
            return None
        return _Progress(index[_SALTS], index[_BACKFILLED], index[_ATTEMPTED])

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

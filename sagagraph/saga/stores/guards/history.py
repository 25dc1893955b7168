"""History: whether the database still holds everything that it ever acknowledged, as far as that can be told.

A store has an identity and an epoch, which counts the times that an earlier state of it was put back (docs/protocol.md rule 11).
PostgreSQL tells a promoted, recovered, dumped or copied database by its system, timeline and ids. A SQLite file has a witness
beside it, which counts the events that were written: a file with fewer was put back.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sagagraph.errors import LostStoreError, StoreError

Ask = Callable[..., Sequence[Any] | None]
"""Executes a statement of ours, with its parameters, and returns its first row."""

SELECT = "SELECT identity, epoch, origin FROM store WHERE number = 1"
RAISE = "UPDATE store SET epoch = epoch + 1 WHERE number = 1 RETURNING epoch"
EVENTS = "SELECT COALESCE(sum(version), 0) FROM sagas"
"""Grows with every event that is written, and never shrinks: retired sagas keep their heads."""
_ADOPT = "UPDATE store SET origin = ?, epoch = epoch + ? WHERE number = 1 AND origin = ?"
_LONGEST = 200
"""Bytes of a witness, at most."""
_HAS_SAGAS = "SELECT EXISTS (SELECT 1 FROM sagas)"
_ORIGIN = """
    SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
        || '/' || (SELECT oid FROM pg_database WHERE datname = current_database()) || '/' || 'sagas'::regclass::oid"""


class History(NamedTuple):
    identity: str
    epoch: int
    origin: str


def history_of(ask: Ask) -> History:
    return History(*(ask(SELECT) or ("", 1, "")))


# -- PostgreSQL --------------------------------------------------------------------------------------------------------


def postgres_history(ask: Ask) -> History:
    """Return the store's history, with a higher epoch if this database has become another one since somebody last looked."""
    known, origin = history_of(ask), _origin(ask)
    if known.origin == origin:
        return known
    is_another = bool(known.origin) and ask(_HAS_SAGAS) == (True,)
    ask(_ADOPT, (origin, int(is_another), known.origin))
    return history_of(ask)


def check_postgres(ask: Ask, known: History, name: str) -> None:
    """Raise `LostStoreError` if a new connection finds another store, or another state of it, than the one that was opened."""
    if history_of(ask) != known or _origin(ask) != known.origin:
        raise LostStoreError(
            f"another server or an earlier state answers for the store {name}: nothing more goes out. If a backup was restored or"
            " a replica promoted, say sagagraph db restored; then resume"
        )


def _origin(ask: Ask) -> str:
    return str((ask(_ORIGIN) or ("",))[0])


# -- SQLite ------------------------------------------------------------------------------------------------------------


class Witness:
    """A small file beside the store: its identity, and how many events were written to it. It never says more than is true.

    It is not synced: after a power cut it may say less, and then it notices less.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(f"{path.name}.witness")
        self._descriptor = -1
        self._left = b"", "", 0
        """What this process left in the file last: the line, and what it says."""

    def events(self, identity: str) -> int | None:
        """Return how many events that store is known to have had; None if nothing is known of it."""
        try:
            with self.path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH)
                found, count = file.read().decode().split()
                return int(count) if found == identity else None
        except (OSError, ValueError):
            return None

    def add(self, count: int, total: Callable[[], int]) -> None:
        """Note that so many more events are durable, before anything is done on account of them.

        `total()` counts all of them: whoever made a new file since the last time may have counted these already.
        """
        is_known = self._descriptor >= 0 and os.fstat(self._descriptor).st_nlink > 0
        if not is_known:
            self.close()
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            line = os.pread(self._descriptor, _LONGEST, 0)
            if line != self._left[0]:  # somebody else has written, or nobody yet
                identity, before = line.decode().split()
                self._left = line, identity, int(before)
            _line_before, identity, known = self._left
            now = known + count if is_known else max(known, total())
            line = _line(identity, now)
            self._left = line, identity, now
            os.pwrite(self._descriptor, line, 0)
        except ValueError:  # no witness of ours
            pass
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def write(self, identity: str, count: int) -> None:
        part = self.path.with_name(f"{self.path.name}.{os.getpid()}.{threading.get_ident()}")
        with part.open("wb") as file:
            file.write(_line(identity, count))
            file.flush()
            os.fsync(file.fileno())
        part.replace(self.path)


def _line(identity: str, count: int) -> bytes:
    return f"{identity} {count:020d}\n".encode()


def sqlite_history(ask: Ask, witness: Witness) -> History:
    """Return the store's history, with a higher epoch if its witness has seen more than it has, or is gone."""
    known = history_of(ask)
    seen = witness.events(known.identity)  # before the events are counted: others may be writing
    (count,) = ask(EVENTS) or (0,)
    was_put_back = count > 0 and bool(known.origin) and (seen is None or count < seen)
    if was_put_back or not known.origin:
        ask(_ADOPT, ("witnessed", int(was_put_back), known.origin))
    if was_put_back or seen is None or seen < count:
        try:
            witness.write(known.identity, count)
        except OSError as exc:
            raise StoreError(f"the store's witness {witness.path} cannot be written: {exc}") from exc
    return history_of(ask)

"""Commits: one writer for each store, whose commits are shared (ADR-0007).

Every write is a job. The jobs of one turn of the event loop, of all sagas, are written together; those that arrive during a
commit go into the next one. So nothing waits for company, and nothing needlessly commits alone.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from sagagraph.errors import SagaGraphError, StoreError
from sagagraph.saga.stores.statements import Change

T = TypeVar("T")
Execute = Callable[[str, Sequence[Any]], Any]
"""Runs a statement of ours; returns a cursor."""
EventParameters = tuple[Any, ...]

_MOST_JOBS = 500
"""In one commit: whoever comes first must not wait for everybody."""


class Fenced:
    """A fenced write: the head of one saga, and the events that come with it."""

    change: ClassVar[Change]
    tells_time: ClassVar[bool] = False
    """Whether it is given the time; otherwise `now` has no meaning."""
    saga_id: str

    def given(self, now: float) -> Mapping[str, Any]:
        """Return the parameters of the change."""
        raise NotImplementedError

    def events(self, now: float) -> Sequence[EventParameters]:  # noqa: ARG002 - for subclasses that have events
        return ()

    def answer(self, held: bool) -> Any:
        """Return what the caller is told, or raise it, once it is known whether the fence held."""
        raise NotImplementedError

    def has_landed(self, execute: Execute) -> bool:  # noqa: ARG002 - for subclasses that can tell
        """Tell whether it is in the database after all, although its acknowledgement was lost (docs/protocol.md rule 1)."""
        return False

    def told(self, held: bool) -> Any:
        """Return the answer, or the error that it raises."""
        try:
            return self.answer(held)
        except SagaGraphError as exc:
            return exc


@dataclass(frozen=True, slots=True, eq=False)
class Alone:
    """A write of any kind. It must not raise a `SagaGraphError` after writing: others may share its transaction."""

    work: Callable[[], Any]
    again: Callable[[], Any] | None = None
    """What to do instead after a lost connection; by default the same."""
    in_transaction: bool = False
    """Whether its statements belong together."""


Work = Fenced | Alone


@dataclass(slots=True, eq=False)
class Job:
    work: Work
    answer: asyncio.Future[Any]

    def settle(self, outcome: Any) -> None:
        if self.answer.done():
            return
        if isinstance(outcome, BaseException):
            self.answer.set_exception(outcome)
        else:
            self.answer.set_result(outcome)


class Commits(ABC):
    """Commits on one connection, used by one thread at a time: its own, or the event loop's if `_commits_at_once` allows it."""

    def __init__(self, thread: ThreadPoolExecutor) -> None:
        self._thread = thread
        self._waiting: list[Job] = []
        self._is_scheduled = False
        self._in_thread = 0
        self._is_closed = False
        self._leased: set[str] = set()
        """Sagas that this store has taken, and not released: while there is one at most, no commit can be shared with another."""
        self.spares_loop = False
        """Whether everything is left to the store's thread."""

    # -- what each database does in its own way ------------------------------------------------------------------------

    @abstractmethod
    def _outcomes(self, jobs: list[Job]) -> list[Any]:
        """Commit these jobs, and return what became of each: its answer, or the error to raise."""

    @abstractmethod
    def _translated(self, work: Callable[[], T]) -> T:
        """Run `work()`, translating the database's errors into SagaGraph's."""

    @abstractmethod
    def _disconnect(self) -> None: ...

    def _commits_at_once(self, jobs: list[Job]) -> bool:  # noqa: ARG002 - for stores that can
        """Try these jobs on the event loop's thread; False leaves them to the store's thread."""
        return False

    def _read_at_once(self, work: Callable[[], T]) -> tuple[T] | None:  # noqa: ARG002 - for stores that can
        """Try to read on the event loop's thread; None leaves it to the store's thread."""
        return None

    # -- what they share -----------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Close the connection once everything that waits has been written. From then on all methods raise `StoreError`."""
        if self._is_closed:
            return
        if self._waiting:
            await self._write(Alone(lambda: None))
        await self._read(self._disconnect)
        self._is_closed = True
        self._thread.shutdown(wait=False)

    def _check_open(self) -> None:
        if self._is_closed:
            raise StoreError("the store has been closed")

    async def _read(self, work: Callable[[], T], *, is_short: bool = False) -> T:
        """Read. What `is_short` is one row, or a few, and may be read on the event loop's thread."""
        self._check_open()
        if is_short and not self._in_thread and not self.spares_loop and (found := self._read_at_once(work)) is not None:
            return found[0]
        loop = asyncio.get_running_loop()
        self._in_thread += 1
        reading = loop.run_in_executor(self._thread, self._translated, work)
        reading.add_done_callback(self._is_back)
        return await asyncio.shield(reading)

    async def _write(self, work: Work) -> Any:
        self._check_open()
        job = Job(work, asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        if len(self._leased) <= 1 and len(self._waiting) == 1:
            self._flush()  # nobody could join it
        else:
            self._schedule()
        return await job.answer

    def _schedule(self) -> None:
        if self._waiting and not self._is_scheduled and not self._in_thread:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        """Commit what has arrived since the last turn of the loop, or since the last commit."""
        self._is_scheduled = False
        if self._in_thread or not self._waiting:
            return
        jobs, self._waiting = self._waiting[:_MOST_JOBS], self._waiting[_MOST_JOBS:]
        if not self.spares_loop and self._commits_at_once(jobs):
            self._schedule()
            return
        self._in_thread += 1
        committing = asyncio.get_running_loop().run_in_executor(self._thread, self._outcomes, jobs)
        committing.add_done_callback(lambda done: self._settle(jobs, done))

    def _settle(self, jobs: list[Job], done: asyncio.Future[list[Any]]) -> None:
        failure = asyncio.CancelledError() if done.cancelled() else done.exception()
        for job, outcome in zip(jobs, [failure] * len(jobs) if failure else done.result(), strict=True):
            job.settle(outcome)
        self._is_back(done)

    def _is_back(self, _done: asyncio.Future[Any]) -> None:
        self._in_thread -= 1
        self._schedule()

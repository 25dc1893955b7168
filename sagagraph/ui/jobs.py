"""Jobs: the work in progress for sagas, whoever requested it and whether or not they still wait."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from sagagraph.errors import NotAllowedError, SagaGraphError
from sagagraph.saga.core.amendments import parent_of
from sagagraph.saga.core.events import Entry
from sagagraph.saga.core.state import Saga

_LOOK_AGAIN_S: Final = 1.0
"""Other workers may advance a saga without notifying this process."""
_LOOK_CLOSELY_S: Final = 0.05
"""Used until the request is on record."""
_REMEMBERED: Final = 10_000
"""Of so many sagas it is known when they advanced last; of others one looks again after a while."""

_log = logging.getLogger("sagagraph.ui")
"""Logs to standard error even where logging is not configured: these are faults of this program."""

IsRecorded = Callable[[], Awaitable[bool]]
Work = Coroutine[Any, Any, Any]
"""A job's coroutine; its result is ignored."""


class Bell:
    """Bell that wakes whoever waits for a saga to advance. An observer of the engine."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = defaultdict(set)
        self.rings = 0
        """How often it has rung: a moment, to be told to `wait` later."""
        self._last: dict[str, int] = {}
        """When it rang last, by saga, the earliest first."""

    def __call__(self, saga: Saga, _entries: tuple[Entry, ...]) -> None:
        self.ring(saga.id)
        if parent := parent_of(saga.id):
            self.ring(parent)

    def ring(self, saga_id: str) -> None:
        self.rings += 1
        self._last.pop(saga_id, None)
        self._last[saga_id] = self.rings
        if len(self._last) > _REMEMBERED:
            del self._last[next(iter(self._last))]
        for each in self._waiting.get(saga_id, ()):
            each.set()

    async def wait(self, saga_id: str, since: int | None = None, timeout_s: float = _LOOK_AGAIN_S) -> None:
        """Return when the saga may have advanced `since` that moment (by default: from now on), or after a while."""
        if since is not None and self._last.get(saga_id, 0) > since:
            return
        rung = asyncio.Event()
        self._waiting[saga_id].add(rung)
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(rung.wait(), timeout_s)
        finally:
            self._waiting[saga_id].discard(rung)
            if not self._waiting[saga_id]:
                del self._waiting[saga_id]


@dataclass(frozen=True, slots=True)
class Job:
    """Job in progress. `purpose` distinguishes a second click from a different request; the task returns what went wrong."""

    purpose: tuple[str, ...]
    task: asyncio.Task[SagaGraphError | None]
    is_recorded: IsRecorded | None = None
    """Whether the request is durable by now: it will be carried out whatever happens to this server."""


class Jobs:
    def __init__(self, bell: Bell) -> None:
        self._bell = bell
        self._jobs: dict[str, list[Job]] = defaultdict(list)
        self._problems: dict[str, str] = {}

    def is_busy(self, saga_id: str) -> bool:
        return any(not job.task.done() for job in self._jobs.get(saga_id, ()))

    def problem(self, saga_id: str) -> str:
        """Return why the last request for this saga failed; empty otherwise."""
        return self._problems.get(saga_id, "")

    def start(self, saga_id: str, purpose: tuple[str, ...], work: Work, is_recorded: IsRecorded | None = None) -> Job:
        """Start a job, or return the same one if it is already running."""
        under_way = [job for job in self._jobs[saga_id] if not job.task.done()]
        if same := next((job for job in under_way if job.purpose == purpose), None):
            work.close()
            return same
        self._problems.pop(saga_id, None)
        task = asyncio.create_task(self._see_through(saga_id, work), name=f"{purpose[0]} {saga_id}")
        job = Job(purpose, task, is_recorded)
        self._jobs[saga_id] = [*under_way, job]
        task.add_done_callback(lambda _task: self._bell.ring(saga_id))
        return job

    async def take_on(self, saga_id: str, purpose: tuple[str, ...], work: Work, is_recorded: IsRecorded) -> None:
        """Start a job, and return once the request is durable: from then on it outlives this server, and can be promised.

        Raises whatever prevents that.
        """
        job = self.start(saga_id, purpose, work, is_recorded)
        while True:
            is_over = job.task.done()
            if job.is_recorded is None or await job.is_recorded():
                return
            if is_over:
                self._raise_problem(saga_id, job)
                return  # there was nothing to do
            await self._bell.wait(saga_id, timeout_s=_LOOK_CLOSELY_S)

    def _raise_problem(self, saga_id: str, job: Job) -> None:
        self._problems.pop(saga_id, None)
        if job.task.cancelled():
            raise NotAllowedError(f"saga {saga_id!r}: this was abandoned in favour of a later request", saga_id=saga_id)
        if problem := job.task.result():
            raise problem

    async def _see_through(self, saga_id: str, work: Work) -> SagaGraphError | None:
        try:
            await work
        except SagaGraphError as exc:
            problem = exc
        except Exception:  # noqa: BLE001 - nobody awaits a job: what broke is told on the page and in the log
            _log.exception("saga %s: the request failed", saga_id)
            problem = SagaGraphError("something went wrong in this program; see its log. Try to resume it", saga_id=saga_id)
        else:
            return None
        self._problems[saga_id] = str(problem)
        return problem

    async def stop(self, saga_id: str) -> None:
        await _end(self._jobs.get(saga_id, ()))

    async def stop_all(self) -> None:
        await _end([job for jobs in self._jobs.values() for job in jobs])


async def _end(jobs: Iterable[Job]) -> None:
    tasks = [job.task for job in jobs if not job.task.done()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

"""Starts the workers of a batch, kills, stops, continues and restarts them at random, and sees to it that all of it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from sagagraph.saga.stores.urls import is_postgres
from sagagraph.testing.databases import Databases, memory_folder
from tests.support.databases import ProxiedPostgres
from tests.support.storm import harms
from tests.support.storm.calm import Report, come_to_rest
from tests.support.storm.worker import LEASE_TTL_S, Batch, ask, work

_TICK_S = 0.02
_HARM_EVERY_S = (0.2, 1.8)
"""Each worker, on average in the middle of this."""
_CALM_FOR_A_SERVER = 4.0
"""So many times longer, if workers must first find a server, and that must first miss them."""
_HARMS_OF_WORKERS = 16
"""For one of each kind that befalls the database."""
_STOPPED_S = (0.3, 3.0 * LEASE_TTL_S)
_NEVER_WAKES = 0.2
"""How likely a stopped worker is killed instead of continued."""
_PATIENCE_S = 60.0
_PATIENCE_FOR_EACH_S = 1.0
_CALM_S = 180.0


@dataclass(frozen=True, slots=True)
class Weathered:
    """One batch: what became of its sagas, and what was done to its workers."""

    seed: str
    sagas: int
    workers: int
    seconds: float
    harms: dict[str, int]
    report: Report


def weather(
    databases: Databases, seed: str, sagas: int, workers: int, *, fleet: str = "", restart_fleet: Callable[[], None] | None = None
) -> Weathered:
    """Run one batch of random sagas through a storm. Fork-only: call it from a process without threads."""
    began = time.monotonic()
    if restart_fleet:  # once for all workers, which otherwise die while they import it
        import sagagraph.fleet.temporal.temporal_fleet  # noqa: F401
    with (
        tempfile.TemporaryDirectory(prefix="sagagraph-storm-", dir=memory_folder()) as name,
        databases.fresh(Path(name)) as store_url,
    ):
        patience_s = (_PATIENCE_S + _PATIENCE_FOR_EACH_S * sagas) * (_CALM_FOR_A_SERVER if restart_fleet else 1.0)
        until = time.time() + patience_s
        batch = Batch(seed, sagas, store_url, Path(name), until, os.getpid(), fleet)
        batch.provider.prepare()
        batch.draw()
        harms.prepare(store_url)
        restart = databases.restart if isinstance(databases, ProxiedPostgres) else None
        struck = _Supervisor(batch, workers, restart, restart_fleet).run()
        harms.end(store_url)
        report = _calm(batch)
        return Weathered(seed, sagas, workers, round(time.monotonic() - began, 1), struck, report)


def _calm(batch: Batch) -> Report:
    path = batch.folder / "report"
    judging = _Child("judge", lambda: come_to_rest(batch, path), batch)
    give_up_at = time.time() + _CALM_S
    try:
        while judging.is_running and time.time() < give_up_at:
            time.sleep(_TICK_S)
    finally:
        judging.kill()
    problems = batch.problems.read_text().splitlines() if batch.problems.exists() else []
    if not path.exists():
        return Report(faults=(*problems, "the batch could not be judged"))
    report = Report.read(path)
    return Report(report.before, report.after, report.counts, (*problems, *report.faults), report.evidence)


class _Supervisor:
    def __init__(
        self, batch: Batch, workers: int, restart: Callable[[], None] | None, restart_fleet: Callable[[], None] | None
    ) -> None:
        """`restart` crashes the server of the database and starts it again; None: there is none, or it is not ours.
        `restart_fleet` does the same with the server of the fleet.
        """
        self._batch = batch
        self._random = Random(f"{batch.seed} supervisor")
        self._restart = restart
        self._restart_fleet = restart_fleet
        self._calm = _CALM_FOR_A_SERVER if restart_fleet else 1.0
        self._kinds = harms.kinds_of(batch.store_url, restarts=restart is not None)
        self._kinds |= {harms.FLEET} if restart_fleet else set()
        self._deck: list[str] = []
        self._harms: Counter[str] = Counter({"kills": 0, "stops": 0, "kills while stopped": 0, **dict.fromkeys(self._kinds, 0)})
        self._started = 0
        self._workers = [self._new_worker() for _ in range(workers)]

    def run(self) -> dict[str, int]:
        """Until all sagas are at rest, or the time is over."""
        person = _Child("person", lambda: ask(self._batch), self._batch)
        try:
            harm_at = time.time()
            while any(each.is_running for each in self._workers):
                time.sleep(_TICK_S)
                self._continue_some()
                if time.time() > self._batch.until + _STOPPED_S[1]:
                    self._batch.complain("the time was over before all sagas were at rest")
                    break
                if time.time() >= harm_at:
                    self._harm_one()
                    harm_at = time.time() + self._calm * self._random.uniform(*_HARM_EVERY_S) / len(self._workers)
        finally:
            for each in (*self._workers, person):
                each.kill()
        self._harms.update(self._batch.struck.counts())
        return dict(self._harms)

    def _harm_one(self) -> None:
        """The next harm of a shuffled deck: none comes much later than another."""
        if not self._deck:
            self._deck = [*(["workers"] * _HARMS_OF_WORKERS), *self._kinds & {harms.CUT, harms.RESTART, harms.FULL, harms.FLEET}]
            self._random.shuffle(self._deck)
        kind = self._deck.pop()
        if kind == "workers":
            self._harm_worker()
        elif kind == harms.RESTART and self._restart is not None:
            self._restart()
            self._harms[kind] += 1
        elif kind == harms.FLEET and self._restart_fleet is not None:
            self._restart_fleet()
            self._harms[kind] += 1
        elif kind == harms.CUT:
            self._harms[kind] += harms.cut_all(self._batch.store_url)
        elif is_postgres(self._batch.store_url):
            harms.fill_disk(self._batch.store_url)

    def _harm_worker(self) -> None:
        worker = self._random.choice(self._workers)
        if not worker.is_running or worker.stopped_until is not None:
            return
        if self._random.random() < 0.5:
            self._harms["stops"] += 1
            worker.stop(self._random.uniform(*_STOPPED_S))
        else:
            self._replace(worker, "kills")

    def _continue_some(self) -> None:
        for each in [each for each in self._workers if each.stopped_until is not None and time.time() >= each.stopped_until]:
            if self._random.random() < _NEVER_WAKES:
                self._replace(each, "kills while stopped")
            else:
                each.go_on()

    def _replace(self, worker: _Child, harm: str) -> None:
        self._harms[harm] += 1
        worker.kill()
        self._workers[self._workers.index(worker)] = self._new_worker()

    def _new_worker(self) -> _Child:
        self._started += 1
        name = f"worker {self._started}"
        return _Child(name, lambda: work(self._batch, name), self._batch)


class _Child:
    """A forked process, known by its id, and waited for by nobody else."""

    def __init__(self, name: str, job: Callable[[], Coroutine[Any, Any, None]], batch: Batch) -> None:
        self.stopped_until: float | None = None
        self._is_over = False
        self._pid = os.fork()
        if self._pid == 0:
            try:
                asyncio.run(job())
            except BaseException as exc:
                traceback.print_exc()
                batch.complain(f"{name} ended with {exc!r}")
            finally:
                os._exit(0)

    @property
    def is_running(self) -> bool:
        if not self._is_over:
            self._is_over = os.waitpid(self._pid, os.WNOHANG)[0] == self._pid
        return not self._is_over

    def stop(self, seconds: float) -> None:
        self.stopped_until = time.time() + seconds
        os.kill(self._pid, signal.SIGSTOP)

    def go_on(self) -> None:
        self.stopped_until = None
        if self.is_running:
            os.kill(self._pid, signal.SIGCONT)

    def kill(self) -> None:
        if self.is_running:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            self._is_over = True

"""Crash sweep: runs a saga once for every boundary, harms it there, resumes it, and lets the outside world judge.

Every run is a process forked after the imports and harmed for real: killed, stopped and continued while another one took over, or
cut off from its database. Nothing is simulated. Sweep from a process without threads.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from sagagraph.errors import InvalidInputError, SagaGraphError
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.holder import LEASE_TTL_S
from sagagraph.saga.stores.urls import open_store
from sagagraph.testing.crash import CrashPoint, die, freeze
from sagagraph.testing.databases import Databases, memory_folder
from sagagraph.testing.scenario import STORE, Judgement, Scenario, store_of

SHORT_LEASE_S = 1.0
"""The lease of a worker that will be stopped: another one waits for it to expire."""
_END_S = 60.0
"""Seconds after which a run is killed, and counts as a fault."""
BLOCKED = "locked the file while it was stopped"
_TICK_S = 0.005
Job = Callable[[], Coroutine[Any, Any, Any]]


class Harm(StrEnum):
    KILL = "kill"
    """SIGKILL."""
    STOP = "stop"
    """SIGSTOP; another process takes over, and only then SIGCONT."""
    CUT = "cut"
    """All connections to the database are reset."""
    LOSE = "lose"
    """The next statement is executed, and its acknowledgement is lost with its connection."""


@dataclass(frozen=True, slots=True)
class Case:
    """Case. `boundary` counts from 1, among those asked for; `place` is its name, empty if the run ended before reaching it.

    `ended`: how the harmed run ended, empty if it never did.
    """

    scenario: str
    boundary: int
    place: str
    judgement: Judgement
    harm: Harm = Harm.KILL
    ended: str = ""

    @property
    def was_harmed(self) -> bool:
        return bool(self.place)


def places_of(scenario: Scenario, databases: Databases) -> list[str]:
    """Return the names of the boundaries that an undisturbed run passes, in order."""
    with _case_folder(scenario, databases) as folder:
        _warm_up(lambda: scenario.run(folder, CrashPoint(0, folder / "trace")), folder)
        return _trace(folder)


def check_harm(harm: Harm, databases: Databases) -> None:
    """Check the harm. Raises `InvalidInputError` if there is no connection to cut."""
    if harm in (Harm.CUT, Harm.LOSE) and databases.proxy is None:
        raise InvalidInputError(f"{harm.value} needs a database behind a proxy", field="--harm")


def harm_at(scenario: Scenario, boundary: int, harm: Harm, databases: Databases, *, place: str = "") -> Case:
    """Return one case: run with harm at `boundary`, resume, judge, and resume again, when nothing may be left to do.

    With `place`, only boundaries with this in their name are counted: what is written in between can differ from run to run.
    """
    check_harm(harm, databases)
    with _case_folder(scenario, databases) as folder:
        case = _HarmedCase(scenario, boundary, place, harm, databases, folder)
        try:
            ended, faults = case.stopped() if harm is Harm.STOP else case.killed() if harm is Harm.KILL else case.cut_off()
        except SagaGraphError as exc:  # the remains cannot even be read
            ended, faults = "", [str(exc)]
        passed = [name for name in _trace(folder) if place in name]
        there = passed[boundary - 1] if len(passed) >= boundary else ""
        judged = case.last_judgement
        all_faults = tuple(dict.fromkeys((*faults, *judged.faults)))
        return Case(scenario.name, boundary, there, Judgement(judged.outcome, all_faults), harm, ended)


class _HarmedCase:
    def __init__(self, scenario: Scenario, boundary: int, place: str, harm: Harm, databases: Databases, folder: Path) -> None:
        self._scenario = scenario
        self._boundary = boundary
        self._place = place
        self._harm = harm
        self._databases = databases
        self._folder = folder
        self.last_judgement = Judgement("")

    def killed(self) -> tuple[str, list[str]]:
        self._run(die).wait()
        return "", [*self._resume_and_judge(), *self._resume_once_more()]

    def cut_off(self) -> tuple[str, list[str]]:
        store_url = store_of(self._folder)
        child = _Child(self._run_behind_proxy, self._folder)
        faults = child.wait_a_while()
        (self._folder / STORE).write_text(store_url)
        if child.ended.is_unexpected:
            faults.append(f"its run ended with {child.ended.what}")
        return child.ended.what, [*faults, *self._resume_and_judge(), *self._resume_once_more()]

    async def _run_behind_proxy(self) -> None:
        if self._databases.proxy is None:
            raise AssertionError("checked before")
        with self._databases.proxy() as proxy:
            store = self._folder / STORE
            store.write_text(proxy.url(store.read_text()))
            harm = proxy.cut if self._harm is Harm.CUT else proxy.cut_after_next_request
            await self._scenario.run(self._folder, self._crash(harm, LEASE_TTL_S))

    def stopped(self) -> tuple[str, list[str]]:
        """Let another process take over; then continue the stopped one, which may append nothing to the sagas taken from it."""
        child = self._run(freeze)
        if not child.is_stopped():
            return "", [*self._resume_and_judge(), *self._resume_once_more()]
        before = self._heads()
        faults = self._resume_and_judge()
        blocks = self._harm_blocks_others(faults)
        if blocks:
            faults, self.last_judgement = [], Judgement("")
        taken = self._heads()
        child.go_on()
        faults += child.wait_a_while()
        if child.ended.is_unexpected:
            faults.append(f"the stopped worker ended with {child.ended.what}")
        left = self._heads()
        superseded = [each for each in before if taken[each].epoch > before[each].epoch]
        for each in superseded:
            if any(epoch <= taken[each].epoch for epoch in left[each].epochs[len(taken[each].epochs) :]):
                faults.append(f"the stopped worker appended to {each} after it was superseded")
        faults += self._resume_and_judge()
        after = self._heads()
        for each in superseded:
            took_it_again = left[each].epoch > taken[each].epoch  # rightly so: for work that had not begun yet
            if taken[each].status.is_final and after[each].status is not taken[each].status and not took_it_again:
                faults.append(f"{each} was {taken[each].status}, and is {after[each].status} after the stopped worker went on")
        return BLOCKED if blocks else child.ended.what, [*faults, *self._resume_once_more()]

    def _harm_blocks_others(self, faults: list[str]) -> bool:
        """Tell whether it was stopped in a transaction on a file with one lock: nobody can take over before it continues
        or dies.
        """
        return self._databases.locks_whole_file and any("database is locked" in each for each in faults)

    # -- steps -------------------------------------------------------------------------------------------------------

    def _run(self, harm: Callable[[], None]) -> _Child:
        lease_ttl_s = SHORT_LEASE_S if self._harm is Harm.STOP else LEASE_TTL_S
        return _Child(lambda: self._scenario.run(self._folder, self._crash(harm, lease_ttl_s)), self._folder)

    def _crash(self, harm: Callable[[], None], lease_ttl_s: float) -> CrashPoint:
        return CrashPoint(self._boundary, self._folder / "trace", harm, place=self._place, lease_ttl_s=lease_ttl_s)

    def _resume_and_judge(self) -> list[str]:
        """Return faults of the resumption itself, and of a judgement that another one will follow."""
        faults = [*self.last_judgement.faults]
        resuming = _Child(lambda: self._scenario.resume(self._folder), self._folder)
        faults += resuming.wait_a_while()
        if resuming.ended.what:
            faults.append(f"its resume ended with {resuming.ended.what}")
        self.last_judgement = _answer(lambda: self._scenario.judge(self._folder), self._folder)
        return faults

    def _resume_once_more(self) -> list[str]:
        first = self.last_judgement
        faults = self._resume_and_judge()
        if self.last_judgement != first and not first.faults:
            faults.append(f"a second resume changed {first.outcome}")
        return faults

    def _heads(self) -> dict[str, _Head]:
        heads: dict[str, _Head] = _answer(lambda: _read_heads(store_of(self._folder)), self._folder)
        return heads


class _Head(NamedTuple):
    """Head: the end of a journal; the epoch of each of its entries."""

    status: SagaStatus
    epochs: tuple[int, ...]

    @property
    def epoch(self) -> int:
        return self.epochs[-1]


async def _read_heads(store_url: str) -> dict[str, _Head]:
    store = await open_store(store_url)
    try:
        journals = {each.saga_id: await store.read(each.saga_id) for each in await store.headlines()}
    finally:
        await store.close()
    return {
        saga_id: _Head(status_of(fold(saga_id, entries)), tuple(each.epoch for each in entries))
        for saga_id, entries in journals.items()
    }


@contextmanager
def _case_folder(scenario: Scenario, databases: Databases) -> Iterator[Path]:
    """Return a fresh folder and database with the scenario's world around them, after its preparation."""
    with tempfile.TemporaryDirectory(prefix="sagagraph-sweep-", dir=memory_folder()) as name:
        folder = Path(name)
        with databases.fresh(folder) as store_url:
            (folder / STORE).write_text(store_url)
            with scenario.world(folder):
                _warm_up(lambda: scenario.prepare(folder), folder)
                yield folder


def _trace(folder: Path) -> list[str]:
    trace = folder / "trace"
    return trace.read_text(encoding="utf-8").splitlines() if trace.exists() else []


# -- processes -------------------------------------------------------------------------------------------------------


class _Ended(NamedTuple):
    """End of a process: with an exception, in words, or without one. `is_unexpected`: not one of this library's."""

    what: str = ""
    is_unexpected: bool = False


class _Child:
    """Forked process that does one thing, reports how it ended, and is waited for only here."""

    def __init__(self, job: Job, folder: Path) -> None:
        self._word = folder / f"ended-{uuid4().hex}"
        self._pid = os.fork()
        if self._pid == 0:
            try:
                asyncio.run(job())
            except BaseException as exc:  # noqa: BLE001 - told to whoever waits
                if not isinstance(exc, SagaGraphError):
                    traceback.print_exc()
                self._word.write_bytes(pickle.dumps(_Ended(_in_words(exc), not isinstance(exc, SagaGraphError))))
            finally:
                os._exit(0)

    def wait(self) -> None:
        os.waitpid(self._pid, 0)

    def wait_a_while(self) -> list[str]:
        """Wait, and return the fault, if it had to be killed."""
        give_up_at = time.monotonic() + _END_S
        while os.waitpid(self._pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > give_up_at:
                os.kill(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)
                return [f"a process had not ended after {_END_S:.0f} s"]
            time.sleep(_TICK_S)
        return []

    def is_stopped(self) -> bool:
        """Wait until it is stopped, or has ended."""
        _pid, status = os.waitpid(self._pid, os.WUNTRACED)
        return os.WIFSTOPPED(status)

    def go_on(self) -> None:
        os.kill(self._pid, signal.SIGCONT)

    @property
    def ended(self) -> _Ended:
        ended: _Ended = pickle.loads(self._word.read_bytes()) if self._word.exists() else _Ended()  # noqa: S301 - our own
        return ended


def _warm_up(job: Job, folder: Path) -> None:
    """Call `job` in a process; then import what it imported, so that those that are forked later need not."""
    imported = folder / f"imported-{uuid4().hex}"

    async def noticed() -> None:
        before = {*sys.modules}
        try:
            await job()
        finally:
            imported.write_text("\n".join(name for name in sys.modules if name not in before))

    _Child(noticed, folder).wait()
    for name in imported.read_text().split() if imported.exists() else ():
        with suppress(ImportError):
            import_module(name)


def _in_words(exc: BaseException) -> str:
    return f"{type(exc).__name__}: {exc}".splitlines()[0]


def _answer(job: Job, folder: Path) -> Any:
    """Return what `job` returns, called in a separate process: this one stays free of threads."""
    path = folder / f"answer-{uuid4().hex}"

    async def answer() -> None:
        path.write_bytes(pickle.dumps(await job()))

    asking = _Child(answer, folder)
    asking.wait()
    if not path.exists():
        raise SagaGraphError(f"a case could not be judged: {asking.ended.what}")
    return pickle.loads(path.read_bytes())  # noqa: S301 - our own

"""The crash sweep: run a saga once for every boundary, kill it there, resume it, and let the outside world judge.

Every run is a process forked after the imports, killed with SIGKILL; nothing is simulated. Sweep from a process without threads.
"""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
import traceback
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sagagraph.testing.crash import CrashPoint
from sagagraph.testing.scenario import Judgement, Scenario


@dataclass(frozen=True, slots=True)
class Case:
    """`boundary` counts from 1; `place` is its name, empty where the run ended before it came to it."""

    scenario: str
    boundary: int
    place: str
    judgement: Judgement

    @property
    def was_killed(self) -> bool:
        return bool(self.place)


def boundaries_of(scenario: Scenario) -> int:
    """How many boundaries an undisturbed run passes."""
    with _case_folder(scenario) as folder:
        _in_child(lambda: scenario.run(folder, CrashPoint(0, folder / "trace")))
        return len(_trace(folder))


def sweep(scenario: Scenario, boundaries: Iterable[int]) -> Iterator[Case]:
    for boundary in boundaries:
        yield kill_at(scenario, boundary)


def kill_at(scenario: Scenario, boundary: int) -> Case:
    """One case: run and die at `boundary`, resume twice (the second time nothing may be left to do), and judge."""
    with _case_folder(scenario) as folder:
        died = _in_child(lambda: scenario.run(folder, CrashPoint(boundary, folder / "trace")))
        place = _trace(folder)[-1] if died else ""
        _in_child(lambda: scenario.resume(folder))
        first = asyncio.run(scenario.judge(folder))
        _in_child(lambda: scenario.resume(folder))
        second = asyncio.run(scenario.judge(folder))
        if second != first and not first.faults:
            second = Judgement(second.outcome, (*second.faults, f"a second resume changed {first.outcome}"))
        return Case(scenario.name, boundary, place, second if not first.faults else first)


@contextmanager
def _case_folder(scenario: Scenario) -> Iterator[Path]:
    """A fresh folder with the scenario's world around it, and what comes before its run done."""
    with tempfile.TemporaryDirectory(prefix="sagagraph-sweep-") as name:
        folder = Path(name)
        with scenario.world(folder):
            _in_child(lambda: scenario.prepare(folder))
            yield folder


def _trace(folder: Path) -> list[str]:
    trace = folder / "trace"
    return trace.read_text(encoding="utf-8").splitlines() if trace.exists() else []


def _in_child(work: Callable[[], Coroutine[Any, Any, Any]]) -> bool:
    """Run `work` in a forked process; whether it was killed."""
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(work())
        except BaseException:  # noqa: BLE001 - the case is judged by what it left behind
            traceback.print_exc()
        finally:
            os._exit(0)
    _pid, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL

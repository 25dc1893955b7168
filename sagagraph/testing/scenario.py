"""What the sweep needs to know of a saga in order to kill it everywhere."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sagagraph.testing.crash import CrashPoint


@dataclass(frozen=True, slots=True)
class Judgement:
    """`outcome` in a word; `faults`: what an outside ledger shows that must never be. Empty is good."""

    outcome: str
    faults: tuple[str, ...] = ()


class Scenario(Protocol):
    """One way through a saga. Each case gets a fresh `folder`; `run` and `resume` are called in processes of their own.

    `world` is entered in the sweep's process and stays up while the others die: start what stands outside the saga there, and
    leave its address in `folder`. `run` opens its engine with the crash point around its store and calls; what it raises is
    ignored. `resume` goes on without one, and returns when the saga is quiet. `judge` asks the outside world, not the saga.
    """

    @property
    def name(self) -> str: ...

    def world(self, folder: Path) -> AbstractContextManager[None]: ...

    async def prepare(self, folder: Path) -> None:
        """What has happened before the run: nothing, for most."""

    async def run(self, folder: Path, crash: CrashPoint) -> None: ...

    async def resume(self, folder: Path) -> None: ...

    async def judge(self, folder: Path) -> Judgement: ...

"""Scenarios: what the sweep needs to know of a saga in order to harm it everywhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sagagraph.errors import SagaGraphError, StoreError
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.urls import open_store
from sagagraph.testing.crash import CrashPoint


@dataclass(frozen=True, slots=True)
class Judgement:
    """Judgement of an outcome. `outcome` in a word; `faults`: forbidden states that an outside ledger shows. Empty is good."""

    outcome: str
    faults: tuple[str, ...] = ()


STORE = "store"
"""The file in a case's folder that names its store."""


def store_of(folder: Path) -> str:
    """Return the URL of the case's store."""
    return (folder / STORE).read_text()


class Scenario(Protocol):
    """Scenario: one way through a saga. Each case has a fresh `folder` and database, and all but `world` run in separate
    processes.

    `world` is entered in the sweep's process and stays up while the others die: start the saga's outside world there, and put its
    address into `folder`. The others open the store that `store_of(folder)` names at that moment. `run` opens its engine with the
    crash point around its store and calls, and with its `lease_ttl_s`; it may raise errors of this library. `resume` continues
    without a crash point, and returns when the saga is quiet. `judge` asks the outside world, not the saga.
    """

    @property
    def name(self) -> str: ...

    def world(self, folder: Path) -> AbstractContextManager[None]: ...

    async def prepare(self, folder: Path) -> None:
        """Set up what has happened before the run: usually nothing."""

    async def run(self, folder: Path, crash: CrashPoint) -> None: ...

    async def resume(self, folder: Path) -> None: ...

    async def judge(self, folder: Path) -> Judgement: ...


class BodyScenario(ABC):
    """A scenario of a saga that a function runs, resumed by running it again; its services are files in the case's folder."""

    name: str

    @abstractmethod
    async def body(self, engine: Engine, folder: Path) -> None:
        """Run the saga, or rerun it."""

    @abstractmethod
    async def judge(self, folder: Path) -> Judgement: ...

    @contextmanager
    def world(self, folder: Path) -> Iterator[None]:  # noqa: ARG002 - files need nobody
        yield

    async def prepare(self, folder: Path) -> None:  # noqa: B027 - nothing has happened before
        pass

    async def run(self, folder: Path, crash: CrashPoint) -> None:
        store = crash.around_store(await open_store(store_of(folder)))
        await self._run(Engine(store, around_call=crash.around_call, lease_ttl_s=crash.lease_ttl_s), folder)

    async def resume(self, folder: Path) -> None:
        try:
            await self._run(Engine(await open_store(store_of(folder))), folder)
        except StoreError:
            raise  # nothing was resumed
        except SagaGraphError:
            pass  # held or compensated: the judge decides

    async def _run(self, engine: Engine, folder: Path) -> None:
        try:
            await self.body(engine, folder)
        finally:
            await engine.close()

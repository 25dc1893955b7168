"""What the children of test_real_crashes.py do: `sweep SCENARIO STORE STRIDE` or `freeze FOLDER PROVIDER`."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sagagraph import Lock
from sagagraph.errors import SagaClosedError, SagaGraphError, UnknownSagaError
from sagagraph.saga.core.evolve.evolve import fold
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.actions import Action, to_json
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.port import SagaStore
from sagagraph.saga.stores.sqlite import SqliteSagaStore
from sagagraph.saga.stores.urls import open_store
from sagagraph.testing.crash import CrashPoint
from sagagraph.testing.scenario import Judgement, store_of
from sagagraph.testing.sweep import Case, Harm, harm_at, places_of
from tests.support.databases import databases
from tests.support.replaying import check_replays

from .ledger import Ledger

SAGA = "trip"
LEASE_TTL_S = 1.0
BOOKED = {"car": 1, "flight": 1, "hotel": 1}
to_json(None)  # pydantic is imported when it is first needed: once here, rather than in each process that is forked


class NoHolidayError(Exception):
    pass


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def body(engine: Engine, ledger: Ledger, *, fails: bool = False) -> None:
    """Each operation takes a lock (rule 12), so that every boundary of taking and freeing one is among those of the body."""

    def locking(name: str) -> Action:
        return ledger.action(name, locks=lambda _request: [Lock(name)])

    async with engine.saga(SAGA) as saga:
        await saga.run(locking("flight"))
        await asyncio.gather(saga.run(locking("hotel")), saga.run(locking("car")))
        if fails:
            raise NoHolidayError


async def lock_faults(store: SagaStore) -> tuple[str, ...]:
    """Where the locks that the store keeps are not those that follow from the journals (I11)."""
    sagas = [fold(each.saga_id, await store.read(each.saga_id)) for each in await store.headlines()]
    told = sorted((saga.id, name) for saga in sagas for name in saga.index.locking)
    kept = sorted((each.saga_id, each.operation) for each in await store.holdings())
    return () if kept == told else (f"the store keeps locks for {kept}, the journals say {told}",)


@dataclass(frozen=True)
class BodyScenario:
    """`runs_again`: resumed by running the body again, else without it. `remembers_keys`: what the provider guarantees."""

    name: str
    fails: bool = False
    runs_again: bool = True
    remembers_keys: bool = True
    promises: str = "keys"

    @property
    def needs_nobody(self) -> bool:
        return self.remembers_keys or self.promises != "keys"

    def ledger(self, folder: Path) -> Ledger:
        return Ledger(folder / "ledger.db", remembers_keys=self.remembers_keys, promises=self.promises)

    @contextmanager
    def world(self, folder: Path) -> Iterator[None]:
        self.ledger(folder).prepare()
        yield

    async def prepare(self, folder: Path) -> None:
        pass

    async def run(self, folder: Path, crash: CrashPoint) -> None:
        store = crash.around_store(await open_store(store_of(folder)))
        await self._run_body(Engine(store, around_call=crash.around_call, lease_ttl_s=crash.lease_ttl_s), folder)

    async def resume(self, folder: Path) -> None:
        engine = Engine(await open_store(store_of(folder)))
        try:
            assert await lock_faults(engine.store) == ()
            for name in BOOKED:
                engine.register(self.ledger(folder).action(name))
            if self.runs_again:
                await self._run_body(engine, folder)
            if not (self.runs_again and self.needs_nobody):  # a body that runs again needs nobody's help
                await engine.resume(SAGA)
        except UnknownSagaError:
            pass
        finally:
            await engine.close()

    async def _run_body(self, engine: Engine, folder: Path) -> None:
        # While a worker that was stopped may go on, what it called is held; the judge looks at how it ends.
        given_up = () if self.promises == "keys" and self.remembers_keys else (SagaGraphError,)
        with suppress(NoHolidayError, SagaClosedError, *given_up):
            await body(engine, self.ledger(folder), fails=self.fails)

    async def judge(self, folder: Path) -> Judgement:
        engine = Engine(await open_store(store_of(folder)))
        try:
            await check_replays(engine.store)
            unlike = await lock_faults(engine.store)
            view = await engine.status(SAGA)
            status = view.status
        except UnknownSagaError:
            return Judgement("never begun", self.ledger(folder).faults())
        finally:
            await engine.close()
        ledger = self.ledger(folder)
        faults, live = [*ledger.faults(), *unlike], ledger.live()
        if view.locks and status.is_final:
            faults.append(f"{status.value}, and keeps {view.locks}")
        if status is SagaStatus.COMMITTED and live != BOOKED:
            faults.append(f"committed, but the ledger holds {live}")
        if status is SagaStatus.COMPENSATED and live:
            faults.append(f"compensated, but the ledger holds {live}")
        return Judgement(status.value, tuple(faults))


PROVIDERS: dict[str, dict[str, Any]] = {
    "remembers": {},
    "forgets": {"remembers_keys": False},
    "settles": {"remembers_keys": False, "promises": "settles"},
}

SCENARIOS = {
    each.name: each
    for each in (
        BodyScenario("the body runs again"),
        BodyScenario("the body fails and runs again", fails=True),
        BodyScenario("it is resumed without its body", fails=True, runs_again=False),
        BodyScenario("nothing is guaranteed", fails=True, remembers_keys=False),
        BodyScenario("it settles", remembers_keys=False, promises="settles"),
        BodyScenario("it settles, and the body fails", fails=True, remembers_keys=False, promises="settles"),
        BodyScenario("its undoing copes", remembers_keys=False, promises="copes"),
        BodyScenario("its undoing copes, and the body fails", fails=True, remembers_keys=False, promises="copes"),
    )
}

PROMISED = tuple(each for each in SCENARIOS.values() if each.promises != "keys")
"""Of providers that keep only what ordinary code can promise: `python -m sagagraph.testing tests.saga.crash_worker:PROMISED`."""


def sweep_in_steps(name: str, kind: str, stride: int) -> None:
    """Each scenario begins at another boundary: what is skipped here is met there.

    Where something is undone, one of any two that follow each other is met: before or after a compensation.
    """
    scenario = SCENARIOS[name]
    step = stride * (2 if scenario.fails else 3)
    first = 1 + list(SCENARIOS).index(name) % step
    with databases(kind) as made:
        for boundary in range(first, len(places_of(scenario, made)) + 1, step):
            case: Case = harm_at(scenario, boundary, Harm.KILL, made)
            tell(json.dumps(asdict(case)))


async def freeze(folder: Path, provider: str) -> None:
    """Run the body slowly, for a test that stops this process in the middle of its first call."""
    ledger = Ledger(folder / "ledger.db", calls_take_s=0.5, **PROVIDERS[provider])
    engine = Engine(await SqliteSagaStore.open(folder / "journal.db"), lease_ttl_s=LEASE_TTL_S)
    try:
        await body(engine, ledger)
    except SagaGraphError as exc:
        tell(type(exc).__name__)
    else:
        tell("committed")
    finally:
        await engine.close()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["sweep", name, kind, stride]:
            sweep_in_steps(name, kind, int(stride))
        case ["freeze", folder, provider]:
            asyncio.run(freeze(Path(folder), provider))

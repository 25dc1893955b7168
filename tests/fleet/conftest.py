from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from sagagraph.fleet.port import Fleet
from sagagraph.fleet.store_fleet import StoreFleet
from sagagraph.saga.engine.actions import DECLARED
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.migration import upgrade
from sagagraph.saga.stores.sqlite import SqliteSagaStore
from tests.saga.service import Service
from tests.support.temporal import TemporalServer, temporal

EVERY_FLEET = ("store", "temporal")


@pytest.fixture(scope="package")
def temporal_server() -> Iterator[TemporalServer]:
    """Not for the whole session: a server that has nothing to do takes a fifth of a core."""
    with temporal() as server:
        yield server


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
async def engine(tmp_path: Path, service: Service) -> AsyncIterator[Engine]:
    upgrade(f"sqlite:///{tmp_path / 'saga.db'}")
    made = Engine(await SqliteSagaStore.open(tmp_path / "saga.db"))
    yield made
    await made.close()


@pytest.fixture(params=EVERY_FLEET)
async def fleet(request: pytest.FixtureRequest, engine: Engine) -> Fleet:
    """What every port promises, on each of the adapters."""
    if request.param == "store":
        return StoreFleet(engine.store)
    from sagagraph.fleet.temporal.temporal_fleet import TemporalFleet, connect

    return TemporalFleet(await connect(request.getfixturevalue("temporal_server").address), engine.store)


@pytest.fixture(params=EVERY_FLEET)
async def limited(request: pytest.FixtureRequest, engine: Engine) -> tuple[Fleet, Fleet]:
    """Two workers of one store that share a limit of four drives a second."""
    if request.param == "store":
        return StoreFleet(engine.store, most_per_second=4.0), StoreFleet(engine.store, most_per_second=4.0)
    from sagagraph.fleet.temporal.temporal_fleet import TemporalFleet, connect

    address = request.getfixturevalue("temporal_server").address
    one, other = await connect(address), await connect(address)
    return TemporalFleet(one, engine.store, most_per_second=4.0), TemporalFleet(other, engine.store, most_per_second=4.0)


@pytest.fixture(autouse=True)
def no_other_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other tests defined under the same names is not known here."""
    for names in ("_actions", "_renamed"):
        monkeypatch.setattr(DECLARED, names, {})

"""A worker that is killed, or freezes, with a saga: the other one has it within its lease and a second."""

from __future__ import annotations

import signal

import pytest

from benchmarks.fleet import ACTIONS, fleet_of, takeover
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.engine.holder import LEASE_TTL_S


@pytest.mark.parametrize("harm", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("kind", ["store", "temporal"])
async def test_another_worker_takes_over_soon(
    kind: str, harm: signal.Signals, database: str, request: pytest.FixtureRequest
) -> None:
    words = "store" if kind == "store" else request.getfixturevalue("temporal_server").address
    async with Engine.open(database, actions=ACTIONS) as engine:
        assert await takeover(engine, await fleet_of(words, engine), words, database, "a", harm) < LEASE_TTL_S + 1.0

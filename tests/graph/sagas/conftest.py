"""An engine, and a ledger for the effects of nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sagagraph import Engine
from tests.saga.ledger import Ledger


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'saga.db'}"


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    """On a journal in memory: what needs a second process opens its own."""
    async with Engine.open("memory:") as opened:
        yield opened


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path / "ledger.db", calls_take_s=0.001)
    made.prepare()
    return made

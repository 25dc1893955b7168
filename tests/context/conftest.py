from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from sagagraph import Engine


@pytest.fixture
async def memory_engine() -> AsyncIterator[Engine]:
    async with Engine.open("memory:") as engine:
        yield engine

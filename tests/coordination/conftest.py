"""Worlds are closed when the test that made them has ended."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.coordination.world import WORLDS


@pytest.fixture(autouse=True)
def _closed_worlds() -> Iterator[None]:
    yield
    while WORLDS:
        WORLDS.pop().close()

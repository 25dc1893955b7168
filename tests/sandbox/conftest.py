"""A sandbox of one's own for every test, on a fresh file, with real HTTP requests but without a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.caller import Caller, RealTime, calling, write_faults

Open = Callable[..., AbstractAsyncContextManager[Caller]]


@pytest.fixture
def real_time() -> RealTime:
    """What stands for real time in the sandboxes of this test; it moves only when told to."""
    return RealTime()


@pytest.fixture
def open_sandbox(tmp_path: Path, real_time: RealTime) -> Open:
    """Opens a sandbox on the test's file: again and again on the same one; `faults` are entries of its faults file."""

    def open_it(*, faults: list[dict[str, Any]] | None = None, **settings: Any) -> AbstractAsyncContextManager[Caller]:
        if faults is not None:
            settings["faults"] = write_faults(tmp_path, faults)
        return calling(tmp_path / "sandbox.db", real_time, **settings)

    return open_it


@pytest.fixture
async def sandbox(open_sandbox: Open) -> AsyncIterator[Caller]:
    async with open_sandbox() as caller:
        yield caller

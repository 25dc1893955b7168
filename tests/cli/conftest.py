"""The command line as others call it: a store, an outbox and a reservation service of their own for every test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from sagagraph.sandbox.server import EmbeddedSandbox
from tests.cli.commands import CommandLine, sandbox_at
from tests.support.replaying import check_file
from tests.support.today import TODAY

OpenService = Callable[..., AbstractContextManager[EmbeddedSandbox]]


@pytest.fixture(autouse=True)
def _nothing_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither its settings nor its user's data folder."""
    for name in ("SAGAGRAPH_STORE", "SAGAGRAPH_PROVIDER_URL", "SAGAGRAPH_LOG", "SAGAGRAPH_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SAGAGRAPH_TODAY", str(TODAY))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
async def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> AsyncIterator[CommandLine]:
    """Without `--provider`: with the reservation service that the command runs itself, on a file beside the store."""
    called = CommandLine(monkeypatch, capsys, tmp_path)
    yield called
    if called.store_file.exists():
        await check_file(called.store_file)


@pytest.fixture
def open_service(tmp_path: Path) -> OpenService:
    """Runs a reservation service of its own; `faults` are the entries of its faults file."""

    def open_it(faults: list[dict[str, Any]] | None = None, **settings: Any) -> AbstractContextManager[EmbeddedSandbox]:
        return sandbox_at(tmp_path / "service.db", faults or [], **settings)

    return open_it


@pytest.fixture
def service(open_service: OpenService) -> Iterator[EmbeddedSandbox]:
    with open_service() as running:
        yield running

"""`sagagraph mcp`: a client begins, approves and cancels sagas; a server killed in the middle loses and doubles nothing."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client

from sagagraph.sandbox.server import EmbeddedSandbox

ROOT = Path(__file__).parents[2]
SAMPLE = "From San Francisco to Berlin for 4 nights and Cologne for 2 nights and back, leaving on 4 June 2025, under $5,000"


@asynccontextmanager
async def client_of(service: EmbeddedSandbox, tmp_path: Path) -> AsyncIterator[ClientSession]:
    words = ["-m", "sagagraph", "mcp", "--store", f"sqlite:///{tmp_path / 'sagas.db'}", "--provider", service.url]
    parameters = StdioServerParameters(command=sys.executable, args=words, cwd=ROOT, env=dict(os.environ))
    async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
        await session.initialize()
        yield session


async def told(session: ClientSession, tool: str, **arguments: Any) -> Any:
    said = await session.call_tool(tool, arguments)
    assert not said.isError, said.content
    return json.loads(said.content[0].text)  # type: ignore[union-attr]


def reservations(service: EmbeddedSandbox) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = httpx2.get(f"{service.url}/ledger", timeout=60).json()["reservations"]
    return found


async def _killed_in_the_middle(session: ClientSession, service: EmbeddedSandbox, shown: Any) -> None:
    (server,) = (each for each in psutil.Process().children(recursive=True) if "mcp" in each.cmdline())
    approving = asyncio.create_task(told(session, "approve", saga_id="trip", plan_hash=shown["plan_hash"]))
    while len(reservations(service)) < 2:  # noqa: ASYNC110 - another process is watched
        await asyncio.sleep(0.005)
    server.kill()
    approving.cancel()
    with suppress(asyncio.CancelledError, McpError):
        await approving


async def test_a_client_has_a_trip_booked_by_two_servers_of_which_the_first_is_killed(
    service: EmbeddedSandbox, tmp_path: Path
) -> None:
    with suppress(ExceptionGroup):  # of the client, whose server is gone
        async with client_of(service, tmp_path) as session:
            hints = {each.name: each.annotations for each in (await session.list_tools()).tools}
            assert {name: each.destructiveHint for name, each in hints.items() if each} == {
                "begin": False,
                "approve": True,
                "status": None,
                "resume": True,
                "cancel": True,
            }
            shown = await told(session, "begin", domain="travel", text=SAMPLE, saga_id="trip")
            assert (shown["status"], reservations(service)) == ("awaiting_approval", [])
            assert shown["plan"]
            refused = await session.call_tool("approve", {"saga_id": "trip", "plan_hash": "another"})
            assert refused.isError
            assert "another" in refused.content[0].text  # type: ignore[union-attr]
            assert reservations(service) == []
            await _killed_in_the_middle(session, service, shown)
    async with client_of(service, tmp_path) as session:
        assert (await told(session, "status", saga_id="trip"))["status"] == "running"
        assert (await told(session, "resume", saga_id="trip"))["status"] == "committed"
        made = reservations(service)
        assert len(made) == len({each["operation_id"] for each in made}) == 5
        undone = await told(session, "cancel", saga_id="trip", preview=True)
        assert undone
        assert (await told(session, "cancel", saga_id="trip"))["status"] == "compensated"
        assert {each["state"] for each in reservations(service)} == {"cancelled"}


@pytest.mark.quick
def test_what_is_missing_is_named(tmp_path: Path) -> None:
    from mcp.server.fastmcp.exceptions import ToolError

    from sagagraph.cli.mcp.server import _Sagas
    from sagagraph.cli.options import Options

    sagas = _Sagas(Options(f"sqlite:///{tmp_path / 'sagas.db'}"))
    with pytest.raises(ToolError, match="there is no store"):
        asyncio.run(sagas.status("nobody"))

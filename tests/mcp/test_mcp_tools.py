"""Tools of a real MCP server, over stdio and HTTP: what they did is undone, and a server that dies doubles nothing."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import BaseTool
from langchain_mcp_adapters.client import MultiServerMCPClient

from sagagraph import Backoff, Engine, McpTool, Policy, Probe, mcp_tools, saga_agent
from sagagraph.errors import InvalidInputError
from sagagraph.testing.models import ScriptedModel
from tests.agents.scenarios import look
from tests.graph.world import thread
from tests.mcp.hotel import book_of

ROOT = Path(__file__).parents[2]
HELLO: Any = {"messages": [("user", "Rome, please")]}
QUICK = Policy(backoff=Backoff(base_s=0.01, cap_s=0.1), timeout_s=60.0)
"""A server over stdio begins with each call."""
ROOM = ("book", {"city": "Rome", "nights": 2})
BOOK = McpTool(
    undo="cancel",
    undo_with=lambda arguments, result, call: {"stay": result["stay"]},
    find="find",
    find_with=lambda arguments, call: {"key": call.operation_key},
    found=lambda result: Probe.landed(result) if result["stay"] else Probe.absent(),
    key="key",
    refuses=True,
    policy=QUICK,
)
MAPPING = {"book": BOOK, "confirm": McpTool(policy=QUICK), "cancel": McpTool(kind="read-only")}


@contextmanager
def served_over_http(ledger: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = subprocess.Popen([sys.executable, "-m", "tests.mcp.hotel", str(ledger), str(port)], cwd=ROOT)
    try:
        while socket.socket().connect_ex(("127.0.0.1", port)):
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        running.terminate()
        running.wait()


@pytest.fixture(params=[pytest.param("stdio", marks=pytest.mark.thorough), pytest.param("http", marks=pytest.mark.quick)])
def connection(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, Any]]:
    book = tmp_path / "hotel.db"
    if request.param == "stdio":
        run = {"args": ["-m", "tests.mcp.hotel", str(book)], "cwd": str(ROOT), "env": dict(os.environ)}
        yield {"transport": "stdio", "command": sys.executable, **run}
    else:
        with served_over_http(book) as url:
            yield {"transport": "streamable_http", "url": url}


async def hotel(connection: dict[str, Any]) -> list[BaseTool]:
    return mcp_tools(await MultiServerMCPClient({"hotel": connection}).get_tools(), MAPPING)  # type: ignore[dict-item]


def stays(tmp_path: Path) -> list[tuple[str, str]]:
    return [tuple(each) for each in book_of(tmp_path / "hotel.db").execute("SELECT what, city FROM stays ORDER BY number")]


async def test_what_a_server_booked_is_undone_by_another_of_its_tools(
    engine: Engine, tmp_path: Path, connection: dict[str, Any]
) -> None:
    tools = await hotel(connection)
    schema = next(each for each in tools if each.name == "book").args_schema
    assert isinstance(schema, dict)
    assert set(schema["properties"]) == {"city", "nights"}  # the key is none of the model's business
    model = ScriptedModel.saying([("rates", {"city": "Rome"}), ROOM], [("book", {"city": "Atlantis", "nights": 1})], "Booked.")
    app = saga_agent(model, tools, engine=engine)
    state = await app.ainvoke(HELLO, thread("t"))
    assert "no such city" in str(state["messages"][-2].content)
    assert (state["messages"][-1].content, stays(tmp_path)) == ("Booked.", [("book", "Rome")])
    assert (await engine.cancel("t")).status == "compensated"  # type: ignore[union-attr]
    assert stays(tmp_path) == [("cancelled", "Rome")]
    confirms = ScriptedModel.saying([("confirm", {"city": "Rome"})], "Confirmed.")  # no way back: a person is asked first
    asked = (await saga_agent(confirms, tools, engine=engine).ainvoke(HELLO, thread("u")))["__interrupt__"][0]
    assert (asked.value["next"][0]["kind"], stays(tmp_path)) == ("pivot", [("cancelled", "Rome")])


@pytest.mark.parametrize("tool", ["book", pytest.param("confirm", marks=pytest.mark.thorough)])
async def test_a_server_killed_right_after_a_booking_has_one_booking(engine: Engine, tmp_path: Path, tool: str) -> None:
    """Over stdio, where each call starts a server; the first one dies before it answers."""
    run = {"args": ["-m", "tests.mcp.hotel", str(tmp_path / "hotel.db")], "cwd": str(ROOT), "env": dict(os.environ)}
    tools = await hotel({"transport": "stdio", "command": sys.executable, **run})
    arguments = {"city": "Rome"} | ({"nights": 2} if tool == "book" else {})
    app = saga_agent(ScriptedModel.saying([(tool, arguments)], "Done."), tools, engine=engine, asks_before="nothing")
    (tmp_path / "hotel.db.die").touch()
    state = await app.ainvoke(HELLO, thread("t"))
    assert not (tmp_path / "hotel.db.die").exists()
    assert (state["messages"][-1].content, stays(tmp_path)) == ("Done.", [(tool, "Rome")])
    assert (await engine.status("t")).status == "committed"


async def test_a_mapping_of_a_tool_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no tool 'cancel'; it has look"):
        mcp_tools([look], {"look": McpTool(undo="cancel")})

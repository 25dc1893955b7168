"""Tools of a real MCP server, over stdio and HTTP: what they did is undone, and a server that dies doubles nothing."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import BaseTool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

from sagagraph import Backoff, Engine, McpTool, Policy, Probe, Retry, mcp_tools, saga_agent
from sagagraph.coordination.agents import Brief, Turn, agent
from sagagraph.coordination.coordinator import Coordinator, Team
from sagagraph.coordination.templates import Template
from sagagraph.errors import InvalidInputError, OperationHeldError
from sagagraph.testing.models import ScriptedModel
from tests.agents.scenarios import look
from tests.coordination.world import configured, plan, task
from tests.graph.world import thread
from tests.mcp.hotel import book_of

ROOT = Path(__file__).parents[2]
HELLO: Any = {"messages": [("user", "Rome, please")]}
QUICK = Policy(retry=Retry(max_attempts=1000), backoff=Backoff(base_s=0.01, cap_s=0.1), timeout_s=3.0)
"""A client of MCP waits for a server that has died until its time is up; and a server takes a while to begin."""
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


class Served:
    """The hotel over HTTP, one for all tests; each begins with an empty book."""

    def __init__(self, book: Path) -> None:
        self.book = book
        self.dies = Path(f"{book}.die")
        """Where this is, it dies right after the next booking."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._process = self._started()
        self.connection: Any = {"transport": "streamable_http", "url": f"http://127.0.0.1:{self._port}/mcp"}

    def _started(self) -> subprocess.Popen[bytes]:
        running = subprocess.Popen([sys.executable, "-m", "tests.mcp.hotel", str(self.book), str(self._port)], cwd=ROOT)
        while running.poll() is None and not self._is_up():
            time.sleep(0.02)
        return running

    def _is_up(self) -> bool:
        with socket.socket() as asking:
            return asking.connect_ex(("127.0.0.1", self._port)) == 0

    def start_again(self) -> None:
        """Waits for its death, and starts it again."""
        self._process.wait(timeout=60)
        self._process = self._started()

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    server = Served(tmp_path_factory.mktemp("hotel") / "hotel.db")
    yield server
    server.stop()


@pytest.fixture
def server(served: Served) -> Served:
    book_of(served.book).execute("DELETE FROM stays")
    return served


def mapped(tools: list[BaseTool]) -> list[BaseTool]:
    return mcp_tools(tools, MAPPING)


def stays(book: Path) -> list[tuple[str, str]]:
    return [tuple(each) for each in book_of(book).execute("SELECT what, city FROM stays ORDER BY number")]


@pytest.mark.quick
async def test_what_a_server_booked_is_undone_by_another_of_its_tools(engine: Engine, server: Served) -> None:
    client = MultiServerMCPClient({"hotel": server.connection})
    await books_and_undoes(mapped(await client.get_tools()), engine, server.book)


async def test_the_same_over_stdio(engine: Engine, tmp_path: Path) -> None:
    run: Any = {"transport": "stdio", "command": sys.executable, "cwd": str(ROOT), "env": dict(os.environ)}
    client = MultiServerMCPClient({"hotel": run | {"args": ["-m", "tests.mcp.hotel", str(tmp_path / "hotel.db")]}})
    async with client.session("hotel") as session:  # without one, each call would start a server
        await books_and_undoes(mapped(await load_mcp_tools(session)), engine, tmp_path / "hotel.db")


async def books_and_undoes(tools: list[BaseTool], engine: Engine, book: Path) -> None:
    schema = next(each for each in tools if each.name == "book").args_schema
    assert isinstance(schema, dict)
    assert set(schema["properties"]) == {"city", "nights"}  # the key is none of the model's business
    model = ScriptedModel.saying([("rates", {"city": "Rome"}), ROOM], [("book", {"city": "Atlantis", "nights": 1})], "Booked.")
    app = saga_agent(model, tools, engine=engine)
    state = await app.ainvoke(HELLO, thread("t"))
    assert "no such city" in str(state["messages"][-2].content)
    assert (state["messages"][-1].content, stays(book)) == ("Booked.", [("book", "Rome")])
    assert (await engine.cancel("t")).status == "compensated"  # type: ignore[union-attr]
    assert stays(book) == [("cancelled", "Rome")]
    confirms = ScriptedModel.saying([("confirm", {"city": "Rome"})], "Confirmed.")  # no way back: a person is asked first
    asked = (await saga_agent(confirms, tools, engine=engine).ainvoke(HELLO, thread("u")))["__interrupt__"][0]
    assert (asked.value["next"][0]["kind"], stays(book)) == ("pivot", [("cancelled", "Rome")])


async def ended(app: Any) -> Any:
    """Runs it, again and again where the server takes too long to come back."""
    given: Any = HELLO
    while True:
        try:
            return await app.ainvoke(given, thread("t"))
        except OperationHeldError:
            given = None


@pytest.mark.parametrize("tool", [pytest.param("book", marks=pytest.mark.quick), "confirm"])
async def test_a_server_killed_right_after_a_booking_has_one_booking(engine: Engine, server: Served, tool: str) -> None:
    """It dies before it answers, and is started again while the saga asks what became of its call."""
    tools = mapped(await MultiServerMCPClient({"hotel": server.connection}).get_tools())
    arguments = {"city": "Rome"} | ({"nights": 2} if tool == "book" else {})
    app = saga_agent(ScriptedModel.saying([(tool, arguments)], "Done."), tools, engine=engine, asks_before="nothing")
    server.dies.touch()
    state, _revived = await asyncio.gather(ended(app), asyncio.to_thread(server.start_again))
    assert not server.dies.exists()
    assert (state["messages"][-1].content, stays(server.book)) == ("Done.", [(tool, "Rome")])
    assert (await engine.status("t")).status == "committed"


@pytest.mark.parametrize("ends", ["completed", "failed"])
async def test_tools_are_agents_of_a_mission(engine: Engine, server: Served, ends: str) -> None:
    """The server dies right after the booking: it is found, used by the next task, and undone if that fails."""
    tools = {each.name: each for each in mapped(await MultiServerMCPClient({"hotel": server.connection}).get_tools())}

    def last(brief: Brief, turn: Turn) -> str:
        if ends == "failed":
            raise RuntimeError("it crashed")
        return f"stay {brief.inputs['task-2']}"

    agents = (agent("rates", tools["rates"]), agent("books", tools["book"]), agent("last", last))
    steps = [
        task(1, agent="rates", request={"city": "Rome"}),
        task(2, agent="books", request={"city": "Rome", "nights": 2}),
        task(3, agent="last"),
    ]
    go = Template("go", "go", plan(steps, [(2, 1), (3, 2)]), (("go",),))
    missions = Coordinator(engine, Team(agents, templates=(go,)))
    server.dies.touch()
    revived = asyncio.create_task(asyncio.to_thread(server.start_again))
    mission = await missions.begin("go", configured(max_attempts=1), mission_id="m")
    assert (mission.state, not server.dies.exists()) == (ends, True), mission.error
    await revived
    assert "100" in str(mission.tasks[1].output)
    assert stays(server.book) == [("book" if ends == "completed" else "cancelled", "Rome")]
    if ends == "completed":
        assert "'stay': 1" in str(mission.tasks[3].output)


@pytest.mark.quick
async def test_a_mapping_of_a_tool_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no tool 'cancel'; it has look"):
        mcp_tools([look], {"look": McpTool(undo="cancel")})

"""Nodes: what a node of a SagaGraph costs beside the same node of plain LangGraph, with LangGraph's own savers, in one run."""

from __future__ import annotations

import argparse
import asyncio
import operator
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph

from benchmarks.markdown import prose, table
from sagagraph import Engine, SagaGraph
from tests.support.postgres import PostgresServer, postgres_server

OUT = Path(__file__).parents[1] / "docs" / "benchmarks" / "langgraph.md"
KINDS = ("plain", "read-only", "effect")
GOALS = {"read-only": (1.6, 1.5), "effect": (1.8, 1.5)}
"""CPU and bytes, as multiples of plain LangGraph."""
TEXT = "x" * 50


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    number: int


async def step(state: State) -> State:
    return {"number": state.get("number", 0) + 1, "log": [TEXT]}


async def undo(state: State, update: State, call: object) -> None:
    """Nothing: only the journal's work is measured."""


def chain(kind: str, nodes: int) -> Any:
    graph: Any = (StateGraph if kind == "plain" else SagaGraph)(State)
    before = START
    for number in range(nodes):
        name = f"step{number}"
        graph.add_node(name, step, **({"compensate": undo} if kind == "effect" else {})).add_edge(before, name)
        before = name
    return graph


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one run: milliseconds of CPU and of time for each node, bytes in the database."""

    cpu_ms: float
    wall_ms: float
    size: int


@dataclass(frozen=True, slots=True)
class Place:
    """A database of its own, for the checkpoints and the journal."""

    url: str

    @asynccontextmanager
    async def saver(self) -> AsyncIterator[Any]:
        if self.url.startswith("sqlite"):
            async with AsyncSqliteSaver.from_conn_string(self.url.removeprefix("sqlite:///")) as saver:
                yield saver
        else:
            async with AsyncPostgresSaver.from_conn_string(self.url) as saver:
                await saver.setup()
                yield saver

    async def size(self, saver: Any) -> int:
        if self.url.startswith("sqlite"):
            query = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            return int((await (await saver.conn.execute(query)).fetchone())[0])
        found = await (await saver.conn.execute("SELECT pg_database_size(current_database()) AS size")).fetchone()
        return int(found["size"])


async def measured(kind: str, place: Place, nodes: int) -> Figures:
    thread = {"configurable": {"thread_id": "t"}, "recursion_limit": nodes + 10}
    async with AsyncExitStack() as stack:
        saver = await stack.enter_async_context(place.saver())
        engine = await stack.enter_async_context(Engine.open(place.url)) if kind != "plain" else None
        app = chain(kind, nodes).compile(checkpointer=saver, **({"engine": engine} if engine else {}))
        await app.ainvoke({"log": []}, {**thread, "configurable": {"thread_id": "warm"}}, durability="sync")
        before = await place.size(saver)
        cpu, wall = process_time(), perf_counter()
        await app.ainvoke({"log": []}, thread, durability="sync")
        cpu, wall = process_time() - cpu, perf_counter() - wall
        return Figures(cpu * 1000 / nodes, wall * 1000 / nodes, await place.size(saver) - before)


async def rounds(count: int, nodes: int, folder: Path, server: PostgresServer | None) -> dict[str, list[Figures]]:
    """Everybody in turn, so that a machine that changes its pace changes it for all."""
    seen: dict[str, list[Figures]] = {kind: [] for kind in KINDS}
    for number in range(count):
        for kind in KINDS:
            name = f"{kind}-{number}"
            place = Place(server.create_database(name) if server else f"sqlite:///{folder / name}.db")
            seen[kind].append(await measured(kind, place, nodes))
    return seen


def rows_of(store: str, seen: dict[str, list[Figures]]) -> list[list[str]]:
    plain = seen["plain"]
    rows = []
    for kind, figures in seen.items():
        cpu = median(each.cpu_ms / base.cpu_ms for each, base in zip(figures, plain, strict=True))
        size = median(each.size / base.size for each, base in zip(figures, plain, strict=True))
        goal_cpu, goal_size = GOALS.get(kind, (1.0, 1.0))
        is_met = cpu <= goal_cpu and size <= goal_size
        verdict = "" if kind == "plain" else ("met" if is_met else "**not met**")
        milliseconds = [f"{median(getattr(each, name) for each in figures):.2f}" for name in ("cpu_ms", "wall_ms")]
        goals = "" if kind == "plain" else f"{goal_cpu} × / {goal_size} ×"
        rows.append([store, kind, *milliseconds, f"{cpu:.2f} ×", f"{size:.2f} ×", goals, verdict])
    return rows


def document(rows: list[list[str]], count: int, nodes: int) -> str:
    heads = ["store", "node", "CPU, ms", "time, ms", "CPU", "bytes", "goals (CPU / bytes)", ""]
    what = prose(
        f'A chain of {nodes} nodes, each of which appends 50 characters to a list and counts, with `durability="sync"` and',
        "LangGraph's own savers, as a `StateGraph` and as a `SagaGraph` without effects and with a compensation for each node;",
        f"checkpoints and journal in one database. Medians of {count} rounds; in each round everybody runs in turn, and a ratio",
        "is one of figures of the same round. CPU is that of the process, so on PostgreSQL without the server's; where something",
        "else keeps the machine busy, it is higher for everybody. `make bench-langgraph` measures again.",
    )
    why = prose(
        "A node with effects is two commits of the journal, the intent before the call and the outcome after it, beside",
        "LangGraph's two; the journal contains the state that the node received, because the compensation is called with it.",
        "With an off-loaded list ([long lists](../langgraph.md#what-an-invocation-does)) it contains a reference.",
    )
    return f"# What a node costs beside plain LangGraph\n\n{what}\n\n{table(heads, rows)}\n\n{why}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--nodes", type=int, default=40)
    parser.add_argument("--stores", nargs="*", default=["sqlite", "postgresql"])
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args()
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory(prefix="sagagraph-nodes-") as folder, ExitStack() as servers:
        for store in asked.stores:
            server = servers.enter_context(postgres_server()) if store == "postgresql" else None
            rows += rows_of(store, asyncio.run(rounds(asked.rounds, asked.nodes, Path(folder), server)))
    asked.out.write_text(document(rows, asked.rounds, asked.nodes), encoding="utf-8")


if __name__ == "__main__":
    main()

"""LangGraph with its checkpointers, warm: one open connection (a pool on PostgreSQL), graphs compiled before the clock runs.

`durability="sync"`: each superstep's checkpoint is written before the next one begins. Run by threads, without an event loop.
"""

from __future__ import annotations

import operator
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from itertools import count
from time import perf_counter
from typing import Annotated, Any, TypedDict

from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from psycopg.rows import dict_row
from psycopg_pool import ConnectionPool

from benchmarks.contender import Commands
from benchmarks.work import TO, result_of

_SQLITE = "sqlite:///"


class Chained(TypedDict):
    to: str
    last: dict[str, str]


class Fanned(TypedDict):
    done: Annotated[list[Any], operator.add]


class Growing(TypedDict):
    wanted: int
    done: Annotated[list[Any], operator.add]


def _joined(done: list[Any], new: Sequence[list[Any]]) -> list[Any]:
    return [*done, *(each for some in new for each in some)]


class GrowingByDelta(TypedDict):
    wanted: int
    done: Annotated[list[Any], DeltaChannel(_joined)]


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Commands]:
    if url.startswith(_SQLITE):
        connection = sqlite3.connect(url.removeprefix(_SQLITE), check_same_thread=False)
        saver: Any = SqliteSaver(connection)
        close: Callable[[], None] = connection.close
    else:
        pool: Any = ConnectionPool(
            url, open=True, min_size=4, max_size=8, kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
        )
        saver, close = PostgresSaver(pool), pool.close
    saver.setup()
    runs = _Runs(saver)
    yield {"sequential": runs.sequential, "parallel": runs.parallel, "grow": runs.grow}
    close()


class _Runs:
    def __init__(self, saver: BaseCheckpointSaver[Any]) -> None:
        self._threads = count(1)
        self._chain = cache(lambda length: _chain(length).compile(checkpointer=saver))
        self._fan = cache(lambda width: _fan(width).compile(checkpointer=saver))
        self._loop = cache(lambda state: _loop(state).compile(checkpointer=saver))

    def _invoke(self, graph: Any, state: dict[str, Any]) -> float:
        config = {"configurable": {"thread_id": str(next(self._threads))}, "recursion_limit": 100_000}
        begun = perf_counter()
        graph.invoke(state, config, durability="sync")
        return perf_counter() - begun

    async def sequential(self, operations: int) -> dict[str, Any]:
        seconds = self._invoke(self._chain(operations), {"to": TO})
        return {"seconds": seconds, "operations": operations}

    async def parallel(self, operations: int, runs: int) -> dict[str, Any]:
        graph = self._fan(operations)
        seconds = sum(self._invoke(graph, {"done": []}) for _ in range(runs))
        return {"seconds": seconds, "operations": operations * runs}

    async def grow(self, operations: int, form: str) -> dict[str, Any]:
        """A loop over one node: its checkpoints do not also grow with the number of nodes."""
        graph = self._loop(GrowingByDelta if form == "delta" else Growing)
        seconds = self._invoke(graph, {"wanted": operations, "done": []})
        return {"seconds": seconds, "operations": operations}


def _chain(length: int) -> Any:
    def step(number: int) -> Callable[[Chained], dict[str, Any]]:
        return lambda state: {"last": result_of(number, state["to"])}

    graph: Any = StateGraph(Chained)
    for number in range(length):
        graph.add_node(f"step-{number}", step(number))
        graph.add_edge(f"step-{number - 1}" if number else START, f"step-{number}")
    graph.add_edge(f"step-{length - 1}", END)
    return graph


def _fan(width: int) -> Any:
    def step(sent: Any) -> dict[str, Any]:
        return {"done": [result_of(sent["n"], sent["to"])]}

    graph: Any = StateGraph(Fanned)
    graph.add_node("step", step)
    graph.add_conditional_edges(START, lambda _state: [Send("step", {"n": each, "to": TO}) for each in range(width)], ["step"])
    return graph


def _loop(state: Any) -> Any:
    def step(now: Any) -> dict[str, Any]:
        return {"done": [result_of(len(now["done"]), TO)]}

    graph: Any = StateGraph(state)
    graph.add_node("step", step)
    graph.add_edge(START, "step")
    graph.add_conditional_edges("step", lambda now: "step" if len(now["done"]) < now["wanted"] else END, ["step", END])
    return graph

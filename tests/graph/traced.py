"""A program that is traced: its second node fails, and the first is undone. LangSmith reads its settings once in a process."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from typing import Any, TypedDict

from langchain_core.tracers.langchain import wait_for_all_tracers
from langgraph.graph import START

from sagagraph import Engine, Refused, SagaGraph
from sagagraph.errors import SagaGraphError
from tests.graph.world import thread


class State(TypedDict, total=False):
    seat: str


def books(state: State) -> State:
    return {"seat": "12A"}


def gives_back(state: State, update: Any, call: object) -> None: ...


async def refuses(state: State) -> State:
    raise Refused("sold out", code="sold_out")


async def main(store: str) -> None:
    graph = SagaGraph(State).add_node("books", books, compensate=gives_back).add_node("refuses", refuses)
    async with Engine.open(store) as engine:
        app = graph.add_edge(START, "books").add_edge("books", "refuses").compile(engine=engine)
        with suppress(SagaGraphError):
            await app.ainvoke({}, thread("t"))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
    wait_for_all_tracers()

"""LangSmith, played by a receiver on loopback, sees one tree: what undoes a node stands below the node."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, TypedDict

import pytest
from langchain_core.tracers.langchain import wait_for_all_tracers
from langgraph.graph import START

from sagagraph import Engine, Refused, SagaGraph
from tests.graph.world import thread

INFO = {
    "batch_ingest_config": {
        "use_multipart_endpoint": False,
        "size_limit": 100,
        "size_limit_bytes": 10_000_000,
        "scale_up_qsize_trigger": 1000,
        "scale_up_nthreads_limit": 2,
        "scale_down_nempty_trigger": 4,
    }
}


class Receiver(BaseHTTPRequestHandler):
    runs: dict[str, dict[str, Any]]

    def do_GET(self) -> None:
        self._answer(INFO)

    def do_POST(self) -> None:
        sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
        for each in (*sent.get("post", ()), *sent.get("patch", ())):
            self.runs.setdefault(each["id"], {}).update({key: value for key, value in each.items() if value is not None})
        self._answer({})

    def _answer(self, document: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(document).encode())

    def log_message(self, *_arguments: object) -> None: ...


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, dict[str, Any]]]:
    """The runs that LangSmith was told of, by id."""
    received: dict[str, dict[str, Any]] = {}
    handler = type("Received", (Receiver,), {"runs": received})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("LANGSMITH_TRACING", "true")
        monkeypatch.setenv("LANGSMITH_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("LANGSMITH_API_KEY", "none")
        yield received
        server.shutdown()


class State(TypedDict, total=False):
    seat: str


def books(state: State) -> State:
    return {"seat": "12A"}


def gives_back(state: State, update: Any, call: object) -> None: ...


async def refuses(state: State) -> State:
    raise Refused("sold out", code="sold_out")


async def test_what_undoes_a_node_is_a_run_below_it_and_the_error_is_where_it_failed(
    runs: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    graph = SagaGraph(State).add_node("books", books, compensate=gives_back).add_node("refuses", refuses)
    async with Engine.open(f"sqlite:///{tmp_path / 'saga.db'}") as engine:
        app = graph.add_edge(START, "books").add_edge("books", "refuses").compile(engine=engine)
        with pytest.raises(Exception, match="sold out"):
            await app.ainvoke({}, thread("t"))
    wait_for_all_tracers()
    named = {each["name"]: each for each in runs.values()}
    parents = {name: runs[each["parent_run_id"]]["name"] for name, each in named.items() if "parent_run_id" in each}
    assert (parents["books"], parents["refuses"], parents["undo books"]) == ("LangGraph", "LangGraph", "books")
    assert "sold out" in named["refuses"]["error"]
    assert "error" not in named["books"]

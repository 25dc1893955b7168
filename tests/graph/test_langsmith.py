"""LangSmith, played by a receiver on loopback, sees one tree: what undoes a node stands below the node."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

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
    runs: ClassVar[dict[str, dict[str, Any]]] = {}

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


def test_what_undoes_a_node_is_a_run_below_it_and_the_error_is_where_it_failed(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = {"LANGSMITH_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "LANGSMITH_API_KEY": "none"}
        environment = {**os.environ, **address, "LANGSMITH_TRACING": "true"}
        command = [sys.executable, "-m", "tests.graph.traced", f"sqlite:///{tmp_path / 'saga.db'}"]
        subprocess.run(command, env=environment, check=True, timeout=120)
        server.shutdown()
    named = {each["name"]: each for each in Receiver.runs.values()}
    parents = {name: Receiver.runs[each["parent_run_id"]]["name"] for name, each in named.items() if "parent_run_id" in each}
    assert (parents["books"], parents["refuses"], parents["undo books"]) == ("LangGraph", "LangGraph", "books")
    assert "sold out" in named["refuses"]["error"]
    assert "error" not in named["books"]

"""The scripted provider as a server on loopback."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.support.models import wire
from tests.support.models.script import Asked, Drop, Flood, Hang, Move, Status, Step

_DRIP_S = 0.2


class ModelServer:
    """Plays its script, one step for each question. `keys`: those that it accepts; any, if none are named."""

    def __init__(self, script: Iterable[Step] = (), *, keys: Iterable[str] = ()) -> None:
        self._script = deque(script)
        self._keys = frozenset(keys)
        self._closing = threading.Event()
        self.asked: list[Asked] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def anthropic_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def openai_url(self) -> str:
        return f"{self.anthropic_url}/v1"

    def environment(self, key: str = "a-key") -> dict[str, str]:
        """What a client needs to find it, by either protocol."""
        return {
            "OPENAI_BASE_URL": self.openai_url,
            "OPENAI_API_KEY": key,
            "ANTHROPIC_BASE_URL": self.anthropic_url,
            "ANTHROPIC_API_KEY": key,
        }

    @property
    def left(self) -> int:
        return len(self._script)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def move(self, asked: Asked) -> Move:
        """What is done about one request."""
        self.asked.append(asked)
        if self._keys and key_of(asked) not in self._keys:
            return Status(401, "Incorrect API key provided: {key}")
        if not self._script:
            return Status(503, "the script is over")
        step = self._script.popleft()
        return step(asked) if callable(step) else step

    def wait(self, seconds: float) -> bool:
        """Whether the server is closing by then."""
        return self._closing.wait(seconds)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(_Handler):
            provider = server

        return Handler


def key_of(asked: Asked) -> str:
    return asked.headers.get("x-api-key") or asked.headers.get("authorization", "").removeprefix("Bearer ")


class _Handler(BaseHTTPRequestHandler):
    provider: ModelServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        protocol = "anthropic" if self.path.endswith("/messages") else "openai"
        asked = Asked(protocol, {name.lower(): value for name, value in self.headers.items()}, body)
        match self.provider.move(asked):
            case Drop():
                self.close_connection = True
            case Hang(seconds, drips):
                self._hang(seconds, drips)
            case Flood():
                self._flood()
            case Status(code, message):
                self._send(code, wire.error(asked, code, message.format(key=key_of(asked))))
            case told:
                self._send(200, wire.answer(asked, told))

    def _flood(self) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        with suppress(OSError):
            while not self.provider.wait(0):
                self.wfile.write(b" " * 65_536)

    def _send(self, code: int, told: Mapping[str, Any]) -> None:
        data = json.dumps(told).encode()
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        with suppress(OSError):  # whoever asked does not read to the end
            self.wfile.write(data)

    def _hang(self, seconds: float, drips: bool) -> None:
        self.close_connection = True
        if drips:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", "1000000")
            self.end_headers()
        for _ in range(int(seconds / _DRIP_S)):
            if self.provider.wait(_DRIP_S):
                return
            if drips:
                try:
                    self.wfile.write(b" ")
                    self.wfile.flush()
                except OSError:
                    return

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Nothing is printed: a line would hold the address of a test."""

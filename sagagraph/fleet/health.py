"""Health of a worker over HTTP on loopback: /healthz, /readyz and /metrics."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING

from sagagraph.sockets import listen, url_of

if TYPE_CHECKING:
    from sagagraph.fleet.metrics import Metrics

STALE_S = 15.0
"""A worker that has not reached its store, or its server, for so long is not ready."""
_ASKED_WITHIN_S = 5.0
_TEXT = "text/plain; version=0.0.4; charset=utf-8"


class Health:
    """`metrics`: what /metrics shows."""

    def __init__(self, metrics: Metrics, clock: Callable[[], float]) -> None:
        self.metrics = metrics
        self._clock = clock
        self._heard_at = float("-inf")
        self.is_draining = False

    def heard(self) -> None:
        """Note that whoever says what is to be done has answered."""
        self._heard_at = self._clock()

    @property
    def is_ready(self) -> bool:
        return not self.is_draining and self._clock() - self._heard_at < STALE_S

    @asynccontextmanager
    async def served(self, port: int, tell: Callable[[str], None]) -> AsyncIterator[None]:
        """Serve. `tell` is given the address."""
        listener = listen("127.0.0.1", port, "--health")
        async with await asyncio.start_server(self._answer, sock=listener):
            tell(url_of(listener))
            yield

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_ASKED_WITHIN_S):
                status, body = self._page((await reader.readline()).split(b" "))
                while (await reader.readline()).strip():  # headers
                    pass
                head = f"HTTP/1.1 {status} {status.phrase}\r\nContent-Type: {_TEXT}\r\nContent-Length: {len(body)}\r\n"
                writer.write(f"{head}Connection: close\r\n\r\n".encode() + body)
                await writer.drain()
        except (OSError, TimeoutError, ValueError):  # whoever asked is gone, or never asked
            pass
        finally:
            writer.close()

    def _page(self, line: list[bytes]) -> tuple[HTTPStatus, bytes]:
        match line:
            case [b"GET", b"/healthz", _]:
                return HTTPStatus.OK, b"alive\n"
            case [b"GET", b"/readyz", _] if self.is_ready:
                return HTTPStatus.OK, b"ready\n"
            case [b"GET", b"/readyz", _]:
                return HTTPStatus.SERVICE_UNAVAILABLE, b"draining\n" if self.is_draining else b"its store does not answer\n"
            case [b"GET", b"/metrics", _]:
                return HTTPStatus.OK, self.metrics.page()
            case _:
                return HTTPStatus.NOT_FOUND, b"there are /healthz, /readyz and /metrics\n"

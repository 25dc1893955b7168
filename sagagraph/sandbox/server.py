"""Server: runs the service in the foreground until it is told to stop, or in this process alongside other work."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Self

import uvicorn
from fastapi import FastAPI

from sagagraph.sandbox import clock
from sagagraph.sandbox.api.app import create_app
from sagagraph.sandbox.settings import SandboxSettings
from sagagraph.sockets import KEPT_ALIVE_S, listen, stopped_by_signals, url_of

__all__ = ["EmbeddedSandbox", "SandboxSettings", "serve"]

_LOOPBACK = "127.0.0.1"
_GRACE_S = 5
"""Seconds for answers being written; hanging calls are woken at once."""


def serve(
    settings: SandboxSettings,
    *,
    host: str = _LOOPBACK,
    port: int = 0,
    on_ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM, then return; this runs in the main thread, where signals arrive.

    `port`: 0 takes a free one. `on_ready`: called with the URL as soon as the service can be reached.

    Raises:
        InvalidInputError: the port, the database or the faults file is not usable.
    """
    with listen(host, port) as listener:
        server = _Server(create_app(settings))
        with stopped_by_signals(server.stop):
            if on_ready is not None:
                on_ready(url_of(listener))
            server.run(sockets=[listener])


class EmbeddedSandbox:
    """The service in a thread of this process, on loopback and a free port, from `__enter__` to `__exit__`.

    It creates its thread, event loop and connection on entry, so that it may be used after a fork.
    """

    url: str

    def __init__(self, settings: SandboxSettings, *, real_now: Callable[[], datetime] = clock.real_now) -> None:
        self._settings = settings
        self._real_now = real_now

    def __enter__(self) -> Self:
        """Start the service.

        Raises:
            InvalidInputError: the database or the faults file is not usable.
        """
        self._server = _Server(create_app(self._settings, real_now=self._real_now))
        # Callers need not wait for the thread: connections are queued until it is up.
        listener = listen(_LOOPBACK, 0)
        self.url = url_of(listener)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listener]}, name="sandbox-server", daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()
        self._thread.join()


class _Server(uvicorn.Server):
    def __init__(self, app: FastAPI) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                loop="asyncio",
                http="h11",
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                timeout_graceful_shutdown=_GRACE_S,
                timeout_keep_alive=KEPT_ALIVE_S,
            )
        )
        self._faults = app.state.fault_injection

    def stop(self) -> None:
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Before the server waits for its calls: hanging ones would hold it up.
        self._faults.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone: `serve` handles them, and an embedded service has no business with them."""
        yield

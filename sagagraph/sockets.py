"""Sockets and signals of our servers. The socket is opened before anything else is begun, so that a port in use is reported at
once.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from sagagraph.errors import InvalidInputError

KEPT_ALIVE_S = 75
"""Connections without a call. Callers and proxies usually close one after five to sixty seconds; a server must not close first,
or it may cut off a call that is on its way."""


def listen(host: str, port: int, option: str = "--port") -> socket.socket:
    """Listen. Raises `InvalidInputError` that names the `option` if that is not possible. Port 0: any free port."""
    # The protocol by its name: asyncio sends without delay only on sockets that declare themselves TCP.
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # A restart on the same port need not wait for the connections of the last run to be forgotten.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()
    except (OSError, OverflowError) as exc:
        listener.close()
        raise InvalidInputError(f"cannot listen on {host}:{port}: {exc}", field=option) from exc
    return listener


def url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Have SIGINT and SIGTERM call `stop`, and do nothing else."""

    def call(_signal: int, _frame: FrameType | None) -> None:
        stop()

    before = {number: signal.signal(number, call) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

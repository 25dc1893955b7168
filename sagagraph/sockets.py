"""Sockets and signals of a server of ours. Its socket is taken before anything else is begun: a port in use is said at once."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from sagagraph.errors import InvalidInputError


def listen(host: str, port: int) -> socket.socket:
    """Raises `InvalidInputError` where nobody can listen there. Port 0: any that is free."""
    # The protocol by its name: asyncio sends answers without delay only on sockets that say that they are TCP.
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # A restart on the same port need not wait for the connections of the last run to be forgotten.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()
    except (OSError, OverflowError) as exc:
        listener.close()
        raise InvalidInputError(f"cannot listen on {host}:{port}: {exc}", field="--port") from exc
    return listener


def url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """SIGINT and SIGTERM call `stop`, and nothing else."""

    def call(_signal: int, _frame: FrameType | None) -> None:
        stop()

    before = {number: signal.signal(number, call) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

"""A proxy before a PostgreSQL server that loses connections on purpose, at an exact place.

It runs in a thread of the process whose connections it carries, and is told there what to break. It knows just enough of
PostgreSQL's protocol to see where a request ends and where its answer does.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from typing import Any
from urllib.parse import urlsplit, urlunsplit

_ENCRYPTION_REQUESTS = frozenset({80877103, 80877104})
_CANCEL_REQUEST = 80877102
_ENDS_OF_REQUEST = frozenset({b"Q", b"S"})
"""Query and Sync: after one of them a client waits for the answer."""
_EXECUTING = frozenset({b"Q", b"E"})
_PARTS_OF_REQUEST = frozenset({b"P", b"B", b"D", b"E", b"C"})
"""Parse, Bind, Describe, Execute, Close: held back until the request is whole; it is passed on as a whole, or not at all."""
_READY = b"Z"
_PATIENCE_S = 5.0


class _Cut(Enum):
    BEFORE = "before"
    AFTER = "after"


class PostgresProxy:
    """Listens on `port` of loopback; `url(...)` is a database's URL through it. Make it with `postgres_proxy`."""

    def __init__(self, server_url: str) -> None:
        self._server = urlsplit(server_url)
        self._loop = asyncio.new_event_loop()
        self._armed: _Cut | None = None
        self._refuses_until = 0.0
        self._links: set[_Link] = set()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.cuts = 0
        """How many connections were cut so far."""
        self._is_up = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sagagraph-proxy", daemon=True)
        self._thread.start()
        self._is_up.wait(_PATIENCE_S)

    def url(self, database_url: str) -> str:
        """The same database, through this proxy."""
        parts = urlsplit(database_url)
        who, _at, _where = parts.netloc.rpartition("@")
        return urlunsplit(parts._replace(netloc=f"{who}@127.0.0.1:{self.port}"))

    # -- what to break -----------------------------------------------------------------------------------------------

    def cut(self) -> None:
        """Reset all connections, now. What the server was told already, it goes on doing."""
        self._tell(self._cut_all)

    def cut_before_next_request(self) -> None:
        """The next request is lost with its connection, and never reaches the server."""
        self._tell(self._arm, _Cut.BEFORE)

    def cut_after_next_request(self) -> None:
        """The next request is executed; its answer is lost, and its connection with it."""
        self._tell(self._arm, _Cut.AFTER)

    def refuse_for(self, seconds: float) -> None:
        """The database is away: connections are reset, and new ones refused, for that long."""
        self._tell(self._refuse, time.monotonic() + seconds)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_PATIENCE_S)

    # -- within the thread -------------------------------------------------------------------------------------------

    def _tell(self, what: Callable[..., None], *arguments: Any) -> None:
        done = threading.Event()

        def act() -> None:
            what(*arguments)
            done.set()

        self._loop.call_soon_threadsafe(act)
        done.wait(_PATIENCE_S)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._accept, sock=self._listening))
        self._loop.call_soon(self._is_up.set)
        try:
            self._loop.run_forever()
        finally:
            server.close()
            self._cut_all()
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.run_until_complete(asyncio.sleep(0))
            self._loop.close()

    def _arm(self, cut: _Cut) -> None:
        self._armed = cut

    def _refuse(self, until: float) -> None:
        self._refuses_until = until
        self._cut_all()

    def _cut_all(self) -> None:
        for link in list(self._links):
            self._cut(link)

    def _cut(self, link: _Link) -> None:
        self.cuts += 1
        self._links.discard(link)
        link.reset()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if time.monotonic() < self._refuses_until:
            _reset(writer)
            return
        try:
            upstream = await asyncio.open_connection(self._server.hostname, self._server.port)
        except OSError:
            _reset(writer)
            return
        for each in (writer, upstream[1]):
            each.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link = _Link(reader, writer, *upstream)
        self._links.add(link)
        with suppress(asyncio.CancelledError):  # the proxy's own end; asyncio would print it
            await asyncio.gather(_pump(self._carry_requests(link), link), _pump(self._carry_answers(link), link))
        self._links.discard(link)

    async def _carry_requests(self, link: _Link) -> None:
        if not await _begin(link):
            return
        async for kind, message in _messages(link.from_client):
            link.executes |= kind in _EXECUTING
            if kind in _ENDS_OF_REQUEST and link.executes and self._armed:
                armed, self._armed = self._armed, None
                if armed is _Cut.BEFORE:
                    self._cut(link)
                    return
                link.loses_answer = True
            link.requests.append(message)
            if kind not in _PARTS_OF_REQUEST:
                link.to_server.write(b"".join(link.requests))
                link.requests.clear()
                link.executes = False

    async def _carry_answers(self, link: _Link) -> None:
        async for kind, message in _messages(link.from_server):
            if not link.loses_answer:
                link.to_client.write(message)
            elif kind == _READY:
                self._cut(link)
                return


class _Link:
    """One client's connection, and ours to the server for it."""

    def __init__(
        self,
        from_client: asyncio.StreamReader,
        to_client: asyncio.StreamWriter,
        from_server: asyncio.StreamReader,
        to_server: asyncio.StreamWriter,
    ) -> None:
        self.from_client, self.to_client = from_client, to_client
        self.from_server, self.to_server = from_server, to_server
        self.requests: list[bytes] = []
        self.executes = False
        """Whether it does something: a statement is often prepared in a request of its own."""
        self.loses_answer = False

    def reset(self) -> None:
        _reset(self.to_client)
        _reset(self.to_server)


async def _pump(carry: Coroutine[Any, Any, None], link: _Link) -> None:
    """Until either side hangs up; then hang up on the other."""
    with suppress(OSError, EOFError):
        await carry
    link.to_client.close()
    link.to_server.close()


async def _begin(link: _Link) -> bool:
    """Pass on how a client introduces itself, unencrypted. False if it only came to cancel something."""
    while True:
        head = await link.from_client.readexactly(8)
        size, code = struct.unpack("!II", head)
        if code in _ENCRYPTION_REQUESTS:
            link.to_client.write(b"N")
            continue
        link.to_server.write(head + await link.from_client.readexactly(size - 8))
        return bool(code != _CANCEL_REQUEST)


async def _messages(reader: asyncio.StreamReader) -> AsyncIterator[tuple[bytes, bytes]]:
    """Their kinds, and the whole of them."""
    while True:
        head = await reader.readexactly(5)
        size = int.from_bytes(head[1:], "big")
        yield head[:1], head + await reader.readexactly(size - 4)


def _reset(writer: asyncio.StreamWriter) -> None:
    """Hang up as a crashed peer does: with RST, not in order."""
    sock = writer.get_extra_info("socket")
    if sock is not None and not writer.transport.is_closing():
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@contextmanager
def postgres_proxy(server_url: str) -> Iterator[PostgresProxy]:
    proxy = PostgresProxy(server_url)
    try:
        yield proxy
    finally:
        proxy.close()

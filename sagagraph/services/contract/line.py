"""Line to a service that fails once, on purpose, at an exact exchange: a proxy on loopback.

What speaks HTTP has one connection for each request, so that a request can be lost, held back, repeated or answered otherwise as
a whole. Of any other protocol an exchange is what a client says until the server answers.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from sagagraph.errors import ProviderError

LATE_S: Final = 1.0
"""How long what is late is on its way at most, where the sender relies on a time after which nothing lands any more."""
_DOWN_S: Final = 0.4
_PATIENCE_S: Final = 20.0
_CHUNK: Final = 65536
_PORTS: Final = {"http": 80, "https": 443, "smtp": 25, "smtps": 465, "postgresql": 5432}
_READS: Final = (b"GET ", b"HEAD ", b"OPTIONS ", b"PROPFIND ", b"REPORT ")
_SECURE: Final = {"https": "http", "smtps": "smtp"}
_THROTTLED_HTTP: Final = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_AMBIGUOUS_HTTP: Final = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_BUSY_SMTP: Final = b"421 4.3.2 Too many messages, try again later\r\n"


class Fault(StrEnum):
    CUT = "cut"
    """A request is lost before it arrives."""
    LOST = "lost"
    """It is carried out, and its answer is lost."""
    LATE = "late"
    """It arrives after its sender has given it up, and has asked for something else."""
    DOWN = "down"
    """The service restarts: everything is cut, and refused for a while."""
    THROTTLED = "throttled"
    """It is refused for now."""
    TWICE = "twice"
    """It arrives twice."""
    AMBIGUOUS = "ambiguous"
    """It is carried out, and answered with 502 by something in between."""
    EXPIRED = "expired"
    """Its answer is lost, and the service has forgotten its key before anybody comes back."""


STREAM_FAULTS: Final = (Fault.CUT, Fault.LOST, Fault.LATE, Fault.DOWN)


def can_be_carried(url: str) -> bool:
    return urlsplit(url).scheme in _PORTS


async def try_to_reach(url: str) -> None:
    """Raises `ProviderError` if nobody listens there."""
    parts = urlsplit(url)
    try:
        _reader, writer = await asyncio.open_connection(parts.hostname, parts.port or _PORTS[parts.scheme])
    except OSError:
        raise ProviderError(f"nobody answers at {parts.hostname}:{parts.port or _PORTS[parts.scheme]}") from None
    writer.close()


@dataclass(frozen=True)
class Place:
    """Place in a run: the number of an exchange among those that change something, or of a question among those that only read.

    The order of questions can be another one in the next run, as several are asked at once; that of changes cannot.
    """

    number: int
    only_reads: bool = False

    def __str__(self) -> str:
        return f"{'question' if self.only_reads else 'exchange'} {self.number}"


class Line:
    """Line. At `at` `fault` happens, and `restart` is called for `DOWN`. What is late arrives once the next change is answered,
    after `late_s` at the latest.
    """

    def __init__(
        self,
        url: str,
        fault: Fault | None = None,
        at: Place | None = None,
        restart: Callable[[], Awaitable[None]] | None = None,
        late_s: float = LATE_S,
    ) -> None:
        self._parts = urlsplit(url)
        self._fault, self._at, self._restart, self._late_s = fault, at, restart, late_s
        self._is_down = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._has_changed = asyncio.Event()
        self._port = 0
        self._counted = {False: 0, True: 0}
        self.has_failed = False

    @property
    def places(self) -> tuple[Place, ...]:
        """Return every place that there was so far."""
        return tuple(Place(number + 1, reads) for reads, count in self._counted.items() for number in range(count))

    @property
    def url(self) -> str:
        scheme = self._parts.scheme
        user, at, _host = self._parts.netloc.rpartition("@")
        return urlunsplit(self._parts._replace(scheme=_SECURE.get(scheme, scheme), netloc=f"{user}{at}127.0.0.1:{self._port}"))

    async def settle(self) -> None:
        """Wait until whatever is on its way has arrived."""
        self._has_changed.set()
        while under_way := [each for each in self._tasks if not each.done()]:
            await asyncio.wait(under_way)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Line]:
        carry = self._carry_http if self._parts.scheme in ("http", "https") else self._carry_stream
        server = await asyncio.start_server(_quiet(carry), "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for each in self._tasks:
                each.cancel()

    def _strikes(self, *, only_reads: bool = False) -> Fault | None:
        self._counted[only_reads] += 1
        if self.has_failed or self._fault is None or self._at != Place(self._counted[only_reads], only_reads):
            return None
        self.has_failed = True
        return self._fault

    def _later(self, what: Callable[..., Coroutine[Any, Any, None]], *arguments: object) -> None:
        task = asyncio.create_task(_unheard(what, *arguments))
        self._tasks.add(task)

    async def _go_down(self) -> None:
        self._is_down = True
        if self._restart is not None:
            await self._restart()
        await asyncio.sleep(_DOWN_S)
        self._is_down = False

    def end_outage(self) -> None:
        """Let a service that `EXPIRED` has cut off be reached again."""
        self._is_down = False

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        scheme, host = self._parts.scheme, self._parts.hostname or "127.0.0.1"
        tls = ssl.create_default_context() if scheme in _SECURE else None
        return await asyncio.open_connection(host, self._parts.port or _PORTS[scheme], ssl=tls)

    # -- HTTP --------------------------------------------------------------------------------------------------------

    async def _carry_http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await self._request(reader, writer)
        if self._is_down:
            return
        only_reads = request.startswith(_READS)
        match self._strikes(only_reads=only_reads):
            case None:
                writer.write(await self._answer_to(request))
                if self.has_failed and not only_reads:
                    self._has_changed.set()
            case Fault.THROTTLED:
                writer.write(_THROTTLED_HTTP)
            case Fault.AMBIGUOUS:
                await self._answer_to(request)
                writer.write(_AMBIGUOUS_HTTP)
            case Fault.TWICE:
                writer.write(await self._answer_to(request))
                await self._answer_to(request)
            case Fault.LATE:
                self._later(self._arrive_late, request)
            case Fault.LOST | Fault.EXPIRED as fault:
                self._is_down = fault is Fault.EXPIRED
                await self._answer_to(request)
            case Fault.DOWN:
                self._later(self._go_down)
            case Fault.CUT:
                pass

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        head = await reader.readuntil(b"\r\n\r\n")
        if re.search(rb"\r\nexpect: *100-continue", head, re.IGNORECASE):
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        size = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
        body = await reader.readexactly(int(size[1])) if size else b""
        if re.search(rb"\r\ntransfer-encoding: *chunked", head, re.IGNORECASE):
            body = await reader.readuntil(b"0\r\n\r\n")
        kept = re.sub(rb"\r\n(?:connection|expect|host):[^\r\n]*", b"", head, flags=re.IGNORECASE)
        host = self._parts.netloc.rpartition("@")[2].encode()
        return kept[:-2] + b"Host: " + host + b"\r\nConnection: close\r\n\r\n" + body

    async def _answer_to(self, request: bytes) -> bytes:
        reader, writer = await self._connected()
        try:
            writer.write(request)
            return await asyncio.wait_for(reader.read(-1), _PATIENCE_S)
        finally:
            writer.close()

    async def _arrive_late(self, request: bytes) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._has_changed.wait(), self._late_s)
        await self._answer_to(request)

    # -- anything else -----------------------------------------------------------------------------------------------

    async def _carry_stream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_down:
            return
        link = _Link(writer, *await self._connected())
        answers = asyncio.create_task(_unheard(link.carry_answers))
        while (said := await reader.read(_CHUNK)) and not self._is_down:
            fault = self._strikes() if link.begins_exchange() else None
            if fault is Fault.LATE:
                answers.cancel()
                self._later(link.arrive_late, said)
                return
            if fault is Fault.DOWN:
                self._later(self._go_down)
            if fault is Fault.THROTTLED:
                writer.write(_BUSY_SMTP)
            if fault in (Fault.CUT, Fault.DOWN, Fault.THROTTLED):
                break
            if fault in (Fault.LOST, Fault.EXPIRED):
                self._is_down = fault is Fault.EXPIRED
                link.loses_answer = True
            link.to_server.write(said)
            if link.loses_answer:
                await answers
        answers.cancel()
        link.to_server.close()


@dataclass
class _Link:
    """A client's connection, and ours to the server for it. An exchange begins with its first words after the server's."""

    to_client: asyncio.StreamWriter
    from_server: asyncio.StreamReader
    to_server: asyncio.StreamWriter
    loses_answer: bool = False
    is_answered: bool = True

    def begins_exchange(self) -> bool:
        begins, self.is_answered = self.is_answered, False
        return begins

    async def carry_answers(self) -> None:
        while (said := await self.from_server.read(_CHUNK)) and not self.loses_answer:
            self.is_answered = True
            self.to_client.write(said)
        self.to_client.close()

    async def arrive_late(self, said: bytes) -> None:
        await asyncio.sleep(LATE_S)
        self.to_server.write(said)
        await asyncio.wait_for(self.from_server.read(_CHUNK), LATE_S)
        self.to_server.close()


async def _unheard(what: Callable[..., Coroutine[Any, Any, None]], *arguments: object) -> None:
    """Ignore a connection that ends: that is what this is for."""
    with suppress(OSError, EOFError, TimeoutError):
        await what(*arguments)


def _quiet(
    carry: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]],
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def carried(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(asyncio.CancelledError):
                await _unheard(carry, reader, writer)
        finally:
            writer.close()

    return carried

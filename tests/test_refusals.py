"""Refusals of the usual clients: real clients against a real service and real databases, and what proves nothing."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import aiohttp
import grpc
import httpx
import psycopg
import pytest
import requests
import sqlalchemy

from sagagraph import Call, Engine, action
from sagagraph.errors import OperationFailedError
from sagagraph.refusals import grpc_refused, http_refused, sql_rolled_back

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class _Service(BaseHTTPRequestHandler):
    """Answers POST /418 with that status, and `/silent` by closing the connection."""

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status = self.path.partition("?")[0].strip("/")
        if not status.isdigit():
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        self.send_response(int(status))
        self.send_header("Retry-After", "7")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_GET = _answer  # noqa: N815 - the library's names

    def log_message(self, *_told: object) -> None:
        """Write nothing."""


@pytest.fixture
def service() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def _httpx(method: str, address: str) -> None:
    httpx.request(method, address).raise_for_status()


def _requests(method: str, address: str) -> None:
    requests.request(method, address, timeout=5).raise_for_status()


def _urllib(method: str, address: str) -> None:
    urllib.request.urlopen(urllib.request.Request(address, method=method), timeout=5).close()


def _aiohttp(method: str, address: str) -> None:
    async def ask() -> None:
        async with aiohttp.ClientSession() as session, session.request(method, address) as answer:
            answer.raise_for_status()

    asyncio.run(ask())


def _error_of(called: Callable[[], object]) -> Exception:
    with pytest.raises(Exception) as raised:  # noqa: PT011 - each client has its own
        called()
    assert isinstance(raised.value, Exception)
    return raised.value


CLIENTS = [_httpx, _requests, _urllib, _aiohttp]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_status_says_what_it_proves(client: Callable[[str, str], None], service: str) -> None:
    for status in (400, 404, 412, 422):
        refused = http_refused(_error_of(lambda status=status: client("POST", f"{service}/{status}?token=secret")))  # type: ignore[misc]
        assert refused is not None
        assert (refused.code, refused.transient) == (f"http_{status}", False)
        assert "secret" not in str(refused)
    later = http_refused(_error_of(lambda: client("POST", f"{service}/429")))
    assert later is not None
    assert (later.transient, later.retry_after_s) == (True, 7.0)
    for status in (408, 409, 500, 502, 503, 504):
        assert http_refused(_error_of(lambda status=status: client("POST", f"{service}/{status}"))) is None  # type: ignore[misc]


@pytest.mark.parametrize("client", [_httpx, _requests, _aiohttp])
def test_an_answer_to_a_question_proves_nothing_of_an_effect(client: Callable[[str, str], None], service: str) -> None:
    assert http_refused(_error_of(lambda: client("GET", f"{service}/404"))) is None


@pytest.mark.parametrize("client", CLIENTS)
def test_a_connection_that_was_never_made_sent_nothing(client: Callable[[str, str], None], service: str) -> None:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        refused = http_refused(_error_of(lambda: client("POST", f"http://127.0.0.1:{free.getsockname()[1]}/")))
    assert refused is not None
    assert (refused.code, refused.transient) == ("not_connected", True)
    assert http_refused(_error_of(lambda: client("POST", f"{service}/silent"))) is None


def test_what_was_handled_before_proves_nothing(service: str) -> None:
    """The first address refused the connection; the second one got the request, and its answer was lost."""

    def elsewhere() -> None:
        try:
            _httpx("POST", "http://127.0.0.1:1/")
        except httpx.ConnectError:
            _httpx("POST", f"{service}/silent")

    assert http_refused(_error_of(elsewhere)) is None
    assert http_refused(ValueError("no seats")) is None


def test_a_constraint_of_sqlite_rolls_back(tmp_path: Path) -> None:
    def twice(database: sqlite3.Connection) -> None:
        with database:
            database.execute("create table rooms (number integer primary key)")
            for _each in range(2):
                database.execute("insert into rooms values (1)")

    with closing(sqlite3.connect(tmp_path / "rooms.db")) as database:
        refused = sql_rolled_back(_error_of(lambda: twice(database)))
        assert refused is not None
        assert refused.code == "sqlite_constraint_primarykey"
        assert sql_rolled_back(_error_of(lambda: database.execute("select"))) is None


def test_what_postgresql_aborts_is_refused(empty_database: str) -> None:
    """A unique key, a deferred one at the commit, and by SQLAlchemy; a connection that is ended proves nothing."""
    url = empty_database

    def rows(*numbers: int) -> None:
        with psycopg.connect(url) as connection:
            for each in numbers:
                connection.execute("insert into rooms values (%s)", [each])

    with psycopg.connect(url) as connection:
        connection.execute("create table rooms (number integer unique deferrable initially deferred)")
    refused = sql_rolled_back(_error_of(lambda: rows(1, 2, 1)))
    assert refused is not None
    assert refused.code == "sql_23505"
    with psycopg.connect(url) as connection:
        assert connection.execute("select count(*) from rooms").fetchone() == (0,)
    engine = sqlalchemy.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as open_one:
        assert sql_rolled_back(_error_of(lambda: open_one.execute(sqlalchemy.text("insert into rooms values ('x')")))) is not None
    engine.dispose()
    with psycopg.connect(url) as victim, psycopg.connect(url) as other:
        victim.execute("insert into rooms values (7)")
        other.execute("select pg_terminate_backend(%s)", [victim.info.backend_pid])
        assert sql_rolled_back(_error_of(victim.commit)) is None


def test_grpc_codes() -> None:
    def handler(details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        name = details.method.rpartition("/")[2]
        return grpc.unary_unary_rpc_method_handler(lambda _asked, context: context.abort(grpc.StatusCode[name], "no"))

    class Handlers(grpc.GenericRpcHandler):
        def service(self, details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
            return handler(details)

    with futures.ThreadPoolExecutor(2) as pool:
        server = grpc.server(pool, handlers=[Handlers()])
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            said = {
                code.name: grpc_refused(_error_of(lambda code=code: channel.unary_unary(f"/rooms/{code.name}")(b"", timeout=5)))  # type: ignore[misc]
                for code in grpc.StatusCode
                if code is not grpc.StatusCode.OK
            }
        server.stop(None)
    refused = {name for name, each in said.items() if each is not None}
    assert refused == {
        *("INVALID_ARGUMENT", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "UNAUTHENTICATED"),
        *("FAILED_PRECONDITION", "OUT_OF_RANGE", "UNIMPLEMENTED", "RESOURCE_EXHAUSTED"),
    }
    assert said["RESOURCE_EXHAUSTED"] is not None
    assert said["RESOURCE_EXHAUSTED"].transient


async def test_an_action_whose_service_says_no_fails(service: str) -> None:
    undone: list[str] = []

    async def cancel(_request: str, result: str, _call: Call) -> None:
        undone.append(result)

    @action(compensate=cancel, fails_on=http_refused)
    async def book(room: str, call: Call) -> str:
        async with httpx.AsyncClient() as client:
            (await client.post(f"{service}/{room}")).raise_for_status()
        return room

    async with Engine.open("memory:") as engine:
        with pytest.raises(OperationFailedError, match="status 422"):
            async with engine.saga("stay") as saga:
                await saga.run(book, "200")
                await saga.run(book, "422")
    assert undone == ["200"]

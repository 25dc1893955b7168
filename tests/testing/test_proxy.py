"""The proxy breaks exactly what it is told to break: its own tests, on a real server."""

from __future__ import annotations

import time
from collections.abc import Iterator

import psycopg
import pytest

from tests.support.postgres import PostgresServer
from tests.support.proxy import PostgresProxy, postgres_proxy

LOST = (psycopg.OperationalError, psycopg.InterfaceError)
INSERT = "INSERT INTO kept VALUES (%s)"


@pytest.fixture
def proxy(empty_database: str) -> Iterator[PostgresProxy]:
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept (number integer)")
    with postgres_proxy(empty_database) as running:
        yield running


def connected(proxy: PostgresProxy, database: str) -> psycopg.Connection:
    return psycopg.connect(proxy.url(database), autocommit=True, prepare_threshold=0)


def kept(database: str) -> list[int]:
    with psycopg.connect(database) as connection:
        return [row[0] for row in connection.execute("SELECT number FROM kept ORDER BY number")]


def test_what_is_not_broken_passes(proxy: PostgresProxy, empty_database: str) -> None:
    with connected(proxy, empty_database) as connection:
        for number in range(50):
            connection.execute(INSERT, [number])
        long = connection.execute("SELECT repeat('x', 3000000)").fetchone()
        assert long is not None
        assert len(long[0]) == 3_000_000
        connection.execute("SELECT length(%s)", ["y" * 3_000_000])
    assert kept(empty_database) == list(range(50))
    assert proxy.cuts == 0


def test_a_lost_acknowledgement_is_of_a_request_that_was_executed(proxy: PostgresProxy, empty_database: str) -> None:
    connection = connected(proxy, empty_database)
    connection.execute(INSERT, [1])
    proxy.cut_after_next_request()
    with pytest.raises(LOST):
        connection.execute(INSERT, [2])
    assert connection.closed
    assert kept(empty_database) == [1, 2]
    with connected(proxy, empty_database) as again:  # only that one
        again.execute(INSERT, [3])
    assert (kept(empty_database), proxy.cuts) == ([1, 2, 3], 1)


def test_a_request_that_is_cut_off_never_reaches_the_server(proxy: PostgresProxy, empty_database: str) -> None:
    connection = connected(proxy, empty_database)
    proxy.cut_before_next_request()
    with pytest.raises(LOST):
        connection.execute(INSERT, [1])
    assert connection.closed
    with connected(proxy, empty_database) as again:
        again.execute(INSERT, [2])
    assert (kept(empty_database), proxy.cuts) == ([2], 1)


def test_a_long_answer_is_lost_only_when_all_of_it_is_there(proxy: PostgresProxy, empty_database: str) -> None:
    connection = connected(proxy, empty_database)
    proxy.cut_after_next_request()
    with pytest.raises(LOST):
        connection.execute("INSERT INTO kept SELECT * FROM generate_series(1, 9) AS n RETURNING repeat('x', 3000000)")
    assert kept(empty_database) == list(range(1, 10))


def test_simple_queries_and_transactions_are_cut_alike(proxy: PostgresProxy, empty_database: str) -> None:
    connection = connected(proxy, empty_database)
    connection.execute("BEGIN")
    connection.execute(INSERT, [1])
    proxy.cut_before_next_request()
    with pytest.raises(LOST):
        connection.execute("COMMIT")
    connection = connected(proxy, empty_database)
    connection.execute("BEGIN")
    connection.execute(INSERT, [2])
    proxy.cut_after_next_request()
    with pytest.raises(LOST):
        connection.execute("COMMIT")
    assert kept(empty_database) == [2]


def test_all_connections_are_cut_at_once(proxy: PostgresProxy, empty_database: str) -> None:
    several = [connected(proxy, empty_database) for _number in range(3)]
    proxy.cut()
    for each in several:
        with pytest.raises(LOST):
            each.execute("SELECT 1")
    assert proxy.cuts == 3
    with connected(proxy, empty_database) as again:
        again.execute("SELECT 1")


def test_a_database_that_is_away_comes_back(proxy: PostgresProxy, empty_database: str) -> None:
    connection = connected(proxy, empty_database)
    proxy.refuse_for(0.3)
    away_since = time.monotonic()
    for attempt in (lambda: connection.execute("SELECT 1"), lambda: connected(proxy, empty_database)):
        with pytest.raises(LOST):
            attempt()
    time.sleep(max(0.0, away_since + 0.31 - time.monotonic()))
    with connected(proxy, empty_database) as again:
        again.execute("SELECT 1")


def test_a_server_that_is_gone_refuses_through_the_proxy_too(postgres: PostgresServer, proxy: PostgresProxy) -> None:
    with postgres_proxy("postgresql://127.0.0.1:1/nothing") as before_nothing, pytest.raises(psycopg.OperationalError):
        psycopg.connect(before_nothing.url(postgres.url()))

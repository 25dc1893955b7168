"""PostgreSQL connection: one that is made again after it was lost, and that reports errors in one line without a password."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict

from sagagraph.errors import InvalidInputError, StoreError

T = TypeVar("T")

RECONNECT_S = 5.0
"""For how long a lost connection is tried to be made again."""
_PAUSE_S = 0.05
_LINK: dict[str, Any] = {
    "application_name": "sagagraph",
    "connect_timeout": 5,
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""A server that vanished without a word is found out within some ten seconds. What a URL says goes before it."""
SESSION = "SET statement_timeout = '30s'; SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '10s'"
_URL = re.compile(r"postgres(ql)?://([^:@/?#]*(:[^:@/?#]*)?@)?[^@]*")
_SHUTTING_DOWN = frozenset({"57P01", "57P02", "57P03"})
_PASSING = frozenset({"40001", "40P01"})
"""Rolled back for reasons of concurrency only: the same again may succeed."""

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # unless somebody listens: its messages are raised as well


def parameters_of(url: str) -> dict[str, Any]:
    """Return parameters for `psycopg.connect`. Raises `InvalidInputError`, which never repeats the URL: any of it may be a
    password.
    """
    try:
        if not _URL.fullmatch(url):
            raise psycopg.ProgrammingError
        given = conninfo_to_dict(url)
        int(given.get("port") or 5432)
    except (psycopg.Error, ValueError):
        raise InvalidInputError(
            "not a usable PostgreSQL address; use postgresql://USER:PASSWORD@HOST:PORT/DATABASE, and write special characters of"
            " a password as %XX",
            field="--store",
        ) from None
    return {**_LINK, **given}


def name_of(url: str) -> str:
    """Return the database's name, for people to read."""
    given = parameters_of(url)
    user = f"{given['user']}@" if given.get("user") else ""
    port = f":{given['port']}" if given.get("port") else ""
    return f"postgresql://{user}{given.get('host', '')}{port}/{given.get('dbname', '')}"


def connect(url: str) -> psycopg.Connection:
    """Return a connection in autocommit. Raises `InvalidInputError`, `StoreError`."""
    try:
        return _connected(parameters_of(url))
    except psycopg.Error as exc:
        raise StoreError(f"the store {name_of(url)} cannot be opened: {why(exc)}") from exc


def why(exc: psycopg.Error) -> str:
    """Return what the database said, in one line."""
    said = exc.diag.message_primary or " ".join(str(exc).split())
    return said or type(exc).__name__


class PostgresConnection:
    """Connection used by one thread at a time. Errors of psycopg are not translated here.

    `check` is called with every new connection, before anything else uses it: whoever answers now may be another server, or
    the same one with other settings. What it raises is raised by whatever needed the connection.
    """

    def __init__(self, url: str, check: Callable[[psycopg.Connection], None] = lambda _connection: None) -> None:
        self.url = url
        self._parameters = parameters_of(url)
        self._check = check
        self._connection: psycopg.Connection | None = self._checked(connect(url))

    @property
    def is_up(self) -> bool:
        return self._connection is not None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def execute(self, statement: str, parameters: Sequence[Any] = (), *, prepare: bool | None = None) -> psycopg.Cursor[Any]:
        """Execute a statement. Placeholders are question marks."""
        if self._connection is None:
            self._connection = self._checked(_connected(self._parameters))
        return self._connection.execute(_with_percents(statement), parameters, prepare=prepare)

    def execute_many(self, statement: str, parameters: Sequence[Sequence[Any]]) -> None:
        """Execute a statement with each of these parameters, within a transaction."""
        if self._connection is None:
            raise psycopg.OperationalError("the connection was lost")
        self._connection.cursor().executemany(_with_percents(statement), parameters)

    def _checked(self, connection: psycopg.Connection) -> psycopg.Connection:
        try:
            self._check(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.execute("BEGIN")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        with suppress(psycopg.Error):
            if self._connection is not None:
                self._connection.rollback()

    def insist(self, work: Callable[[], T], again: Callable[[], T] | None = None) -> T:
        """Run `work()`; after a lost connection run `again()` (by default `work()` itself) on a new one, repeatedly for
        `RECONNECT_S`.
        """
        give_up_at: float | None = None
        while True:
            try:
                return work()
            except psycopg.Error as exc:
                give_up_at = give_up_at or time.monotonic() + RECONNECT_S
                if not self.is_passing(exc) or time.monotonic() >= give_up_at:
                    raise
            work = again or work
            if not self.is_up:
                time.sleep(_PAUSE_S)

    def is_passing(self, exc: psycopg.Error) -> bool:
        """Tell whether a retry, perhaps on a new connection, may succeed. Discards a lost connection."""
        if exc.sqlstate in _PASSING:
            return True
        lost = self._connection is None or self._connection.closed or exc.sqlstate in _SHUTTING_DOWN
        if lost:
            self.close()
        return bool(lost)


def _connected(parameters: dict[str, Any]) -> psycopg.Connection:
    connection = psycopg.connect(**parameters, autocommit=True)
    connection.execute(SESSION)
    return connection


@cache
def _with_percents(statement: str) -> bytes:
    return statement.replace("%", "%%").replace("?", "%s").encode()

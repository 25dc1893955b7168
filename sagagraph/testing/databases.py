"""Databases: fresh, migrated ones for cases that must not affect each other."""

from __future__ import annotations

import os
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from sagagraph.errors import InvalidInputError, StoreError
from sagagraph.saga.stores.migration import upgrade
from sagagraph.saga.stores.urls import is_postgres


class Proxy(Protocol):
    """Proxy in front of a database server that drops connections on command."""

    def url(self, database_url: str) -> str:
        """Return the URL of the same database, through the proxy."""
        ...

    def cut(self) -> None:
        """Reset all connections."""
        ...

    def cut_after_next_request(self) -> None:
        """Let the server execute the next statement, and lose its acknowledgement."""
        ...


class Databases(ABC):
    """Databases of one kind; may be used from several forked processes at once."""

    locks_whole_file = False
    """A worker that is stopped within a transaction blocks all writers."""

    proxy: Callable[[], AbstractContextManager[Proxy]] | None = None
    """Opens a proxy whose connections can be cut; None if there is none."""

    @abstractmethod
    def fresh(self, folder: Path) -> AbstractContextManager[str]:
        """Return the URL of an empty store, deleted at the end."""


class _SqliteDatabases(Databases):
    locks_whole_file = True

    def __init__(self, template: Path) -> None:
        self._template = template
        upgrade(f"sqlite:///{template}")

    @contextmanager
    def fresh(self, folder: Path) -> Iterator[str]:
        yield f"sqlite:///{shutil.copy(self._template, folder / 'saga.db')}"


class PostgresDatabases(Databases):
    """Databases on the PostgreSQL server at a URL, whose user may create them."""

    def __init__(self, server_url: str) -> None:
        self._url = server_url
        self._template = _name()
        self._execute(f'CREATE DATABASE "{self._template}"')
        upgrade(self._of(self._template))

    @contextmanager
    def fresh(self, folder: Path) -> Iterator[str]:  # noqa: ARG002 - it needs none
        name = _name()
        self._execute(f'CREATE DATABASE "{name}" TEMPLATE "{self._template}"')
        try:
            yield self._of(name)
        finally:
            self._drop(name)

    def close(self) -> None:
        self._drop(self._template)

    def _drop(self, name: str) -> None:
        self._execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def _of(self, name: str) -> str:
        address, question, options = self._url.partition("?")
        return f"{address.rpartition('/')[0]}/{name}{question}{options}"

    def _execute(self, statement: str) -> None:
        import psycopg

        try:
            with closing(psycopg.connect(self._url, autocommit=True)) as connection:
                connection.execute(statement.encode())
        except psycopg.Error as exc:
            raise StoreError(f"no database can be made for a case: {str(exc).strip()}") from exc


@contextmanager
def databases(store: str) -> Iterator[Databases]:
    """Return databases of `sqlite`, or on a PostgreSQL server at a URL where databases may be created."""
    if store == "sqlite":
        with tempfile.TemporaryDirectory(prefix="sagagraph-", dir=memory_folder()) as folder:
            yield _SqliteDatabases(Path(folder) / "template.db")
    elif is_postgres(store) and store.count("/") > 2:
        made = PostgresDatabases(store)
        try:
            yield made
        finally:
            made.close()
    else:
        raise InvalidInputError("sqlite, or postgresql://USER:PASSWORD@HOST:PORT/DATABASE", field="--store")


def memory_folder() -> Path | None:
    """Return a folder for files that need not reach a disk: processes die here, machines do not. None: the usual folder."""
    memory = Path("/dev/shm")  # noqa: S108 - folders of random names are made in it
    return memory if "TMPDIR" not in os.environ and os.access(memory, os.W_OK) else None


def _name() -> str:
    return f"sagagraph_{uuid4().hex[:12]}"

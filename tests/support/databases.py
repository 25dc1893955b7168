"""Databases for sweeps and storms: SQLite files, or a PostgreSQL server of our own behind a proxy that loses connections."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from sagagraph.testing.databases import Databases, PostgresDatabases
from sagagraph.testing.databases import databases as databases_at
from tests.support.postgres import PostgresServer, postgres_server
from tests.support.proxy import PostgresProxy, postgres_proxy


class ProxiedPostgres(PostgresDatabases):
    """`restart()` crashes the server, and starts it again."""

    def __init__(self, server: PostgresServer) -> None:
        super().__init__(server.url())
        self._server_url = server.url()
        self.restart = server.restart

    def __getstate__(self) -> dict[str, object]:
        """A child process gets the URLs; the server is its parent's to restart."""
        return {name: value for name, value in vars(self).items() if name != "restart"}

    def proxy(self) -> AbstractContextManager[PostgresProxy]:
        return postgres_proxy(self._server_url)


@contextmanager
def databases(store: str) -> Iterator[Databases]:
    """`sqlite`, `postgresql` (a server of our own), or the URL of a PostgreSQL server where databases may be made."""
    if store == "postgresql":
        with postgres_server() as server:
            yield ProxiedPostgres(server)
    else:
        with databases_at(store) as made:
            yield made

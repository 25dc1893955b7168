"""A PostgreSQL server for the tests that ask for one, and an empty migrated database of its own for each of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from sagagraph.saga.stores.migration import upgrade
from tests.support.postgres import PostgresServer, postgres_server

_NUMBERS = itertools.count(1)
_TEMPLATE = "migrated"


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One for each worker of the test run, started when the first test asks."""
    with postgres_server() as server:
        upgrade(server.create_database(_TEMPLATE))
        yield server


@pytest.fixture
def empty_database(postgres: PostgresServer) -> Iterator[str]:
    """The URL of a database without any tables."""
    name = f"empty_{next(_NUMBERS)}"
    yield postgres.create_database(name)
    postgres.drop_database(name)


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[str]:
    """The URL of a migrated database: a copy, for migrating one for each test would take longer than the tests."""
    name = f"test_{next(_NUMBERS)}"
    yield postgres.create_database(name, template=_TEMPLATE)
    postgres.drop_database(name)

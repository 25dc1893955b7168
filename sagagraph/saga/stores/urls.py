"""URLs of stores: the store for a URL, and its public name."""

from __future__ import annotations

import re

from sagagraph.errors import InvalidInputError
from sagagraph.extras import needing
from sagagraph.files import sqlite_path
from sagagraph.saga.stores.guards.durability import Durability
from sagagraph.saga.stores.port import SagaStore

_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")
_KNOWN = "sqlite:///FILE, postgresql://USER@HOST/DATABASE or memory:"


async def open_store(url: str, *, create: bool = True, durability: Durability = Durability.CHECKED) -> SagaStore:
    """Open `sqlite:///FILE` (`sqlite:////FILE` for an absolute path), `postgresql://USER:PASSWORD@HOST:PORT/DATABASE` or
    `memory:`. With `create`, make what is missing.

    Raises `InvalidInputError`, `StoreError` (also for a database that could lose what it acknowledges), and
    `MissingStoreError` for a store that is missing and is not to be created.
    """
    if url == "memory:":
        from sagagraph.saga.stores.memory import MemorySagaStore

        return MemorySagaStore()
    if url.startswith(_SQLITE) and len(url) > len(_SQLITE):
        from sagagraph.saga.stores.sqlite import SqliteSagaStore

        return await SqliteSagaStore.open(sqlite_path(url), create=create, durability=durability)
    if is_postgres(url):
        with needing("postgres"):
            from sagagraph.saga.stores.postgres import PostgresSagaStore

        return await PostgresSagaStore.open(url, create=create, durability=durability)
    shown = re.sub(r".*@", "***@", url)  # it may contain a password
    raise InvalidInputError(f"{shown!r} is not a store; use {_KNOWN}", field="--store")


def is_postgres(url: str) -> bool:
    return url.startswith(_POSTGRES)


def public_name(url: str) -> str:
    """Return the store's name for people to read, without a password."""
    if not is_postgres(url):
        return url
    with needing("postgres"):
        from sagagraph.saga.stores.postgres_connection import name_of

    return name_of(url)

"""What was redacted is gone from a database's files, and nobody waits while it goes."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest

from sagagraph.errors import StoreError
from sagagraph.saga.core.commands import CallKind
from sagagraph.saga.core.events import Driver, Entry, Event, FieldsRedacted, OperationSucceeded, SagaBegun
from sagagraph.saga.core.state import Stage
from sagagraph.saga.stores.guards import free_space
from sagagraph.saga.stores.port import Document, Lease, Note, SagaStore
from sagagraph.saga.stores.postgres import PostgresSagaStore
from tests.support.postgres import PostgresServer

EVENTS = 50_000 if os.environ.get("SAGAGRAPH_EXPLORE") == "full" else 3_000
PAGE = 8192
LONGEST_GAP = 250
"""Less than a hundred bytes are too few for another row (docs/operating.md); references to the rows that filled the rest, and are
gone, made it shorter."""
SECRET = re.compile(rb"ADA-\d{6}")


def output(random: Random, number: int, *, is_secret: bool) -> dict[str, Any]:
    """Any length, compressible or not; now and then too long for one page."""
    said = f"ADA-{number:06}@example.com" if is_secret else "nobody"
    lengths = (random.randint(0, 300), random.randint(2000, 15_000) if random.random() < 0.02 else random.randint(0, 300))
    before, after = (secrets.token_hex(each // 2) if random.random() < 0.5 else "lorem " * (each // 6) for each in lengths)
    return {"a": before, "email": said, "z": after}


async def journals(store: SagaStore, events: int) -> dict[str, Lease]:
    """Two journals that grow side by side; one of them holds secrets, also beside its events."""
    random = Random(events)
    leases = {}
    for name in ("ada", "other"):
        begun = SagaBegun(Driver.BODY, "", {"email": "ADA-000000" if name == "ada" else ""})
        leases[name] = await store.create(name, begun, stage=Stage.RUNNING, owner="me", ttl_s=600.0)
    for first in range(2, events, 100):
        for name, lease in leases.items():
            told = [
                Entry(n, 1, 5.5, OperationSucceeded(f"o{n}", output(random, n, is_secret=name == "ada")))
                for n in range(first, first + 100)
            ]
            await store.append(lease, told, stage=Stage.RUNNING)
    for number in range(100):
        said = output(random, number, is_secret=True)
        await store.note("ada", Note("o2", CallKind.ACTION, f"k{number}", said))
        await store.put(Document("ada", "letter", f"{number}", said))
    return leases


async def redact(store: SagaStore) -> None:
    def event(told: Event) -> Event:
        return SagaBegun(Driver.BODY, "", {}) if isinstance(told, SagaBegun) else OperationSucceeded(told.operation, {})  # type: ignore[union-attr]

    recorded = Entry(len(await store.read("ada")) + 1, 1, 6.5, FieldsRedacted(("email",), "ada"))
    await store.rewrite("ada", recorded, event, lambda _value: {})


def occurrences(server: PostgresServer, url: str) -> int:
    """In the files of the database, when the server has written its pages."""
    return sum(len(SECRET.findall(each)) for each in pages(server, url))


def pages(server: PostgresServer, url: str) -> Iterator[bytes]:
    server.execute("CHECKPOINT")
    ((folder,),) = server.execute(
        f"SELECT current_setting('data_directory') || '/base/' || oid FROM pg_database WHERE datname = '{url.rpartition('/')[2]}'"
    )
    for each in Path(folder).iterdir():
        content = each.read_bytes()
        yield from (content[begin : begin + PAGE] for begin in range(0, len(content), PAGE))


def remnants(server: PostgresServer, url: str) -> list[int]:
    """For each: how far into its page's free space it stands, which is filled from the end; one elsewhere is in a row."""
    found = []
    for page in pages(server, url):
        begin, end = (int.from_bytes(page[at : at + 2], sys.byteorder) for at in (12, 14))
        found += [each.start() - begin if begin <= each.start() < end else PAGE for each in SECRET.finditer(page)]
    return found


@contextmanager
def exclusive_locks(url: str) -> Iterator[set[str]]:
    """The tables that somebody had for himself meanwhile. The server's own vacuum may: it gives way to whoever waits."""
    seen: set[str] = set()
    over = threading.Event()

    def look() -> None:
        with closing(psycopg.connect(url, autocommit=True)) as connection:
            while not over.is_set():
                held = """
                    SELECT relation::regclass::text FROM pg_locks JOIN pg_stat_activity USING (pid)
                    WHERE mode = 'AccessExclusiveLock' AND relation IS NOT NULL AND backend_type <> 'autovacuum worker'"""
                seen.update(name for (name,) in connection.execute(held))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield seen
    finally:
        over.set()
        looking.join()


async def longest_commit(url: str, lease: Lease, version: int, goes_on: Callable[[], bool]) -> float:
    """Of another worker, in seconds."""
    store = await PostgresSagaStore.open(url)
    longest = 0.0
    try:
        while goes_on():
            version += 1
            began = time.perf_counter()
            await store.append(lease, [Entry(version, 1, 5.5, OperationSucceeded(f"o{version}", {}))], stage=Stage.RUNNING)
            longest = max(longest, time.perf_counter() - began)
            await asyncio.sleep(0.001)
    finally:
        await store.close()
    return longest


async def test_its_bytes_go_while_others_write_and_nobody_has_a_table_for_himself(
    postgres: PostgresServer, database: str, record_property: Callable[[str, object], None]
) -> None:
    store = await PostgresSagaStore.open(database)
    leases = await journals(store, EVENTS)
    assert occurrences(postgres, database) > EVENTS * 0.9
    with exclusive_locks(database) as seen:
        forgetting = asyncio.create_task(_redacted_and_forgotten(store))
        version = len(await store.read("other"))
        longest_s = await longest_commit(database, leases["other"], version, lambda: not forgetting.done())
        seconds = await forgetting
    record_property("longest commit", f"{longest_s:.3f} s of {seconds:.3f} s")
    assert not seen
    assert longest_s < seconds / 2, "a commit waited for it"
    left = remnants(postgres, database)
    assert len(left) <= EVENTS // 1000, "gaps at the edges of pages hold hardly anything"
    assert max(left, default=0) < LONGEST_GAP
    await store.close()


async def _redacted_and_forgotten(store: SagaStore) -> float:
    began = time.perf_counter()
    await redact(store)
    await store.forget("ada")
    return time.perf_counter() - began


async def test_what_vacuum_frees_holds_it_still_and_a_full_one_locks(
    postgres: PostgresServer, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the test above can fail in both ways."""
    store = await PostgresSagaStore.open(database)
    await journals(store, 300)
    await redact(store)
    with monkeypatch.context() as patch:
        patch.setattr(free_space, "_fill", lambda *_given: None)
        await store.forget("ada")
    assert max(remnants(postgres, database)) >= LONGEST_GAP
    with exclusive_locks(database) as seen, closing(psycopg.connect(database, autocommit=True)) as connection:
        connection.execute("VACUUM FULL events")
        while not seen:
            connection.execute("VACUUM FULL events")
    await store.close()


async def test_what_somebody_still_sees_is_said_to_be_there(
    postgres: PostgresServer, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(free_space, "PATIENCE_S", 0.2)
    store = await PostgresSagaStore.open(database)
    await journals(store, 300)
    with closing(psycopg.connect(database)) as reader:
        reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        reader.execute("SELECT 1 FROM events")
        await redact(store)
        with pytest.raises(StoreError, match="a transaction that began before"):
            await store.forget("ada")
    await store.forget("ada")
    assert occurrences(postgres, database) == 0
    await store.close()

"""Journals as earlier releases wrote them, to be read by every later one (README.md)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

from sagagraph.saga.core.codec import Record, decode
from sagagraph.saga.core.events import Entry
from sagagraph.saga.core.state import Stage
from sagagraph.saga.stores import migration
from sagagraph.saga.stores.memory import MemorySagaStore, _Saga
from sagagraph.saga.stores.port import Headline
from sagagraph.saga.stores.rows import Row, checksum

_HERE = Path(__file__).parent
_REVISIONS = {"0.1.0": "0001"}
"""The tables of each release."""


@dataclass(frozen=True)
class Journal:
    release: str
    saga_id: str
    domain: str
    stage: str
    rows: tuple[dict[str, Any], ...]
    """`version`, `epoch`, `at`, `type`, `schema_version` and `data` of each event, as they stood in the table."""

    def __str__(self) -> str:
        return f"{self.release} {self.saga_id}"

    @property
    def head(self) -> dict[str, Any]:
        first, last = self.rows[0], self.rows[-1]
        return {
            "saga_id": self.saga_id,
            "domain": self.domain,
            "stage": self.stage,
            "epoch": last["epoch"],
            "version": last["version"],
            "owner": None,
            "lease_until": 0.0,
            "begun_at": first["at"],
            "updated_at": last["at"],
        }

    def records(self) -> Iterator[tuple[int, int, float, Record]]:
        for row in self.rows:
            yield row["version"], row["epoch"], row["at"], Record(row["type"], row["schema_version"], row["data"])

    def entries(self) -> list[Entry]:
        return [Entry(version, epoch, at, decode(record, at)) for version, epoch, at, record in self.records()]


def into_memory(journal: Journal, store: MemorySagaStore) -> None:
    """As if it had been written there."""
    head = journal.head
    headline = Headline(
        **{name: value for name, value in head.items() if name not in ("stage", "epoch")}, stage=Stage(journal.stage)
    )
    rows = [
        Row(version, epoch, at, *record, checksum(journal.saga_id, version, epoch, at, *record))
        for version, epoch, at, record in journal.records()
    ]
    store._sagas[journal.saga_id] = _Saga(headline, head["epoch"], rows)


def into_file(journal: Journal, file: Path) -> None:
    """Into the tables of its own release, which whoever opens the file has to bring to his."""
    with _engine(file) as engine, engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(Path(migration.__file__).parent / "migrations"))
        config.attributes["connection"] = connection
        command.upgrade(config, _REVISIONS[journal.release])
    with closing(sqlite3.connect(file)) as store, store:
        _insert(store, "sagas", journal.head)
        for row in journal.rows:
            _insert(store, "events", {"saga_id": journal.saga_id, **row})


@contextmanager
def _engine(file: Path) -> Iterator[Any]:
    engine = create_engine(f"sqlite:///{file}")
    try:
        yield engine
    finally:
        engine.dispose()


def _insert(store: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    places = ", ".join(f":{name}" for name in row)
    store.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", row)


def _read(file: Path) -> Journal:
    found = json.loads(file.read_text())
    return Journal(file.parent.name, found["saga_id"], found["domain"], found["stage"], tuple(found["events"]))


def _examples() -> list[tuple[str, dict[str, Any]]]:
    """Every event as an earlier release wrote it, with `complete`: all its fields."""
    files = [(file.stem, json.loads(file.read_text())) for file in sorted(_HERE.glob("events-*.json"))]
    return [(f"{name} {row['type']} {number}", row) for name, rows in files for number, row in enumerate(rows)]


JOURNALS = [_read(file) for file in sorted(_HERE.glob("*/*.json"))]
BY_ID = {each.saga_id: each for each in JOURNALS}
EXAMPLES = _examples()

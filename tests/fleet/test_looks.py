"""What a look at the store costs: what has ended, and what waits for a person, costs nothing."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from statistics import median

import psycopg
import pytest

from sagagraph.saga.stores import statements as sql
from sagagraph.saga.stores.port import SagaStore
from sagagraph.saga.stores.postgres import PostgresSagaStore
from sagagraph.saga.stores.sqlite import SqliteSagaStore
from sagagraph.saga.stores.urls import open_store

ENDED = 100_000
_HEADS = """
    INSERT INTO sagas (saga_id, domain, stage, epoch, version, lease_until, begun_at, updated_at, due_at)
    SELECT {prefix} || number, 'trip', {stage}, 1, 1, 0, number, number, {due} FROM {numbers}"""
_NUMBERS = {
    "sqlite": "(WITH RECURSIVE n(number) AS (VALUES(1) UNION ALL SELECT number + 1 FROM n WHERE number < {many})"
    " SELECT * FROM n)",
    "postgres": "generate_series(1, {many}) AS g(number)",
}


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    if request.param == "postgres":
        return "postgres", request.getfixturevalue("database")
    return "sqlite", f"sqlite:///{tmp_path / 'saga.db'}"


def execute(kind: str, url: str, *statements: str) -> list[tuple[object, ...]]:
    opened = sqlite3.connect(url.removeprefix("sqlite:///")) if kind == "sqlite" else psycopg.connect(url)
    with closing(opened) as connection:
        for each in statements:
            cursor = connection.execute(each)  # type: ignore[arg-type]
        found = cursor.fetchall() if cursor.description else []
        connection.commit()
    return [tuple(each) for each in found]


def heads(kind: str, prefix: str, stage: str, due: str, many: int) -> str:
    numbers = _NUMBERS[kind].format(many=many)
    return _HEADS.format(prefix=f"'{prefix}'", stage=f"'{stage}'", due=due, numbers=numbers)


async def look_s(store: SagaStore, expected: int) -> float:
    times = []
    for _ in range(15):
        began = time.perf_counter()
        assert len(await store.due(50, ["trip"])) == expected
        times.append(time.perf_counter() - began)
    return median(times)


async def test_a_look_costs_no_more_beside_what_has_ended_or_is_held(place: tuple[str, str]) -> None:
    kind, url = place
    store = await open_store(url)
    assert isinstance(store, SqliteSagaStore | PostgresSagaStore)
    try:
        execute(kind, url, heads(kind, "due", "running", "0", 20))
        before = await look_s(store, 20)
        execute(
            kind,
            url,
            heads(kind, "ended", "committed", "0", ENDED),
            heads(kind, "held", "running", "NULL", ENDED // 10),
            heads(kind, "later", "running", str(time.time() + 3600), ENDED // 10),
            "ANALYZE",
        )
        after = await look_s(store, 20)
        assert after < max(3 * before, 0.005), (before, after)
        assert _uses_its_index(kind, url)
    finally:
        await store.close()


def _uses_its_index(kind: str, url: str) -> bool:
    """The plan names the index, and touches no more rows than are due."""
    asked = sql.due(1).replace("?", "{}").format("1e12", "1e12", "'trip'", "50")
    if kind == "sqlite":
        plan = str(execute(kind, url, "EXPLAIN QUERY PLAN " + asked.replace("strpos(", "instr(")))
        return "USING INDEX sagas_due" in plan and "SCAN sagas" not in plan
    plan = str(execute(kind, url, "EXPLAIN (ANALYZE) " + asked.replace("1e12", str(time.time()))))
    return "sagas_due" in plan and "Seq Scan" not in plan

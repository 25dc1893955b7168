"""What every SQL store promises beyond the port: several processes on one database, and what somebody else has damaged."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from sagagraph import Call, Lock, action
from sagagraph.errors import JournalError, StoreError
from sagagraph.saga.core.commands import CallKind
from sagagraph.saga.core.events import BodyCompleted, Entry, RequestRefused
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.port import Note, RequestKind
from sagagraph.saga.stores.rows import checksum, row_of

from .conftest import Clock, SqlDatabase
from .test_stores import ME, OTHER, append, begin


async def test_an_append_is_seen_by_others_at_once(sql: SqlDatabase) -> None:
    one, another = await sql.open(), await sql.open()
    lease = await begin(one)
    await append(one, lease, 1)
    assert await another.read("trip") == await one.read("trip")


# -- races ----------------------------------------------------------------------------------------------------------------


async def test_rule_6_two_stores_race_to_begin_and_one_wins(sql: SqlDatabase) -> None:
    stores = [await sql.open() for _process in range(4)]
    ended = await asyncio.gather(*(begin(each) for each in stores), return_exceptions=True)
    assert sorted(type(each).__name__ for each in ended) == ["ConflictError"] * 3 + ["Lease"]
    assert len(await stores[0].read("trip")) == 1


async def test_rule_6_two_stores_race_to_take_over_and_one_wins(sql: SqlDatabase, clock: Clock) -> None:
    one, another = await sql.open(), await sql.open()
    await begin(one, owner="elsewhere/x|1|1.00|a")
    clock.now += 10
    ended = await asyncio.gather(
        one.take("trip", owner=ME, ttl_s=4), another.take("trip", owner=OTHER, ttl_s=4), return_exceptions=True
    )
    assert sorted(type(each).__name__ for each in ended) == ["BusyError", "Lease"]
    assert [each.epoch for each in await one.read("trip")] == [1, 2]


async def test_rule_6_two_stores_race_to_append_and_one_wins(sql: SqlDatabase) -> None:
    stores = [await sql.open() for _process in range(3)]
    lease = await begin(stores[0])
    for version in range(1, 11):
        ended = await asyncio.gather(*(append(each, lease, version) for each in stores), return_exceptions=True)
        assert sorted(type(each).__name__ for each in ended) == ["NoneType", "SupersededError", "SupersededError"]
    assert [each.version for each in await stores[0].read("trip")] == list(range(1, 12))


async def test_evidence_and_requests_are_seen_by_others(sql: SqlDatabase) -> None:
    one, another = await sql.open(), await sql.open()
    await begin(one)
    await one.note("trip", note := Note("T1", CallKind.ACTION, "trip/T1/1", 1))
    request = await one.ask("trip", RequestKind.CANCEL, "Ada", None)
    assert await another.notes("trip") == (note,)
    assert await another.requests({"trip": 0}) == (request,)


# -- damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("UPDATE events SET data = substr(data, 1, 5) WHERE version = 2", "event 2 was changed"),
        ("UPDATE events SET data = '' WHERE version = 2", "event 2 was changed"),
        ("UPDATE events SET data = replace(data, 'late', 'lake') WHERE version = 2", "event 2 was changed"),
        ("UPDATE events SET type = 'BodyCompleted' WHERE version = 2", "event 2 was changed"),
        ("UPDATE events SET schema_version = 99 WHERE version = 2", "event 2 was changed"),
        ("UPDATE events SET epoch = 0 WHERE version = 2", "event 2 was changed"),
        ("UPDATE events SET at = at + 0.001 WHERE version = 2", "event 2 was changed"),
        ("UPDATE events SET checksum = checksum + 1 WHERE version = 2", "event 2 was changed"),
        ("DELETE FROM events WHERE version = 1", "event 1 is missing"),
        ("DELETE FROM events WHERE version = 2", "event 2 is missing"),
        ("DELETE FROM events WHERE version = 3", "it ends with version 2"),
        ("DELETE FROM events", "it ends with nothing"),
        ("UPDATE sagas SET epoch = 2 WHERE saga_id = 'trip'", "epoch 2"),
        (
            "INSERT INTO events SELECT 'trip', 4, epoch, at, type, schema_version, data, checksum FROM events"
            " WHERE saga_id = 'another' AND version = 1; UPDATE sagas SET version = 4 WHERE saga_id = 'trip'",
            "another saga's",
        ),
        (
            "UPDATE events SET (type, data) = (SELECT type, data FROM events WHERE version = 1 AND saga_id = 'trip')"
            " WHERE version = 2",
            "event 2 was changed",
        ),
    ],
)
async def test_a_damaged_journal_is_told_and_not_guessed(sql: SqlDatabase, damage: str, told: str) -> None:
    store = await sql.open()
    lease = await begin(store)
    await append(store, lease, 1, RequestRefused(1, "too late"), BodyCompleted())
    await begin(store, "another")
    for statement in damage.split(";"):
        sql.execute(statement)
    engine = Engine(store)
    with pytest.raises(JournalError, match=told) as raised:
        await engine.load("trip")
    assert len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"data": '{"request": "one", "reason": ""}'}, "damaged at request"),
        ({"data": "[]"}, "damaged"),
        ({"type": "SagaInvented"}, "SagaInvented.*not known to this release"),
        ({"schema_version": 99}, "schema 99.*use a newer one"),
        ({"epoch": 0}, "epoch 0"),
        ({"type": "SagaBegun", "data": '{"driver":"body","domain":"","request":null}'}, "begins twice"),
    ],
)
async def test_an_event_that_was_written_so_and_makes_no_sense_is_told(
    sql: SqlDatabase, changes: dict[str, Any], told: str
) -> None:
    """By a newer release, or by something else: the checksum is right."""
    store = await sql.open()
    await append(store, await begin(store), 1, RequestRefused(1, "too late"), BodyCompleted())
    row = row_of("trip", Entry(2, 1, 1.0, RequestRefused(1, "too late")))._replace(**changes)
    row = row._replace(checksum=checksum("trip", *row[:-1]))
    sql.execute("DELETE FROM events WHERE version = 2")
    sql.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)", ("trip", *row))
    with pytest.raises(JournalError, match=told) as raised:
        await Engine(store).load("trip")
    assert "trip" in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


async def test_a_saga_whose_journal_is_empty_is_unknown_and_the_others_are_not_affected(sql: SqlDatabase) -> None:
    store = await sql.open()
    await begin(store)
    await begin(store, "another")
    sql.execute("UPDATE events SET data = '' WHERE saga_id = 'trip'")
    assert len(await store.read("another")) == 1
    assert len(await store.headlines()) == 2


async def test_a_database_that_fails_later_is_a_store_error(sql: SqlDatabase) -> None:
    store = await sql.open()
    lease = await begin(store)
    sql.execute("DROP TABLE events")
    for attempt in (store.read("trip"), append(store, lease, 1), store.take("trip", owner=ME, ttl_s=1)):
        with pytest.raises(StoreError, match=r"no such table|does not exist"):
            await attempt


@pytest.mark.parametrize("locks", [(), (Lock("car"),)], ids=["without locks", "with a lock"])
async def test_rule_12_only_operations_with_locks_cost_more_statements(
    sql: SqlDatabase, locks: tuple[Lock, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One look and one write for each commit that takes or frees a lock; for anything else, nothing that names them."""
    store = await sql.open()
    looks: list[str] = []
    writes: list[object] = []
    execute, append_with_locks = store._execute, store._append_with_locks  # type: ignore[attr-defined]

    def looked(statement: str, parameters: Sequence[Any] = ()) -> Any:
        looks.extend([statement] if "lock" in statement else [])
        return execute(statement, parameters)

    def wrote(*given: Any) -> bool:
        writes.append(given)
        return bool(append_with_locks(*given))

    monkeypatch.setattr(store, "_execute", looked)
    monkeypatch.setattr(store, "_append_with_locks", wrote)

    async def take(_request: Any, _call: Call) -> None: ...

    taking = action(take, locks=lambda _request: locks)
    async with Engine(store).saga("trip") as saga:
        for _each in range(3):
            await saga.run(taking)
    assert (len(looks), len(writes)) == ((4, 4) if locks else (0, 0))

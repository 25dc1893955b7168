"""The tables: what they look like, and that they can be filled at any time, again, and by many at once."""

from __future__ import annotations

import asyncio
import dataclasses
import shutil
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import delete, select, update
from sqlmodel import Session
from sqlmodel import select as rows_of

from sagagraph.errors import JournalError, NotAllowedError, SagaGraphError, StoreError, UnknownSagaError
from sagagraph.saga.core import events as e
from sagagraph.saga.core.state import Stage
from sagagraph.saga.engine.engine import Engine
from sagagraph.saga.stores.memory import MemorySagaStore
from sagagraph.saga.stores.port import Lease, SagaStore
from sagagraph.saga.stores.projections import Projection, project
from sagagraph.saga.stores.projections import projector as projecting
from sagagraph.saga.stores.projections.projector import HasTables, Projector
from sagagraph.saga.stores.projections.tables import PROJECTION_FORMAT, OperationStateRow, ProjectionHeadRow, SagaStateRow
from sagagraph.saga.stores.tables import EVENTS, METADATA, engine_of
from sagagraph.saga.stores.urls import open_store
from tests.saga.service import Service
from tests.saga.story import spec
from tests.saga.workers import OpenEngine

TABLES = [each.name for each in dataclasses.fields(Projection)]
BEGUN = e.SagaBegun(e.Driver.WORKFLOW, "test", {"to": "Oslo"})
STORY: tuple[e.Event, ...] = (
    e.PlanAccepted(1, (spec("flight"), spec("hotel"))),
    e.AttemptStarted("flight", 1, 1, "trip/flight/1", 99.0),
    e.OperationSucceeded("flight", {"id": 1}),
    e.SagaTurnedBack("enough"),
    e.CompensationStarted("flight", 1, 1, "trip/flight/1/undo/1", 99.0),
    e.OperationCompensated("flight", {"fee": 2}),
    e.SagaCompensated(),
)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, fresh_journal: Path, tmp_path: Path) -> str:
    """A migrated store, for journals that no coordinator has to understand."""
    if request.param == "postgres":
        database: str = request.getfixturevalue("database")
        return database
    return f"sqlite:///{shutil.copy(fresh_journal, tmp_path / 'journal.db')}"


@pytest.fixture
async def store(url: str) -> Any:
    opened = await open_store(url)
    yield opened
    await opened.close()


@pytest.fixture
def projector(store: SagaStore) -> Any:
    made = Projector(store)
    yield made
    made.close()


async def begin(store: SagaStore, saga_id: str = "trip") -> Lease:
    return await store.create(saga_id, BEGUN, stage=Stage.PLANNING, owner="me", ttl_s=60.0)


async def tell(store: SagaStore, lease: Lease, version: int, *events: e.Event) -> None:
    entries = [e.Entry(number, lease.epoch, 1000.0 + number, event) for number, event in enumerate(events, version + 1)]
    await store.append(lease, entries, stage=Stage.RUNNING)


def session(store: SagaStore) -> Session:
    assert isinstance(store, HasTables)
    return Session(engine_of(store.database_url)[0])


def written(store: SagaStore) -> dict[str, list[Mapping[str, Any]]]:
    """All rows of all tables."""
    with session(store) as asking:
        tables = METADATA.tables
        return {name: [dict(row) for row in asking.connection().execute(select(tables[name])).mappings()] for name in TABLES}


def expected(projections: list[Projection]) -> dict[str, list[Mapping[str, Any]]]:
    return {name: [_plain(row) for each in projections for row in getattr(each, name)] for name in TABLES}


def _plain(row: Any) -> dict[str, Any]:
    return {each.name: _listed(getattr(row, each.name)) for each in dataclasses.fields(row)}


def _listed(value: Any) -> Any:
    return [_listed(each) for each in value] if isinstance(value, tuple | list) else value


def assert_same(left: dict[str, list[Mapping[str, Any]]], right: dict[str, list[Mapping[str, Any]]]) -> None:
    for name in TABLES:
        assert sorted(left[name], key=repr) == sorted(right[name], key=repr), name


# -- what they look like -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_the_columns_of_its_rows(name: str) -> None:
    row = typing.get_args(typing.get_type_hints(Projection)[name])[0]
    table = METADATA.tables[name]
    assert [each.name for each in table.columns] == [each.name for each in dataclasses.fields(row)]
    assert next(iter(table.primary_key.columns)).name == "saga_id"


async def test_the_migrations_make_the_tables_that_the_classes_describe(store: SagaStore) -> None:
    with session(store) as asking:
        context = MigrationContext.configure(asking.connection(), opts={"version_table": "sagagraph_version"})
        differences = [str(each) for each in compare_metadata(context, METADATA)]
    assert differences == []


# -- filling them --------------------------------------------------------------------------------------------------------


async def test_rebuilt_from_scratch_is_what_was_projected_step_by_step(store: SagaStore, projector: Projector) -> None:
    lease = await begin(store)
    for version, event in enumerate(STORY, start=1):
        await projector.project("trip")
        await tell(store, lease, version, event)
    stepwise = await projector.project("trip")
    assert_same(written(store), expected([stepwise]))
    assert stepwise == project("trip", await store.read("trip"))
    with session(store) as asking:
        for name in ("projection_heads", *TABLES):
            asking.connection().execute(delete(METADATA.tables[name]))
        asking.commit()
    await projector.project("trip")
    assert_same(written(store), expected([stepwise]))


async def test_only_what_has_moved_on_is_behind(store: SagaStore, projector: Projector) -> None:
    first, second = await begin(store, "first"), await begin(store, "second")
    assert await projector.behind() == ("first", "second")
    for saga_id in ("first", "second"):
        await projector.project(saga_id)
    assert await projector.behind() == ()
    await tell(store, second, 1, STORY[0])
    assert await projector.behind() == ("second",)
    await projector.project("second")
    await tell(store, first, 1, STORY[0])
    assert await projector.behind() == ("first",)


async def test_rows_of_an_earlier_version_replace_nothing(store: SagaStore, projector: Projector) -> None:
    lease = await begin(store)
    early = project("trip", await store.read("trip"))
    await tell(store, lease, 1, *STORY)
    late = await projector.project("trip")
    head = projector._required.known("trip")
    projector._required.replace(head, early)
    assert_same(written(store), expected([late]))


async def test_several_may_project_at_once(url: str, store: SagaStore) -> None:
    lease = await begin(store)
    stores = [await open_store(url) for _ in range(4)]
    projectors = [Projector(each) for each in stores]
    try:
        for version, event in enumerate(STORY, start=1):
            await asyncio.gather(tell(store, lease, version, event), *(each.project("trip") for each in projectors))
        results = await asyncio.gather(*(each.project("trip") for each in projectors))
    finally:
        for each in projectors:
            each.close()
        for opened in stores:
            await opened.close()
    assert all(each == results[0] for each in results)
    assert_same(written(store), expected([results[0]]))


async def test_a_later_format_is_projected_anew_and_an_earlier_release_leaves_it_alone(
    store: SagaStore, projector: Projector, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begin(store)
    await projector.project("trip")
    monkeypatch.setattr(projecting, "PROJECTION_FORMAT", PROJECTION_FORMAT + 1)
    assert await projector.behind() == ("trip",)
    await projector.project("trip")
    monkeypatch.setattr(projecting, "PROJECTION_FORMAT", PROJECTION_FORMAT)
    assert await projector.behind() == ()
    await projector.project("trip")
    with session(store) as asking:
        assert [row.format for row in asking.exec(rows_of(ProjectionHeadRow))] == [PROJECTION_FORMAT + 1]


# -- withdrawing them ----------------------------------------------------------------------------------------------------


async def test_what_is_forgotten_is_gone_and_comes_back_from_what_the_journal_says_then(
    store: SagaStore, projector: Projector
) -> None:
    kept, lease = await begin(store, "kept"), await begin(store)
    await tell(store, kept, 1, *STORY)
    await tell(store, lease, 1, *STORY)
    other, _ = [await projector.project(each) for each in ("kept", "trip")]
    await projector.forget("trip")
    await projector.forget("trip")
    assert_same(written(store), expected([other]))
    assert await projector.behind() == ("trip",)
    again = await projector.project("trip")
    assert_same(written(store), expected([other, again]))


async def test_what_was_read_before_it_was_forgotten_is_not_written_after(store: SagaStore, projector: Projector) -> None:
    await begin(store)
    head = projector._required.known("trip")
    read_before = project("trip", await store.read("trip"))
    await projector.forget("trip")
    projector._required.replace(head, read_before)
    assert all(rows == [] for rows in written(store).values())


async def test_rows_of_a_saga_that_is_no_more_are_withdrawn(store: SagaStore, projector: Projector) -> None:
    await begin(store)
    kept = await begin(store, "kept")
    await tell(store, kept, 1, *STORY)
    projections = [await projector.project(each) for each in ("kept", "trip")]
    with session(store) as asking:
        for name in ("events", "sagas"):
            table = METADATA.tables[name]
            asking.connection().execute(delete(table).where(table.c.saga_id == "trip"))
        asking.commit()
    assert await projector.forget_lost() == ("trip",)
    assert await projector.forget_lost() == ()
    assert_same(written(store), expected(projections[:1]))


# -- what cannot be projected -------------------------------------------------------------------------------------------


async def test_an_unknown_saga_leaves_nothing_behind(store: SagaStore, projector: Projector) -> None:
    with pytest.raises(UnknownSagaError):
        await projector.project("nobody")
    with session(store) as asking:
        assert asking.exec(rows_of(ProjectionHeadRow)).all() == []


async def test_a_damaged_journal_is_not_projected(store: SagaStore, projector: Projector) -> None:
    lease = await begin(store)
    await projector.project("trip")
    await tell(store, lease, 1, *STORY)
    with session(store) as asking:
        asking.connection().execute(update(METADATA.tables["events"]).values(type="Nonsense"))
        asking.commit()
        assert asking.connection().execute(select(EVENTS)).all()
    with pytest.raises(JournalError):
        await projector.project("trip")
    with session(store) as asking:
        assert [row.journal_version for row in asking.exec(rows_of(SagaStateRow))] == [1]


async def test_a_database_that_fails_is_a_store_error(store: SagaStore, projector: Projector) -> None:
    await begin(store)
    with session(store) as asking:
        asking.connection().exec_driver_sql("DROP TABLE decisions")
        asking.commit()
    with pytest.raises(StoreError, match="decisions"):
        await projector.project("trip")
    with session(store) as asking:  # all or nothing
        assert asking.exec(rows_of(SagaStateRow)).all() == []


async def test_a_nul_character_becomes_one_that_every_database_stores(store: SagaStore, projector: Projector) -> None:
    lease = await begin(store)
    output = {"a\0b": ["\0", {"c": "\\u0000"}]}
    await tell(store, lease, 1, *STORY[:2], e.OperationSucceeded("flight", output))
    await projector.project("trip")
    with session(store) as asking:
        (flight,) = asking.exec(rows_of(OperationStateRow).where(OperationStateRow.operation == "flight"))
        assert flight.output == {"a\ufffdb": ["\ufffd", {"c": "\\u0000"}]}


async def test_a_store_in_memory_is_projected_without_tables() -> None:
    engine = Engine(MemorySagaStore())
    try:
        await begin(engine.store)
        assert (await engine.project("trip")).saga.domain == "test"
        with pytest.raises(UnknownSagaError):
            await engine.project("nobody")
        with pytest.raises(NotAllowedError, match="no tables"):
            await Projector(engine.store).behind()
    finally:
        await engine.close()


# -- retention and redaction ---------------------------------------------------------------------------------------------


async def finished(engine: Engine, service: Service, saga_id: str) -> None:
    async with engine.saga(saga_id) as saga:
        await saga.run(service.action("flight"), {"passenger": "Ada Lovelace"})
    await engine.project(saga_id)


async def test_the_rows_of_a_retired_saga_are_withdrawn(url: str, open_engine: OpenEngine, service: Service) -> None:
    async with open_engine(await open_store(url)) as engine:
        for saga_id in ("kept", "trip"):
            await finished(engine, service, saga_id)
        await engine.retire("trip", archive=None, dry_run=True)
        assert {row["saga_id"] for row in written(engine.store)["saga_state"]} == {"kept", "trip"}
        await engine.retire("trip", archive=None)
        assert {row["saga_id"] for rows in written(engine.store).values() for row in rows} == {"kept"}
        with pytest.raises(SagaGraphError):
            await engine.project("trip")
        projector = Projector(engine.store)
        assert await projector.behind() == ()
        projector.close()


async def test_what_was_redacted_is_in_no_row(url: str, open_engine: OpenEngine, service: Service) -> None:
    async with open_engine(await open_store(url)) as engine:
        await finished(engine, service, "trip")
        assert "Ada Lovelace" in repr(written(engine.store))
        await engine.redact("trip", ["passenger"])
        assert all(rows == [] for rows in written(engine.store).values())
        await engine.project("trip")
        assert [row["status"] for row in written(engine.store)["saga_state"]] == ["committed"]
        assert "Ada Lovelace" not in repr(written(engine.store))

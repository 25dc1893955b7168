"""A release works with the tables of a later one that only adds to them, and refuses those that mean something else."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from sagagraph import Call, Engine, action
from sagagraph.errors import StoreError
from sagagraph.saga.stores.sql_store import HEAD_REVISION, suffices
from sagagraph.saga.stores.tables import engine_of


async def undo(request: str, result: str, call: Call) -> None: ...


@action(compensate=undo)
async def book(request: str, call: Call) -> str:
    return "booked"


def changed(url: str, *statements: str) -> None:
    engine, _name = engine_of(url)
    with engine.begin() as connection:
        for each in statements:
            connection.execute(text(each))
    engine.dispose()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_an_older_release_goes_on_beside_a_newer_one_and_is_there_if_that_one_goes(
    kind: str, tmp_path: object, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path}/a.db" if kind == "sqlite" else request.getfixturevalue("empty_database")
    async with Engine.open(url) as old:
        async with old.saga("before") as saga:
            await saga.run(book, "x")
        changed(
            url,
            "ALTER TABLE sagas ADD COLUMN later FLOAT",
            "CREATE TABLE later_yet (number INTEGER PRIMARY KEY)",
            "UPDATE sagagraph_version SET version_num = '0999'",
        )
        async with old.saga("meanwhile") as saga:
            await saga.run(book, "x")
    async with Engine.open(url) as back:
        async with back.saga("after") as saga:
            await saga.run(book, "x")
        assert {each.saga_id for each in await back.sagas()} == {"before", "meanwhile", "after"}
    changed(url, "UPDATE sagagraph_version SET version_num = '1000'")
    with pytest.raises(StoreError, match="release"):
        await _opened(url)


async def _opened(url: str) -> None:
    async with Engine.open(url):
        pass


def test_what_comes_before_is_brought_up_to_date() -> None:
    assert [suffices(each) for each in ("0001", HEAD_REVISION, "0999", "1000")] == [False, True, True, False]

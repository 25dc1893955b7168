"""Durability: a database that can lose what it has acknowledged is set right for the session, or refused."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from sagagraph import Engine
from sagagraph.errors import StoreError
from sagagraph.saga.stores import sqlite
from sagagraph.saga.stores.guards.durability import Durability
from sagagraph.saga.stores.urls import open_store
from tests.cli.commands import CommandLine
from tests.saga.service import Service
from tests.support.postgres import PostgresServer, postgres_server

LAZY = ("synchronous_commit=off", "wal_writer_delay=10s")


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> CommandLine:
    return CommandLine(monkeypatch, capsys, tmp_path)


@pytest.fixture(scope="module")
def lazy_server() -> Iterator[PostgresServer]:
    """A server that acknowledges commits before they are on disk."""
    with postgres_server(*LAZY) as server:
        yield server


def test_a_lazy_server_really_loses_what_it_has_acknowledged(lazy_server: PostgresServer) -> None:
    url = lazy_server.create_database("plain")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = on")
        connection.execute("CREATE TABLE things (name text)")
        connection.execute("SET synchronous_commit = off")
        connection.execute("INSERT INTO things VALUES ('acknowledged')")
        lazy_server.restart()
    assert lazy_server.execute("SELECT count(*) FROM things", database="plain") == [(0,)]


@pytest.mark.parametrize(("unsafe", "landings"), [(True, ["flight", "flight"]), (False, ["flight"])])
async def test_a_session_sets_what_its_server_does_not_and_nothing_is_done_twice(
    lazy_server: PostgresServer, unsafe: bool, landings: list[str]
) -> None:
    """Where it is left as it is, the crash takes the journal, and the same booking is made again: `unsafe` shows the loss."""
    url, service = lazy_server.create_database(f"saga_{unsafe}".lower()), Service(remembers_keys=False)
    await (await open_store(url)).close()
    with pytest.raises(asyncio.CancelledError):
        async with Engine.open(url, unsafe_durability=unsafe) as engine, engine.saga("trip") as saga:
            assert bool(engine.store.shortfalls) is unsafe
            async with engine.saga("before") as before:  # pages that are touched for the first time are logged whole
                await before.run(Service().action("train"))
            lazy_server.execute("SELECT pg_switch_wal()")  # what follows is short of a page, which a server writes by itself
            await saga.run(service.action("flight"))
            assert [each.id for each in (await engine.status("trip")).operations] == ["flight-1"]
            lazy_server.restart()
            raise asyncio.CancelledError
    async with Engine.open(url) as engine, engine.saga("trip") as saga:
        await saga.run(service.action("flight"))
    assert [each.name for each in service.ledger] == landings


@pytest.mark.parametrize("setting", ["fsync=off", "full_page_writes=off"])
async def test_what_no_session_can_set_is_refused_and_said(
    lazy_server: PostgresServer, command: CommandLine, setting: str
) -> None:
    url = lazy_server.create_database(setting.partition("=")[0])
    await (await open_store(url)).close()
    lazy_server.settings = (*LAZY, setting)
    lazy_server.restart(immediately=False)
    try:
        with pytest.raises(StoreError, match=rf"can lose what it has acknowledged \({setting}\): set .* on in postgresql.conf"):
            await open_store(url)
        async with Engine.open(url, unsafe_durability=True) as engine:
            assert set(engine.store.shortfalls) == {"synchronous_commit=off", setting}
        told = await asyncio.to_thread(command, "status", "--json", "--store", url)
        assert (told.code, told.json) == (0, {"sagas": [], "unsafe_durability": [setting]})
        said = await asyncio.to_thread(command, "status", "--store", url)
        assert setting in said.err
        refused = await asyncio.to_thread(command, "resume", "--all", "--store", url)
        assert (refused.code, setting in refused.complaint) == (3, True)
    finally:
        lazy_server.settings = LAZY
        lazy_server.restart(immediately=False)


async def test_a_server_that_comes_back_with_other_settings_is_noticed_before_anything_goes_out(
    lazy_server: PostgresServer, service: Service
) -> None:
    url = lazy_server.create_database("changed")
    try:
        with pytest.raises(StoreError, match="fsync=off"):
            async with Engine.open(url) as engine, engine.saga("trip") as saga:
                await saga.run(service.action("flight"))
                lazy_server.settings = (*LAZY, "fsync=off")
                lazy_server.restart()
                await saga.run(service.action("hotel"))
    finally:
        lazy_server.settings = LAZY
        lazy_server.restart(immediately=False)
    assert service.calls == ["do flight"]


async def test_a_file_that_cannot_have_a_log_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_turn_on_wal", lambda _connection: None)
    path = tmp_path / "saga.db"
    with pytest.raises(StoreError, match=r"journal_mode=delete.*use WAL"):
        await open_store(f"sqlite:///{path}")
    store = await open_store(f"sqlite:///{path}", durability=Durability.UNSAFE)
    assert store.shortfalls == ("journal_mode=delete",)
    await store.close()

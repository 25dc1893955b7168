"""Stores that release 0.2.0 wrote: this release opens them, folds them to the same end, and goes on with what was left open."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from sagagraph import Engine
from tests.cli.commands import BOOKINGS, CommandLine, Ledger, sandbox_at
from tests.releases.seats import BODY, THREAD, Seats, run_body, trip_graph

pytestmark = pytest.mark.quick

HERE = Path(__file__).parent / "0.2.0"
LEFT = {
    "committed": "committed",
    "awaiting": "awaiting_approval",
    "reversed": "compensated",
    "reversed~reversal": "committed",
    "amended": "committed",
    "amended~amendment-1": "committed",
    "held": "held",
    "compensated": "compensated",
    "killed": "running",
    "day": "running",
    BODY: "running",
    THREAD: "held",
}


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.thorough)])
def command(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> CommandLine:
    """The command line on a copy of what 0.2.0 left: the store and, beside it, the reservation service, the outbox, the seats."""
    for name in ("SAGAGRAPH_STORE", "SAGAGRAPH_PROVIDER_URL", "SAGAGRAPH_LOG", "SAGAGRAPH_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    written = HERE / request.param
    called = CommandLine(monkeypatch, capsys, tmp_path)
    if request.param == "sqlite":
        _restore(written / "store.sql.gz", called.store_file)
        outbox = tmp_path / "saga.db.outbox"
    else:
        called.store = request.getfixturevalue("empty_database")
        with psycopg.connect(called.store, autocommit=True) as connection:
            connection.execute(gzip.decompress((written / "store.sql.gz").read_bytes()))
        outbox = tmp_path / "data" / "sagagraph" / hashlib.sha256(called.store.encode()).hexdigest()[:12] / "outbox"
    _restore(written / "outbox.sql.gz", outbox / "messages.db")
    _restore(written / "sandbox.sql.gz", tmp_path / "sandbox.db")
    _restore(written / "seats.sql.gz", tmp_path / "seats.db")
    _turn_back(tmp_path / "sandbox.db", made_at=float((written / "made_at").read_text()))
    return called


def _restore(dump: Path, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(gzip.decompress(dump.read_bytes()).decode())


def _turn_back(sandbox: Path, *, made_at: float) -> None:
    """The service goes on at the moment at which it was copied: its clock runs with ours, and the trips are in its future."""
    with closing(sqlite3.connect(sandbox)) as connection, connection:
        connection.execute("UPDATE clock SET offset_us = offset_us - ?", (int((time.time() - made_at) * 1e6),))


@pytest.fixture
def booking(command: CommandLine) -> Iterator[CommandLine]:
    """With the reservation service, as it was."""
    with sandbox_at(command.folder / "sandbox.db", []) as service:
        command.provider = service.url
        yield command


@pytest.fixture
def seats(command: CommandLine) -> Seats:
    return Seats(command.folder / "seats.db")


def ledger_of(command: CommandLine, *saga_ids: str) -> Ledger:
    """What the reservation service has of these sagas."""
    return Ledger({name: [row for row in rows if row["saga_id"] in saga_ids] for name, rows in command.ledger().rows.items()})


async def _replayed(store: str) -> dict[str, tuple[str, tuple[object, ...]]]:
    """Of every saga: its status and the differences that folding its journal again finds."""
    async with Engine.open(store) as engine:
        found = [await engine.replay(each.saga_id) for each in await engine.sagas()]
        return {each.saga_id: ((await engine.status(each.saga_id)).status.value, each.differences) for each in found}


def test_every_saga_is_as_it_was_left_and_replays_without_differences(command: CommandLine) -> None:
    assert asyncio.run(_replayed(command.store)) == {saga_id: (status, ()) for saga_id, status in LEFT.items()}
    assert {each["saga_id"]: each["status"] for each in command("status", "--json").json["sagas"]} == LEFT
    assert command("db", "project").code == 0


def test_a_plan_is_judged_again_as_it_was(booking: CommandLine) -> None:
    replayed = booking("replay", "committed", "--json")
    assert (replayed.code, replayed.json["differences"]) == (0, [])
    assert all("it was adopted without a verdict" in each for each in replayed.json["unchecked"]), "0.2.0 judged no answers"


def test_a_trip_whose_worker_was_killed_is_booked_once(booking: CommandLine) -> None:
    (before,) = [row for row in ledger_of(booking, "killed").rows["reservations"] if row["operation_id"] == "T2"]
    resumed = booking("resume", "killed", "--json")
    assert resumed.json["status"] == "committed"
    assert f"does not say which provider it began with; it is taken to be {booking.provider}" in resumed.err
    ledger = ledger_of(booking, "killed")
    assert (ledger.standing, ledger.repeated) == ((len(BOOKINGS), 1), [])
    assert before in ledger.rows["reservations"], "the hotel that was booked before the kill is adopted"


def test_a_trip_that_waits_is_approved_and_booked(booking: CommandLine) -> None:
    assert booking("approve", "awaiting", "--json").json["status"] == "committed"
    assert (ledger_of(booking, "awaiting").standing, ledger_of(booking, "awaiting").repeated) == ((len(BOOKINGS), 1), [])


def test_a_held_operation_is_settled_by_a_person(booking: CommandLine) -> None:
    assert booking("resolve", "held", "T2", "--as", "absent", "--json").json["status"] == "committed"
    assert (ledger_of(booking, "held").standing, ledger_of(booking, "held").repeated) == ((len(BOOKINGS), 1), [])


@pytest.mark.parametrize("saga_id", ["committed", "amended"])
def test_a_trip_is_cancelled_and_nothing_of_it_stands(booking: CommandLine, saga_id: str) -> None:
    assert booking("cancel", saga_id, "--json").json["status"] == "compensated"
    family = (saga_id, f"{saga_id}~reversal", f"{saga_id}~amendment-1")
    assert (ledger_of(booking, *family).standing, ledger_of(booking, *family).repeated) == ((0, 0), [])


def test_what_has_been_undone_stays_so(booking: CommandLine) -> None:
    before = booking.ledger().landed
    for saga_id in ("compensated", "reversed"):
        assert booking("resume", saga_id, "--json").json["status"] == "compensated"
        assert ledger_of(booking, saga_id, f"{saga_id}~reversal").standing == (0, 0)
    assert booking.ledger().landed == before


def test_an_open_day_goes_on_and_everybody_is_told_that_it_is_off(command: CommandLine) -> None:
    told = command("reunion", "messages", "day", "--json").json["messages"]
    assert {each["person"] for each in told} >= {"James"}
    assert {each["kind"] for each in told} == {"invitation", "withdrawal"}
    assert command("cancel", "day", "--json").json["status"] == "compensated"
    now = command("reunion", "messages", "day", "--json").json["messages"]
    assert now[: len(told)] == told
    invited = [each["key"] for each in now if each["kind"] == "invitation"]
    assert sorted(invited) == sorted(each["withdraws"] for each in now if each["withdraws"])


async def _body_again(store: str, seats: Seats) -> str:
    async with Engine.open(store) as engine:
        await run_body(engine, seats)
        return (await engine.status(BODY)).status.value


def test_a_body_whose_process_was_killed_is_run_again(command: CommandLine, seats: Seats) -> None:
    assert seats.booked_by(BODY) == ["flight", "hotel"]
    assert asyncio.run(_body_again(command.store, seats)) == "committed"
    assert seats.booked_by(BODY) == ["flight", "hotel"]


def _saver(store: str) -> Any:
    """LangGraph's own, on the store's database."""
    if store.startswith("sqlite:///"):
        return AsyncSqliteSaver.from_conn_string(store.removeprefix("sqlite:///"))
    return AsyncPostgresSaver.from_conn_string(store)


async def _answered(store: str, seats: Seats) -> str:
    async with Engine.open(store) as engine, _saver(store) as checkpointer:
        graph = trip_graph(seats).compile(engine=engine, checkpointer=checkpointer)
        thread = {"configurable": {"thread_id": THREAD}}
        (asked,) = (await graph.aget_state(thread)).interrupts
        assert asked.value == "a hotel, too?"
        assert await graph.ainvoke(Command(resume="yes"), thread) == {"flight": "flight", "answer": "yes", "hotel": "hotel"}
        return (await engine.status(THREAD)).status.value


def test_a_thread_that_waits_for_an_answer_goes_on_when_it_is_given(command: CommandLine, seats: Seats) -> None:
    assert seats.booked_by(THREAD) == ["flight"]
    assert asyncio.run(_answered(command.store, seats)) == "committed"
    assert seats.booked_by(THREAD) == ["flight", "hotel"]

"""The planning graph with journal and checkpoints in PostgreSQL: over restarts, lost connections, and begun by many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver, empty_checkpoint

from sagagraph.domains.travel.provider.receipts import Ledger
from sagagraph.errors import StoreError
from sagagraph.graph.checkpoints import postgres_checkpointer
from sagagraph.graph.checkpoints.checkpointer import open_checkpointer
from tests.graph.conftest import OpenWorker
from tests.support.proxy import PostgresProxy, postgres_proxy
from tests.support.trips import REQUEST

ReadLedger = Callable[[], Any]

CONFIG: Any = {"configurable": {"thread_id": "trip", "checkpoint_ns": ""}}
WRITE = b"""INSERT INTO checkpoint_writes (thread_id, checkpoint_id, task_id, idx, channel, blob)
VALUES ('trip', $1, 'task', 0, '', '')"""
CUTS = [PostgresProxy.cut, PostgresProxy.cut_before_next_request, PostgresProxy.cut_after_next_request]


@pytest.fixture
def proxy(database: str) -> Iterator[PostgresProxy]:
    with postgres_proxy(database) as running:
        yield running


@pytest.fixture
def store_url(proxy: PostgresProxy, database: str) -> str:
    return proxy.url(database)


def standing(ledger: Ledger) -> tuple[int, int]:
    confirmed = sum(row.state == "confirmed" for row in ledger.reservations)
    return confirmed, sum(row.state == "captured" for row in ledger.payments)


async def test_a_plan_waits_for_approval_over_a_restart(open_worker: OpenWorker, ledger: ReadLedger) -> None:
    async with open_worker() as first:
        shown = await first.graph.start("trip", REQUEST)
        assert shown.status == "awaiting_approval"
    async with open_worker() as second:
        state = await second.graph.compiled.aget_state(CONFIG)
        assert state.next == ("approve",)
        approved = await second.graph.decide("trip", approved=True, by="ann", plan_hash=shown.plan_hash)
        assert (approved.status, approved.plan_hash) == ("committed", shown.plan_hash)
    assert standing(await ledger()) == (5, 1)


async def test_rule_1_a_trip_whose_connections_are_cut_again_and_again_is_booked_once(
    open_worker: OpenWorker, proxy: PostgresProxy, ledger: ReadLedger
) -> None:
    async with open_worker() as worker:
        running = asyncio.create_task(worker.graph.start("trip", REQUEST, approved_by="ann"))
        cuts = 0
        while not running.done():
            CUTS[cuts % len(CUTS)](proxy)
            cuts += 1
            await asyncio.sleep(0.1)  # time to come back, and to do something
        assert (await running).status == "committed"
    assert proxy.cuts > 3
    assert standing(await ledger()) == (5, 1)


async def write_checkpoint(saver: BaseCheckpointSaver[str]) -> None:
    kept = await saver.aput(CONFIG, empty_checkpoint(), {}, {})
    await saver.aput_writes(kept, [("channel", "written")], "task")


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: cut.__name__)
async def test_a_checkpoint_over_a_lost_connection_is_kept(proxy: PostgresProxy, store_url: str, cut: Any) -> None:
    async with open_checkpointer(store_url) as saver:
        cut(proxy)
        await write_checkpoint(saver)
        cut(proxy)
        found = await saver.aget_tuple(CONFIG)
        assert found is not None
        assert found.pending_writes == [("task", "channel", "written")]
    assert proxy.cuts >= 2


async def test_rule_6_a_worker_that_froze_in_the_middle_of_a_checkpoint_holds_nobody_up(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No limit of the server's applies between a statement of a pipeline and the pipeline's end."""
    monkeypatch.setattr(postgres_checkpointer, "_FROZEN_S", 0)
    async with open_checkpointer(database) as saver, open_checkpointer(database) as other:
        kept = await saver.aput(CONFIG, empty_checkpoint(), {}, {})
        frozen: Any = other.conn.pgconn
        frozen.enter_pipeline_mode()
        frozen.send_query_params(WRITE, [kept["configurable"]["checkpoint_id"].encode()])
        frozen.send_flush_request()
        frozen.flush()
        await asyncio.sleep(0.5)
        await saver.conn.execute("SET lock_timeout = '300ms'")
        await saver.aput_writes(kept, [("channel", "written")], "task")
        found = await saver.aget_tuple(kept)
        assert found is not None
        assert found.pending_writes == [("task", "channel", "written")]


async def test_a_checkpoint_that_cannot_be_kept_is_a_store_error_in_one_line(
    proxy: PostgresProxy, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_checkpointer, "RECONNECT_S", 0.3)
    async with open_checkpointer(store_url) as saver:
        proxy.refuse_for(3)
        with pytest.raises(StoreError, match="checkpoint cannot be kept") as raised:
            await write_checkpoint(saver)
    assert len(str(raised.value).splitlines()) == 1


async def test_checkpoints_that_cannot_be_opened_are_a_store_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_checkpointer, "RECONNECT_S", 0.3)
    with pytest.raises(StoreError, match=r"me@127\.0\.0\.1:1/x cannot be used") as raised:
        async with open_checkpointer("postgresql://me:secret@127.0.0.1:1/x"):
            pass
    assert "secret" not in str(raised.value)


async def test_many_that_begin_at_once_make_the_tables_once(empty_database: str) -> None:
    async def begin() -> None:
        async with open_checkpointer(empty_database) as saver:
            await write_checkpoint(saver)

    await asyncio.gather(*(begin() for _process in range(6)))
    with psycopg.connect(empty_database) as connection:
        versions = [row[0] for row in connection.execute("SELECT v FROM checkpoint_migrations ORDER BY v")]
    assert versions == list(range(len(versions)))

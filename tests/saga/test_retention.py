"""Letting go of finished sagas: archived or dropped, and nothing that is needed."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sagagraph import Call, Engine
from sagagraph.errors import ConflictError, InvalidInputError, RetiredError, StoreError
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.maintenance import retention
from sagagraph.saga.engine.maintenance.retention import append_to_archive
from sagagraph.saga.stores.port import RequestKind, SagaStore
from sagagraph.saga.stores.rows import checksum

from .service import Service, is_lost, lands_but_is_lost, quick
from .workers import OpenEngine, on_every_store

NO_AGE = timedelta()


async def booked(engine: Engine, service: Service, saga_id: str = "trip", **pivot: Any) -> None:
    async with engine.saga(saga_id) as saga:
        await saga.run(service.action("flight"), {"to": "Oslo"})
        if pivot:
            await saga.run(service.action("pay", undoable=False, kind="pivot", **pivot))


def lines(archive: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in archive.read_text().splitlines()]


def content(archive: Path) -> bytes:
    return archive.read_bytes() if archive.exists() else b""


def put(archive: Path, written: bytes) -> None:
    archive.write_bytes(written)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tmp_path / "archive.jsonl"


# -- what goes ----------------------------------------------------------------------------------------------------------


@on_every_store
async def test_a_finished_saga_is_archived_row_by_row_and_its_id_is_never_used_again(
    engine: Engine, service: Service, archive: Path
) -> None:
    await booked(engine, service)
    before = await engine.store.dump("trip")
    assert (await engine.retire("trip", archive=archive)).retired == ("trip",)
    assert lines(archive) == [json.loads(json.dumps(before))]
    for row in lines(archive)[0]["events"]:
        told = row.pop("checksum")
        assert told == checksum("trip", *row.values())
    with pytest.raises(RetiredError, match="archived or dropped at"):
        await engine.status("trip")
    with pytest.raises(RetiredError):
        await engine.journal("trip")
    with pytest.raises(RetiredError):
        await engine.cancel("trip")
    with pytest.raises(ConflictError, match="use another id"):
        await booked(engine, service)
    assert service.calls == ["do flight"]
    assert await engine.sagas() == ()


async def test_only_what_ended_long_enough_ago_goes(open_engine: OpenEngine, service: Service, memory: SagaStore) -> None:
    now = 1_000_000.0
    memory._clock = lambda: now  # type: ignore[attr-defined]
    async with open_engine(clock=lambda: now) as engine:
        await booked(engine, service, "old")
        now += 86_400
        await booked(engine, service, "young")
        assert (await engine.retire(older_than=timedelta(days=2), archive=None)).retired == ()
        assert (await engine.retire(older_than=timedelta(days=1), archive=None)).retired == ("old",)
        assert (await engine.retire(older_than=timedelta(days=1), archive=None)).retired == ()
        assert [each.saga_id for each in await engine.sagas()] == ["young"]


@on_every_store
async def test_a_dry_run_only_says_which(engine: Engine, service: Service, archive: Path) -> None:
    await booked(engine, service)
    assert (await engine.retire(older_than=NO_AGE, archive=archive, dry_run=True)).retired == ("trip",)
    assert content(archive) == b""
    assert (await engine.status("trip")).status is SagaStatus.COMMITTED


@on_every_store
@pytest.mark.parametrize(("saga_id", "older_than"), [(None, None), ("trip", NO_AGE), (None, timedelta(days=-1))])
async def test_either_a_saga_or_an_age_is_named(engine: Engine, saga_id: str | None, older_than: timedelta | None) -> None:
    with pytest.raises(InvalidInputError):
        await engine.retire(saga_id, older_than=older_than, archive=None)


# -- what stays ---------------------------------------------------------------------------------------------------------


@on_every_store
async def test_a_saga_that_is_open_stays(engine: Engine, service: Service) -> None:
    service.on("do flight", lands_but_is_lost)
    with pytest.raises(Exception, match="held"):
        await booked(engine, service)
    (kept,) = (await engine.retire("trip", archive=None)).kept
    assert (kept.saga_id, kept.why) == ("trip", "it is held")
    assert (await engine.retire(older_than=NO_AGE, archive=None)).retired == ()


@on_every_store
async def test_a_saga_with_a_cancel_that_nobody_has_seen_to_stays(engine: Engine, service: Service) -> None:
    await booked(engine, service)
    await engine.store.ask("trip", RequestKind.CANCEL, "ada", None)
    (kept,) = (await engine.retire("trip", archive=None)).kept
    assert "nobody has seen to" in kept.why
    assert (await engine.status("trip")).status is SagaStatus.COMMITTED


@on_every_store
async def test_rule_5_neither_an_open_reversal_nor_what_it_undoes_goes(engine: Engine, service: Service) -> None:
    async def refund(request: Any, result: Any, call: Call) -> Any:
        return await service._answer("refund", call, lambda: service._undo(call))

    service.on("undo flight", *[is_lost] * 9)
    await booked(engine, service, reverse=refund, policy=quick())
    assert (await engine.cancel("trip")).status is SagaStatus.STUCK
    kept = [(await engine.retire(name, archive=None)).kept for name in ("trip", "trip~reversal")]
    why = {each.saga_id: each.why for (each,) in kept}
    assert why == {"trip": "it is stuck", "trip~reversal": "it is held"}
    await engine.resolve("trip~reversal", "undo flight-1", "landed")
    # the reversal has ended, and the saga that it undoes has not taken that over yet
    (needed,) = (await engine.retire("trip~reversal", archive=None)).kept
    assert "undoes saga 'trip', which needs it" in needed.why
    assert (await engine.retire(older_than=NO_AGE, archive=None)).retired == ()
    assert (await engine.resume("trip")).status is SagaStatus.COMPENSATED
    assert set((await engine.retire(older_than=NO_AGE, archive=None)).retired) == {"trip", "trip~reversal"}


@on_every_store
async def test_one_that_cannot_be_read_does_not_keep_the_others(
    engine: Engine, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bad", "good"):
        await booked(engine, service, name)
    read = engine.store.read

    async def broken(saga_id: str) -> Any:
        if saga_id == "bad":
            raise StoreError("its journal is damaged")
        return await read(saga_id)

    with monkeypatch.context() as patched:
        patched.setattr(engine.store, "read", broken)
        told = await engine.retire(older_than=NO_AGE, archive=None)
    assert (told.retired, [(each.saga_id, each.why) for each in told.kept]) == (("good",), [("bad", "its journal is damaged")])


# -- interrupted --------------------------------------------------------------------------------------------------------


@on_every_store
async def test_killed_between_the_archive_and_the_deletion_it_is_repeated(
    engine: Engine, service: Service, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        await booked(engine, service, name)
    store_retire, calls = engine.store.retire, 0

    async def killed(*arguments: Any, **named: Any) -> None:
        nonlocal calls
        calls += 1
        assert len(lines(archive)) == 2  # complete before anything is deleted
        if calls == 2:
            raise KeyboardInterrupt
        await store_retire(*arguments, **named)

    with monkeypatch.context() as patched:
        patched.setattr(engine.store, "retire", killed)
        with pytest.raises(KeyboardInterrupt):
            await engine.retire(older_than=NO_AGE, archive=archive)
    assert len(await engine.sagas()) == 1
    assert len((await engine.retire(older_than=NO_AGE, archive=archive)).retired) == 1
    assert sorted(each["saga"]["saga_id"] for each in lines(archive)) == ["one", "two"]  # each of them once


@on_every_store
async def test_what_a_killed_run_left_of_a_line_is_written_anew(engine: Engine, service: Service, archive: Path) -> None:
    for name in ("one", "two"):
        await booked(engine, service, name)
    await engine.retire("one", archive=archive)
    whole = content(archive)
    for torn in (len(whole) + 3, len(whole) + 40):
        append_to_archive(archive, [await engine.store.dump("two")])
        put(archive, content(archive)[:torn])
    assert not content(archive).endswith(b"\n")
    await engine.retire("two", archive=archive)
    assert content(archive).startswith(whole)
    assert [each["saga"]["saga_id"] for each in lines(archive)] == ["one", "two"]


@on_every_store
async def test_an_archive_that_cannot_be_written_deletes_nothing(
    engine: Engine, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await booked(engine, service)
    with pytest.raises(StoreError, match="nothing was deleted"):
        await engine.retire("trip", archive=tmp_path / "no such folder" / "archive.jsonl")
    assert (await engine.status("trip")).status is SagaStatus.COMMITTED

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    put(tmp_path / "archive.jsonl", b"")  # so that only its content is to be synchronized, not its name
    with monkeypatch.context() as patched:
        patched.setattr(retention.os, "fsync", full)
        with pytest.raises(StoreError, match="No space left"):
            await engine.retire("trip", archive=tmp_path / "archive.jsonl")
    assert (await engine.status("trip")).status is SagaStatus.COMMITTED


@on_every_store
async def test_a_file_that_is_no_archive_is_left_as_it_is(engine: Engine, service: Service, archive: Path) -> None:
    await booked(engine, service)
    for letter in (b"a letter", b"a letter\n", b'{"saga": {}}\nand a letter'):
        put(archive, letter)
        with pytest.raises(InvalidInputError, match="no archive of sagas"):
            await engine.retire("trip", archive=archive)
        assert content(archive) == letter
    assert (await engine.status("trip")).status is SagaStatus.COMMITTED

"""A store copied into another: from SQLite to PostgreSQL and back, verified; open sagas go on there, and ask before they act."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from sagagraph import Call, Engine, Guarantees, action
from sagagraph.errors import ConflictError, JournalError, OperationHeldError
from sagagraph.saga.core.events import LeaseTaken
from sagagraph.saga.stores import copying
from sagagraph.saga.stores.copying import copy
from sagagraph.saga.stores.port import Document, RequestKind


async def undo(request: str, result: str, call: Call) -> None: ...


@action(compensate=undo, guarantees=Guarantees(dedup=timedelta(days=1)))
async def book(request: str, call: Call) -> str:
    return f"booked {request}"


@action(compensate=undo)
async def lose(request: str, call: Call) -> str:
    raise RuntimeError("lost")


async def filled(url: str) -> None:
    async with Engine.open(url) as engine:
        async with engine.saga("done") as saga:
            await saga.run(book, "a flight ✈")
        with pytest.raises(OperationHeldError):
            async with engine.saga("held") as saga:
                await saga.run(book, "a hotel")
                await saga.run(lose, "lost")
        await engine.store.ask("held", RequestKind.CANCEL, "ann", None)
        await engine.store.put(Document("key 1", "key", "made", {"role": "reader"}))


async def test_from_sqlite_to_postgresql_and_back_nothing_is_lost_and_open_sagas_go_on(
    tmp_path: Path, empty_database: str
) -> None:
    first, back = f"sqlite:///{tmp_path / 'a.db'}", f"sqlite:///{tmp_path / 'b.db'}"
    await filled(first)
    there = copy(first, empty_database, lambda _name: None)
    assert (there.sagas, there.same) == (3, 0)
    again = copy(first, empty_database, lambda _name: None)
    assert (again.sagas, again.same, again.hash) == (3, 3, there.hash)
    assert copy(empty_database, back, lambda _name: None).hash == there.hash
    async with Engine.open(empty_database) as engine:
        assert (await engine.status("done")).status == "committed"
        assert engine.store.epoch > 1
        request = await engine.store.ask("held", RequestKind.CANCEL, "bob", None)
        assert request.number > 1, "numbers go on after those that were copied"
        await engine.store.put(Document("key 2", "key", "made", {}))
        engine.register(book)
        engine.register(lose)
        view = await engine.resolve("held", "lose-1", "failed")
        assert view.status == "compensated"
        assert [each.data for each in await engine.store.documents("key 1")] == [{"role": "reader"}]


async def test_an_open_saga_goes_on_in_the_new_store_as_after_a_restore(tmp_path: Path) -> None:
    """Somebody may have gone on with the old one."""
    first, second = f"sqlite:///{tmp_path / 'a.db'}", f"sqlite:///{tmp_path / 'b.db'}"
    await filled(first)
    copy(first, second, lambda _name: None)
    async with Engine.open(second, actions=[book, lose]) as engine:
        await engine.resume("held")
        taken = [each.event for each in await engine.journal("held") if isinstance(each.event, LeaseTaken)]
        assert taken[-1].store_epoch == engine.store.epoch == 2


async def test_a_copy_that_was_cut_short_is_finished_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = f"sqlite:///{tmp_path / 'a.db'}", f"sqlite:///{tmp_path / 'b.db'}"
    await filled(first)

    def cut(name: str) -> None:
        raise KeyboardInterrupt(name)

    with pytest.raises(KeyboardInterrupt):
        copy(first, second, cut)
    assert copy(first, second, lambda _name: None).sagas == 3


async def test_a_store_with_sagas_of_its_own_is_not_copied_into(tmp_path: Path) -> None:
    first, second = f"sqlite:///{tmp_path / 'a.db'}", f"sqlite:///{tmp_path / 'b.db'}"
    await filled(first)
    async with Engine.open(second) as engine, engine.saga("its own") as saga:
        await saga.run(book, "x")
    with pytest.raises(ConflictError, match="its own"):
        copy(first, second, lambda _name: None)


async def test_a_difference_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = f"sqlite:///{tmp_path / 'a.db'}", f"sqlite:///{tmp_path / 'b.db'}"
    await filled(first)
    monkeypatch.setattr(copying, "_copy_one", lambda *_: None)
    with pytest.raises(JournalError, match="not the same"):
        copy(first, second, lambda _name: None)

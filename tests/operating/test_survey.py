"""The survey's cost is counted: how many journals a look reads, however many sagas there are."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from sagagraph import Call, Engine, action
from sagagraph.errors import OperationHeldError
from sagagraph.operating.meters import Meters
from sagagraph.saga.core.events import Entry
from sagagraph.saga.engine.views.survey import Survey
from sagagraph.ui.oversight import ON_A_PAGE, Asked, Oversight

SAGAS = 120


async def undo(request: str, result: str, call: Call) -> None: ...


@action(compensate=undo)
async def book(request: str, call: Call) -> str:
    if request == "lost":
        raise RuntimeError("lost")
    return request


async def filled(engine: Engine) -> None:
    for number in range(SAGAS):
        async with engine.saga(f"done-{number}") as saga:
            await saga.run(book, "x")
        with pytest.raises(OperationHeldError):
            async with engine.saga(f"held_{number}") as saga:
                await saga.run(book, "lost")


def counting(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts the journals that are read from now on."""
    reads: Counter[str] = Counter()
    read = engine.store.read

    async def counted(saga_id: str) -> tuple[Entry, ...]:
        reads[saga_id] += 1
        return await read(saga_id)

    monkeypatch.setattr(engine.store, "read", counted)
    return reads


@pytest.mark.parametrize("store", ["memory:", "sqlite"])
async def test_a_look_reads_a_few_journals_each_once_and_none_that_has_ended(
    store: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Engine.open(store if store == "memory:" else f"sqlite:///{tmp_path}/a.db") as engine:
        await filled(engine)
        reads = counting(engine, monkeypatch)
        survey = Survey(engine.store)
        for look in range(1, 5):
            overview = await survey.look(0.0, most=40)
            assert sum(reads.values()) == min(40 * look, SAGAS)
        assert set(reads) == {f"held_{number}" for number in range(SAGAS)}
        assert dict(overview.counts) == {("", "committed"): SAGAS, ("", "held"): SAGAS}
        await engine.resolve("held_7", "book-1", "failed")
        reads.clear()
        overview = await survey.look(0.0, most=40)
        assert (reads["held_7"], set(reads)) in ((0, set()), (1, {"held_7"}))
        assert overview.counts["", "held"] == SAGAS - 1


@pytest.mark.parametrize("store", ["memory:", "sqlite"])
async def test_pages_hold_what_was_asked_for_and_nothing_twice(store: str, tmp_path: Any) -> None:
    async with Engine.open(store if store == "memory:" else f"sqlite:///{tmp_path}/a.db") as engine:
        await filled(engine)
        oversight = Oversight(engine, Meters())
        seen: list[str] = []
        page, has_more = 1, True
        while has_more:
            found, has_more = await oversight.sagas(Asked(page=page))
            assert len(found) <= ON_A_PAGE
            seen += [each.saga_id for each in found]
            page += 1
        assert len(seen) == len(set(seen)) == 2 * SAGAS
        for asked, names in (
            (Asked(status="committed", within="e-11"), {f"done-11{each}" for each in ("", *range(10))}),
            (
                Asked(within="d_1"),
                {f"held_1{each}" for each in ("", *range(10), *(f"{tens}{ones}" for tens in "01" for ones in range(10)))},
            ),
            (Asked(within="%"), set()),
            (Asked(domain="travel"), set()),
        ):
            found, _more = await oversight.sagas(asked)
            assert {each.saga_id for each in found} == names, asked

"""What people say, and what follows: over the whole table, offline. The figures are those that issue 15 asks for."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from typing import Final

import pytest
import pytest_asyncio

from sagagraph.context.model import Answer, Question
from sagagraph.sandbox.server import EmbeddedSandbox, SandboxSettings
from sagagraph.settings import Settings
from sagagraph.ui.service import Service, open_service
from tests.support.scripted_model import USAGE
from tests.support.today import TODAY
from tests.ui.talking.table import Result, Row, Table, rows

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    with EmbeddedSandbox(SandboxSettings(tmp_path_factory.mktemp("talking") / "sandbox.db", today=TODAY)) as sandbox:
        yield sandbox


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory, world: EmbeddedSandbox) -> AsyncIterator[Service]:
    store = tmp_path_factory.mktemp("talking") / "saga.db"
    async with open_service(Settings(store=f"sqlite:///{store}", provider_url=world.url)) as opened:
        yield opened


async def judged(table: Table, chosen: Iterable[Row]) -> Counter[Result]:
    figures: Counter[Result] = Counter()
    for row in chosen:
        result, deeds, after = await table.judged(row)
        figures[result] += 1
        if result is not Result.MEANT or os.environ.get("TALK"):
            last = [each.text for each in after.conversation.messages if each.role == "assistant"][-2:]
            print(f"{result.value:8} {row.state}: {row.said!r} -> {[each.value for each in deeds]} {last}")  # noqa: T201
    print(dict(figures))  # noqa: T201
    return figures


class Wrong:
    """A model of whose answers one third is wrong: other kinds, other cities, decisions that nobody made. The rest are right."""

    name = "fake:one-third-wrong"

    def __init__(self) -> None:
        self.meant = {row.said: row for row in rows()}
        self.asked = 0

    async def answer(self, question: Question) -> Answer:
        data = json.loads(question.data.text.splitlines()[1])
        self.asked += 1
        if self.asked % 3 == 0:
            return Answer(_LIES[self.asked % len(_LIES)], USAGE)
        row = self.meant.get(data["text"])
        wanted = set().union(*row.deeds) if row is not None else set()
        kind = "wish" if wanted & {"changed", "not_taken"} else "question" if "answered" in wanted else "small talk"
        return Answer({"kind": kind, "topic": "plan" if kind == "question" else None, "slots": []}, USAGE)


_TOKYO: Final = [{"field": "stops[0].city", "value": "Tokyo", "quote": "Tokyo"}]
_LIES: Final = (
    {"kind": "wish", "slots": _TOKYO},
    {"kind": "decision", "topic": None, "slots": []},
    {"kind": "news", "slots": []},
    {"kind": "hypothetical", "slots": _TOKYO},
    {"kind": "everything"},
)


THOROUGH: Final = os.environ.get("SAGAGRAPH_EXPLORE") == "full"
"""`make proof` says every row, with a model and without."""


@pytest.mark.parametrize("with_model", [False, True])
@pytest.mark.parametrize("held_out", [False, True])
async def test_what_people_say_does_what_they_meant_or_says_that_it_does_not(
    service: Service, world: EmbeddedSandbox, held_out: bool, with_model: bool
) -> None:
    model = Wrong() if with_model else None
    for page in service.pages.values():
        page.model = model
    every = 1 if THOROUGH else 7 if model is None else 16  # a sample of the rows tells
    chosen = [row for row in rows() if row.is_held_out is held_out][::every]
    figures = await judged(Table(service, world.url), chosen)
    assert figures[Result.UNWANTED] == 0
    assert model is None or model.asked >= 1
    assert figures[Result.MEANT] >= 0.65 * len(chosen)
    assert figures[Result.MEANT] + figures[Result.PLAIN] >= 0.92 * len(chosen)

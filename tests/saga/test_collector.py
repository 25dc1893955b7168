"""The cyclic collector: an engine leaves it alone, and a program that serves many sagas can set it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from sagagraph import Engine
from sagagraph.saga.engine.collector import collect_seldom

pytestmark = pytest.mark.quick


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


async def test_an_engine_does_not_change_the_collector_of_its_process() -> None:
    before = (gc.get_threshold(), gc.get_freeze_count())
    async with Engine.open("memory:") as engine, engine.saga("trip"):
        pass
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


def test_a_program_that_asks_for_it_collects_seldom_and_leaves_alone_what_is_alive() -> None:
    collect_seldom()
    assert gc.get_threshold()[0] == 50_000
    assert gc.get_freeze_count() > 0

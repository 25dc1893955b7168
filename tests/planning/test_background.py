"""Planners think beside the event loop, and stand back."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable

import pytest

from sagagraph.planning.background import in_background, telling
from sagagraph.planning.domain import Json
from sagagraph.planning.sketch import Sketch

pytestmark = pytest.mark.quick


async def test_what_it_returns_or_raises_comes_back_and_the_loop_goes_on_meanwhile() -> None:
    gate = threading.Event()
    thinking = asyncio.create_task(in_background(gate.wait, 10))
    await asyncio.sleep(0)
    assert not thinking.done()
    gate.set()
    assert await thinking is True
    with pytest.raises(ZeroDivisionError):
        await in_background(lambda: 1 // 0)


async def test_many_think_at_once() -> None:
    everybody = threading.Barrier(20)
    assert sorted(await asyncio.gather(*(in_background(everybody.wait, 10) for _person in range(20)))) == list(range(20))


async def test_what_is_found_on_the_way_is_heard_on_the_event_loop() -> None:
    heard: list[tuple[str, bool]] = []

    def think(tell: Callable[[str], None]) -> str:
        tell("one")
        return "two"

    def hear(found: str) -> None:
        heard.append((found, threading.current_thread() is threading.main_thread()))

    assert await telling(think, hear) == "two"
    assert heard == [("one", True)]


async def test_a_sketch_that_nobody_takes_is_replaced_by_what_is_found() -> None:
    shown: list[Json] = []

    def think(tell: Callable[[int], None]) -> int:
        tell(1)
        tell(2)
        return 3

    assert await Sketch(shown.append).seek(think, str) == 3
    assert shown == ["1", "2"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere niceness is the whole process's")
async def test_its_threads_and_those_that_they_start_stand_back_and_the_caller_does_not() -> None:
    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    def of_a_child() -> int:
        found: list[int] = []
        child = threading.Thread(target=lambda: found.append(niceness()))
        child.start()
        child.join()
        return found[0]

    before = niceness()
    assert await in_background(niceness) == await in_background(of_a_child) == min(before + 10, 19)
    assert niceness() == before

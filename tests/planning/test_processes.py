"""Planners in processes of their own: what they answer, how they end, and that nothing is left of them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import pairwise
from multiprocessing import get_all_start_methods
from pathlib import Path

import psutil
import pytest

from sagagraph.errors import InvalidInputError, PlannerError
from sagagraph.planning.background import apart, in_background, in_processes, telling
from sagagraph.planning.sketch import Sketch
from tests.planning import thoughts
from tests.support.processes import is_alive

pytestmark = pytest.mark.skipif("forkserver" not in get_all_start_methods(), reason="there they think in threads")

PATIENCE_S = 60.0


@pytest.fixture
def processes() -> Iterator[None]:
    with in_processes("tests.planning.thoughts"):
        yield


def begun(told: Path) -> psutil.Process:
    """The process that says so in this file."""
    give_up_at = time.monotonic() + PATIENCE_S
    while not told.exists():
        assert time.monotonic() < give_up_at, "it has not begun to think"
        time.sleep(0.01)
    return psutil.Process(int(told.read_text()))


def helpers() -> list[psutil.Process]:
    """The fork server and all that it has made; other children of the test run are none of our business."""
    found = []
    for each in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if any("multiprocessing" in word for word in each.cmdline()):
                found.append(each)
    return found


def wait_for_the_end_of(process: psutil.Process) -> None:
    give_up_at = time.monotonic() + PATIENCE_S
    while is_alive(process):
        assert time.monotonic() < give_up_at, "it goes on thinking"
        time.sleep(0.01)


async def test_each_thought_has_a_process_of_its_own(processes: None) -> None:
    pids = await asyncio.gather(*(in_background(thoughts.own_pid) for _person in range(3)))
    assert len({*pids, os.getpid()}) == 4


async def test_what_is_found_on_the_way_is_told_in_order(processes: None) -> None:
    told: list[int] = []
    assert await telling(thoughts.counting, told.append) == 3
    assert told == [1, 2]


async def test_what_is_good_enough_ends_the_search(processes: None, tmp_path: Path) -> None:
    shown = asyncio.Event()
    sketch = Sketch(lambda _plan: shown.set())
    assert not sketch.take()  # there is nothing yet
    seeking = asyncio.create_task(sketch.seek(partial(thoughts.first_of_many, tmp_path / "pid"), str.upper))
    thinker = await asyncio.to_thread(begun, tmp_path / "pid")
    await shown.wait()
    assert sketch.plan == "THE FIRST"
    assert sketch.take()
    assert await seeking == "the first"
    await asyncio.to_thread(wait_for_the_end_of, thinker)


async def test_outside_of_it_thoughts_stay_in_this_process() -> None:
    with in_processes():
        assert await in_background(thoughts.own_pid) != os.getpid()
    assert await in_background(thoughts.own_pid) == os.getpid()


async def test_what_asks_others_has_an_event_loop_there_and_thinks_there_too(processes: None) -> None:
    number, pid, is_thought_on_the_spot = await apart(thoughts.asking, 7)
    assert number == 7
    assert pid != os.getpid()
    assert is_thought_on_the_spot


async def test_errors_come_back_with_what_they_say(processes: None) -> None:
    with pytest.raises(InvalidInputError, match="people: not that") as caught:
        await in_background(thoughts.refuse)
    assert caught.value.field == "people"
    assert "in refuse" in caught.value.__notes__[0]


async def test_an_answer_that_cannot_be_passed_on_is_an_error(processes: None) -> None:
    with pytest.raises(PlannerError, match="passed on"):
        await in_background(thoughts.unpicklable)


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGSEGV])
async def test_a_process_that_dies_is_one_clear_error_and_the_next_one_lives(processes: None, by: signal.Signals) -> None:
    with pytest.raises(PlannerError, match=rf"{by.name}\): resume the saga"):
        await in_background(thoughts.end_itself, by)
    assert await in_background(thoughts.own_pid)


async def test_what_is_given_up_ends_at_once(processes: None, tmp_path: Path) -> None:
    thinking = asyncio.create_task(in_background(thoughts.for_ever, tmp_path / "pid"))
    thinker = await asyncio.to_thread(begun, tmp_path / "pid")
    thinking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await thinking
    await asyncio.to_thread(wait_for_the_end_of, thinker)


async def test_what_is_given_up_before_it_has_begun_never_goes_on(processes: None, tmp_path: Path) -> None:
    thinking = [asyncio.create_task(in_background(thoughts.for_ever, tmp_path / str(number))) for number in range(5)]
    await asyncio.sleep(0)
    for each in thinking:
        each.cancel()
    await asyncio.gather(*thinking, return_exceptions=True)
    assert await in_background(thoughts.own_pid)
    for each in helpers():
        with suppress(psutil.NoSuchProcess):
            if each.nice() > psutil.Process().nice():
                await asyncio.to_thread(wait_for_the_end_of, each)


async def test_more_than_there_is_room_for_wait() -> None:
    with in_processes("tests.planning.thoughts", at_once=1):
        thought = await asyncio.gather(*(in_background(thoughts.pid_and_end, 0.05) for _person in range(3)))
    in_order = sorted((began, ended_at) for _pid, began, ended_at in thought)
    assert all(one[1] <= other[0] for one, other in pairwise(in_order))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere niceness is the whole process's")
async def test_they_stand_back_and_those_that_think_for_long_once_more(processes: None) -> None:
    here = os.getpriority(os.PRIO_PROCESS, 0)
    first, last = await in_background(thoughts.niceness_from_first_to_last)
    assert min(here, 18) < first < last


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_they_end_with_their_parent_however_that_ends(tmp_path: Path, end: signal.Signals) -> None:
    parent = subprocess.Popen([sys.executable, "-m", "tests.planning.thoughts", str(tmp_path / "pid")], stderr=subprocess.PIPE)
    thinker = begun(tmp_path / "pid")
    others = psutil.Process(parent.pid).children(recursive=True)
    parent.send_signal(end)
    parent.communicate()
    for each in (thinker, *others):
        wait_for_the_end_of(each)


async def test_an_interrupt_at_the_terminal_is_for_the_server_alone(processes: None, tmp_path: Path) -> None:
    """It reaches every process of the group."""
    thinking = asyncio.create_task(in_background(thoughts.for_ever, tmp_path / "pid"))
    thinker = await asyncio.to_thread(begun, tmp_path / "pid")
    assert thinker in helpers()
    for each in helpers():
        each.send_signal(signal.SIGINT)
    assert await in_background(thoughts.own_pid)
    assert is_alive(thinker)
    thinking.cancel()

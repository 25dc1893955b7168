"""Background planning: in threads of this process or, in a server, in separate processes.

A solver takes every core it can get. In an event loop's process its threads would crowd out the loop, the store and whatever
else is served from there; where the system can lower the priority of a single thread (Linux), these and those that they start
run at a lower one.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, partial
from multiprocessing import forkserver, get_all_start_methods, get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from typing import Any, Final, ParamSpec, Protocol, TypeVar, cast

from sagagraph.errors import PlannerError

P = ParamSpec("P")
T = TypeVar("T")

_THREADS: Final = 64
"""How many planners may run at once before others queue."""
_STANDS_BACK: Final = 10
"""Niceness, on top of that of the process."""


class Place(Protocol):
    async def think(self, think: Callable[[Callable[[T], None]], T], told: Callable[[T], None]) -> T: ...

    async def plan(self, plan: Callable[[], Coroutine[Any, Any, T]]) -> T: ...


async def in_background(think: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what `think` returns, or raise what it raises. If the caller gives up, a process is ended, but a thread runs on.

    Raises `PlannerError` if a process ended without an answer.
    """
    return await PLACE.get().think(partial(_in_silence, partial(think, *args, **kwargs)), nobody)


async def telling(think: Callable[[Callable[[T], None]], T], told: Callable[[T], None]) -> T:
    """Do the same for what calls its argument with what it has so far; `told` is called with that on this event loop."""
    return await PLACE.get().think(think, told)


def nobody(_so_far: object) -> None:
    """Hear nothing of what is found on the way."""


def _on_this_loop(told: Callable[[T], None]) -> Callable[[T], None]:
    """Return the same for other threads to call."""
    loop = asyncio.get_running_loop()

    def call(so_far: T) -> None:
        loop.call_soon_threadsafe(partial(told, so_far))

    return call


def _in_silence(think: Callable[[], T], _tell: Callable[[T], None]) -> T:
    return think()


async def apart(plan: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do the same for planning that also calls others: on this event loop, or on a process's own."""
    return await PLACE.get().plan(partial(plan, *args, **kwargs))


class Threads:
    async def think(self, think: Callable[[Callable[[T], None]], T], told: Callable[[T], None]) -> T:
        return await asyncio.get_running_loop().run_in_executor(_threads(), partial(think, _on_this_loop(told)))

    async def plan(self, plan: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return await plan()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="sagagraph-planner", initializer=partial(stand_back, _STANDS_BACK))


def stand_back(by: int, thread: int | None = None) -> None:
    """Lower the priority. `by`: niceness added to the current one. `thread`: its native id; this one by default."""
    if hasattr(os, "setpriority") and hasattr(threading, "get_native_id"):
        whose = thread or threading.get_native_id()
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, whose, os.getpriority(os.PRIO_PROCESS, whose) + by)


PLACE: ContextVar[Place] = ContextVar("PLACE", default=Threads())  # noqa: B039 - it holds nothing that could change


AT_ONCE: Final = 24
"""Bounds the memory that planners take; beyond it planners queue."""
_PROCESS_STANDS_BACK: Final = 5
_SHORT_S: Final = 2.0
"""Seconds after which a planner lowers its priority twice more, so that short plans are not held up by long ones."""


@contextmanager
def in_processes(*modules: str, at_once: int = AT_ONCE) -> Iterator[None]:
    """Use processes for everything begun inside. `modules`: what planners import, once, in advance.

    Arguments and answers of planners are pickled. If there is no fork server (Windows), they stay in threads.
    """
    if "forkserver" not in get_all_start_methods():
        yield
        return
    before = PLACE.set(_Processes(modules, at_once))
    try:
        yield
    finally:
        PLACE.reset(before)


class _Processes:
    """Processes, each made for one plan, as a copy of one that has imported what planners need and does nothing else (a fork
    server), so it begins at once, and nothing of one person's plan is left for the next. In a thread, a planner written in Python
    would hold the interpreter's lock against all other threads, and nothing could interrupt a solver that was given up.
    """

    def __init__(self, modules: tuple[str, ...], at_once: int) -> None:
        self._room = asyncio.Semaphore(at_once)
        self._context = get_context("forkserver")
        self._context.set_forkserver_preload(["__main__", __name__, *modules])
        resource_tracker.ensure_running()  # unblocks signals that were blocked before
        # An interrupt at the terminal is meant for the server, which ends the others.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            forkserver.ensure_running()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    async def think(self, think: Callable[[Callable[[T], None]], T], told: Callable[[T], None]) -> T:
        async with self._room:
            thinker = _Thinker(self._context, think, _on_this_loop(told))
            try:
                return cast(T, await asyncio.get_running_loop().run_in_executor(None, thinker.answer))
            finally:
                thinker.give_up()

    async def plan(self, plan: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return await self.think(partial(_looped, plan), nobody)


def _looped(plan: Callable[[], Coroutine[Any, Any, T]], _tell: object) -> T:  # of a module, so that it can be pickled
    return asyncio.run(plan())


class _Thinker:
    """Process for one plan. `answer` waits for it, in a thread; `give_up` ends it, before or after that."""

    def __init__(self, context: Any, think: Callable[..., object], told: Callable[[Any], object]) -> None:
        """Make it. `told` is called in the thread that waits for the answer."""
        self._hears = told
        self._answers, self._told = context.Pipe(duplex=False)
        self._process = context.Process(target=_think, args=(think, self._told), name="sagagraph-planner", daemon=True)
        self._turn = threading.Lock()
        self._is_running = self._is_given_up = False

    def answer(self) -> object:
        try:
            self._process.start()  # waits until the fork server has imported everything
            self._told.close()
            with self._turn:
                self._is_running = True
                if self._is_given_up:
                    self._process.kill()
            while (told := self._receive())[0] is None:
                self._hears(told[1])
            is_answer, answer = told
        except (EOFError, OSError):
            end = "no process could be started"
            if self._process.pid is not None:
                self._process.join()
                code = self._process.exitcode or 0
                end = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            raise PlannerError(f"planning ended before it had an answer ({end}): resume the saga to plan again") from None
        finally:
            self._answers.close()
            self._told.close()
            with self._turn:
                self._is_running = False
        if is_answer:
            return answer
        raise answer

    def _receive(self) -> tuple[bool | None, Any]:
        told: tuple[bool | None, Any] = pickle.loads(self._answers.recv_bytes())  # noqa: S301 - from a process of ours
        return told

    def give_up(self) -> None:
        with self._turn:
            self._is_given_up = True
            if self._is_running:
                self._process.kill()


def _think(think: Callable[..., object], answers: Connection) -> None:
    """Run in the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # repeated: a fork server that was restarted may receive the signal
    stand_back(_PROCESS_STANDS_BACK)
    threading.Thread(target=_end_with_parent, args=(threading.get_native_id(),), daemon=True).start()
    PLACE.set(_Here())
    told: tuple[bool, object]

    def tell(so_far: object) -> None:
        answers.send_bytes(pickle.dumps((None, so_far)))

    try:
        told = True, think(tell)
    except Exception as exc:  # noqa: BLE001 - whatever it is, it is for whoever asked
        exc.add_note(f"in the planner's process: {traceback.format_exc()}")
        told = False, exc
    try:
        pickled = pickle.dumps(told)
    except Exception as exc:  # noqa: BLE001 - each thing refuses in its own way
        pickled = pickle.dumps((False, PlannerError(f"the planner's answer cannot be passed on: {exc}; {told[1]!r}")))
    with suppress(BrokenPipeError):  # nobody waits for it any more
        answers.send_bytes(pickled)


def _end_with_parent(thinker: int) -> None:
    """End with the parent, however it ends: nobody else would end a solver."""
    parent = parent_process()
    if parent is None:
        return
    parent.join(_SHORT_S)
    stand_back(2 * _PROCESS_STANDS_BACK, thinker)
    parent.join()
    os._exit(1)


class _Here:
    """Planning on the spot: inside the process it need not make way for anything."""

    async def think(self, think: Callable[[Callable[[T], None]], T], told: Callable[[T], None]) -> T:
        return think(told)

    async def plan(self, plan: Callable[[], Coroutine[Any, Any, T]]) -> T:
        return await plan()

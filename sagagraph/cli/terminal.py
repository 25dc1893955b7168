"""Terminal: asking a person, and what the person is told on an interrupt."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sagagraph.cli import render
from sagagraph.errors import DrainedError


def is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


async def asked(question: str) -> str | None:
    """Return what a person types; None at the end of input. The thread can be abandoned, because nothing can interrupt waiting
    for a line.
    """
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[str | None] = loop.create_future()

    def settle(answer: str | None) -> None:
        if not answered.done():
            answered.set_result(answer)

    def ask() -> None:
        try:
            answer = render.stderr.ask(question)
        except EOFError:
            answer = None
        with suppress(RuntimeError):  # the loop has ended: nobody waits for the line any more
            loop.call_soon_threadsafe(settle, answer)

    threading.Thread(target=ask, name="question", daemon=True).start()
    return await answered


@contextmanager
def interruptible(saga_id: str, again: str = "resume") -> Iterator[None]:
    """Tell a person who interrupts which command resumes. A cancellation must be repeated: it may not have arrived yet."""
    try:
        yield
    except (KeyboardInterrupt, asyncio.CancelledError, DrainedError):
        render.stderr.print(f"interrupted; go on with: sagagraph {again} {saga_id}", markup=False)
        raise

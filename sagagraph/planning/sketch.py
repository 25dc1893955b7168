"""Sketches: the best plan so far, shown while a better one is sought; whoever looks at it may take it as it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar

from sagagraph.planning.background import nobody, telling
from sagagraph.planning.domain import Json

T = TypeVar("T")


class Sketch:
    """Sketch of the plan of one saga, in memory only: what is taken is then proposed, judged and approved like any other plan."""

    def __init__(self, changed: Callable[[Json], None] = nobody) -> None:
        self.plan: Json = None
        """The content that its proposal would have; None: there is none yet."""
        self._changed = changed
        self._is_taken = asyncio.Event()

    def take(self) -> bool:
        """End the search with the plan that is shown; False: there is none yet."""
        if self.plan is not None:
            self._is_taken.set()
        return self._is_taken.is_set()

    async def seek(self, think: Callable[[Callable[[T], None]], T], drawn: Callable[[T], Json]) -> T:
        """Return what `think` finds, in the background, or what it had told last when that was taken. `drawn`: its content."""
        latest: list[T] = []

        def show(found: T) -> None:
            latest[:] = [found]
            self.plan = drawn(found)
            self._changed(self.plan)

        seeking, taken = asyncio.ensure_future(telling(think, show)), asyncio.ensure_future(self._is_taken.wait())
        try:
            await asyncio.wait({seeking, taken}, return_when=asyncio.FIRST_COMPLETED)
            return latest[0] if latest and not seeking.done() else await seeking
        finally:
            seeking.cancel()
            taken.cancel()


SKETCH: ContextVar[Sketch] = ContextVar("SKETCH")
"""Of the saga that is being planned, where somebody may look at it meanwhile."""


def current_sketch() -> Sketch:
    """Return the sketch of the saga that is being planned, or one that nobody looks at."""
    return SKETCH.get(None) or Sketch()

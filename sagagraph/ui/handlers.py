"""Handlers: what happens on a page when one of its components is used."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from sagagraph.errors import SagaGraphError
from sagagraph.ui.visitors import Visitor, visitor_of

_LONG_S = 0.3
"""What takes longer, such as a model that reads, is not waited for before the page shows how far it is."""
Updates = dict[Any, Any]
"""Components and their new values. Gradio has no type for either."""
Stream = AsyncIterator[Updates]


@dataclass(frozen=True, slots=True)
class Handlers:
    """Handlers of a page. `follow` streams the state until nothing is running any more; `refused` says why something was not
    done.
    """

    outputs: Sequence[Any]
    follow: Callable[..., Stream]
    refused: Callable[[Visitor, SagaGraphError], Awaitable[Updates | None]]

    def on(
        self,
        listen: Any,
        handle: Callable[..., Awaitable[Updates | None]],
        inputs: Sequence[Any] = (),
        *,
        at_once: Updates | None = None,
        often: bool = False,
        of_event: Sequence[str] = (),
    ) -> None:
        """Call `handle(visitor, *inputs)`, which returns updates, or None to let the page follow the running work.

        `of_event`: values that the browser sends with the event; they come before the inputs. `at_once`: what is shown
        before that. `often`: a second use does not wait for the first.
        """

        async def stream(request: gr.Request, *values: Any) -> Stream:
            visitor = visitor_of(request)
            if at_once is not None:
                yield at_once
            handling = asyncio.ensure_future(handle(visitor, *values))
            await asyncio.wait([handling], timeout=_LONG_S)
            if not handling.done():
                async for updates in self.follow(visitor, *values):
                    yield updates
                    break
            try:
                answer = await handling
            except SagaGraphError as exc:
                answer = await self.refused(visitor, exc)
            if answer is not None:
                yield answer
                return
            async for updates in self.follow(visitor, *values):
                yield updates

        async def stream_of(request: gr.Request, event: gr.EventData, *values: Any) -> Stream:
            async for updates in stream(request, *(str(getattr(event, name, "")) for name in of_event), *values):
                yield updates

        listen(
            stream_of if of_event else stream,
            list(inputs),
            list(self.outputs),
            api_visibility="private",
            concurrency_limit=None,
            show_progress="hidden",
            trigger_mode="multiple" if often else "once",
        )

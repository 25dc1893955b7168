"""Shutdown: ends streams that would otherwise run for as long as a client listens (followed journals, open pages), and answers
the requests that the server cannot wait for."""

from __future__ import annotations

import asyncio

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Shutdown:
    """Application wrapper that makes it look as if every client had left. Made in the event loop that serves it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._is_begun = asyncio.Event()

    def begin(self) -> None:
        self._is_begun.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_answered = is_read = False

        async def received() -> Message:
            nonlocal is_read
            if is_read:
                return await self._received(receive)
            message = await receive()  # nobody leaves in the middle of what they say: half a request is none
            is_read = not message.get("more_body", False)
            return message

        async def sending(message: Message) -> None:
            nonlocal is_answered
            is_answered = True
            await send(message)

        try:
            await self._app(scope, received, sending)
        except asyncio.CancelledError:  # a stopping server waits for answers, but not for ever
            if is_answered:
                await send({"type": "http.response.body", "body": b""})
            else:
                words = "this server is stopping: check later whether it was done, then ask again"
                await PlainTextResponse(words, 503)(scope, receive, send)

    async def _received(self, receive: Receive) -> Message:
        begun, message = asyncio.ensure_future(self._is_begun.wait()), asyncio.ensure_future(receive())
        try:
            await asyncio.wait((begun, message), return_when=asyncio.FIRST_COMPLETED)
            return message.result() if message.done() else {"type": "http.disconnect"}
        finally:
            begun.cancel()
            message.cancel()

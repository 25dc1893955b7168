"""Ends what would go on for as long as somebody listens, once the server is to stop: journals that are followed, open pages."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HangUp:
    """To the application it is as if every client had gone. Made in the event loop that serves it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._told = asyncio.Event()

    def tell(self) -> None:
        self._told.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def received() -> Message:
            told, message = asyncio.ensure_future(self._told.wait()), asyncio.ensure_future(receive())
            try:
                await asyncio.wait((told, message), return_when=asyncio.FIRST_COMPLETED)
                return message.result() if message.done() else {"type": "http.disconnect"}
            finally:
                told.cancel()
                message.cancel()

        await self._app(scope, received if scope["type"] == "http" else receive, send)

"""Late pages: the server answers before Gradio, which takes seconds to import, is there; whoever asks for a page waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib import import_module

from fastapi import FastAPI
from starlette.routing import BaseRoute
from starlette.types import Receive, Scope, Send

from sagagraph.extras import needing
from sagagraph.saga.engine.collector import collect_seldom
from sagagraph.ui.chat.conversation import Conversations
from sagagraph.ui.service import Service

_PAGES = "sagagraph.ui.server.pages"


class LatePages:
    """ASGI application that is made when it is served, or asked for the first time."""

    def __init__(self, service: Service) -> None:
        self.conversations = Conversations(service.first_page.name)
        self._service = service
        self._making: asyncio.Task[FastAPI] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (await self.made())(scope, receive, send)

    async def made(self) -> FastAPI:
        if self._making is None:
            self._making = asyncio.create_task(self._make())
        return await asyncio.shield(self._making)

    async def serve(self) -> None:
        """Run what Gradio runs beside its pages, until cancelled."""
        app = await self.made()
        collect_seldom()
        async with app.router.lifespan_context(app):
            await asyncio.Event().wait()

    @property
    def routes(self) -> Sequence[BaseRoute]:
        """Those of the pages, once they are made."""
        return self._making.result().routes if self._making and self._making.done() else ()

    async def _make(self) -> FastAPI:
        with needing("ui"):
            module = await asyncio.to_thread(import_module, _PAGES)
        app: FastAPI = module.pages(self._service, self.conversations)
        return app

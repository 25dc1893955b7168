"""The app: pages and REST interface on one FastAPI application behind `Auth`, and the server that it runs on."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import uvicorn
from fastapi import FastAPI, Request
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.responses import PlainTextResponse

from sagagraph import __version__
from sagagraph.access.login import Failures, Login
from sagagraph.extras import needing
from sagagraph.planning.background import in_processes
from sagagraph.registry import entries
from sagagraph.saga.engine.collector import collect_seldom
from sagagraph.services.person_page import task_route
from sagagraph.settings import Settings
from sagagraph.sockets import KEPT_ALIVE_S, listen, stopped_by_signals, url_of
from sagagraph.ui.chat.page_model import page_model
from sagagraph.ui.html.front import front_words
from sagagraph.ui.server.auth import Auth
from sagagraph.ui.server.first_words import FirstWords
from sagagraph.ui.server.late_pages import LatePages
from sagagraph.ui.server.options import LOOPBACK_NAMES, ServerOptions
from sagagraph.ui.server.routes.api import add_api
from sagagraph.ui.server.routes.boards import router as boards
from sagagraph.ui.server.routes.harness_page import router as harness_page
from sagagraph.ui.server.routes.harnesses import router as harnesses
from sagagraph.ui.server.routes.health import router as health
from sagagraph.ui.server.routes.login_page import Door
from sagagraph.ui.server.routes.login_page import router as login_page
from sagagraph.ui.server.routes.missions import router as missions
from sagagraph.ui.server.routes.operators_page import router as operators_page
from sagagraph.ui.server.routes.shared_page import router as shared_page
from sagagraph.ui.server.shutdown import Shutdown
from sagagraph.ui.service import Service, open_service
from sagagraph.ui.visitors import TOKEN_BYTES, visitor_of

if TYPE_CHECKING:
    from sagagraph.access.oidc import IdentityProvider

STAMP_PATH: Final = "/stamp"
_GRACE_S: Final = 3
_THREADS: Final = 128


def create_app(service: Service, options: ServerOptions, pages: LatePages | None = None) -> Auth:
    """Create the ASGI application; the service belongs to the loop that runs it. `pages`: those that are made meanwhile."""
    api = FastAPI(title="SagaGraph", version=__version__, docs_url=None, redoc_url=None)
    add_api(api, service)
    api.include_router(harnesses)
    api.include_router(harness_page)
    api.include_router(boards)
    api.include_router(missions)
    api.include_router(shared_page)
    api.include_router(login_page)
    api.include_router(health)
    api.include_router(operators_page)
    api.router.routes.append(task_route(lambda _request: service.tasks))
    login, failures = Login(options.users), Failures()
    api.state.door = Door(login, service.keys, _provider_of(options), failures)
    add_pages(api, service, pages or LatePages(service))
    api.add_middleware(FirstWords, words=front_words(service))
    api.add_middleware(GZipMiddleware)
    hosts = LOOPBACK_NAMES if options.is_loopback else None
    return Auth(
        api,
        login=login,
        failures=failures,
        keys=service.keys,
        hosts=hosts,
        new_token=lambda: secrets.token_urlsafe(TOKEN_BYTES),
        has_provider=options.oidc is not None,
    )


def _provider_of(options: ServerOptions) -> IdentityProvider | None:
    if options.oidc is None:
        return None
    with needing("oidc"):
        from sagagraph.access.oidc import IdentityProvider
    return IdentityProvider(options.oidc)


def add_pages(api: FastAPI, service: Service, pages: LatePages) -> None:
    @api.get(STAMP_PATH, include_in_schema=False)
    async def stamp(request: Request) -> PlainTextResponse:
        """Return a stamp of what the visitor's page shows in any of their windows: each checks whether it is out of date."""
        return PlainTextResponse((await page_model(service, pages.conversations, visitor_of(request))).stamp)

    api.mount("/", pages)


async def serve(settings: Settings, options: ServerOptions, on_ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM. Open sagas are resumed at once, and running calls end before it returns.

    Raises `InvalidInputError` where it cannot listen.
    """
    # Each waiting planner and each read of the store takes a thread; by default there are so few that people would queue.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="sagagraph-work"))
    with listen(options.host, options.port) as listener, in_processes(*(each for entry in entries() for each in entry.workers)):
        async with open_service(settings) as service:
            await service.pick_up()
            pages = LatePages(service)
            server = _Server(Shutdown(create_app(service, options, pages)), lambda: on_ready(url_of(listener)))
            collect_seldom()
            looking, paging = asyncio.create_task(service.oversight.keep_looking()), asyncio.create_task(pages.serve())
            paging.add_done_callback(lambda _ended: server.stop())
            try:
                await server.serve(sockets=[listener])
                if paging.done():
                    paging.result()
            finally:
                looking.cancel()
                paging.cancel()
                await asyncio.wait([paging])


class _Server(uvicorn.Server):
    def __init__(self, app: Shutdown, on_ready: Callable[[], None]) -> None:
        super().__init__(_config(app))
        self._app = app
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Before the server waits for its clients: those that follow a stream would hold it up.
        self._app.begin()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Do without Uvicorn's own handler, which raises the signal again once the server has ended, before running calls could
        be journalled.
        """

        with stopped_by_signals(self.stop):
            yield

    def stop(self) -> None:
        self.should_exit = True


def _config(app: Shutdown) -> uvicorn.Config:
    """Configure the server without an access log: an address can contain what a visitor said."""
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_GRACE_S,
        timeout_keep_alive=KEPT_ALIVE_S,
        ws="none",
        server_header=False,
    )

"""Server: sagas of the installed domains as MCP tools, over stdio or HTTP on this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sagagraph.cli.beginning import new_id
from sagagraph.cli.options import Options
from sagagraph.cli.session import Opened, acting, checked_id, domain_of
from sagagraph.cli.wishes import wanted
from sagagraph.errors import SagaGraphError
from sagagraph.extras import needing
from sagagraph.registry import open_engine
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.views.document import plain
from sagagraph.saga.engine.views.view import SagaView

with needing("mcp"):
    from mcp.server.fastmcp import FastMCP
    from mcp.server.fastmcp.exceptions import ToolError
    from mcp.types import ToolAnnotations

ASKED_BY = "mcp"
READS = ToolAnnotations(readOnlyHint=True)
BEGINS = ToolAnnotations(readOnlyHint=False, destructiveHint=False, idempotentHint=True)
ACTS = ToolAnnotations(readOnlyHint=False, destructiveHint=True, idempotentHint=True)


async def serve(options: Options, port: int | None) -> int:
    """Serve until the client leaves, or the server is told to stop. `port` None: over standard input and output."""
    server = _server(_Sagas(options), port or 0)
    await (server.run_stdio_async() if port is None else server.run_streamable_http_async())
    return 0


def _server(sagas: _Sagas, port: int) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("sagagraph", host="127.0.0.1", port=port, log_level="WARNING")
    server.tool(annotations=BEGINS)(sagas.begin)
    server.tool(annotations=ACTS)(sagas.approve)
    server.tool(annotations=READS)(sagas.status)
    server.tool(annotations=ACTS)(sagas.resume)
    server.tool(annotations=ACTS)(sagas.cancel)
    return server


class _Sagas:
    """Tools that sagas offer; their docstrings are what models read."""

    def __init__(self, options: Options) -> None:
        self._options = options

    async def begin(self, domain: str, text: str, saga_id: str = "") -> dict[str, Any]:
        """Plan what `text` asks for, in a domain such as travel. Nothing is done before `approve` is called with the plan's hash.

        The same saga_id again means the same saga, which continues where it was.
        """
        async with _told():
            name = checked_id(saga_id) if saga_id else new_id(domain)
            async with acting(self._options, domain, name, create=True) as opened:
                view = await opened.graph.start(name, await wanted(opened.page(), text, None), approved_by=None)
                return await _shown(opened, view)

    async def approve(self, saga_id: str, plan_hash: str) -> dict[str, Any]:
        """Approve the plan with this hash, as a person has decided, and carry it out."""
        async with self._acting(saga_id) as opened:
            return await _shown(opened, await opened.graph.decide(saga_id, approved=True, by=ASKED_BY, plan_hash=plan_hash))

    async def status(self, saga_id: str) -> dict[str, Any]:
        """Say where a saga stands."""
        async with _told(), open_engine(self._options.settings, only_looks=True) as engine:
            return _document(await engine.status(saga_id))

    async def resume(self, saga_id: str) -> dict[str, Any]:
        """Resume a saga that was interrupted; it does nothing twice, and nothing that was not approved."""
        async with self._acting(saga_id) as opened:
            return await _shown(opened, await opened.graph.resume(saga_id))

    async def cancel(self, saga_id: str, preview: bool = False) -> dict[str, Any]:
        """Undo a saga. `preview`: only say what that would undo, and what it costs."""
        async with self._acting(saga_id) as opened:
            return _document(await opened.engine.cancel(saga_id, preview=preview, by=ASKED_BY))

    @asynccontextmanager
    async def _acting(self, saga_id: str) -> AsyncIterator[Opened]:
        async with _told(), acting(self._options, await domain_of(self._options, saga_id), saga_id) as opened:
            yield opened


@asynccontextmanager
async def _told() -> AsyncIterator[None]:
    """Tell the client what went wrong and what to do next."""
    try:
        yield
    except SagaGraphError as exc:
        raise ToolError(str(exc)) from exc


async def _shown(opened: Opened, view: SagaView) -> dict[str, Any]:
    shown = _document(view)
    if view.status is SagaStatus.AWAITING_APPROVAL:
        shown["plan"] = plain((await opened.engine.load(view.saga_id)).plan.content)
    return shown


def _document(view: object) -> dict[str, Any]:
    document: dict[str, Any] = plain(view)
    return document

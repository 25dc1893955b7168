"""UI: `sagagraph ui` runs the app until it is stopped."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sagagraph.cli import render
from sagagraph.extras import needing
from sagagraph.settings import Settings
from sagagraph.ui.server.options import ServerOptions, users_of


async def serve_ui(settings: Settings, *, host: str, port: int, as_json: bool) -> int:
    options = ServerOptions(host, port, users_of(settings), settings.oidc)
    with _tables_made_meanwhile(settings), needing("ui"):
        from sagagraph.ui.server.app import serve

    await serve(settings, options, render.announce("SagaGraph listens on", as_json=as_json))
    return 0


@contextmanager
def _tables_made_meanwhile(settings: Settings) -> Iterator[None]:
    """Make the tables in another process, while this one spends seconds importing. A failure shows when the store is opened."""
    if settings.store_url == "memory:":
        yield
        return
    environment = {**os.environ, "SAGAGRAPH_STORE": settings.store_url}  # others could read an argument
    quiet = subprocess.DEVNULL
    upgrading = subprocess.Popen(
        [sys.executable, "-m", "sagagraph", "db", "upgrade"], env=environment, stdin=quiet, stdout=quiet, stderr=quiet
    )
    try:
        yield
    finally:
        upgrading.wait()

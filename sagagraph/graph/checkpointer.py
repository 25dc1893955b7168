"""Where LangGraph keeps its checkpoints: beside the journal, which stays authoritative."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from sagagraph.saga.stores.opening import sqlite_path


@asynccontextmanager
async def open_checkpointer(store_url: str) -> AsyncIterator[BaseCheckpointSaver[str]]:
    """A saver for the same place as the store: in memory, or in the store's SQLite file."""
    if store_url == "memory:":
        yield InMemorySaver()
        return
    async with AsyncSqliteSaver.from_conn_string(str(sqlite_path(store_url))) as saver:
        yield saver

"""An MCP server of a hotel, whose book is a file: `python -m tests.mcp.hotel LEDGER [PORT]`, over stdio without a port.

It dies right after a booking has landed, once, if there is a file LEDGER.die.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

from mcp.server.fastmcp import FastMCP
from mcp.types import ToolAnnotations

ARGUMENTS = sys.argv[1:] if __name__ == "__main__" else []
LEDGER = Path(next(iter(ARGUMENTS), "hotel.db"))
server: FastMCP[Any] = FastMCP("hotel", host="127.0.0.1", port=int(ARGUMENTS[1]) if ARGUMENTS[1:] else 0, log_level="ERROR")


def book_of(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, timeout=20)
    connection.execute("CREATE TABLE IF NOT EXISTS stays (number INTEGER PRIMARY KEY, what TEXT, city TEXT, key TEXT)")
    return connection


def written(what: str, city: str, key: str) -> int:
    made = book_of(LEDGER).execute("INSERT INTO stays (what, city, key) VALUES (?, ?, ?)", (what, city, key)).lastrowid
    mark = Path(f"{LEDGER}.die")
    if mark.exists():
        mark.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return int(made or 0)


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def rates(city: str) -> dict[str, int]:
    """Ask what a night costs."""
    return {"euros": 100}


@server.tool()
def book(city: str, nights: int, key: str = "") -> dict[str, Any]:
    """Book a room; an equal key books nothing more."""
    if city == "Atlantis":
        raise ValueError("no such city")
    known = (
        book_of(LEDGER).execute("SELECT number FROM stays WHERE what = 'book' AND key = ?", (key,)).fetchone() if key else None
    )
    return {"stay": known[0] if known else written("book", city, key), "nights": nights}


@server.tool(annotations=ToolAnnotations(destructiveHint=True))
def cancel(stay: int) -> str:
    """Cancel a room."""
    book_of(LEDGER).execute("UPDATE stays SET what = 'cancelled' WHERE number = ?", (stay,))
    return "cancelled"


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def find(key: str) -> dict[str, Any]:
    """Look for a room by its key."""
    found = book_of(LEDGER).execute("SELECT number FROM stays WHERE what = 'book' AND key = ?", (key,)).fetchone()
    return {"stay": found[0] if found else 0}


@server.tool(annotations=ToolAnnotations(idempotentHint=True, destructiveHint=False))
def confirm(city: str) -> str:
    """Confirm for good; once more changes nothing."""
    if not book_of(LEDGER).execute("SELECT 1 FROM stays WHERE what = 'confirm' AND city = ?", (city,)).fetchone():
        written("confirm", city, "")
    return "confirmed"


if __name__ == "__main__":
    server.run("streamable-http" if ARGUMENTS[1:] else "stdio")

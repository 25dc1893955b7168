"""The facts of the machine that the figures depend on; nothing that says whose it is."""

from __future__ import annotations

import os
import platform
import sqlite3
import statistics
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import psutil
import psycopg

_LIBRARIES = (
    "langgraph",
    "langgraph-checkpoint-sqlite",
    "langgraph-checkpoint-postgres",
    "dbos",
    "psycopg",
    "sqlalchemy",
    "msgspec",
    "pydantic",
)


def facts(folder: Path, server_url: str | None) -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "postgresql": _server_version(server_url) if server_url else None,
        "libraries": {name: version(name) for name in _LIBRARIES},
        "filesystem": _filesystem(folder),
        "fsync_ms": round(_fsync_s(folder) * 1000, 3),
        "load_before": round(os.getloadavg()[0], 2),
    }


def _server_version(url: str) -> str:
    with psycopg.connect(url) as connection:
        return str(connection.info.parameter_status("server_version")).split()[0]


def _filesystem(folder: Path) -> str:
    mounts = {Path(each.mountpoint): each.fstype for each in psutil.disk_partitions(all=True)}
    return next((mounts[each] for each in (folder, *folder.parents) if each in mounts), "unknown")


def _fsync_s(folder: Path, times: int = 200) -> float:
    """The median of appending a page and waiting until it is on the disk."""
    path, took = folder / "fsync", []
    with path.open("wb", buffering=0) as file:
        for _ in range(times):
            begun = perf_counter()
            file.write(b"x" * 4096)
            os.fsync(file.fileno())
            took.append(perf_counter() - begun)
    path.unlink()
    return statistics.median(took)

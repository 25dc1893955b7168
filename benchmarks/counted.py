"""What one operation takes of the machine, counted and not timed: the same on a busy machine as on an idle one.

`python -m benchmarks.counted` prints the figures; `--renew` writes them into docs/benchmarks/counted.json, against which
`make test-all` compares them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks.contenders.sagagraph import keyed, unkeyed
from benchmarks.work import TO
from sagagraph import Engine
from sagagraph.saga.engine import coordinator, leases
from sagagraph.saga.stores import sqlite
from sagagraph.saga.stores.guards import file_watch

COMMITTED = Path("docs/benchmarks/counted.json")
RENEW = "if that is meant, say python -m benchmarks.counted --renew, and commit docs/benchmarks/counted.json"
_ACTIONS = {"shared": keyed, "alone": unkeyed}
_OPERATIONS = 40
_WARM_UP = 10
_TOLERATED = {"bytecode": 0.02, "journal_bytes": 0.02, "log_bytes": 0.05}
"""By how much a figure may differ: ids get longer, pages fill up at other moments, and a library's minor release may take another
path. Others are exact."""

Figures = dict[str, dict[str, float]]
"""Form of commit (shared, alone) → what is counted → how many an operation."""


def differences(committed: Figures, found: Figures) -> list[str]:
    """Return what is not as it was committed, in words. Cheaper ones count too: what was won must not be lost unseen."""
    told = []
    for form, figures in committed.items():
        for name, figure in figures.items():
            now = found[form].get(name)
            if now is not None and abs(now - figure) > _TOLERATED.get(name, 0.0) * figure + 0.01:
                told.append(f"an operation whose commits are {form} takes {now:g} {name}, not {figure:g}: {RENEW}")
    return told


def counted() -> Figures:
    with _without_clocks():
        return {form: asyncio.run(_counted(form)) for form in _ACTIONS}


def comparable(figures: Figures, python: str) -> Figures:
    """Leave out what another Python counts in another way."""
    if python == _python():
        return figures
    return {form: {name: each for name, each in found.items() if name != "bytecode"} for form, found in figures.items()}


async def _counted(form: str) -> dict[str, float]:
    figures: dict[str, float] = {}
    for count in (_count_calls, _count_bytecode):
        with tempfile.TemporaryDirectory() as folder:
            async with Engine.open(f"sqlite:///{folder}/store.db") as engine, engine.saga("counted") as saga:
                for number in range(_WARM_UP):
                    await saga.run(_ACTIONS[form], {"n": number, "to": TO})
                before = _bytes_in(folder)
                counts: dict[str, float] = {}
                with count(counts, engine.store):
                    for number in range(_OPERATIONS):
                        await saga.run(_ACTIONS[form], {"n": number + _WARM_UP, "to": TO})
                counts |= _bytes_in(folder) - before
        figures |= {name: each / _OPERATIONS for name, each in counts.items()}
    return {name: round(each, 2) for name, each in sorted(figures.items())}


@contextmanager
def _count_calls(counts: dict[str, float], store: Any) -> Iterator[None]:
    """Count statements, and the system calls that Python code makes: looks at files, locks of files, waits of the event loop."""
    counts |= {"statements": 0, "system_calls": 0, "event_loop_turns": 0}

    def statement(_text: str) -> None:
        counts["statements"] += 1

    def profile(_frame: FrameType, event: str, called: Any) -> None:
        if event != "c_call":
            return
        counts["system_calls"] += called.__module__ in ("posix", "fcntl")
        counts["event_loop_turns"] += called.__name__ == "poll"

    store._connection.set_trace_callback(statement)
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)
        store._connection.set_trace_callback(None)


@contextmanager
def _count_bytecode(counts: dict[str, float], _store: Any) -> Iterator[None]:
    """Count instructions of Python code: the only ones that are the same on every machine."""
    counts["bytecode"] = 0

    def enter(frame: FrameType, _event: str, _argument: object) -> Callable[..., Any]:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return instruction

    def instruction(_frame: FrameType, event: str, _argument: object) -> Callable[..., Any]:
        counts["bytecode"] += event == "opcode"
        return instruction

    sys.settrace(enter)
    try:
        yield
    finally:
        sys.settrace(None)


def _bytes_in(folder: str) -> Counter[str]:
    """Return the bytes of the events, and those of the pages that were written to the log for them."""
    file = Path(folder) / "store.db"
    connection = sqlite3.connect(file)
    try:
        (size,) = connection.execute("SELECT coalesce(sum(length(type) + length(data)), 0) FROM events").fetchone()
    finally:
        connection.close()
    return Counter(journal_bytes=int(size), log_bytes=file.with_name(f"{file.name}-wal").stat().st_size)


@contextmanager
def _without_clocks() -> Iterator[None]:
    """Let no slow moment decide: commits stay on the event loop's thread, and what may wait for company waits."""
    pinned = ((sqlite, "QUICK_S"), (file_watch, "_MOMENT_S"), (coordinator, "_UNWRITTEN_S"), (leases, "LISTEN_EVERY_S"))
    before = [getattr(module, name) for module, name in pinned]
    try:
        for module, name in pinned:
            setattr(module, name, 3600.0)
        yield
    finally:
        for (module, name), value in zip(pinned, before, strict=True):
            setattr(module, name, value)


def _python() -> str:
    return ".".join(platform.python_version_tuple()[:2])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.counted", description=__doc__)
    parser.add_argument("--renew", action="store_true", help="write the figures that are compared from now on")
    found = {"python": _python(), "figures": counted()}
    text = json.dumps(found, indent=2) + "\n"
    sys.stdout.write(text)
    if parser.parse_args().renew:
        COMMITTED.write_text(text)


if __name__ == "__main__":
    main()

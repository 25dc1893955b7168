"""The contenders of a run: processes that wait for commands, and those that could not take part, with the reason."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.postgres import PostgresServer

_START_S = 60.0
_GRACE_S = 60.0
"""Beside the limit that a command knows itself: setting up and ending count too."""


class ContenderError(Exception):
    """It could not be opened, or a command failed; the message says why, in its own words."""


class Skip(NamedTuple):
    contender: str
    store: str
    why: str


class Databases:
    """Fresh databases: files of one folder, and databases of one server."""

    def __init__(self, folder: Path, server: PostgresServer | None) -> None:
        self._folder = folder
        self._server = server
        self._numbers = count(1)

    @property
    def stores(self) -> tuple[str, ...]:
        return ("sqlite", "postgresql") if self._server is not None else ("sqlite",)

    def fresh(self, store: str) -> str:
        name = f"bench{next(self._numbers)}"
        if store == "postgresql" and self._server is not None:
            return self._server.create_database(name)
        return f"sqlite:///{self._folder / name}.db"


class Contender:
    """A process of `benchmarks.contender`."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, kind: str, url: str) -> Contender:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.contender", kind, url),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env=os.environ | {"LANGGRAPH_STRICT_MSGPACK": "true"},
        )
        contender = cls(process)
        try:
            await contender._answer(_START_S)
        except ContenderError:
            await contender.stop()
            raise
        return contender

    async def ask(self, do: str, *, within_s: float, **arguments: Any) -> dict[str, Any]:
        """Raises `ContenderError`."""
        if self._process.stdin is None:
            raise AssertionError("opened with a pipe")
        self._process.stdin.write(json.dumps({"do": do, **arguments}).encode() + b"\n")
        await self._process.stdin.drain()
        return await self._answer(within_s)

    async def _answer(self, within_s: float) -> dict[str, Any]:
        if self._process.stdout is None:
            raise AssertionError("opened with a pipe")
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), within_s)
        except TimeoutError:
            raise ContenderError(f"no answer within {within_s:.0f} s") from None
        answer: dict[str, Any] = json.loads(line or b'{"error": "it ended"}')
        if "error" in answer:
            raise ContenderError(answer["error"])
        return answer

    async def stop(self) -> None:
        """It ends by itself when its input does; if it does not, it is killed."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), 15.0)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


@dataclass
class Field:
    """Contenders by kind and store. One that fails leaves, and is named in `skipped`; the others go on."""

    databases: Databases
    limit_s: float
    skipped: list[Skip]
    _running: dict[tuple[str, str, int], Contender] = field(default_factory=dict)

    async def enter(self, kind: str, store: str, *, url: str = "", number: int = 0) -> bool:
        opened = url or self.databases.fresh(store)
        try:
            contender = await Contender.start(kind, opened)
        except ContenderError as exc:
            self._skip(kind, store, str(exc).replace(opened, store))
            return False
        self._running[kind, store, number] = contender
        return True

    async def ask(self, kind: str, store: str, do: str, *, number: int = 0, **arguments: Any) -> dict[str, Any] | None:
        contender = self._running.get((kind, store, number))
        if contender is None:
            return None
        try:
            return await contender.ask(do, within_s=self.limit_s + _GRACE_S, **arguments)
        except ContenderError as exc:
            self._skip(kind, store, f"{do}: {exc}")
            del self._running[kind, store, number]
            await contender.stop()
            return None

    def _skip(self, kind: str, store: str, why: str) -> None:
        """Once for each reason: it may be tried again for another section."""
        skip = Skip(kind, store, why)
        if skip not in self.skipped:
            self.skipped.append(skip)

    async def leave(self) -> None:
        while self._running:
            _key, contender = self._running.popitem()
            await contender.stop()

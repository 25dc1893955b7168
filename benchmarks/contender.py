"""A process that waits, warm, for commands: one JSON object a line in, one a line out. It ends when its input ends."""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TextIO

from sagagraph.saga.engine.collector import collect_seldom

Commands = dict[str, Callable[..., Awaitable[dict[str, Any]]]]


class Module(Protocol):
    def opened(self, url: str) -> AbstractAsyncContextManager[Commands]: ...


async def serve(module: Module, url: str, answers: TextIO) -> None:
    async with module.opened(url) as commands:
        collect_seldom()  # for everybody alike
        _say(answers, {"ready": True})
        while line := await asyncio.to_thread(sys.stdin.readline):
            asked = json.loads(line)
            gc.collect()  # nobody pays for what the measurement before left behind
            try:
                _say(answers, await commands[asked.pop("do")](**asked))
            except Exception as exc:  # noqa: BLE001 - whatever it was, it belongs in the report
                _say(answers, {"error": _in_words(exc)})


def _say(answers: TextIO, what: dict[str, Any]) -> None:
    answers.write(json.dumps(what) + "\n")
    answers.flush()


def _in_words(exc: BaseException) -> str:
    return " ".join(f"{type(exc).__name__}: {exc}".split())


def main(kind: str, url: str) -> None:
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # what a library prints is not an answer
        try:
            module: Any = importlib.import_module(f"benchmarks.contenders.{kind}")
            asyncio.run(serve(module, url, answers))
        except Exception as exc:  # noqa: BLE001 - the reason why it does not take part
            _say(answers, {"error": _in_words(exc)})


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

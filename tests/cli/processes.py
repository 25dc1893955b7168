"""Commands in processes of their own, forked from one that has imported everything: real signals and deaths, quickly."""

from __future__ import annotations

import multiprocessing
import os
import pty
import select
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sagagraph import cli

if TYPE_CHECKING:
    from tests.cli.commands import Ended

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    ["pytest", __name__, "sagagraph.cli.app", "sagagraph.graph.planning_graph", "sagagraph.sandbox.server"]
)
PATIENCE_S = 60.0


class Running:
    """A command that runs; `ended` waits for it."""

    def __init__(self, arguments: list[str], folder: Path) -> None:
        self._out, self._err = folder / f"{time.monotonic_ns()}.out", folder / f"{time.monotonic_ns()}.err"
        self.process = _FORKS.Process(
            target=_be_command, args=(arguments, dict(os.environ), os.devnull, str(self._out), str(self._err)), daemon=True
        )
        self.process.start()

    def send_signal(self, number: signal.Signals) -> None:
        assert self.process.pid is not None
        os.kill(self.process.pid, number)

    def kill(self) -> None:
        """As a power cut would, and wait until it is gone."""
        self.process.kill()
        self.process.join(PATIENCE_S)

    def ended(self) -> Ended:
        from tests.cli.commands import Ended

        self.process.join(PATIENCE_S)
        code = self.process.exitcode
        if code is None:
            self.kill()
            raise AssertionError("the command does not end")
        return Ended(code, self._out.read_text(), self._err.read_text())


def in_a_terminal(arguments: list[str], question: str, answer: str | signal.Signals) -> Ended:
    """Runs a command on a terminal and, once it asks `question`, types `answer` (or sends the signal)."""
    from tests.cli.commands import Ended

    ours, theirs = pty.openpty()
    terminal = os.ttyname(theirs)
    process = _FORKS.Process(target=_be_command, args=(arguments, dict(os.environ), terminal, terminal, terminal), daemon=True)
    process.start()
    said = ""
    is_answered = False
    give_up_at = time.monotonic() + PATIENCE_S
    try:
        while process.is_alive() or select.select([ours], [], [], 0)[0]:
            if time.monotonic() > give_up_at:
                raise AssertionError(f"the command does not end: {said}")
            if not select.select([ours], [], [], 0.1)[0]:
                continue
            said += os.read(ours, 65536).decode(errors="replace")
            if question in said and not is_answered:
                is_answered = True
                if isinstance(answer, str):
                    os.write(ours, answer.encode())
                else:
                    assert process.pid is not None
                    os.kill(process.pid, answer)
    finally:
        process.kill()
        process.join(PATIENCE_S)
        os.close(ours)
        os.close(theirs)
    assert process.exitcode is not None
    return Ended(process.exitcode, said, "")


def _be_command(arguments: list[str], environment: dict[str, str], stdin: str, out: str, err: str) -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # servers of ours start fork servers that do not hear it
    os.environ.clear()
    os.environ.update(environment)
    for number, name in enumerate((stdin, out, err)):
        opened = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOCTTY)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w", buffering=1), os.fdopen(2, "w", buffering=1)
    sys.argv = ["sagagraph", *arguments]
    cli.main()

"""What `sagagraph ui` refuses before it listens."""

from __future__ import annotations

import socket

import pytest

from tests.cli.commands import CommandLine


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--host", "0.0.0.0"), "--host: 0.0.0.0 can be reached by others: set --user and --password"),
        (("--user", "ann"), "--password: give both"),
        (("--password", "secret"), "--user: give both"),
    ],
)
def test_what_is_not_safe_is_refused(command: CommandLine, options: tuple[str, ...], words: str) -> None:
    ended = command.bare("ui", *options)
    assert ended.code == 2
    assert ended.complaint.startswith(words)
    assert "secret" not in ended.err


def test_a_port_that_is_taken_is_named(command: CommandLine) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        ended = command.bare("ui", "--port", port, "--store", "memory:")
    assert ended.code == 2
    assert ended.complaint.startswith(f"--port: cannot listen on 127.0.0.1:{port}")

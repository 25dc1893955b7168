"""`--log-level` and `SAGAGRAPH_LOG`: log lines go to standard error, and only if they are asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import structlog

from .commands import CommandLine

pytestmark = pytest.mark.quick


@pytest.fixture(autouse=True)
def unconfigured() -> Iterator[None]:
    yield
    structlog.reset_defaults()


def test_json_output_stays_one_document_and_log_lines_are_json_too(command: CommandLine) -> None:
    words = command.arguments("trip", "--request", command.request_file(), "--saga-id", "t", "--yes", "--json")
    ended = command.bare("--log-level", "info", *words)
    assert ended.json["status"] == "committed"
    lines = [json.loads(line) for line in ended.err.splitlines()]
    assert {"saga begun", "plan judged", "operation succeeded", "saga committed"} <= {line["event"] for line in lines}
    assert {line["level"] for line in lines} == {"info"}
    assert {line["saga_id"] for line in lines} == {"t"}


def test_people_get_text(command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAGAGRAPH_LOG", "debug")
    ended = command("trip", "--request", command.request_file(), "--saga-id", "t", "--yes")
    assert "attempt started" in ended.err
    assert "attempt started" not in ended.out


def test_without_being_asked_nothing_is_logged(command: CommandLine) -> None:
    ended = command("trip", "--request", command.request_file(), "--saga-id", "t", "--yes", "--json")
    assert (ended.json["status"], ended.err) == ("committed", "")


def test_an_unknown_level_is_bad_usage_that_names_the_option(command: CommandLine) -> None:
    ended = command.bare("--log-level", "loud", *command.arguments("status"))
    assert ended.code == 2
    assert "--log-level" in ended.err

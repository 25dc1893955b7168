"""What `deploy/` starts: every command and option in it is one that this release has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
import yaml

from sagagraph.cli.app import app
from sagagraph.settings import PREFIX, Settings, names_of

DEPLOY = Path(__file__).parents[2] / "deploy"


def commands() -> Iterator[tuple[str, list[str]]]:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    for name, service in compose["services"].items():
        if words := service.get("command"):
            yield f"compose {name}", [str(each) for each in words]
    for file in sorted((DEPLOY / "systemd").iterdir()):
        (line,) = re.findall(r"^ExecStart=\S+/sagagraph (.+)$", file.read_text(), re.MULTILINE)
        yield file.name, line.split()
    for words in re.findall(r'^CMD (\["(?!python).+\])$', (DEPLOY / "Dockerfile").read_text(), re.MULTILINE):
        yield "Dockerfile", json.loads(words)


@pytest.mark.parametrize(("where", "words"), list(commands()), ids=lambda each: each if isinstance(each, str) else "")
def test_a_command_is_one_that_this_release_has(where: str, words: list[str]) -> None:
    if words == ["--help"]:
        return
    group = typer.main.get_command(app)
    context = group.make_context("sagagraph", ["status"])
    command = group.get_command(context, words[0])  # type: ignore[attr-defined]
    assert command is not None, (where, words)
    command.make_context(words[0], words[1:])  # raises for an option that there is not


def test_settings_in_it_are_settings() -> None:
    text = "\n".join((DEPLOY / name).read_text() for name in ("Dockerfile", "compose.yaml"))
    named = {each.removeprefix(PREFIX).lower() for each in re.findall(rf"\b{PREFIX}[A-Z_]+", text)}
    assert named
    assert named <= set(names_of(Settings))


def test_extras_in_it_are_extras() -> None:
    import tomllib

    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())["project"]
    text = (DEPLOY / "Dockerfile").read_text() + (DEPLOY / "without_docker.sh").read_text()
    named = {each for found in re.findall(r'(?:\)\[|extras=")([a-z,0-9]+)', text) for each in found.split(",")}
    assert {"travel", "all"} <= named
    assert named <= set(project["optional-dependencies"])

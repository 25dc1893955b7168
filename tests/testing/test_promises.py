"""Promises of an action, tried on functions that keep them and on functions that do not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from sagagraph.errors import InvalidInputError
from sagagraph.testing.promises import PromiseReport, try_promises


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROOMS", str(tmp_path))
    return tmp_path


async def _tried(name: str) -> PromiseReport:
    return await try_promises(f"tests.testing.rooms:{name}", None, times=3, watch_s=4, random=Random(1))


def _standing(folder: Path) -> list[Path]:
    return list(folder.glob("*.room"))


@pytest.mark.parametrize("name", ["settles", "copes", "in_time", "once"])
async def test_what_is_kept_is_said_to_be(name: str, folder: Path) -> None:
    report = await _tried(name)
    assert (len(report.kept), report.broken, report.not_asked) == (1, [], [])
    assert not _standing(folder)  # what landed was undone


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("settles_late", "was absent after 0.3 s, and landed later"),
        ("copes_until_later", "a call that comes after its undoing lands"),
        ("at_any_time", "a call after its deadline lands"),
        ("again", "after two calls with one key, the probe says multiple"),
    ],
)
async def test_what_is_broken_is_named(name: str, said: str, folder: Path) -> None:
    report = await _tried(name)
    assert not report.kept
    assert said in report.broken[0]


async def test_without_a_probe_nothing_can_be_asked(folder: Path) -> None:
    assert "no probe" in (await _tried("unasked")).not_asked[0]


async def test_what_is_no_action_is_named() -> None:
    with pytest.raises(InvalidInputError, match="is no action"):
        await _tried("SETTLES")
    with pytest.raises(InvalidInputError, match="cannot be loaded"):
        await _tried("nothing")


@pytest.mark.parametrize(("name", "code", "first"), [("copes", 0, "KEPT void"), ("copes_until_later", 1, "BROKEN void")])
def test_the_command_says_it(name: str, code: int, first: str, folder: Path) -> None:
    command = [sys.executable, "-m", "sagagraph.testing.promises", f"tests.testing.rooms:{name}"]
    ended = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), check=False)
    assert ended.returncode == code, ended.stderr
    assert ended.stdout.startswith(first)

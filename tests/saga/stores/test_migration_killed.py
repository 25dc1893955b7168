"""Upgrades of a file that are killed with SIGKILL right before or after one of their statements: nothing is lost or left over."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sagagraph.saga.stores.migration import upgrade
from sagagraph.saga.stores.sql_store import HEAD_REVISION
from tests.saga.journals import JOURNALS, into_file

_LATEST, _EVERY = 12, 15
"""Killed at each of so many statements, those of the latest migrations, and at one in so many before them."""
_UPGRADING = """
import os, signal, sys
from sqlalchemy import event
from sqlalchemy.engine import Engine
from sagagraph.saga.stores.migration import upgrade

path, when, last = sys.argv[1], sys.argv[2], int(sys.argv[3])
seen = 0

def one_more(*_given):
    global seen
    seen += 1
    if seen == last:
        os.kill(os.getpid(), signal.SIGKILL)

event.listen(Engine, f"{when}_cursor_execute", one_more)
event.listen(Engine, "commit", one_more)
upgrade(f"sqlite:///{path}")
print(seen)
"""


def events_of(file: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(file)) as store:
        return store.execute("SELECT saga_id, version, epoch, at, type, data FROM events ORDER BY saga_id, version").fetchall()


def upgraded(file: Path, when: str, statement: int) -> subprocess.CompletedProcess[str]:
    """Upgrade in a process that is killed at that statement; 0: it is not, and prints how many there are."""
    asked = [sys.executable, "-c", _UPGRADING, str(file), when, str(statement)]
    return subprocess.run(asked, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("when", ["before", "after"])
def test_rule_1_an_upgrade_that_is_killed_anywhere_is_made_by_whoever_opens_the_file_next(tmp_path: Path, when: str) -> None:
    original = tmp_path / "original.db"
    into_file(JOURNALS[0], original)
    written, file = events_of(original), tmp_path / "killed.db"
    file.write_bytes(original.read_bytes())
    statements = int(upgraded(file, when, 0).stdout)
    assert statements > _LATEST
    for statement in (*range(1, statements - _LATEST, _EVERY), *range(statements - _LATEST, statements + 1)):
        file.write_bytes(original.read_bytes())
        assert upgraded(file, when, statement).returncode == -signal.SIGKILL
        assert events_of(file) == written
        upgrade(f"sqlite:///{file}")
        assert events_of(file) == written
        with closing(sqlite3.connect(file)) as store:
            assert store.execute("SELECT version_num FROM sagagraph_version").fetchall() == [(HEAD_REVISION,)]
            assert not store.execute("SELECT name FROM sqlite_master WHERE name LIKE '%\\_now' ESCAPE '\\'").fetchall()

"""What one operation takes, counted, against the committed figures: the core must not become dearer unseen."""

from __future__ import annotations

import json

import pytest

from benchmarks.counted import COMMITTED, RENEW, Figures, comparable, counted, differences
from sagagraph.saga.stores.guards.file_watch import FileWatch


@pytest.fixture(scope="module")
def committed() -> Figures:
    said = json.loads(COMMITTED.read_text())
    return comparable(said["figures"], said["python"])


def test_an_operation_takes_what_is_committed(committed: Figures) -> None:
    assert differences(committed, counted()) == []


def test_one_more_look_at_the_file_for_each_commit_is_noticed(committed: Figures, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FileWatch, "check_before", FileWatch.check)
    told = differences(committed, counted())
    assert {"shared", "alone"} <= {each.split(" are ")[1].split()[0] for each in told}
    assert any("system_calls" in each and RENEW in each for each in told)


def test_another_python_counts_everything_but_bytecode() -> None:
    figures: Figures = {"shared": {"bytecode": 1.0, "statements": 6.0}}
    assert comparable(figures, "0.0") == {"shared": {"statements": 6.0}}
    assert differences(comparable(figures, "0.0"), {"shared": {"bytecode": 9.0, "statements": 7.0}}) == [
        f"an operation whose commits are shared takes 7 statements, not 6: {RENEW}"
    ]

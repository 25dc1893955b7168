"""The examples of docs/workflows.md run, and its table is what the command finds out."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from sagagraph.cli.workflow.judging import LANGUAGES
from sagagraph.workflow.language.conformance import matrix

pytestmark = pytest.mark.quick

TEXT = (Path(__file__).parents[1] / "docs" / "workflows.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"^```{language}(?: no-run)?\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_the_example_runs(tmp_path: Path) -> None:
    (tmp_path / "holiday.json").write_text(block("json"))
    (tmp_path / "example.py").write_text(block("python"))
    done = subprocess.run([sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_the_table_is_what_is_found_out() -> None:
    rows = [f"| {feature} | {kept['asl']} | {kept['argo']} |" for feature, kept in matrix(LANGUAGES).items()]
    assert len(rows) > 20
    assert "\n".join(rows) in TEXT

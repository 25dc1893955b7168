"""The program at the end of docs/langgraph.md, killed and run again as it says there; the other blocks run with the README's."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[3]
_PROGRAM = re.compile(r"^```python no-run\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_program_of_the_how_to_survives_its_kill(tmp_path: Path) -> None:
    (code,) = _PROGRAM.findall((ROOT / "docs/langgraph.md").read_text(encoding="utf-8"))
    (tmp_path / "trip.py").write_text(code, encoding="utf-8")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "trip.py", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )

    assert run().stdout.splitlines() == ["book 12A?", "held []"]
    assert run("kill").returncode == -9
    last = run()
    assert last.stdout.splitlines()[:1] == ["{'seat': '12A', 'approved': True}"], last.stderr
    assert last.stdout.splitlines()[1:] == ["committed [('trip-42/2%2Fbook/1', '12A')]"]

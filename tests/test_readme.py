"""The Python in README.md and the how-tos runs: each block alone, in a fresh namespace and an empty folder.

A block that is not meant to run by itself is fenced as ```python no-run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from tests.support.today import TODAY

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^(?P<fence>```+)python[ \t]*(?P<words>[^\n]*)\n(?P<code>.*?)^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL)


def documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs").glob("how-to/**/*.md"))]


def blocks() -> Iterator[tuple[str, str]]:
    for document in documents():
        text = document.read_text(encoding="utf-8")
        for found in _BLOCK.finditer(text):
            line = text.count("\n", 0, found.start("code"))
            if "no-run" not in found["words"]:
                # Line numbers of a failure are those of the document.
                yield f"{document.relative_to(ROOT)}:{line + 1}", "\n" * line + found["code"]


BLOCKS = dict(blocks())


@pytest.mark.parametrize("place", BLOCKS)
def test_a_block_of_python_runs_as_it_stands(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("SAGAGRAPH_STORE", "SAGAGRAPH_PROVIDER_URL", "SAGAGRAPH_LOG", "SAGAGRAPH_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SAGAGRAPH_TODAY", str(TODAY))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr("sys.argv", ["example"])
    code = compile(BLOCKS[place], place, "exec", dont_inherit=True)
    try:
        exec(code, {"__name__": "__main__", "__file__": place})
    finally:
        structlog.reset_defaults()


def test_the_readme_shows_python_that_runs() -> None:
    assert any(place.startswith("README.md") for place in BLOCKS)


def test_a_block_is_found_with_its_fence_and_its_words() -> None:
    text = "```python\na = 1\n```\n\n```python no-run\nb\n```\n```bash\nc\n```\n````python\n'''\n```\n'''\n````\n"
    assert [(each["words"], each["code"]) for each in _BLOCK.finditer(text)] == [
        ("", "a = 1\n"),
        ("no-run", "b\n"),
        ("", "'''\n```\n'''\n"),
    ]

"""Examples of documents as files: `python -m tests.support.examples README.md --into FOLDER` writes each block that runs."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

_BLOCK = re.compile(r"^```python[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", nargs="+", type=Path)
    parser.add_argument("--into", type=Path, required=True)
    asked = parser.parse_args()
    for document in asked.documents:
        for number, code in enumerate(_BLOCK.findall(document.read_text(encoding="utf-8")), 1):
            (asked.into / f"{document.stem}-{number}.py").write_text(code, encoding="utf-8")


if __name__ == "__main__":
    main()

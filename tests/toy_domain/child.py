"""The child of test_toy_domain.py: runs the commands that it is told, one a line, and tells how each of them ended."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

from sagagraph.cli import main


def run(words: list[str]) -> tuple[object, str, str]:
    out, err = StringIO(), StringIO()
    sys.argv = ["sagagraph", *words]
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            return ended.code, out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run(json.loads(line))) + "\n")
        sys.stdout.flush()

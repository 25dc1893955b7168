"""`python -m benchmarks.jobshop`: schedule and repair job shops; writes docs/benchmarks/jobshop.md."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.jobshop.cases import instances
from benchmarks.jobshop.measure import measured
from benchmarks.jobshop.report import written

if TYPE_CHECKING:
    from collections.abc import Sequence

OUT = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.jobshop")
    parser.add_argument("--instances", nargs="+", default=[], metavar="NAME", help="only these, such as ta01js")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each schedule, and for each of the two ways to mend it")
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args(arguments)
    cases = []
    for instance in instances(asked.instances):
        cases.append(measured(instance, asked.seconds))
        sys.stdout.write(json.dumps(cases[-1]) + "\n")
        sys.stdout.flush()
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "jobshop.json").write_text(json.dumps(cases, indent=1) + "\n")
    (asked.out / "jobshop.md").write_text(written(cases, asked.seconds, only=bool(asked.instances)))
    judged = [verdict for case in cases for verdict in (case["verdict"], case["repair"]["verdict"], case["anew"]["verdict"])]
    return 0 if all(verdict == "VALID" for verdict in judged) else 1


if __name__ == "__main__":
    sys.exit(main())

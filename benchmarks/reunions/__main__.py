"""`python -m benchmarks.reunions`: plan, strike and repair generated reunions; writes docs/benchmarks/reunions.md."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.reunions.measure import measured
from benchmarks.reunions.report import written

if TYPE_CHECKING:
    from collections.abc import Sequence

OUT = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
SIZES = (5, 8, 12, 20, 30, 45, 60)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reunions")
    parser.add_argument("--people", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--seconds", type=float, default=15.0, help="for each plan, and for each of the two ways to mend it")
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args(arguments)
    cases = []
    for people in asked.people:
        for seed in asked.seeds:
            cases.append(measured(people, seed, asked.seconds))
            sys.stdout.write(json.dumps(cases[-1]) + "\n")
            sys.stdout.flush()
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "reunions.json").write_text(json.dumps(cases, indent=1) + "\n")
    written(cases, asked.seconds, asked.out)
    arms = [struck[arm] for case in cases for struck in case.get("struck", ()) for arm in ("repair", "recompute")]
    return 1 if any(each.get("verdict", "VALID") != "VALID" for each in (*cases, *arms)) else 0


if __name__ == "__main__":
    sys.exit(main())

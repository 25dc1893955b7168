"""`python -m benchmarks.recipes`: plan the pairs of Recipe2Plan and have them judged; writes docs/benchmarks/recipes.md."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.recipes import repairs
from benchmarks.recipes.measure import measured
from benchmarks.recipes.official import pairs
from benchmarks.recipes.report import written

if TYPE_CHECKING:
    from collections.abc import Sequence

OUT = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recipes")
    parser.add_argument("--pairs", nargs="+", default=[], metavar="NAME", help="only these, such as Cobbler_Pancakes")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each plan")
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args(arguments)
    if "SAGAGRAPH_DATA" not in os.environ:
        sys.stdout.write("nothing is measured: SAGAGRAPH_DATA names no folder of benchmark data\n")
        return 0
    cases = []
    for name, pair in pairs().items():
        for without in (True, False) if not asked.pairs or name in asked.pairs else ():
            cases.append(measured(name, pair, asked.seconds, without=without))
            sys.stdout.write(json.dumps(cases[-1]) + "\n")
            sys.stdout.flush()
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "recipes.json").write_text("[\n" + ",\n".join(map(json.dumps, cases)) + "\n]\n")
    many = {2: 200, 3: 40, 6: 20} if not asked.pairs else {2: 2}
    written(
        cases, {dishes: repairs.measured(dishes, most, asked.seconds) for dishes, most in many.items()}, asked.seconds, asked.out
    )
    return 0 if all(case["ours"]["success"] and case[arm]["agrees"] for case in cases for arm in ("ours", "reference")) else 1


if __name__ == "__main__":
    sys.exit(main())

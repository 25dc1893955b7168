"""`python -m benchmarks.reunions`: plan, strike and repair generated reunions; writes docs/benchmarks/reunions.md."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.reunions.measure import KINDS, measured
from benchmarks.reunions.report import written
from benchmarks.reunions.slack import GENERATED, compared, problems

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

OUT = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
SIZES = (5, 8, 12, 20, 30, 45, 60)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reunions")
    parser.add_argument("--people", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--kinds", nargs="+", choices=tuple(KINDS), default=list(KINDS))
    parser.add_argument(
        "--seconds", type=float, default=5.0, help="of CPU, for each plan, and for each of the two ways to mend it"
    )
    parser.add_argument("--generated", type=int, default=GENERATED, help="reunions planned with slack, beside the shipped ones")
    parser.add_argument("--only", choices=("sizes", "slack"), help="measure these again, and keep the figures of the others")
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args(arguments)
    before = json.loads((OUT / "reunions.json").read_text())
    every = ((people, seed, kind) for kind in asked.kinds for people in asked.people for seed in asked.seeds)
    sizes = (measured(*each, asked.seconds) for each in every)
    cases = before["sizes"] if asked.only == "slack" else _shown(sizes)
    slack = (compared(name, problem, asked.seconds) for name, problem in problems(asked.generated, asked.seconds))
    with_slack = before["slack"] if asked.only == "sizes" else _shown(slack)
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "reunions.json").write_text(json.dumps({"sizes": cases, "slack": with_slack}, indent=1) + "\n")
    written(cases, with_slack, asked.seconds, asked.out)
    arms = [struck[arm] for case in cases for struck in case.get("struck", ()) for arm in ("repair", "recompute")]
    return 1 if any(each.get("verdict", "VALID") != "VALID" for each in (*cases, *arms)) else 0


def _shown(cases: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    shown = []
    for case in cases:
        sys.stdout.write(json.dumps(case) + "\n")
        sys.stdout.flush()
        shown.append(case)
    return shown


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks.repair`: strike every trip in every way; judge, measure, and write docs/benchmarks/repair.md."""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.repair.cases import TRIPS
from benchmarks.repair.report import totals, written
from benchmarks.repair.running import case_of

if TYPE_CHECKING:
    from collections.abc import Sequence


OUT = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.repair")
    parser.add_argument("--jobs", type=int, default=2, help="trips at once")
    parser.add_argument("--trips", type=int, nargs="+", default=list(range(len(TRIPS))), help="numbers of trips, from 0")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th disruption of a trip")
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args(arguments)
    tasks = [(number, each) for number in asked.trips for each in TRIPS[number].disruptions()[:: asked.every]]
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("fork")) as pool:
        cases = []
        for case in pool.map(case_of, tasks):
            cases.append(case)
            for fault in case["faults"]:
                sys.stdout.write(f"FAULT trip {case['trip']}, {case['disruption']}: {fault}\n")
                sys.stdout.flush()
    sys.stdout.writelines(f"{line}\n" for line in totals(cases))
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "repair.json").write_text(json.dumps(cases, indent=1) + "\n")
    written(cases, asked.out)
    return 1 if any(case["faults"] for case in cases) else 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks.alas`: schedules and repairs of all instances; resumes; writes docs/benchmarks/alas.md."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.alas.arms import OWN, PEERS, measured
from benchmarks.alas.repairs import BREAKDOWNS, repaired
from benchmarks.alas.report import written
from benchmarks.jobshop.cases import ALAS, Instance, instances
from benchmarks.jobshop.generator import generate
from sagagraph.domains.job_shop.planning.dispatching import first_schedule
from sagagraph.domains.job_shop.planning.tabu_search import improved
from sagagraph.domains.job_shop.planning.workload import workload_of
from sagagraph.domains.job_shop.request import Schedule
from sagagraph.planning.budget import Budget

OUT: Final = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
LIMITS: Final = (3.0, 30.0)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.alas")
    parser.add_argument("--instances", nargs="+", default=[], metavar="NAME", help="only these, such as ta01js")
    parser.add_argument("--arms", nargs="+", default=[*OWN, *PEERS], metavar="ARM")
    parser.add_argument("--seconds", nargs="+", type=float, default=LIMITS, help="for each schedule, on all cores")
    parser.add_argument("--breakdowns", type=int, default=BREAKDOWNS, help="for each instance; 0: none")
    parser.add_argument("--peers", default="", metavar="PYTHON", help="an interpreter with job_shop_lib and PyJobShop")
    parser.add_argument("--measured", type=Path, default=None, metavar="FILE.jsonl", help="what was measured before, and is now")
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args(arguments)
    file = asked.measured or asked.out / "alas.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = _measure(asked, file)
    (asked.out / "alas.md").write_text(written(rows, [*OWN, *PEERS]))
    return 0 if all(row.get("verdict", "VALID") == "VALID" for row in rows if row.get("arm", "SagaGraph") == "SagaGraph") else 1


def _measure(asked: argparse.Namespace, file: Path) -> list[dict[str, Any]]:
    """Measure what the file does not hold yet; each row is kept as soon as it is known."""
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    known = {_key(row) for row in rows}
    workload = workload_of(generate(6, 4, 1))
    improved(workload, first_schedule(workload, Budget.of(1)), Budget.of(60), 0)  # compiles
    schedules: dict[str, Schedule] = {}
    with file.open("a") as kept:
        for instance, ask in _questions(asked):
            if _key({"name": instance.name, **ask}) in known:
                continue
            if "seed" in ask:
                row = repaired(instance, ask["seed"], ask["limit"], schedules)
            else:
                row = measured(instance, ask["arm"], ask["limit"], asked.peers)
            row["load"] = round(os.getloadavg()[0], 1)
            rows.append(row)
            kept.write(json.dumps(row) + "\n")
            kept.flush()
            sys.stdout.write(json.dumps(row) + "\n")
            sys.stdout.flush()
    return rows


def _questions(asked: argparse.Namespace) -> list[tuple[Instance, dict[str, Any]]]:
    """ALAS's instances first, short searches before long ones; then the others; then repairs."""
    all_instances = sorted(instances(asked.instances, of_all=True), key=lambda each: each.name not in ALAS)
    arms = [arm for arm in asked.arms if arm in OWN or asked.peers]
    schedules = [
        (instance, {"arm": arm, "limit": limit}) for limit in sorted(asked.seconds) for instance in all_instances for arm in arms
    ]
    shortest = min(asked.seconds)
    repairs = [(instance, {"seed": seed, "limit": shortest}) for instance in all_instances for seed in range(asked.breakdowns)]
    return schedules + repairs


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["name"], row.get("arm"), row.get("seed"), float(row["limit"])


if __name__ == "__main__":
    sys.exit(main())

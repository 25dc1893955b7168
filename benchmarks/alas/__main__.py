"""`python -m benchmarks.alas`: schedules and repairs of all instances; resumes; writes docs/benchmarks/alas.md."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.alas.ablation import DRAFTS, ablated
from benchmarks.alas.arms import OWN, PEERS, lent, measured
from benchmarks.alas.parts import PARTS
from benchmarks.alas.repairs import BREAKDOWNS, SOONER, repaired
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
    parser.add_argument("--suites", nargs="+", default=[], metavar="LETTERS", help="only these, such as abz or swv")
    parser.add_argument("--arms", nargs="+", default=[*OWN, *PEERS, *PARTS], metavar="ARM")
    parser.add_argument("--seconds", nargs="+", type=float, default=LIMITS, help="for each schedule, on all cores")
    parser.add_argument("--breakdowns", type=int, default=BREAKDOWNS, help="for each instance of ALAS; 0: none")
    parser.add_argument("--drafts", type=int, default=DRAFTS, help="of an unreliable planner, for each instance; 0: no ablation")
    parser.add_argument("--plan", action="store_true", help="only say what is left to measure, and how long it takes")
    parser.add_argument("--peers", default="", metavar="PYTHON", help="an interpreter with job_shop_lib and PyJobShop")
    parser.add_argument("--measured", type=Path, default=None, metavar="FILE.jsonl", help="what was measured before, and is now")
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args(arguments)
    file = asked.measured or asked.out / "alas.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    published = _instances(asked.peers)
    left = _left(_questions(asked, published), rows)
    sys.stderr.write(f"{_plan(left)}\n")
    if asked.plan:
        return 0
    rows += _measure(left, asked.peers, file)
    everything = parser.parse_args([])
    everything.peers = "any"
    (asked.out / "alas.md").write_text(written(rows, [*OWN, *PEERS], _plan(_left(_questions(everything, published), rows))))
    return 0 if all(row.get("verdict", "VALID") == "VALID" for row in rows if row.get("arm", "SagaGraph") == "SagaGraph") else 1


Question = tuple[Instance, dict[str, Any]]


def _measure(questions: Sequence[Question], peers: str, file: Path) -> list[dict[str, Any]]:
    """Measure; each row is kept as soon as it is known."""
    rows: list[dict[str, Any]] = []
    workload = workload_of(generate(6, 4, 1))
    improved(workload, first_schedule(workload, Budget.of(1)), Budget.of(60), 0)  # compiles
    schedules: dict[str, Schedule] = {}
    with file.open("a") as kept:
        for instance, ask in questions:
            if "seed" in ask:
                row = repaired(instance, ask["seed"], ask["limit"], schedules)
            elif "draft" in ask:
                row = ablated(instance, ask["draft"], ask["limit"])
            else:
                row = measured(instance, ask["arm"], ask["limit"], peers)
            row["load"] = round(os.getloadavg()[0], 1)
            rows.append(row)
            kept.write(json.dumps(row) + "\n")
            kept.flush()
            sys.stdout.write(json.dumps(row) + "\n")
            sys.stdout.flush()
    return rows


def _questions(asked: argparse.Namespace, published: Sequence[Instance]) -> list[Question]:
    """ALAS's instances first, short searches before long ones; then the others; then repairs, and the ablation.

    Other libraries and parts of the search schedule ALAS's instances; parts in the short time only.
    """
    found = [each for each in published if not asked.instances or each.name in asked.instances]
    found = [each for each in found if not asked.suites or each.name.startswith(tuple(asked.suites))]
    all_instances = sorted(found, key=lambda each: each.name not in ALAS)
    arms = [arm for arm in asked.arms if arm not in PEERS or asked.peers]
    shortest = min(asked.seconds)
    of_alas = [each for each in all_instances if each.name in ALAS] or all_instances
    schedules = [
        (instance, {"arm": arm, "limit": limit})
        for limit in sorted(asked.seconds)
        for instance in all_instances
        for arm in arms
        if arm in OWN or (instance in of_alas and (arm in PEERS or limit == shortest))
    ]
    repairs = [(instance, {"seed": seed, "limit": shortest}) for instance in of_alas for seed in range(asked.breakdowns)]
    drafts = [(instance, {"draft": draft, "limit": shortest}) for instance in of_alas for draft in range(asked.drafts)]
    return schedules + repairs + drafts


def _instances(peers: str) -> list[Instance]:
    """Return all that are published, those of ALAS that the data lack by way of a peer."""
    found = list(instances([], of_all=True))
    missing = sorted(set(ALAS) - {each.name for each in found})
    return [*found, *(lent(missing, peers) if peers and missing and os.environ.get("SAGAGRAPH_DATA") else ())]


def _left(questions: Sequence[Question], rows: Sequence[dict[str, Any]]) -> list[Question]:
    """Return what was not measured yet."""
    known = {_key(row) for row in rows}
    return [(instance, ask) for instance, ask in questions if _key({"name": instance.name, **ask}) not in known]


def _plan(left: Sequence[Question]) -> str:
    """Say what is left to measure, and how long that takes at most."""
    counts = Counter(kind for _instance, ask in left for kind in ("arm", "seed", "draft") if kind in ask)
    hours = sum(_seconds(ask) for _instance, ask in left) / 3600
    told = f"{counts['arm']} schedules, {counts['seed']} breakdowns and {counts['draft']} drafts"
    return f"Left to measure: {told}, of {len({instance.name for instance, _ask in left})} instances; at most {hours:.1f} hours."


def _seconds(ask: dict[str, Any]) -> float:
    """Return how long an answer takes at most, apart from what starts and judges it."""
    if "seed" in ask:
        return float(ask["limit"] * (2 + sum(1 / part for part in SOONER)))
    if "draft" in ask:
        return float(ask["limit"] * 3)
    return 0.0 if "rules" in ask["arm"] else float(ask["limit"])


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["name"], row.get("arm"), row.get("seed"), row.get("draft"), float(row["limit"])


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks.caaf`: paradoxes, twins and generated systems with bad executors; writes docs/benchmarks/caaf.md.

All offline: the executors are scripted, so that a run ends the same way every time. `--systems N` says how many are generated.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from math import comb
from pathlib import Path
from typing import Any

from benchmarks.markdown import prose, table
from sagagraph.harness.judging.check import check
from sagagraph.harness.loop.convergence import End, Executor, Slice, converge
from sagagraph.harness.loop.executors import obedient
from sagagraph.harness.proof.checker import replay
from sagagraph.harness.proof.explain import Explanation, Status, explain
from sagagraph.harness.proof.relaxations import float_of
from sagagraph.harness.registry.harness import Harness
from sagagraph.harness.registry.loading import harness_of, load_harness
from tests.harness.generated import generate

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "benchmarks" / "caaf.md"
EXAMPLES = ROOT / "sagagraph" / "harness" / "examples"
RUNS = 20
SECONDS = 10
DOMAINS = ("ad_degradation", "pharma_flow_reactor", "cloud_sla")
TWINS = ("ad_degradation_clear", "pharma_flow_reactor_long")


def _asked(seen: Slice) -> tuple[float, float]:
    asked = seen.schema["properties"][seen.variable]
    return asked.get("minimum", 0), asked.get("maximum", 10)


def _random(rng: random.Random) -> Executor:
    async def propose(seen: Slice, _attempt: str) -> Any:
        return {seen.variable: round(rng.uniform(*_asked(seen)), 1)}

    return propose


def _oscillating(_rng: random.Random) -> Executor:
    async def propose(seen: Slice, attempt: str) -> Any:
        return {seen.variable: _asked(seen)[int(attempt[-1]) % 2]}

    return propose


def _out_of_schema(rng: random.Random) -> Executor:
    async def propose(seen: Slice, _attempt: str) -> Any:
        return rng.choice([None, [], {"nodes": []}, {seen.variable: "84"}, {"verdict": "PASS"}])

    return propose


def _obedient(_rng: random.Random) -> Executor:
    return obedient()


EXECUTORS: dict[str, Callable[[random.Random], Executor]] = {
    "obedient": _obedient,
    "random": _random,
    "oscillating": _oscillating,
    "out of schema": _out_of_schema,
}


def _drawn(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - no secret: the same answers every time


def clopper_pearson(right: int, runs: int) -> tuple[float, float]:
    """Return the exact 95 % interval of a share."""

    def root(above: Callable[[float], bool]) -> float:
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if above(middle) else (low, middle)
        return low

    def at_most(count: int, share: float) -> float:
        return sum(comb(runs, k) * share**k * (1 - share) ** (runs - k) for k in range(count + 1))

    low = 0.0 if right == 0 else root(lambda share: 1 - at_most(right - 1, share) < 0.025)
    high = 1.0 if right == runs else root(lambda share: at_most(right, share) > 0.025)
    return low, high


def _share(right: int, runs: int) -> str:
    low, high = clopper_pearson(right, runs)
    return f"{right}/{runs} [{100 * low:.1f}, {100 * high:.1f}]"


def _rows_of_ends(names: tuple[str, ...], wanted: End) -> Iterator[list[str]]:
    for name in names:
        harness = load_harness(EXAMPLES / f"{name}.yaml")
        for kind, make in EXECUTORS.items():
            runs = [asyncio.run(converge(harness, make(_drawn(seed)))) for seed in range(RUNS if wanted is End.SUCCESS else 3)]
            ends = Counter(each.end.value for each in runs)
            false = ends[End.FAILED_PARADOX.value] if wanted is End.SUCCESS else 0
            attempts = statistics.mean(len(each.attempts) for each in runs)
            once = _as_the_papers_code(harness, make(_drawn(1)))
            yield [name, kind, _share(ends[wanted.value], len(runs)), str(false), f"{attempts:.1f}", once]


def _as_the_papers_code(harness: Harness, executor: Executor) -> str:
    """What the paper's code makes of one pass: any failing rule is called a paradox."""
    artifact: dict[str, Any] = {}
    for name in (each for each, variable in harness.variables.items() if variable.is_decided):
        variable = harness.variables[name]
        asked = {"type": "number", "minimum": float(str(variable.low)) if variable.low is not None and variable.low.q == 1 else 0,
                 "maximum": float(str(variable.high)) if variable.high is not None and variable.high.q == 1 else 10}  # fmt: skip
        said = asyncio.run(executor(Slice(name, variable.unit, {"properties": {name: asked}}, {}), f"{name}-1"))  # type: ignore[arg-type]
        artifact |= said if isinstance(said, dict) else {}
    return "PASS" if check(harness, artifact).verdict == "PASS" else "paradox"


def _generated(systems: int) -> Iterator[str]:
    took: list[float] = []
    wrong = undecided = refused = other = 0
    for seed in range(systems):
        made = generate(seed, satisfiable=seed % 2 == 0, rules=2 + seed % 39)
        harness = harness_of(made.document)
        begun = time.perf_counter()
        found = explain(harness, relax=False, expired=lambda begun=begun: time.perf_counter() - begun > SECONDS)
        took.append(time.perf_counter() - begun)
        undecided += found.status is Status.UNDECIDED
        expected = Status.PARADOX if made.conflicts else Status.SATISFIABLE
        wrong += found.status not in (expected, Status.UNDECIDED)
        refused += sum(not replay(harness, each).accepted for each in found.certificates)
        other += found.status is Status.PARADOX and _sets(found) != made.conflicts
    yield table(
        ["systems", "decided", "wrong", "conflicts other than planted", "certificates refused", "median s", "p95 s"],
        [[str(systems), f"{systems - undecided}", str(wrong), str(other), str(refused), f"{statistics.median(took):.2f}",
          f"{sorted(took)[int(0.95 * len(took))]:.2f}"]],
    )  # fmt: skip


def _sets(found: Explanation) -> frozenset[frozenset[str]]:
    return frozenset(frozenset(each.rules) for each in found.conflicts)


def _explained() -> Iterator[list[str]]:
    for name in (*DOMAINS, *TWINS):
        harness = load_harness(EXAMPLES / f"{name}.yaml")
        begun = time.process_time()
        quick = explain(harness, relax=False)
        proof = time.process_time() - begun
        begun = time.process_time()
        found = explain(harness)
        whole = time.process_time() - begun
        conflicts = "; ".join(", ".join(each.rules) for each in found.conflicts)
        moves = "; ".join(f"{each.name} {float_of(each.before):g} → {float_of(each.to):.7g}" for each in found.relaxations)
        yield [name, quick.status.value, conflicts, moves, f"{1000 * proof:.0f}", f"{whole:.2f}"]


def _costs() -> Iterator[list[str]]:
    """The paper's prices and failure rates; TCO = loops · price + P(fail) · cost of a failure + a person's time."""
    for name, price, fails in (("GPT-4o alone", 0.0145, 1.0), ("mini alone", 0.0006, 1.0), ("CAAF", 0.0027, 0.0)):
        yield [name, f"${price:.4f}", f"{100 * fails:.0f} %", f"${price + fails * 50:.4f}", f"${price + fails * 5:.4f}"]


def report(systems: int) -> Iterator[str]:
    yield "# Harnesses: paradoxes, twins, bad executors\n"
    yield prose(
        "Executors are scripted; no model is asked. A share has its exact 95 % interval (Clopper-Pearson). *One pass* is what",
        "the paper's code concludes from the first artifact: any failing rule is a paradox. Written by `make bench-caaf`.",
    )
    yield "\n## What is proven\n"
    yield table(["harness", "status", "conflicts", "least changes, each alone", "proof ms", "all s"], _explained())
    yield "\n## Unsatisfiable: every run must end in a proven paradox\n"
    yield table(
        ["harness", "executor", "FAILED_PARADOX", "false", "attempts", "one pass"], _rows_of_ends(DOMAINS, End.FAILED_PARADOX)
    )
    yield "\n## Satisfiable: no run may end in a paradox\n"
    yield table(["harness", "executor", "SUCCESS", "false paradoxes", "attempts", "one pass"], _rows_of_ends(TWINS, End.SUCCESS))
    yield "\n## Generated systems\n"
    yield prose(f"2 to 40 rules, linear, quadratic and exponential, half of them satisfiable; at most {SECONDS} s each.")
    yield ""
    yield from _generated(systems)
    yield "\n## Cost, with the figures of the paper\n"
    yield table(["", "a run", "fails", "with $50 a failure", "with $5"], _costs())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=100)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    written = "\n".join(report(options.systems)) + "\n"
    options.out.write_text(written, encoding="utf-8")
    sys.stdout.write(written)


if __name__ == "__main__":
    main()

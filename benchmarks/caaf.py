"""`python -m benchmarks.caaf`: paradoxes, twins and generated systems with bad executors; writes docs/benchmarks/caaf.md.

All offline: the executors are scripted, so that a run ends the same way every time. Options make parts of it smaller.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import comb
from pathlib import Path
from typing import Any

from flint import fmpq

from benchmarks.markdown import prose, table
from sagagraph.harness.judging.check import check
from sagagraph.harness.loop.convergence import End, Executor, Slice, converge
from sagagraph.harness.loop.executors import data_of, obedient
from sagagraph.harness.proof.checker import replay
from sagagraph.harness.proof.explain import Explanation, Status, explain
from sagagraph.harness.proof.relaxations import float_of
from sagagraph.harness.registry.harness import Harness
from sagagraph.harness.registry.loading import harness_of, load_harness
from tests.harness.corruption import certified, corrupted
from tests.harness.generated import generate
from tests.harness.python_judge import differences

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


def _stubborn(rng: random.Random) -> Executor:
    share = rng.random()

    async def propose(seen: Slice, _attempt: str) -> Any:
        low, high = _asked(seen)
        return {seen.variable: round(low + (high - low) * share, 2)}

    return propose


def _off_by_one(_rng: random.Random) -> Executor:
    obeys = obedient()

    async def propose(seen: Slice, attempt: str) -> Any:
        said = await obeys(seen, attempt)
        value = said[seen.variable]
        return {seen.variable: value + (1 if attempt.endswith("2") else -1) if isinstance(value, int | float) else value}

    return propose


def _obedient(_rng: random.Random) -> Executor:
    return obedient()


EXECUTORS: dict[str, Callable[[random.Random], Executor]] = {
    "obedient": _obedient,
    "random": _random,
    "stubborn": _stubborn,
    "oscillating": _oscillating,
    "off by one": _off_by_one,
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
            runs = [asyncio.run(converge(harness, make(_drawn(seed)))) for seed in range(RUNS if wanted is End.SUCCESS else 1)]
            ends = Counter(each.end.value for each in runs)
            false = ends[End.FAILED_PARADOX.value] if wanted is End.SUCCESS else 0
            attempts = statistics.mean(len(each.attempts) for each in runs)
            once = _as_the_papers_code(harness, make(_drawn(1)))
            yield [name, kind, _share(ends[wanted.value], len(runs)), str(false), f"{attempts:.1f}", once]


async def _first(executor: Executor, seen: Slice) -> Any:
    return await executor(seen, f"{seen.variable}-1")


def _as_the_papers_code(harness: Harness, executor: Executor) -> str:
    """What the paper's code makes of one pass: any failing rule is called a paradox."""
    artifact: dict[str, Any] = {}
    for name in (each for each, variable in harness.variables.items() if variable.is_decided):
        variable = harness.variables[name]
        asked = {"type": "number", "minimum": float(str(variable.low)) if variable.low is not None and variable.low.q == 1 else 0,
                 "maximum": float(str(variable.high)) if variable.high is not None and variable.high.q == 1 else 10}  # fmt: skip
        said = asyncio.run(_first(executor, Slice(name, variable.unit, {"properties": {name: asked}}, {})))
        artifact |= said if isinstance(said, dict) else {}
    return "PASS" if check(harness, artifact).verdict == "PASS" else "paradox"


@dataclass(frozen=True)
class Decided:
    """What became of a generated system. `refused`: certificates that the checker does not accept."""

    seconds: float
    is_undecided: bool
    is_wrong: bool
    has_other_conflicts: bool
    refused: int


def decided(seed: int) -> Decided:
    made = generate(seed, satisfiable=seed % 2 == 0, rules=2 + seed % 39)
    harness = harness_of(made.document)
    begun = time.process_time()
    found = explain(harness, relax=False, expired=lambda: time.process_time() - begun > SECONDS)
    took = time.process_time() - begun
    undecided = found.status is Status.UNDECIDED
    wrong = not undecided and found.status is not (Status.PARADOX if made.conflicts else Status.SATISFIABLE)
    other = found.status is Status.PARADOX and _sets(found) != made.conflicts
    return Decided(took, undecided, wrong, other, sum(not replay(harness, each).accepted for each in found.certificates))


def _generated(found: Sequence[Decided]) -> str:
    took = sorted(each.seconds for each in found)
    counts = [len(found), len(found) - sum(each.is_undecided for each in found), sum(each.is_wrong for each in found),
              sum(each.has_other_conflicts for each in found), sum(each.refused for each in found)]  # fmt: skip
    heads = ["systems", "decided", "wrong", "conflicts other than planted", "certificates refused", "median s", "p95 s"]
    return table(heads, [[*map(str, counts), f"{statistics.median(took):.2f}", f"{took[int(0.95 * len(took))]:.2f}"]])


def _bad_executors(systems: int) -> Iterator[list[str]]:
    """Satisfiable systems of 2 to 9 rules, each with one bad executor in turn."""
    bad = [each for each in EXECUTORS if each != "obedient"]
    ends: dict[str, Counter[str]] = {kind: Counter() for kind in bad}
    for seed in range(systems):
        kind = bad[seed % len(bad)]
        harness = harness_of(generate(10_000 + seed, satisfiable=True, rules=2 + seed % 8).document)
        ends[kind][asyncio.run(converge(harness, EXECUTORS[kind](_drawn(seed)))).end.value] += 1
    for kind, found in ends.items():
        rest = found.total() - found["SUCCESS"] - found["FAILED_PARADOX"]
        yield [kind, str(found.total()), str(found["SUCCESS"]), str(rest), str(found["FAILED_PARADOX"])]


def _corruptions(count: int) -> Iterator[list[str]]:
    known = certified([load_harness(EXAMPLES / f"{name}.yaml") for name in DOMAINS], range(1, 40, 2))
    accepted = [reason for _, reason in corrupted(known, count, _drawn(18)) if not reason]
    intact = sum(replay(harness, each).accepted for harness, each in known)
    took = [_seconds(partial(replay, harness, each)) for harness, each in known]
    yield [str(len(known)), str(intact), f"{max(took):.2f}", str(count), str(count - len(accepted))]


def _seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _python(artifacts: int) -> Iterator[list[str]]:
    """The paper's files, if they are there: what Python says of its assertions."""
    for path in sorted((Path(os.environ["SAGAGRAPH_DATA"]) / "caaf").glob("*.yaml")) if "SAGAGRAPH_DATA" in os.environ else ():
        harness = load_harness(path)
        yield [path.stem, str(artifacts), str(len(list(differences(harness, artifacts))))]


def _speed() -> str:
    harness = load_harness(EXAMPLES / "pharma_flow_reactor.yaml")
    artifact = {"temperature_C": 97, "residence_time_s": 119}
    return f"{_seconds(lambda: [check(harness, artifact) for _ in range(1000)]):.2f}"


NOISE = {
    "jerk": ("m/s^3", "jerk <= 1.5 * one", "VIP sleep mode"),
    "soc": ("1", "soc >= 15 * one", "battery and regeneration"),
    "fps": ("1/s", "fps >= 10 * one", "vision"),
    "uplink": ("bit/s", "uplink <= 128000 * one", "V2X uplink"),
}
"""Requirements that have nothing to do with the speed: its executor must not hear of them."""


def _noisy(harness: Harness) -> Harness:
    document = dict(harness.document)
    variables, rules = dict(document["variables"]), list(document["rules"])
    for name, (unit, assertion, text) in NOISE.items():
        variables[name] = {"unit": unit, "domain": [fmpq(0), fmpq(10) ** 6]}
        variables[f"one_{name}"] = {"unit": unit, "value": fmpq(1), "kind": "constant"}
        rules.append({"id": name.upper(), "description": text, "assertion": assertion.replace("one", f"one_{name}")})
    return harness_of({**document, "variables": variables, "rules": rules, "tests": {}})


def _context() -> Iterator[list[str]]:
    """What the executor of the speed is shown, without noise and with it."""
    for name in ("ad_degradation_clear",):
        plain = load_harness(EXAMPLES / f"{name}.yaml")
        for said, harness in (("clean", plain), ("noise", _noisy(plain))):
            shown: list[str] = []

            async def listening(seen: Slice, attempt: str, shown: list[str] = shown) -> Any:
                if seen.variable == "vehicle_speed_kmph_t5":
                    shown.append(json.dumps([data_of(seen), seen.schema], default=str))
                return await obedient()(seen, attempt)

            run = asyncio.run(converge(harness, listening))
            leaks = sum(any(each in text for each in NOISE) for text in shown)
            yield [name, said, run.end.value, str(run.artifact["vehicle_speed_kmph_t5"]), str(len(shown)),
                   str(max(len(text) for text in shown)), str(leaks)]  # fmt: skip


def _seesaw() -> Iterator[list[str]]:
    """An executor that jumps from 55 to 84 and back, five iterations: the paper's judge, ours, and ours on the twin."""

    async def jumping(seen: Slice, attempt: str) -> Any:
        return {seen.variable: (55, 84)[int(attempt.rpartition("-")[2]) % 2]}

    for name in ("ad_degradation", "ad_degradation_clear"):
        harness = load_harness(EXAMPLES / f"{name}.yaml")
        fails = [", ".join(check(harness, {"vehicle_speed_kmph_t5": each}).failed) or "none" for each in (55, 84)]
        run = asyncio.run(converge(harness, jumping, attempts=5))
        yield [name, *(each.replace("_COLLISION_PREVENTION", "") for each in fails), run.end.value, str(len(run.attempts))]


def _drawn_artifact(harness: Harness, rng: random.Random) -> dict[str, Any]:
    """A guess at every decided variable, as a model without a harness makes it."""
    found = {}
    for name, each in harness.decided.items():
        low, high = (float_of(end) if end is not None else 0.0 for end in (each.low, each.high))
        found[name] = round(rng.uniform(low, high), 2)
    return found


def _debated(harness: Harness, rng: random.Random) -> tuple[str, dict[str, Any]]:
    """Two guesses, three rounds of meeting half way."""
    one, other = _drawn_artifact(harness, rng), _drawn_artifact(harness, rng)
    for _ in range(3):
        one, other = ({name: round((one[name] + 3 * other[name]) / 4, 2) for name in one}, one)
    return "artifact", one


def _in_turn(harness: Harness, rng: random.Random) -> tuple[str, dict[str, Any]]:
    """One agent a rule, in the order of the file: each guesses anew, twenty times, until its own rule holds."""
    artifact = _drawn_artifact(harness, rng)
    for rule in harness.rules:
        own = harness.with_rules((rule,))
        for _ in range(20):
            if check(own, artifact).verdict == "PASS":
                break
            artifact = _drawn_artifact(harness, rng)
    return "artifact", artifact


def _with_judge(harness: Harness, rng: random.Random) -> tuple[str, dict[str, Any]]:
    """One model and our judge: three guesses; then, as the paper's code does, a failing rule is called a paradox."""
    for _ in range(3):
        artifact = _drawn_artifact(harness, rng)
        if check(harness, artifact).verdict == "PASS":
            return "artifact", artifact
    return "paradox", artifact


def _with_proof(harness: Harness, rng: random.Random) -> tuple[str, dict[str, Any]]:
    """Ours, with an executor that follows its gradients."""
    run = asyncio.run(converge(harness, _off_by_one(rng)))
    return ("proof" if run.end is End.FAILED_PARADOX else "artifact"), dict(run.artifact)


METHODS: dict[str, Callable[[Harness, random.Random], tuple[str, dict[str, Any]]]] = {
    "one model": lambda harness, rng: ("artifact", _drawn_artifact(harness, rng)),
    "debate": _debated,
    "one after another": _in_turn,
    "one model and a judge": _with_judge,
    "SagaGraph": _with_proof,
}


def _methods() -> Iterator[list[str]]:
    """Right is a proof where nothing passes, and an artifact that passes where something does."""
    for name in (*DOMAINS[:2], *TWINS):
        harness = load_harness(EXAMPLES / f"{name}.yaml")
        for method, work in METHODS.items():
            found = [work(harness, _drawn(seed)) for seed in range(RUNS if method != "SagaGraph" or name in TWINS else 1)]
            said = Counter(kind for kind, _ in found)
            passing = sum(kind == "artifact" and check(harness, artifact).verdict == "PASS" for kind, artifact in found)
            right = passing if name in TWINS else said["proof"]
            yield [name, method, str(said["artifact"]), str(passing), str(said["paradox"]), str(said["proof"]),
                   _share(right, len(found))]  # fmt: skip


def _sets(found: Explanation) -> frozenset[frozenset[str]]:
    return frozenset(frozenset(each.rules) for each in found.conflicts)


def _explained() -> Iterator[list[str]]:
    explain(load_harness(EXAMPLES / "cloud_sla.yaml"))  # Z3 is loaded with the first one
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


def report(systems: int, bad: int, corruptions: int, artifacts: int) -> Iterator[str]:
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
    yield prose(f"2 to 40 rules: linear, quadratic, exponential; half are satisfiable; at most {SECONDS} s of one core each.")
    yield ""
    yield _generated([decided(seed) for seed in range(systems)])
    yield "\n## Satisfiable systems, generated, with bad executors\n"
    yield table(["executor", "systems", "SUCCESS", "no convergence, with a witness", "false paradoxes"], _bad_executors(bad))
    yield "\n## Certificates\n"
    yield prose(
        "A corruption drops or widens a part, or names another rule, and makes the hash anew. The checker is timed alone."
    )
    yield ""
    yield table(["certificates", "accepted", "slowest s", "corruptions", "refused"], _corruptions(corruptions))
    yield "\n## Judge\n"
    yield prose(
        f"1,000 checks of the reactor take {_speed()} s. Beside Python's own verdicts on the paper's files, random artifacts:"
    )
    yield ""
    yield table(["file", "artifacts", "judged otherwise"], _python(artifacts // 4))
    yield "\n## Oscillation (table 5): 55 and 84 in turn\n"
    yield table(["harness", "fails at 55", "fails at 84", "end", "iterations"], _seesaw())
    yield "\n## Context (table 4): four requirements of other parts of the car\n"
    yield table(["harness", "", "end", "speed", "slices", "longest, characters", "slices with a word of the noise"], _context())
    yield "\n## Methods (tables 7 and 8)\n"
    yield prose(
        "Guesses are drawn from the domains. A method that judges nothing gives out what fails; one that calls three failures a",
        "paradox is wrong wherever something passes. Where a proof decides, runs do not differ, and one is shown.",
    )
    yield ""
    yield table(["harness", "method", "artifacts", "that pass", "unproven paradoxes", "proofs", "right"], _methods())
    yield "\n## Cost, with the figures of the paper\n"
    yield table(["", "a run", "fails", "with $50 a failure", "with $5"], _costs())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=500)
    parser.add_argument("--bad", type=int, default=200, help="satisfiable systems with bad executors")
    parser.add_argument("--corruptions", type=int, default=1000)
    parser.add_argument("--artifacts", type=int, default=10_000)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    written = "\n".join(report(options.systems, options.bad, options.corruptions, options.artifacts)) + "\n"
    options.out.write_text(written, encoding="utf-8")
    sys.stdout.write(written)


if __name__ == "__main__":
    main()

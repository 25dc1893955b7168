"""Proof, complete: `make proof` runs everything once, in full, and writes what came of it to docs/proof.md.

It takes hours. `--only NAME` runs parts and keeps the rows of the others, each with the commit at which it was seen.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "proof.md"
FIGURES = ROOT / "docs" / "proof.json"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
SWEEP = "tests.support.sweep"
PROMISED = "tests.saga.crash_worker:PROMISED"
JOBS = {"kill": "2", "stop": "6", "cut": "2", "lose": "2"}
"""Cases at once. A stopped worker mostly waits for its lease to expire."""
GRAPHS = {
    "graphs": "tests.graph.crash_scenarios:SCENARIOS",
    "inner graphs": "tests.graph.inner_scenarios:SCENARIOS",
    "prebuilt agents": "tests.agents.scenarios:SCENARIOS",
    "missions": "tests.support.missions:SCENARIOS",
    "workflows": "tests.factory.scenarios:SCENARIOS",
}
PYTEST = ("pytest", "-q", "-n", "2", "--dist", "worksteal")
FULL = {"SAGAGRAPH_EXPLORE": "full"}
EXPLORED = ("tests/saga", "tests/formal", "tests/ui/talking", "tests/domains/recipes")
WHOLE = (*PYTEST, "--timeout", "0")
"""A test that explores in full may take many minutes; only in an ordinary run is that a fault."""
LONGEST, SLICES = "test_three_operations", 6
"""Hours as a whole: in slices, each with a row of its own."""
STORM = ("tests.support.storm", "--sagas", "10000")
FLEET_STORM = STORM[0]


@dataclass(frozen=True)
class Part:
    """Something to run: a module of ours and its arguments. Its last line of output is its figure."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)


def parts() -> list[Part]:
    """In the order in which they tell most."""
    sweeps = [
        Part(f"sweep {harm} {store}", (SWEEP, "--jobs", JOBS[harm], "--store", store, "--harm", harm))
        for store, harms in (("sqlite", ("kill", "stop")), ("postgresql", ("kill", "stop", "cut", "lose")))
        for harm in harms
    ]
    graphs = [
        Part(f"{name} kill {store}", (SWEEP, scenarios, "--jobs", JOBS["kill"], "--store", store))
        for name, scenarios in GRAPHS.items()
        for store in ("sqlite", "postgresql")
    ]
    two = [
        Part(
            f"prebuilt agents stop {store}",
            (SWEEP, GRAPHS["prebuilt agents"], "--jobs", JOBS["stop"], "--store", store, "--harm", "stop"),
        )
        for store in ("sqlite", "postgresql")
    ]
    two += [
        Part(f"{name} {harm} {store}", (SWEEP, GRAPHS[name], "--jobs", JOBS[harm], "--store", store, "--harm", harm))
        for name in ("missions", "workflows")
        for store, harms in (("sqlite", ("stop",)), ("postgresql", ("stop", "cut")))
        for harm in harms
    ]
    promised = [
        Part(f"promises {harm} {store}", (SWEEP, PROMISED, "--jobs", JOBS[harm], "--store", store, "--harm", harm))
        for store in ("sqlite", "postgresql")
        for harm in ("kill", "stop")
    ]
    storms = [Part(f"storm {store}", (*STORM, "--store", store)) for store in ("sqlite", "postgresql")]
    fleets = [
        Part(
            f"storm through the port of a fleet, {fleet}",
            (FLEET_STORM, "--sagas", sagas, "--fleet", fleet, "--store", "postgresql"),
        )
        for fleet, sagas in (("store", "1000"), ("temporal", "200"))
    ]
    return [
        Part("tests", PYTEST),
        *sweeps,
        *graphs,
        *two,
        *promised,
        Part("an agent often killed", ("tests.agents.often_killed", "--runs", "200")),
        *storms,
        *fleets,
        Part("override of a paradox", ("sagagraph.testing", "tests.harness.overriding:SCENARIO")),
        Part("fuzzing", ("tests.fuzz", "--all", "100000")),
        Part("figures of the validators", ("tests.validators.figures",)),
        Part("explorations, long form", (*WHOLE, *EXPLORED, "-k", f"not {LONGEST}"), FULL),
        *(
            Part(
                f"explorations of three operations, {each} of {SLICES}",
                (*WHOLE, "tests/saga", "-k", LONGEST),
                FULL | {"SAGAGRAPH_SLICE": f"{each}/{SLICES}"},
            )
            for each in range(1, SLICES + 1)
        ),
    ]


@dataclass(frozen=True)
class Seen:
    """What came of a part: its exit code, its last lines, the commit that was run, and the git tree of its engine."""

    name: str
    command: str
    commit: str
    engine: str
    day: str
    minutes: float
    code: int
    figures: str


def run(part: Part, commit: str, engine: str) -> Seen:
    command = [sys.executable, "-m", *part.command]
    began = time.monotonic()
    told = subprocess.run(command, cwd=ROOT, env={**os.environ, **part.environment}, capture_output=True, text=True, check=False)
    sys.stdout.write(told.stdout[-4000:] + told.stderr[-2000:])
    minutes = round((time.monotonic() - began) / 60, 1)
    shown = " ".join(("python -m", *part.command))
    day, figures = f"{datetime.now(UTC):%Y-%m-%d}", figures_in(told.stdout)
    return Seen(part.name, shown, commit, engine, day, minutes, told.returncode, figures)


def figures_in(output: str) -> str:
    """The lines that count something: of a sweep, a storm, an exploration or pytest."""
    lines = [line.strip("= -") for line in output.splitlines()]
    telling = (" faults", " passed", "times: ", "exploration: ", " sagas")
    faults = [line for line in lines if line.startswith("FAULT")]
    return "; ".join([*[line for line in lines if any(word in line for word in telling)][-3:], *faults[:3]])


def table(seen: list[Seen]) -> str:
    rows = ["| what | commit | engine | day | minutes | exit | figures |", "|---|---|---|---|---|---|---|"]
    rows += [
        f"| {each.name} | {each.commit} | {each.engine} | {each.day} | {each.minutes} | {each.code} | {each.figures} |"
        for each in seen
    ]
    return "\n".join(rows)


def write(seen: dict[str, Seen]) -> None:
    ordered = [seen[part.name] for part in parts() if part.name in seen]
    FIGURES.write_text(json.dumps([asdict(each) for each in ordered], indent=1) + "\n", encoding="utf-8")
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    DOCUMENT.write_text(f"{before}{BEGIN}\n{table(ordered)}\n{END}{after}", encoding="utf-8")


def git(*said: str) -> str:
    told = subprocess.run(["git", *said], cwd=ROOT, capture_output=True, text=True, check=False)
    return told.stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], choices=[part.name for part in parts()], metavar="NAME")
    wanted = parser.parse_args().only
    seen = {each["name"]: Seen(**each) for each in json.loads(FIGURES.read_text(encoding="utf-8"))} if FIGURES.exists() else {}
    changed = git("status", "--porcelain", "--", ".", f":!{DOCUMENT.relative_to(ROOT)}", f":!{FIGURES.relative_to(ROOT)}")
    commit = git("rev-parse", "--short", "HEAD") + ("-dirty" if changed else "")
    engine = git("rev-parse", "--short", "HEAD:sagagraph/saga")
    for part in parts():
        if not wanted or part.name in wanted:
            seen[part.name] = run(part, commit, engine)
            write(seen)
    return int(any(each.code for each in seen.values()))


if __name__ == "__main__":
    sys.exit(main())

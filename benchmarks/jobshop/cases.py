"""The instances that ALAS evaluates, those that are in SAGAGRAPH_DATA, with their best known bounds; without it, our own."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.jobshop.generator import generate, strikes
from sagagraph.domains.job_shop.instances import parse_problem
from sagagraph.domains.job_shop.request import JobShop

_DMU: Final = ("03", "04", "08", "09", "13", "14", "18", "19", "23", "24", "28", "29", "33", "34", "38", "39")
_TA: Final = ("01", "02", "51", "52", "61", "71", "72")
ALAS: Final = (
    *(f"dmu{number}" for number in _DMU),
    *(f"ta{number}js" for number in _TA),
    *(f"abz{number}" for number in range(7, 10)),
    *(f"swv{number:02}" for number in range(1, 16)),
    *(f"yn{number}" for number in range(1, 5)),
)


@dataclass(frozen=True, slots=True)
class Instance:
    name: str
    problem: JobShop
    best_known: int | None
    """The least makespan that anybody has published."""
    struck: tuple[dict[str, Any], ...] = ()
    """What REALM-Bench lets happen to it."""

    def events(self, makespan: int) -> list[dict[str, Any]]:
        return list(self.struck) or strikes(self.problem, makespan, seed=1)


def instances(only: Sequence[str], *, of_all: bool = False) -> Iterator[Instance]:
    """Yield instances; `of_all`: also published ones that ALAS does not evaluate."""
    folder = os.environ.get("SAGAGRAPH_DATA")
    for each in _published(Path(folder, "jobshop"), of_all=of_all) if folder else _generated():
        if not only or each.name in only:
            yield each


def _published(folder: Path, *, of_all: bool) -> Iterator[Instance]:
    struck = {each["base_instance"]["source_file"].rsplit("/")[-1]: each for each in _json(folder / "j2")}
    with (folder / "bounds.csv").open() as table:
        known = {row["name"]: row for row in csv.DictReader(table)}
    for name in dict.fromkeys((*ALAS, *known)) if of_all else ALAS:
        if name in known:
            file = folder / known[name]["file"]
            problem = parse_problem(file.read_text())
            yield Instance(name, problem, int(known[name]["upper_bound"]), _events(problem, struck.get(file.name)))
    for path in sorted((folder / "j3").iterdir()):
        yield Instance(path.stem, parse_problem(path.read_text()), None)


def _json(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(folder.iterdir())]


def _events(problem: JobShop, disrupted: dict[str, Any] | None) -> tuple[dict[str, Any], ...]:
    """Its machines count from 1; a shutdown stops all of them."""
    events = []
    for each in disrupted["disruptions"] if disrupted else ():
        stopped = problem.machines if "machine_id" not in each else [problem.machines[each["machine_id"] - 1]]
        at = each["start_time"]
        stop = {"at": at, "event": "machine_down", "until": at + each["duration"]}
        events += [{**stop, "machine": machine} for machine in stopped]
    return tuple(events)


def _generated() -> Iterator[Instance]:
    for jobs, machines in ((6, 6), (10, 10), (20, 15), (50, 15)):
        yield Instance(f"generated {jobs} x {machines}", generate(jobs, machines, seed=1), None)
    yield Instance("generated 100 x 30, re-entrant", generate(100, 30, seed=1, is_reentrant=True), None)

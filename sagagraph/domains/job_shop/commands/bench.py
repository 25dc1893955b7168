"""Bench: published instances are scheduled, judged, and compared with the best makespan that is known."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from sagagraph.cli import render
from sagagraph.domains.job_shop.instances import FIELD, parse_problem
from sagagraph.domains.job_shop.planning.planner import plan, status_of
from sagagraph.domains.job_shop.planning.workload import schedule_of, workload_of
from sagagraph.domains.job_shop.request import JobShop
from sagagraph.domains.job_shop.rules.validator import validate_schedule
from sagagraph.errors import InvalidInputError
from sagagraph.files import text_file
from sagagraph.planning.budget import Budget

_TABLE: Final = "bounds.csv"
"""In a folder of instances: `name`, `file`, and `upper_bound`, the least makespan that anybody has published."""


Named = tuple[str, JobShop, int | None]
"""An instance's name, the instance, and the best makespan that is known."""


def bench(files: Sequence[Path], seconds: float, *, as_json: bool) -> int:
    """Measure the instances in these files, or in $SAGAGRAPH_DATA."""
    rows: list[dict[str, Any]] = []
    for each in list(_named(files) if files else _published()):  # all can be read before the first is measured
        rows.append(_measured(each, seconds))
        if not as_json:
            render.stderr.print(_sentence(rows[-1]), markup=False)
    render.print_json({"seconds": seconds, "instances": rows})
    return 0 if all(row["verdict"] == "VALID" for row in rows) else 1


def _measured(instance: Named, seconds: float) -> dict[str, Any]:
    (name, problem, best_known), began = instance, perf_counter()
    workload = workload_of(problem)
    found = plan(workload, Budget.of(seconds))
    took = round(perf_counter() - began, 3)
    slots = [slot.model_dump() for slot in schedule_of(workload, found.starts).values()]
    verdict = validate_schedule(problem, slots).verdict.value
    row = {"name": name, "makespan": found.makespan, "lower_bound": found.lower_bound, "seconds": took, "verdict": verdict}
    row["status"] = status_of(found.makespan, found.lower_bound).value
    return row | ({"best_known": best_known, "gap": round(found.makespan / best_known - 1, 6)} if best_known else {})


def _sentence(row: Mapping[str, Any]) -> str:
    above = f", {row['gap']:.2%} above the best known" if "gap" in row else ""
    return f"{row['name']}: makespan {row['makespan']} ({row['status']}{above}), {row['seconds']:g} s, {row['verdict']}"


def _named(files: Sequence[Path]) -> Iterator[Named]:
    for file in files:
        try:
            yield file.stem, parse_problem(text_file(file, FIELD)), None
        except InvalidInputError as exc:
            raise InvalidInputError(str(exc).removeprefix(f"{FIELD}: "), field=str(file)) from exc


def _published() -> Iterator[Named]:
    if not (data := os.environ.get("SAGAGRAPH_DATA")):
        raise InvalidInputError("name a file, or a folder of benchmark data in SAGAGRAPH_DATA", field=FIELD)
    table = Path(data, "jobshop", _TABLE)
    for number, row in enumerate(csv.DictReader(text_file(table, FIELD).splitlines()), start=2):
        try:
            name, file, best_known = row["name"], table.parent / row["file"], int(row["upper_bound"])
        except (KeyError, TypeError, ValueError) as exc:
            message = f"line {number} needs a `name`, a `file`, and a whole number as its `upper_bound`"
            raise InvalidInputError(message, field=str(table)) from exc
        yield name, parse_problem(text_file(file, FIELD)), best_known

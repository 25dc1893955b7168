"""`python -m sagagraph.testing`: kill a saga at every boundary and print the matrix of what became of it."""

from __future__ import annotations

import importlib
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from typing import Annotated

import typer

from sagagraph.errors import InvalidInputError, SagaGraphError
from sagagraph.testing.scenario import Scenario
from sagagraph.testing.sweep import Case, boundaries_of, kill_at
from sagagraph.testing.trips import SCENARIOS


def sweep(
    scenario: Annotated[str | None, typer.Argument(metavar="[MODULE:NAME]", help="Your own; by default the sample trip.")] = None,
    sample: Annotated[int, typer.Option(help="Only so many boundaries of each scenario, drawn by --seed; 0: all.")] = 0,
    seed: Annotated[int, typer.Option()] = 0,
    jobs: Annotated[int, typer.Option(help="Cases at once.")] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Run a saga once for every durable write and every call, kill it there, resume it, and ask the outside world."""
    cases: list[Case] = []
    for each in _scenarios(scenario):
        cases += _swept(each, sample, seed, jobs)
    if as_json:
        sys.stdout.write(json.dumps([asdict(case) for case in cases], indent=2) + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in matrix(cases))
    raise typer.Exit(1 if any(case.judgement.faults for case in cases) else 0)


def _swept(scenario: Scenario, sample: int, seed: int, jobs: int) -> list[Case]:
    count = boundaries_of(scenario)
    boundaries = list(range(1, count + 1))
    if 0 < sample < count:
        boundaries = sorted(random.Random(seed).sample(boundaries, sample))  # noqa: S311 - a sample, not a secret
    with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
        return list(pool.map(kill_at, [scenario] * len(boundaries), boundaries))


def _scenarios(named: str | None) -> tuple[Scenario, ...]:
    if named is None:
        return SCENARIOS
    module, _, attribute = named.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as exc:
        raise InvalidInputError(f"{named!r} can not be loaded: {exc}", field="MODULE:NAME") from exc
    scenarios = tuple(found) if isinstance(found, list | tuple) else (found,)
    if not scenarios or not all(_is_scenario(each) for each in scenarios):
        raise InvalidInputError(f"{named!r} is no scenario (see sagagraph.testing.scenario)", field="MODULE:NAME")
    return scenarios


def _is_scenario(found: object) -> bool:
    return all(hasattr(found, name) for name in ("name", "world", "prepare", "run", "resume", "judge"))


def matrix(cases: list[Case]) -> Iterator[str]:
    """A row for each place where a saga was killed, a column for each scenario: how often, and how it ended. Then every fault."""
    killed = [case for case in cases if case.was_killed]
    scenarios = list(dict.fromkeys(case.scenario for case in cases))
    places = list(dict.fromkeys(case.place for case in killed))
    rows = [["killed", *scenarios]]
    rows += [[place, *(_cell(killed, place, scenario) for scenario in scenarios)] for place in places]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    yield f"killed {len(killed)} times: {_counted(killed)}"
    faults = [(case, fault) for case in cases for fault in case.judgement.faults]
    for case, fault in faults:
        yield f"FAULT {case.scenario}, killed {case.place or 'nowhere'} (boundary {case.boundary}): {fault}"
    yield f"{len(faults)} faults"


def _cell(killed: list[Case], place: str, scenario: str) -> str:
    return _counted([case for case in killed if (case.place, case.scenario) == (place, scenario)])


def _counted(cases: list[Case]) -> str:
    ends = Counter("FAULT" if case.judgement.faults else case.judgement.outcome for case in cases)
    return ", ".join(f"{times} {outcome}" for outcome, times in ends.most_common())


if __name__ == "__main__":
    try:
        typer.run(sweep)
    except SagaGraphError as exc:
        sys.stderr.write(f"sagagraph.testing: {exc}\n")
        sys.exit(exc.exit_code)

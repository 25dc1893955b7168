"""Command of the crash sweep: `python -m sagagraph.testing` harms a saga at every boundary and reports the outcome."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import asdict
from functools import partial
from multiprocessing import get_context
from random import Random
from typing import Annotated

import typer

from sagagraph.errors import InvalidInputError, SagaGraphError
from sagagraph.extras import thing_at
from sagagraph.testing.databases import Databases
from sagagraph.testing.databases import databases as databases_at
from sagagraph.testing.scenario import Scenario
from sagagraph.testing.sweep import Case, Harm, check_harm, harm_at, places_of

OpenDatabases = Callable[[str], AbstractContextManager[Databases]]


def sweep_command(databases: OpenDatabases = databases_at, default: tuple[Scenario, ...] = ()) -> Callable[..., None]:
    """Return the command as a function for typer. `default`: what is swept if no scenario is named."""

    def sweep(
        scenario: Annotated[str | None, typer.Argument(metavar="[MODULE:NAME]", help="Your own.")] = None,
        store: Annotated[str, typer.Option(help="sqlite, or the URL of a PostgreSQL server.")] = "sqlite",
        harm: Annotated[Harm, typer.Option(help="What is done to the worker, or to its connection.")] = Harm.KILL,
        sample: Annotated[int, typer.Option(min=0, help="So many boundaries of each scenario, drawn by --seed; 0: all.")] = 0,
        seed: Annotated[int, typer.Option()] = 0,
        place: Annotated[str, typer.Option(help="Only boundaries with this in their name, as in 'action of payment'.")] = "",
        jobs: Annotated[int, typer.Option(min=1, help="Cases at once.")] = 2,
        as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
    ) -> None:
        """Run a saga once for every durable write and every call, harm it there, resume it, and check the outside world."""
        scenarios = _scenarios(scenario) if scenario is not None else default
        cases: list[Case] = []
        if sample:
            sys.stderr.write(
                f"{harm.value} on {store.partition(':')[0]}: {sample} boundaries of each scenario, drawn by --seed {seed}\n"
            )
        if not scenarios:
            raise InvalidInputError("name a scenario as package.module:NAME", field="MODULE:NAME")
        with databases(store) as made:
            check_harm(harm, made)
            for each in scenarios:
                cases += _swept(each, harm, made, random=Random(f"{seed} {each.name}"), sample=sample, jobs=jobs, place=place)  # noqa: S311
        if as_json:
            sys.stdout.write(json.dumps([asdict(case) for case in cases], indent=2) + "\n")
        else:
            sys.stdout.writelines(f"{line}\n" for line in matrix(cases))
        raise typer.Exit(1 if any(case.judgement.faults for case in cases) else 0)

    return sweep


def _swept(scenario: Scenario, harm: Harm, made: Databases, *, random: Random, sample: int, jobs: int, place: str) -> list[Case]:
    boundaries: Sequence[int] = range(1, 1 + sum(place in name for name in places_of(scenario, made)))
    if 0 < sample < len(boundaries):
        boundaries = sorted(random.sample(boundaries, sample))
    one = partial(_harmed, scenario, harm, made, place)
    with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
        return list(pool.map(one, boundaries))


def _harmed(scenario: Scenario, harm: Harm, made: Databases, place: str, boundary: int) -> Case:
    return harm_at(scenario, boundary, harm, made, place=place)


def _scenarios(named: str) -> tuple[Scenario, ...]:
    if ":" not in named:
        raise InvalidInputError(f"{named!r} names no scenario; write it as package.module:NAME", field="MODULE:NAME")
    found = thing_at(named, "MODULE:NAME")
    scenarios = tuple(found) if isinstance(found, list | tuple) else (found,)
    if any(isinstance(each, type) for each in scenarios):
        raise InvalidInputError(f"{named!r} is a class; name an instance of it", field="MODULE:NAME")
    if not scenarios or not all(_is_scenario(each) for each in scenarios):
        raise InvalidInputError(f"{named!r} is no scenario (see sagagraph.testing.scenario)", field="MODULE:NAME")
    return scenarios


def _is_scenario(found: object) -> bool:
    return all(hasattr(found, name) for name in ("name", "world", "prepare", "run", "resume", "judge"))


_DONE = {Harm.KILL: "killed", Harm.STOP: "stopped", Harm.CUT: "cut off", Harm.LOSE: "unanswered"}


def matrix(cases: list[Case]) -> Iterator[str]:
    """Yield a row for each place where a saga was harmed and a column for each scenario (how often, and how it ended), then
    every fault.
    """
    harmed = [case for case in cases if case.was_harmed]
    done = _DONE[cases[0].harm]
    scenarios = list(dict.fromkeys(case.scenario for case in cases))
    places = list(dict.fromkeys(case.place for case in harmed))
    rows = [[done, *scenarios]]
    rows += [[place, *(_cell(harmed, place, scenario) for scenario in scenarios)] for place in places]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    yield f"{done} {len(harmed)} times: {_counted(harmed)}"
    ends = Counter(case.ended.partition(":")[0] or "nothing" for case in harmed)
    if cases[0].harm is not Harm.KILL:
        yield f"went on and ended with: {', '.join(f'{times} {what}' for what, times in ends.most_common())}"
    faults = [(case, fault) for case in cases for fault in case.judgement.faults]
    for case, fault in faults:
        yield f"FAULT {case.scenario}, {done} {case.place or 'nowhere'} (boundary {case.boundary}): {fault}"
    yield f"{len(faults)} faults"


def _cell(killed: list[Case], place: str, scenario: str) -> str:
    return _counted([case for case in killed if (case.place, case.scenario) == (place, scenario)])


def _counted(cases: list[Case]) -> str:
    ends = Counter("FAULT" if case.judgement.faults else case.judgement.outcome for case in cases)
    return ", ".join(f"{times} {outcome}" for outcome, times in ends.most_common())


def main(command: Callable[..., None], name: str) -> None:
    """Run the command; a SagaGraph error is one line on standard error and its exit code."""
    try:
        typer.run(command)
    except SagaGraphError as exc:
        sys.stderr.write(f"{name}: {exc}\n")
        sys.exit(exc.exit_code)


if __name__ == "__main__":
    main(sweep_command(), "sagagraph.testing")

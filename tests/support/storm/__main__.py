"""`python -m tests.support.storm`: random sagas, workers that die and freeze, and a ledger that judges."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from random import Random, SystemRandom
from typing import Annotated

import typer

from sagagraph.errors import SagaGraphError
from sagagraph.testing.databases import memory_folder
from tests.support.databases import databases
from tests.support.storm.supervisor import Weathered, weather
from tests.support.temporal import temporal

_BATCH = 200
_LONG = 1000
"""A run of so many sagas in which some harm never strikes has not shown what it is for."""


def storm(
    sagas: Annotated[int, typer.Option(min=1, help="How many random sagas.")] = 2000,
    workers: Annotated[int, typer.Option(min=2, help="At most so many at once; each batch draws how many.")] = 4,
    store: Annotated[str, typer.Option(help="sqlite, postgresql, or the URL of a PostgreSQL server.")] = "sqlite",
    fleet: Annotated[str, typer.Option(help="Through the port of a fleet: store, or temporal.")] = "",
    seed: Annotated[int | None, typer.Option(help="Draws everything; by default a new one, which is printed.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = False,
) -> None:
    """Drive random sagas by workers that are killed, stopped and continued, with a provider that misbehaves, and judge."""
    drawn = SystemRandom().randrange(10**6) if seed is None else seed
    batches: list[Weathered] = []
    with databases(store) as made, fleet_server(fleet) as (address, restart):
        for each in _batches(drawn, sagas, workers):
            batches.append(weather(made, *each, fleet=address, restart_fleet=restart))
            sys.stderr.writelines(f"{line}\n" for line in _progress(batches[-1]))
    if as_json:
        document = {
            "seed": drawn,
            "store": store.partition(":")[0],
            **_total(batches),
            "batches": [asdict(each) for each in batches],
        }
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in _summary(drawn, batches))
    raise typer.Exit(1 if _faults(batches) else 0)


@contextmanager
def fleet_server(fleet: str) -> Iterator[tuple[str, Callable[[], None] | None]]:
    """Where workers find what is due, and what crashes that server and starts it again."""
    if fleet != "temporal":
        yield fleet, None
        return
    with temporal(memory_folder()) as server:
        yield server.address, server.restart


def _batches(seed: int, sagas: int, workers: int) -> Iterator[tuple[str, int, int]]:
    random = Random(seed)
    for number, first in enumerate(range(0, sagas, _BATCH)):
        yield f"{seed}/{number}", min(_BATCH, sagas - first), random.randint(2, workers)


def _progress(batch: Weathered) -> Iterator[str]:
    yield f"batch {batch.seed}: {batch.sagas} sagas, {batch.workers} workers, {batch.seconds} s, {_listed(batch.report.after)}"
    yield from (f"FAULT batch {batch.seed} {each}" for each in batch.report.faults)
    yield from batch.report.evidence


def _total(batches: list[Weathered]) -> dict[str, object]:
    return {
        "sagas": sum(each.sagas for each in batches),
        "seconds": round(sum(each.seconds for each in batches), 1),
        "before": _summed(each.report.before for each in batches),
        "after": _summed(each.report.after for each in batches),
        "harms": _summed(each.harms for each in batches),
        "counts": _summed(each.report.counts for each in batches),
        "faults": _faults(batches),
    }


def _faults(batches: list[Weathered]) -> list[str]:
    """With every harm that never struck, in a run that is long enough for all of them."""
    harms = _summed(each.harms for each in batches) if sum(each.sagas for each in batches) >= _LONG else {}
    missing = [f"there were no {what}" for what, times in harms.items() if times == 0]
    return [*missing, *(f"batch {each.seed} {fault}" for each in batches for fault in each.report.faults)]


def _summary(seed: int, batches: list[Weathered]) -> Iterator[str]:
    total = _total(batches)
    faults = [f"FAULT {each}" for each in _faults(batches)]
    yield f"seed {seed}: {total['sagas']} sagas in {len(batches)} batches, {total['seconds']} s"
    for name in ("harms", "counts"):
        yield _listed(_summed(each.harms if name == "harms" else each.report.counts for each in batches))
    yield f"when the storm was over: {_listed(_summed(each.report.before for each in batches))}"
    yield f"after a person had settled some: {_listed(_summed(each.report.after for each in batches))}"
    yield from faults
    yield f"{len(faults)} faults"


def _summed(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(total)


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{times} {what}" for what, times in counts.items())


if __name__ == "__main__":
    try:
        typer.run(storm)
    except SagaGraphError as exc:
        sys.stderr.write(f"tests.support.storm: {exc}\n")
        sys.exit(exc.exit_code)

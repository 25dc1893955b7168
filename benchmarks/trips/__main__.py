"""`python -m benchmarks.trips`: generated trips, from request to ledger; writes docs/benchmarks/trips.md."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks import machine
from benchmarks.trips.figures import wrong
from benchmarks.trips.plots import draw
from benchmarks.trips.report import written
from benchmarks.trips.run import run
from benchmarks.trips.scale import FULL, QUICK, Scale

SEED = 2025


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _asked(arguments)
    scale = QUICK if asked.quick else FULL
    found = measured(replace(scale, requests=asked.requests or scale.requests), asked.seed)
    asked.out.mkdir(parents=True, exist_ok=True)
    (asked.out / "trips.json").write_text(_as_text(found))
    (asked.out / "trips.md").write_text(written(found))
    draw(found, asked.out)
    faults = wrong(found)
    _say("\n".join(faults) if faults else f"{len(found['trips'])} requests in {found['took_s']:.0f} s, and nothing is wrong")
    return 1 if faults else 0


def measured(scale: Scale, seed: int) -> dict[str, Any]:
    """Everything of one run, as it goes into trips.json."""
    begun = perf_counter()
    with tempfile.TemporaryDirectory(prefix="sagagraph-trips-") as name:
        facts = machine.facts(Path(name), None)
        ran = asyncio.run(run(scale, seed, Path(name), _say))
    return {
        "form": scale.form,
        "seed": seed,
        "asked": scale.requests,
        "most_trips": scale.most_trips,
        "machine": facts,
        "took_s": round(perf_counter() - begun, 1),
        **ran,
    }


def _as_text(found: dict[str, Any]) -> str:
    """A line for each trip."""
    head = json.dumps({name: value for name, value in found.items() if name != "trips"}, indent=1)
    trips = ",\n".join(f"  {json.dumps(trip)}" for trip in found["trips"])
    return f'{head[:-2]},\n "trips": [\n{trips}\n ]\n}}\n'


def _asked(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trips", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only show that everything runs, in a few seconds")
    parser.add_argument("--requests", type=_count, help="so many instead of 200")
    parser.add_argument("--seed", type=int, default=SEED, help="of the requests")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"), help="where to write the report")
    return parser.parse_args(arguments)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"must be a number of requests, not {text!r}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks`: measure everything in one run, and write docs/benchmarks."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks import cost, growth, machine, throughput
from benchmarks.field import Databases, Field, Skip
from benchmarks.plan import FULL, QUICK, Plan
from benchmarks.plots import draw
from benchmarks.report import written
from benchmarks.targets import targets
from sagagraph.errors import StoreError
from tests.support.postgres import PostgresServer, postgres_server

SECTIONS: dict[str, Callable[[Plan, Field], Awaitable[dict[str, Any]]]] = {
    "cost": cost.measure,
    "growth": growth.measure,
    "throughput": throughput.measure,
}
STORES = ("sqlite", "postgresql")


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _asked(arguments)
    asked.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sagagraph-bench-", dir=asked.folder or _disk(), ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)  # the PostgreSQL server may run as somebody else
        with _temporary_files_in(name):
            found = measured(QUICK if asked.quick else FULL, folder, asked.only, asked.stores)
    (asked.out / "results.json").write_text(json.dumps(found, indent=1) + "\n")
    (asked.out / "README.md").write_text(written(found))
    draw(found, asked.out)
    _tell_targets(found)


def measured(plan: Plan, folder: Path, sections: Sequence[str], stores: Sequence[str]) -> dict[str, Any]:
    """Everything of one run, as it goes into results.json."""
    skipped: list[Skip] = []
    begun = perf_counter()
    with _server(stores, skipped) as server:
        databases = Databases(folder, server)
        found: dict[str, Any] = {
            "form": plan.form,
            "plan": asdict(plan),
            "machine": machine.facts(folder, server.url() if server else None),
        }
        for name in sections:
            at = perf_counter()
            found[name] = asyncio.run(_section(name, plan, Field(databases, plan.limit_s, skipped)))
            _say(f"{name}: {perf_counter() - at:.0f} s")
    found["skipped"] = [each._asdict() for each in skipped]
    found["took_s"] = round(perf_counter() - begun, 1)
    return found


async def _section(name: str, plan: Plan, field: Field) -> dict[str, Any]:
    try:
        return await SECTIONS[name](plan, field)
    finally:
        await field.leave()


@contextmanager
def _server(stores: Sequence[str], skipped: list[Skip]) -> Iterator[PostgresServer | None]:
    if "postgresql" not in stores:
        yield None
        return
    try:
        opening = postgres_server(on_disk=True)
        server = opening.__enter__()
    except StoreError as exc:
        skipped.append(Skip("everybody", "postgresql", str(exc)))
        yield None
        return
    try:
        yield server
    finally:
        opening.__exit__(None, None, None)


@contextmanager
def _temporary_files_in(folder: str) -> Iterator[None]:
    """So that the server's files are on the disk that is measured."""
    before, tempfile.tempdir = tempfile.tempdir, folder
    try:
        yield
    finally:
        tempfile.tempdir = before


def _disk() -> str | None:
    """A folder for what outlives a restart is on a disk; the one for temporary files may be in memory."""
    lasting = Path("/var/tmp")  # noqa: S108 - a folder of random name is made in it
    return str(lasting) if lasting.is_dir() else None


def _asked(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only show that everything runs, in less than a minute")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), help="these sections")
    parser.add_argument("--stores", nargs="+", choices=STORES, default=list(STORES), help="these stores")
    parser.add_argument("--folder", help="a folder on the disk to measure; databases are made in it, and removed")
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"), help="where to write the report")
    return parser.parse_args(arguments)


def _tell_targets(found: dict[str, Any]) -> None:
    for each in targets(found):
        figure = f"{each.figure:.2f}" if each.figure else "–"
        _say(f"{each.what}, {each.store}: {figure}, target {each.bound}: {each.verdict.strip('*')}")
    for skip in found["skipped"]:
        _say(f"skipped: {skip['contender']} on {skip['store']}: {skip['why']}")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

"""`sagagraph jobshop`: schedules of job shops, made and repaired."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

jobshop = typer.Typer(help="Job shops: which step of which job is on which machine when.")

File = Annotated[Path, typer.Argument(metavar="FILE", help="In the standard format, Taillard's, or REALM-Bench's JSON.")]
Seconds = Annotated[float, typer.Option("--seconds", metavar="N", min=0.1, max=86400.0, help="How long to think, in all.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="SCHEDULE.json", help="Write what is printed to this file too.")]
Store = Annotated[str, typer.Option("--store", envvar="SAGAGRAPH_STORE", help="Not asked: a schedule stands in its file.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


@jobshop.command("solve")
def solve_command(file: File, seconds: Seconds = 30.0, out: Out = None, _store: Store = "", as_json: Json = False) -> None:
    """Schedule all jobs: the least makespan, and what no schedule goes below."""
    from sagagraph.cli.scheduling import solve

    raise typer.Exit(solve(file, seconds, out, as_json=as_json))


@jobshop.command("repair")
def repair_command(
    file: File,
    schedule: Annotated[Path, typer.Argument(metavar="SCHEDULE.json")],
    event: Annotated[list[Path] | None, typer.Option("--event", metavar="EVENT.json", help="May be repeated.")] = None,
    seconds: Seconds = 30.0,
    out: Out = None,
    _store: Store = "",
    as_json: Json = False,
) -> None:
    """Repair a schedule after events: what has begun stands, and little of the rest moves."""
    from sagagraph.cli.scheduling import mend

    raise typer.Exit(mend(file, schedule, event or [], seconds, out, as_json=as_json))

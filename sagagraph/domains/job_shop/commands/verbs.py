"""`sagagraph jobshop`: schedules of job shops, made and repaired."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sagagraph.cli import options as o
from sagagraph.extras import needing

jobshop = o.verbs("Job shops: which step of which job is on which machine when.")

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="An instance in the standard format, Taillard's, or REALM-Bench's JSON.")
]
Out = Annotated[Path | None, typer.Option("--out", metavar="SCHEDULE.json", help="Write what is printed to this file too.")]


@jobshop.command("solve")
def solve_command(
    file: File,
    seconds: o.Seconds = 30.0,
    out: Out = None,
    model_seconds: o.ModelSeconds = None,
    max_cost: o.MaxCost = None,
    max_tokens: o.MaxTokens = None,
    _store: o.UnusedStore = "",
    as_json: o.AsJson = False,
) -> None:
    """Schedule all jobs: prints the least makespan found, and a lower bound."""
    with needing("jobshop"):
        from sagagraph.domains.job_shop.commands.scheduling import solve

    settings = o.Options(model_seconds=model_seconds, max_cost=max_cost, max_tokens=max_tokens).settings
    raise typer.Exit(solve(file, seconds, out, settings, as_json=as_json))


@jobshop.command("repair")
def repair_command(
    file: File,
    schedule: Annotated[Path, typer.Argument(metavar="SCHEDULE.json")],
    event: o.Events = None,
    seconds: o.Seconds = 30.0,
    out: Out = None,
    model_seconds: o.ModelSeconds = None,
    max_cost: o.MaxCost = None,
    max_tokens: o.MaxTokens = None,
    _store: o.UnusedStore = "",
    as_json: o.AsJson = False,
) -> None:
    """Repair a schedule after events: what has begun is kept, and the rest moves as little as possible."""
    with needing("jobshop"):
        from sagagraph.domains.job_shop.commands.scheduling import mend

    settings = o.Options(model_seconds=model_seconds, max_cost=max_cost, max_tokens=max_tokens).settings
    raise typer.Exit(mend(file, schedule, event or [], seconds, out, settings, as_json=as_json))

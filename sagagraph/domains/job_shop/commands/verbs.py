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
Svg = Annotated[Path | None, typer.Option("--out", metavar="CHART.svg", help="Write the chart to this file instead.")]
Sought = Annotated[
    float | None,
    typer.Option(
        "--seconds", metavar="N", min=0.1, max=86400.0, help="The time limit of the search: 30, or what a production began with."
    ),
]
Each = Annotated[float, typer.Option("--seconds", metavar="N", min=0.1, max=86400.0, help="The time limit for each instance.")]
Several = Annotated[
    list[Path] | None, typer.Argument(metavar="[FILE]...", help="Instances; without any, those in the folder of SAGAGRAPH_DATA.")
]


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


@jobshop.command("show")
def show_command(
    file: File,
    schedule: Annotated[Path, typer.Argument(metavar="SCHEDULE.json")],
    event: o.Events = None,
    out: Svg = None,
    _store: o.UnusedStore = "",
    as_json: o.AsJson = False,
) -> None:
    """Draw a schedule: prints a Gantt chart as SVG, and says where the validator finds fault with it."""
    with needing("jobshop"):
        from sagagraph.domains.job_shop.commands.scheduling import show

    raise typer.Exit(show(file, schedule, event or [], out, as_json=as_json))


@jobshop.command("bench")
def bench_command(files: Several = None, seconds: Each = 3.0, _store: o.UnusedStore = "", as_json: o.AsJson = False) -> None:
    """Schedule instances one after the other: how far each is above the best makespan that is known, and how long it took."""
    with needing("jobshop"):
        from sagagraph.domains.job_shop.commands.bench import bench

    raise typer.Exit(bench(files or [], seconds, as_json=as_json))


@jobshop.command("begin")
def begin_command(
    file: File,
    schedule: Annotated[Path | None, typer.Option(metavar="SCHEDULE.json", help="Carry this schedule out.")] = None,
    seconds: o.Seconds = 30.0,
    saga_id: o.NewSagaId = None,
    yes: o.Yes = False,
    store: o.Store = "",
    as_json: o.AsJson = False,
) -> None:
    """Schedule all jobs and, after approval, dispatch their steps to the machines."""
    with needing("jobshop"):
        from sagagraph.domains.job_shop.commands.producing import begin

    o.end(begin(o.Options(store=store, as_json=as_json), file, schedule, seconds, saga_id, approved=yes))


@jobshop.command("deliver")
def deliver_command(saga: o.SagaId, store: o.Store = "", as_json: o.AsJson = False) -> None:
    """End a production: what was made is delivered, and nothing is recalled any more."""
    from sagagraph.cli import beginning
    from sagagraph.domains.job_shop.domain import delivered

    o.end(beginning.told(o.Options(store=store, as_json=as_json), "jobshop", saga, delivered))


@jobshop.command("repair")
def repair_command(
    file: Annotated[str, typer.Argument(metavar="FILE|SAGA", help="An instance, with its schedule; or a production under way.")],
    schedule: Annotated[Path | None, typer.Argument(metavar="[SCHEDULE.json]")] = None,
    event: o.Events = None,
    seconds: Sought = None,
    out: Out = None,
    model_seconds: o.ModelSeconds = None,
    max_cost: o.MaxCost = None,
    max_tokens: o.MaxTokens = None,
    yes: o.Yes = False,
    store: o.Store = "",
    as_json: o.AsJson = False,
) -> None:
    """Repair a schedule after events: what has begun is kept, and the rest moves as little as possible."""
    with needing("jobshop"):
        from sagagraph.domains.job_shop.commands.producing import refuse_unused, report
        from sagagraph.domains.job_shop.commands.scheduling import mend
        from sagagraph.domains.job_shop.domain import SECONDS

    if schedule is None:
        refuse_unused(file, {"--out": out, "--model-seconds": model_seconds, "--max-cost": max_cost, "--max-tokens": max_tokens})
        o.end(report(o.Options(store=store, as_json=as_json), file, event or [], seconds, approved=yes))

    settings = o.Options(model_seconds=model_seconds, max_cost=max_cost, max_tokens=max_tokens).settings
    raise typer.Exit(mend(Path(file), schedule, event or [], seconds or SECONDS, out, settings, as_json=as_json))

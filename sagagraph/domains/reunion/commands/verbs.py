"""`sagagraph reunion`: logistics problems, their plans, and days that are carried out."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from sagagraph.cli import options as o
from sagagraph.extras import require

reunion = o.verbs("Who is where and when: plans of reunions, weddings, rides.")

Problem = Annotated[Path, typer.Argument(metavar="PROBLEM")]
Plan = Annotated[Path, typer.Argument(metavar="PLAN")]
ProblemFile = Annotated[Path | None, typer.Option("--problem", metavar="FILE.json", help="The reunion as a logistics problem.")]
CommonSense = Annotated[
    str, typer.Option("--common-sense", metavar="all|none|IDS", help="Which things that people forget to add; ids with commas.")
]


@reunion.command()
def where(
    options: o.Unstored,
    problem: Problem,
    plan: Plan,
    at: Annotated[str, typer.Option("--at", metavar="HH:MM", help="A moment, as the problem writes them.")],
    event: o.Events = None,
) -> None:
    """Show where everybody is at a moment of a plan."""
    from sagagraph.domains.reunion.commands import days

    raise typer.Exit(days.where(problem, plan, at, event or [], as_json=options.as_json))


@reunion.command("plan")
def plan_command(
    options: o.Unstored,
    problem: Problem,
    out: Annotated[Path | None, typer.Option("--out", metavar="PLAN.json", help="Write the plan to this file too.")] = None,
    seconds: o.Seconds = 30.0,
    others: Annotated[
        int, typer.Option("--alternatives", min=0, max=20, help="Up to that many other plans, each better in something.")
    ] = 0,
) -> None:
    """Plan a logistics problem: the best plan in the order of its objectives, or what cannot be met together."""
    from sagagraph.domains.reunion.commands import planning

    require("ortools", extra="reunion")
    raise typer.Exit(planning.plan_reunion(problem, out, seconds, others, as_json=options.as_json))


@reunion.command("repair")
def repair_command(options: o.Unstored, problem: Problem, plan: Plan, event: o.Events = None, seconds: o.Seconds = 30.0) -> None:
    """Repair a plan after events: what was done is kept, and as little as possible of the rest changes."""
    from sagagraph.domains.reunion.commands import planning

    require("ortools", extra="reunion")
    raise typer.Exit(planning.repair_reunion(problem, plan, event or [], seconds, as_json=options.as_json))


@reunion.command()
def problems(options: o.Unstored, name: Annotated[str | None, typer.Argument(metavar="[NAME]")] = None) -> None:
    """Print the problems that come with SagaGraph, or one of them in the form of a file."""
    from sagagraph.domains.reunion.commands.problems import list_problems

    raise typer.Exit(list_problems(name, as_json=options.as_json))


@reunion.command()
def read(options: o.Stored, text: o.Text = None, problem: ProblemFile = None, common_sense: CommonSense = "none") -> None:
    """Print the problem that sentences (or a file) describe; what is missing is asked for."""
    from sagagraph.domains.reunion.commands.problems import Source
    from sagagraph.domains.reunion.commands.problems import read as read_problem

    o.end(read_problem(options, Source(text, problem, None, common_sense)))


@reunion.command()
def begin(
    options: o.Telling,
    text: o.Text = None,
    problem: ProblemFile = None,
    shipped: Annotated[str | None, typer.Option("--shipped", metavar="NAME", help="One of `sagagraph reunion problems`.")] = None,
    saga_id: o.NewSagaId = None,
    day: Annotated[
        datetime | None,
        typer.Option("--day", formats=["%Y-%m-%d"], metavar="DATE", help="The date of times that have none; by default today."),
    ] = None,
    common_sense: CommonSense = "none",
    yes: o.Yes = False,
) -> None:
    """Plan a reunion and, after approval, tell everybody their part."""
    from sagagraph.domains.reunion.commands import days
    from sagagraph.domains.reunion.commands.problems import Source

    source = Source(text, problem, shipped, common_sense)
    o.end(days.begin(options, source, saga_id, day.date() if day else None, approved=yes))


@reunion.command()
def event(
    options: o.Telling,
    saga: o.SagaId,
    files: Annotated[list[Path], typer.Argument(metavar="EVENT.json…")],
    problem: Annotated[
        Path | None, typer.Option("--problem", metavar="FILE.json", help="The problem from now on, if it changes too.")
    ] = None,
    yes: o.Yes = False,
) -> None:
    """Report events to an open day: it is repaired, and people whose part changes are told again."""
    from sagagraph.domains.reunion.commands import days

    o.end(days.event(options, saga, files, problem, approved=yes))


@reunion.command()
def day(
    options: o.Telling,
    saga: o.SagaId,
    at: Annotated[str | None, typer.Option("--at", metavar="HH:MM", help="Move the day's clock to this time.")] = None,
) -> None:
    """Show where everybody is on an open day; at its end, close it."""
    from sagagraph.domains.reunion.commands import days

    o.end(days.day(options, saga, at))


@reunion.command()
def messages(options: o.Stored, saga: o.SagaId) -> None:
    """Show what people were told about a day, and what of that was withdrawn."""
    from sagagraph.domains.reunion.commands import days

    o.end(days.messages(options, saga))

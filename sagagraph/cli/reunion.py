"""`sagagraph reunion`: logistics problems and their plans."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from sagagraph.cli import output, planning
from sagagraph.cli.files import json_file
from sagagraph.domains.reunion.parsing import parse_events, parse_moment_of, parse_plan, parse_problem
from sagagraph.domains.reunion.rules.case import Case
from sagagraph.domains.reunion.rules.circumstances import Circumstances
from sagagraph.domains.reunion.rules.whereabouts import Whereabouts, in_words, whereabouts
from sagagraph.domains.reunion.times import text_of
from sagagraph.errors import InvalidInputError

reunion = typer.Typer(help="Who is where and when: plans of reunions, weddings, rides.")

Problem = Annotated[Path, typer.Argument(metavar="PROBLEM")]
Plan = Annotated[Path, typer.Argument(metavar="PLAN")]
Events = Annotated[list[Path] | None, typer.Option("--event", metavar="EVENT.json", help="What became known; may be repeated.")]
Store = Annotated[str, typer.Option("--store", envvar="SAGAGRAPH_STORE", help="Not asked: a plan stands in its file.")]
Seconds = Annotated[float, typer.Option("--seconds", metavar="N", min=0.1, max=86400.0, help="How long to search.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


@reunion.command()
def where(
    problem: Problem,
    plan: Plan,
    at: Annotated[str, typer.Option("--at", metavar="HH:MM", help="A moment, as the problem writes them.")],
    event: Events = None,
    _store: Store = "",
    as_json: Json = False,
) -> None:
    """Where everybody is at a moment of a plan."""
    known = parse_problem(json_file(problem, "PROBLEM"))
    moment = parse_moment_of(known, at, "--at")
    events = parse_events(known, *(json_file(each, "--event") for each in event or ()))
    parsed = parse_plan(known, json_file(plan, "PLAN"))
    if parsed.fault:
        raise InvalidInputError(parsed.fault, field="PLAN")
    for each in parsed.broken:
        output.stderr.print(f"action {each.index} is left out: it can not be read", markup=False)
    _show_where(moment, list(whereabouts(Case(Circumstances(known, events), parsed).simulation, moment)), as_json=as_json)


@reunion.command("plan")
def plan_command(
    problem: Problem,
    out: Annotated[Path | None, typer.Option("--out", metavar="PLAN.json", help="Write the plan to this file too.")] = None,
    seconds: Seconds = 30.0,
    others: Annotated[int, typer.Option("--alternatives", min=0, max=20, help="Up to so many plans with other roles.")] = 0,
    _store: Store = "",
    as_json: Json = False,
) -> None:
    """Plan a logistics problem: the best plan in the order of its objectives, or what can not be met together."""
    raise typer.Exit(planning.plan_reunion(problem, out, seconds, others, as_json=as_json))


@reunion.command("repair")
def repair_command(
    problem: Problem,
    plan: Plan,
    event: Events = None,
    seconds: Seconds = 30.0,
    _store: Store = "",
    as_json: Json = False,
) -> None:
    """Repair a plan after events: what was done stands, and little of what is planned changes."""
    raise typer.Exit(planning.repair_reunion(problem, plan, event or [], seconds, as_json=as_json))


def _show_where(at: int, found: list[Whereabouts], *, as_json: bool) -> None:
    if as_json:
        people = [_where_json(each) for each in found if not each.is_vehicle]
        vehicles = [_where_json(each) for each in found if each.is_vehicle]
        output.print_json({"at": text_of(at), "people": people, "vehicles": vehicles})
    for each in found if not as_json else ():
        output.stdout.print(in_words(each), markup=False)


def _where_json(found: Whereabouts) -> dict[str, Any]:
    """`place` is null on the way, and where the plan contradicts itself (`places` has what it may be)."""
    leg = None if found.leg is None else {"from" if name == "from_" else name: each for name, each in asdict(found.leg).items()}
    return {
        "name": found.name,
        "place": found.places[0] if len(found.places) == 1 else None,
        "places": found.places,
        "between": leg and [leg.pop("from"), leg.pop("to")],
        **(leg or {"elapsed": None, "minutes": None, "vehicle": None}),
        "tasks": found.tasks,
        "available": found.is_available,
    }

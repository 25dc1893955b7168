"""`sagagraph recipes`: meals, planned."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sagagraph.cli import options as o
from sagagraph.extras import needing

recipes = o.verbs("Recipes: several dishes at once, with few hands.")

File = Annotated[Path, typer.Argument(metavar="FILE.json", help="As Recipe2Plan has them, or the name of a shipped pair.")]
Pair = Annotated[str, typer.Option("--pair", metavar="NAME", help="Of a file with several pairs, this one.")]
Without = Annotated[bool, typer.Option("--without-time-constraints", help="No step must follow another within a time.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="PLAN.json", help="Write what `--json` prints to this file too.")]


@recipes.command("plan")
def plan_command(
    file: File,
    pair: Pair = "",
    without: Without = False,
    seconds: o.Seconds = 30.0,
    out: Out = None,
    _store: o.UnusedStore = "",
    as_json: o.AsJson = False,
) -> None:
    """Plan a meal: complete as early as possible, and what no plan is earlier than."""
    with needing("recipes"):
        from sagagraph.domains.recipes.commands.cooking import plan

    raise typer.Exit(plan(file, seconds, out, pair=pair, without=without, as_json=as_json))


@recipes.command("repair")
def repair_command(
    file: File,
    plan: Annotated[Path, typer.Argument(metavar="PLAN.json")],
    event: o.Events = None,
    pair: Pair = "",
    seconds: o.Seconds = 30.0,
    out: Out = None,
    _store: o.UnusedStore = "",
    as_json: o.AsJson = False,
) -> None:
    """Repair a plan after events: what was done stands, and what can no longer be kept is made again."""
    with needing("recipes"):
        from sagagraph.domains.recipes.commands.mending import mend

    raise typer.Exit(mend(file, plan, event or [], seconds, out, pair=pair, as_json=as_json))


@recipes.command("pairs")
def pairs_command(
    file: Annotated[Path | None, typer.Argument(metavar="[FILE.json]", help="A file with several pairs.")] = None,
    _store: o.UnusedStore = "",
    as_json: o.AsJson = False,
) -> None:
    """List the pairs in a file, or those that come with SagaGraph."""
    from sagagraph.domains.recipes.commands.listing import list_pairs

    raise typer.Exit(list_pairs(file, as_json=as_json))


@recipes.command("read")
def read_command(
    file: Annotated[Path, typer.Argument(metavar="FILE.txt", help="A name, and then each step on a line of its own.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.json", help="Write what `--json` prints to this file too.")
    ] = None,
    _store: o.UnusedStore = "",
    as_json: o.AsJson = False,
) -> None:
    """Read recipes in plain words: what goes on alone, what comes after what, what needs the oven."""
    from sagagraph.domains.recipes.commands.listing import tell_recipes

    raise typer.Exit(tell_recipes(file, out, as_json=as_json))

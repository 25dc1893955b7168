"""`sagagraph harness`: rules as an asset; artifacts are checked against them, conflicts explained and proven."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sagagraph.cli import options as o
from sagagraph.cli.telling import tell
from sagagraph.extras import needing
from sagagraph.settings import read_settings

if TYPE_CHECKING:
    from sagagraph.harness.proof.conflicts import Conflict
    from sagagraph.harness.registry.harness import Harness

harness = o.verbs("Harnesses: rules over numbers; what passes them, and why nothing can.")

File = Annotated[Path, typer.Argument(metavar="FILE", help="A harness in YAML.")]
VERDICT_AGAINST = 1


@harness.command("check")
def check_command(
    options: o.Unstored,
    file: File,
    artifact: Annotated[
        Path | None,
        typer.Option("--artifact", metavar="A.json", help="Judge this artifact; without it, run the file's own tests."),
    ] = None,
) -> None:
    """Judge an artifact by every rule, exactly; without an artifact, check the harness by its own tests."""
    loaded = load(file)
    from sagagraph.harness.judging.check import checked_json, read_artifact
    from sagagraph.harness.loop.external import judged_outside, validators_of

    given = None if artifact is None else read_artifact(artifact)
    allowed = validators_of(read_settings().harness_validators)
    outside = {} if given is None else asyncio.run(judged_outside(loaded, given, allowed))
    document = checked_json(loaded, given, outside)
    tell(document, lines_of(document), as_json=options.as_json)
    raise typer.Exit(0 if document["verdict"] == "PASS" else VERDICT_AGAINST)


@harness.command("explain")
def explain_command(options: o.Unstored, file: File, seconds: o.Seconds = 60.0) -> None:
    """Say whether any artifact can pass all rules; if none can, prove it, and say which rules conflict and by how much."""
    loaded = load(file)
    from sagagraph.harness.proof.explain import Status, explain, explanation_json

    until = time.monotonic() + seconds
    found = explain(loaded, expired=lambda: time.monotonic() > until, on_conflicts=_tell_at_once)
    document = explanation_json(loaded, found)
    tell(document, lines_of(document), as_json=options.as_json)
    raise typer.Exit(0 if found.status is Status.SATISFIABLE else VERDICT_AGAINST)


def _tell_at_once(conflicts: Sequence[Conflict]) -> None:
    from sagagraph.cli import render

    for each in conflicts:
        render.stderr.print(
            f"proven: {', '.join(each.rules)} conflict; looking for how far each limit would have to move", markup=False
        )


def load(file: Path) -> Harness:
    with needing("harness"):
        from sagagraph.harness.proof.explain import load_checked
    return load_checked(file)


# -- in words ----------------------------------------------------------------------------------------------------------


def lines_of(document: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"warning: {each}" for each in document.get("warnings", ()))
    if "status" in document:
        yield from _explained(document)
        return
    for each in document["rules"]:
        margin = "" if each["margin"] is None else f", margin {each['margin']:g}"
        reason = f": {each['reason']}" if each.get("reason") else ""
        yield f"{each['rule']}: {each['verdict']}{margin}{reason}"
    for each in document.get("tests", ()):
        if not each["kept"]:
            yield f"test {each['name']}: {each['reason']}"
    for name in document.get("outside_domain", ()):
        yield f"{name} is outside its domain"
    yield str(document["verdict"])


def _explained(document: Mapping[str, Any]) -> Iterator[str]:
    yield str(document["status"])
    if document["reason"]:
        yield f"because {document['reason']}"
    if document["witness"] is not None:
        yield "for example " + ", ".join(f"{name} = {value}" for name, value in document["witness"].items())
    for each in document["conflicts"]:
        yield f"these cannot hold together: {', '.join(each)}"
    for each in document["relaxations"]:
        kind = "parameter" if "parameter" in each else "rule"
        yield f"{kind} {each[kind]}: from {each['from']} to {each['to']} would be enough alone"
    for each in document["gaps"]:
        if each["to"] is None:
            yield f"{each.get('parameter') or each.get('rule')}: {each['reason']}"
    if document["status"] == "paradox":
        yield "a person has to decide; nothing is relaxed by itself"

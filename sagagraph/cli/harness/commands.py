"""`sagagraph harness`: rules as an asset; artifacts checked against them, conflicts explained and proven."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sagagraph.cli import options as o
from sagagraph.extras import needing

if TYPE_CHECKING:
    from sagagraph.harness.judging.check import Checked
    from sagagraph.harness.registry.harness import Harness

harness = o.verbs("Harnesses: rules over numbers; what passes them, and why nothing can.")

File = Annotated[Path, typer.Argument(metavar="FILE", help="A harness in YAML.")]
VERDICT_AGAINST = 1


@harness.command("check")
def check_command(
    file: File,
    artifact: Annotated[
        Path | None, typer.Option("--artifact", metavar="A.json", help="Judge this artifact; without it the file's own tests.")
    ] = None,
    _store: o.UnusedStore = "",
    as_json: o.AsJson = False,
) -> None:
    """Judge an artifact by every rule, exactly; without an artifact, check the harness by its own tests."""
    with needing("harness"):
        from sagagraph.harness.judging.check import check, read_artifact
        from sagagraph.harness.proof.constants import load_checked

    loaded = load_checked(file)
    if artifact is None:
        raise typer.Exit(_check_tests(loaded, as_json=as_json))
    checked = check(loaded, read_artifact(artifact))
    raise typer.Exit(_tell_checked(loaded, checked, as_json=as_json))


@harness.command("explain")
def explain_command(file: File, seconds: o.Seconds = 60.0, _store: o.UnusedStore = "", as_json: o.AsJson = False) -> None:
    """Say whether any artifact can pass all rules; if none can, prove it, and say which rules clash and by how much."""
    with needing("harness"):
        from sagagraph.harness.proof.constants import load_checked
        from sagagraph.harness.proof.explain import Status, explain, explanation_json

    loaded = load_checked(file)
    until = time.monotonic() + seconds
    found = explain(loaded, expired=lambda: time.monotonic() > until)
    document = explanation_json(loaded, found)
    _tell(document, as_json=as_json)
    raise typer.Exit(0 if found.status is Status.SATISFIABLE else VERDICT_AGAINST)


def _check_tests(loaded: Harness, *, as_json: bool) -> int:
    from sagagraph.harness.judging.tests import run_tests

    tested = run_tests(loaded)
    document = {
        "verdict": "PASS" if tested.kept else "FAIL",
        "rules": [
            {"rule": each.id, "verdict": "FAIL" if each.id in tested.broken else "PASS", "margin": None} for each in loaded.rules
        ],
        "tests": [
            {"name": each.name, "kept": each.kept, "fails": list(each.fails), "reason": each.reason} for each in tested.cases
        ],
        **_about(loaded),
    }
    _tell(document, as_json=as_json)
    return 0 if tested.kept else VERDICT_AGAINST


def _tell_checked(loaded: Harness, checked: Checked, *, as_json: bool) -> int:
    from sagagraph.harness.judging.check import RuleVerdict

    rules = [
        {"rule": each.rule, "verdict": each.verdict.value, "margin": each.margin, "left": each.left, "operator": each.operator,
         "right": each.right, "trace": each.trace, "reason": each.reason}
        for each in checked.rules
    ]  # fmt: skip
    document = {"verdict": checked.verdict.value, "rules": rules, "outside_domain": list(checked.outside),
                "artifact_hash": checked.artifact_hash, **_about(loaded)}  # fmt: skip
    _tell(document, as_json=as_json)
    return 0 if checked.verdict is RuleVerdict.PASS else VERDICT_AGAINST


def _about(loaded: Harness) -> dict[str, Any]:
    return {"harness": loaded.id, "version": loaded.version, "harness_hash": loaded.hash, "warnings": list(loaded.warnings)}


def _tell(document: dict[str, Any], *, as_json: bool) -> None:
    from sagagraph.cli import render

    if as_json:
        render.print_json(document)
        return
    from sagagraph.cli.harness.words import lines_of

    for line in lines_of(document):
        render.stdout.print(line, markup=False)

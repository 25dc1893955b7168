"""`sagagraph workflow`: names, options and help; what a command does is imported when it is called."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sagagraph.cli import options as o
from sagagraph.cli.telling import tell

if TYPE_CHECKING:
    from sagagraph.workflow.language.document import Document

workflow = o.verbs("Workflow documents: checked, translated, and carried out as sagas.")

File = Annotated[Path, typer.Argument(metavar="FILE", help="A workflow document, as JSON.")]
Modules = Annotated[
    list[str] | None,
    typer.Option("--actions", metavar="MODULE[:NAME]", help="Where actions, tools and agents are; may be repeated."),
]
Domains = Annotated[list[str] | None, typer.Option("--domain", metavar="NAME", help="Whose actions it may use as well.")]
Given = Annotated[Path | None, typer.Option("--input", metavar="FILE.json", help="The workflow's input.")]


class Form(StrEnum):
    DOCUMENT = "document"
    ASL = "asl"
    ARGO = "argo"


@workflow.command("schema")
def schema_command(as_json: o.AsJson = False) -> None:  # noqa: ARG001 - it is JSON in any case
    """Print the JSON Schema of workflow documents."""
    from sagagraph.cli.render import print_json
    from sagagraph.workflow.language.document import document_schema

    print_json(document_schema())


@workflow.command("validate")
def validate_command(options: o.Looking, file: File, modules: Modules = None, domains: Domains = None) -> None:
    """Check a document: its form, its flow, its policies, its repairs; with actions, also whether each task has one."""
    from sagagraph.cli.workflow.judging import validate

    o.end(validate(options, load(file), modules or (), domains or ()))


@workflow.command("run")
def run_command(
    options: o.Looking,
    file: File,
    given: Given = None,
    modules: Modules = None,
    domains: Domains = None,
    saga_id: o.NewSagaId = None,
    serial: Annotated[bool, typer.Option("--serial", help="One node after the other, as other engines run its export.")] = False,
    faults: Annotated[Path | None, typer.Option("--faults", metavar="FILE.json", help="What is to fail, on purpose.")] = None,
) -> None:
    """Carry a document out as a saga. `resume`, `cancel`, `resolve`, `status` and `log` work on it as on any other."""
    from sagagraph.cli.workflow import sagas
    from sagagraph.files import json_file

    document = load(file)
    source = sagas.source_of(document, modules or (), domains or (), faults)
    value = json_file(given, "--input") if given else None
    o.end(sagas.run(options, document, value, source, saga_id, serial=serial))


@workflow.command("replay")
def replay_command(options: o.Looking, saga: o.SagaId) -> None:
    """Walk through a saga's document once more with its journal's answers, calling nothing, and report any difference."""
    from sagagraph.cli.workflow import sagas

    o.end(sagas.replay(options, saga))


@workflow.command("draft")
def draft_command(
    options: o.Drafting,
    goal: Annotated[str, typer.Argument(metavar="GOAL", help="trip, reunion, job-shop, a blueprint's file, or a goal in words.")],
    modules: Modules = None,
    domains: Domains = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE.json", help="Write the document there as well.")] = None,
) -> None:
    """Draft a workflow from a template, or by the model from words, and fill its roles; those that nobody fills are named."""
    from sagagraph.cli.workflow.drafting import draft

    o.end(draft(options, goal, modules or (), domains or (), out))


@workflow.command("export")
def export_command(
    options: o.Stored,
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="A workflow document, as JSON.")] = None,
    saga: Annotated[
        str | None, typer.Option("--saga", metavar="SAGA", help="The plan of this saga instead, of any domain.")
    ] = None,
    form: Annotated[Form, typer.Option("--to", help="document: SagaGraph's own.")] = Form.DOCUMENT,
) -> None:
    """Print a document, or a saga's plan as one, in another engine's language."""
    from sagagraph.cli.workflow.judging import export

    o.end(export(options, None if file is None else load(file), saga, form.value))


@workflow.command("conformance")
def conformance_command(as_json: o.AsJson = False) -> None:
    """Find out what each language keeps of a document, feature by feature."""
    from sagagraph.cli.workflow.judging import LANGUAGES
    from sagagraph.workflow.language.conformance import matrix

    found = matrix(LANGUAGES)
    lines = [f"{name}: " + ", ".join(f"{each} {how}" for each, how in row.items()) for name, row in found.items()]
    tell(found, lines, as_json=as_json)


@workflow.command("import")
def import_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A state machine or a manifest, as JSON.")],
    form: Annotated[Form, typer.Option("--from")],
    as_json: o.AsJson = False,  # noqa: ARG001 - it is JSON in any case
) -> None:
    """Print a state machine or an Argo workflow as a document."""
    from sagagraph.cli.render import print_json
    from sagagraph.cli.workflow.judging import imported
    from sagagraph.files import json_file
    from sagagraph.workflow.language.document import document_json

    print_json(document_json(imported(json_file(file, "FILE"), form.value)))


@workflow.command("show")
def show_command(file: File, as_json: o.AsJson = False) -> None:
    """Show a document: its nodes in order, what each does, and what it comes after."""
    from sagagraph.cli.workflow.judging import lines_of

    document = load(file)
    from sagagraph.workflow.language.document import document_json

    tell(document_json(document), lines_of(document), as_json=as_json)


def load(file: Path) -> Document:
    from sagagraph.files import json_file
    from sagagraph.workflow.language.document import read_document

    return read_document(json_file(file, "FILE"))

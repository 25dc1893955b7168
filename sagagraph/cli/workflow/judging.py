"""Judging: documents, in words and as verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import structs

from sagagraph.cli import render
from sagagraph.cli.options import Options
from sagagraph.cli.workflow.sagas import open_actions, source_of
from sagagraph.errors import InvalidInputError, SagaGraphError, WorkflowError
from sagagraph.factory.binding import bound
from sagagraph.factory.running import assignment_of
from sagagraph.registry import open_engine
from sagagraph.validators.verdict import Verdict, Violation
from sagagraph.workflow.argo.manifest import manifest
from sagagraph.workflow.argo.reader import read_manifest
from sagagraph.workflow.asl.reader import read_machine
from sagagraph.workflow.asl.writer import state_machine
from sagagraph.workflow.condition import operations_named
from sagagraph.workflow.language.checks import findings
from sagagraph.workflow.language.conformance import Read, Write
from sagagraph.workflow.language.document import WORKFLOWS, Document, Graph, document_json, inner_graphs, read_document
from sagagraph.workflow.language.plans import document_of
from sagagraph.workflow.operation import OperationSpec
from sagagraph.workflow.order import in_order
from sagagraph.workflow.values import Json

if TYPE_CHECKING:
    from sagagraph.saga.core.state import Saga

VERDICT_AGAINST = 1
LANGUAGES: Mapping[str, tuple[Write, Read]] = {"asl": (state_machine, read_machine), "argo": (manifest, read_manifest)}


async def validate(options: Options, document: Document, modules: Iterable[str], domains: Iterable[str]) -> int:
    found = [
        Violation(code=each.code, message=each.message, scope={"node": each.node} if each.node else {})
        for each in findings(document)
    ]
    source = source_of(document, modules, domains)
    if not found and (source.modules or tuple(domains)):
        async with open_actions(options, source) as actions:
            try:
                bound(document, actions)
            except SagaGraphError as exc:
                found.append(Violation(code="BINDING", message=str(exc), scope={}))
    verdict = Verdict.of(found)
    if options.as_json:
        render.print_json({"verdict": verdict.verdict.value, "violations": found})
    else:
        render.print_verdict(verdict)
    return 0 if verdict.is_valid else VERDICT_AGAINST


async def export(options: Options, document: Document | None, saga_id: str | None, form: str) -> int:
    if (document is None) is (saga_id is None):
        raise InvalidInputError("name a file, or a saga with --saga, one of them", field="FILE")
    whole = document or await _plan_in(options, saga_id or "")
    if faults := [each.message for each in findings(whole)]:
        raise WorkflowError(f"workflow {whole.name!r}: {'; '.join(faults)}")
    made = {"document": document_json, "asl": state_machine, "argo": manifest}[form]
    render.print_json(made(whole))
    return 0


async def _plan_in(options: Options, saga_id: str) -> Document:
    async with open_engine(options.settings) as engine:
        return plan_of(await engine.load(saga_id))


def plan_of(saga: Saga) -> Document:
    """Return what a saga carries out as a document: the one that it was begun with, or its plan."""
    if saga.domain == WORKFLOWS:
        return assignment_of(saga).document
    left = {each.spec.id for each in saga.in_order() if not each.removed}  # nothing waits any more for what a repair left out
    specs = [_without(each.spec, left) for each in saga.in_order() if not each.removed]
    return document_of(saga.id, specs, {"domain": saga.domain} if saga.domain else {})


def _without(spec: OperationSpec, left: set[str]) -> OperationSpec:
    depends_on = tuple(each for each in spec.depends_on if each in left)
    named = operations_named(spec.condition) if spec.condition else frozenset()
    return structs.replace(spec, depends_on=depends_on, condition=spec.condition if named <= left else None)


def imported(value: Json, form: str) -> Document:
    if form == "document":
        return read_document(value)
    return read_machine(value) if form == "asl" else read_manifest(value)


def lines_of(document: Document) -> Iterator[str]:
    yield document.name
    yield from _lines(document.graph, "  ")


def _lines(graph: Graph, indent: str) -> Iterator[str]:
    by_id = {each.id: each for each in graph.nodes}
    for name in in_order(graph.needs):
        node = by_id[name]
        does = node.action or (f"role {node.role}" if node.role else node.type.value)
        before = ", ".join(graph.needs[name])
        yield f"{indent}{name}: {does}" + (f" after {before}" if before else "")
        for number, each in enumerate(inner_graphs(node), 1):
            yield f"{indent}  {'each member' if node.body else f'branch {number}'}:"
            yield from _lines(each, indent + "    ")

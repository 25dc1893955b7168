"""Judging: documents, in words and as verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sagagraph.cli import render
from sagagraph.cli.options import Options
from sagagraph.cli.workflow.sagas import open_actions, source_of
from sagagraph.errors import SagaGraphError
from sagagraph.factory.binding import bound
from sagagraph.validators.verdict import Verdict, Violation
from sagagraph.workflow.language.checks import findings
from sagagraph.workflow.language.document import Document, Graph, inner_graphs
from sagagraph.workflow.order import in_order

VERDICT_AGAINST = 1


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

"""Checks of a document before any of it may run: ALAS's rules of well-formedness (section 3.2) and its validator's checks (A.2).

What is said about operations anyway (names, cycles, the pivot's place) is checked by `workflow/wellformed.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from msgspec import structs

from sagagraph.errors import InvalidInputError
from sagagraph.workflow.condition import All, AnyOf, Condition, Not, OutputIs, operations_named
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.language.document import (
    BINDINGS,
    Document,
    EdgeKind,
    Graph,
    Node,
    NodeType,
    PolicyTerms,
    Repairable,
    graphs_in,
    inner_graphs,
    nodes_in,
)
from sagagraph.workflow.language.schemas import clash, misfits
from sagagraph.workflow.language.terms import policy_from
from sagagraph.workflow.operation import DEFAULT_POLICY, OperationSpec, references
from sagagraph.workflow.order import descendants
from sagagraph.workflow.wellformed import cycle_faults, naming_faults, pivot_faults

_MOST_ATTEMPTS: Final = 100_000


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding: which rule is broken (`W1` to `W5` of well-formedness, `V1` to `V6` of the validator, `FORM`), and where."""

    code: str
    message: str
    node: str = ""


def findings(document: Document, kinds: Mapping[str, ActionKind] | None = None) -> tuple[Finding, ...]:
    """Return every fault. `kinds`: of the actions there are; without them the pivot's place is taken from `capabilities.kind`."""
    form = [*_form(document, document.graph), *_names(document)]
    if form:
        return tuple(form)
    flow = tuple(_flow(document, document.graph, ()))
    pivot = () if flow else tuple(_pivot(document, kinds or {}))  # without an order, its place cannot be checked
    return (*flow, *pivot, *_policies(document), *_coverage(document))


# -- form ----------------------------------------------------------------------------------------------------------------


def _names(document: Document) -> Iterator[Finding]:
    seen: set[str] = set()
    for node in nodes_in(document.graph):
        if node.id in seen:
            yield Finding("FORM", f"node id {node.id!r} occurs more than once: ids are unique in the whole workflow", node.id)
        if node.id in BINDINGS:
            yield Finding("FORM", f"{node.id!r} is what references call the {node.id} by: choose another id", node.id)
        seen.add(node.id)


def _form(document: Document, graph: Graph) -> Iterator[Finding]:
    if not graph.nodes:
        yield Finding("FORM", "a graph without nodes does nothing")
    known = {each.id for each in graph.nodes}
    for edge in graph.edges:
        for end in (edge.source, edge.target):
            if end not in known:
                yield Finding("FORM", f"the edge {edge.source} → {edge.target} names {end!r}, which is not beside it", end)
    for node in graph.nodes:
        yield from (Finding("FORM", why, node.id) for why in _misshapen(node))
        for inner in inner_graphs(node):
            yield from _form(document, inner)


def _misshapen(node: Node) -> Iterator[str]:
    wants = {
        NodeType.TASK: bool(node.action or node.role),
        NodeType.CHOICE: True,
        NodeType.PARALLEL: bool(node.branches),
        NodeType.MAP: node.body is not None and node.items is not None,
    }
    needed = {NodeType.TASK: "an action or a role", NodeType.PARALLEL: "branches", NodeType.MAP: "items and a body"}
    if not wants[node.type]:
        yield f"{node.type.value} {node.id!r} needs {needed[node.type]}"
    if (node.branches and node.type is not NodeType.PARALLEL) or (node.body is not None and node.type is not NodeType.MAP):
        yield f"{node.type.value} {node.id!r} has a graph inside, which only a parallel node and a map have"


# -- flow: rules 1, 2 and 4 ------------------------------------------------------------------------------------------------


def _flow(document: Document, graph: Graph, outside: tuple[str, ...]) -> Iterator[Finding]:
    """Check one graph, and those inside it. `outside`: nodes that have ended before any of it begins."""
    needs = graph.needs
    direct = [OperationSpec(each.id, "", ActionKind.READ_ONLY, None, needs[each.id]) for each in graph.nodes]
    cycles = [Finding("W1", f"{why}: sequence edges form no circle outside a map") for why in cycle_faults(direct)]
    if cycles:
        yield from cycles
        return
    before = {each.id: (*_ancestors(needs, each.id), *outside) for each in graph.nodes}
    for node in graph.nodes:
        inputs = node.items if node.type is NodeType.MAP else node.params
        missing = sorted(set(references(inputs)) - {*before[node.id], *BINDINGS})
        yield from (
            Finding("W1", f"{node.id!r} uses the output of {each!r}, which does not come before it", node.id) for each in missing
        )
        for inner in inner_graphs(node):
            yield from _flow(document, inner, before[node.id])
    yield from _guards(document, graph, before)
    yield from _compatible(graph)


def _ancestors(needs: Mapping[str, tuple[str, ...]], node: str) -> frozenset[str]:
    return descendants(needs, node)


def _guards(document: Document, graph: Graph, before: Mapping[str, tuple[str, ...]]) -> Iterator[Finding]:
    by_id = {each.id: each for each in nodes_in(document.graph)}
    for edge in graph.edges:
        here, choice = f"the edge {edge.source} → {edge.target}", by_id[edge.source].type is NodeType.CHOICE
        if edge.kind is EdgeKind.BRANCH and edge.guard is None:
            yield Finding("W2", f"{here} is a branch and has no guard", edge.source)
        if edge.kind is not EdgeKind.BRANCH and edge.guard is not None:
            yield Finding("W2", f"{here} has a guard and is no branch", edge.source)
        if choice and edge.kind is EdgeKind.SEQUENCE:
            yield Finding("W2", f"{here} leaves a choice: it is a branch or the default", edge.source)
        if edge.kind is EdgeKind.DEFAULT and not choice:
            yield Finding("W2", f"{here} is a default, and leaves no choice", edge.source)
        if edge.guard is not None:
            known = {*before[edge.target], *BINDINGS}
            for name in sorted(operations_named(edge.guard) - known):
                yield Finding("W2", f"the guard of {here} asks about {name!r}, which does not come before it", edge.source)
            yield from (Finding("W2", f"the guard of {here}: {why}", edge.source) for why in _ill_typed(edge.guard, by_id))
    for node in graph.nodes:
        if node.type is NodeType.CHOICE and not graph.out_of(node.id):
            yield Finding("W2", f"choice {node.id!r} leads nowhere", node.id)


def _ill_typed(guard: Condition, by_id: Mapping[str, Node]) -> Iterator[str]:
    """Yield where a comparison asks for a field that the node does not return, or for a value of another type."""
    match guard:
        case All(conditions) | AnyOf(conditions):
            for each in conditions:
                yield from _ill_typed(each, by_id)
        case Not(inner):
            yield from _ill_typed(inner, by_id)
        case OutputIs(name, path, _comparison, value):
            schema: Mapping[str, Any] | None = by_id[name].io.output if name in by_id else None
            for step in path:
                if not schema or not isinstance(schema.get("properties"), Mapping):
                    return
                if step not in schema["properties"]:
                    yield f"{name!r} returns no {step!r}"
                    return
                schema = schema["properties"][step]
            if schema and not isinstance(value, list) and (why := next(misfits(value, {"type": schema.get("type", ())}), None)):
                yield f"{value!r} is compared with {name}.{'.'.join(map(str, path))}, and {why}"


def _compatible(graph: Graph) -> Iterator[Finding]:
    by_id = {each.id: each for each in graph.nodes}
    for edge in graph.edges:
        given, wanted = by_id[edge.source].io.output, by_id[edge.target].io.input
        if given and wanted and (why := clash(given, wanted)):
            yield Finding("W4", f"what {edge.source!r} returns does not fit {edge.target!r}: {why}", edge.target)


def _pivot(document: Document, kinds: Mapping[str, ActionKind]) -> Iterator[Finding]:
    """Check the whole workflow as operations, those of inner graphs between what comes before and what comes after them."""
    specs: list[OperationSpec] = []

    def laid_out(graph: Graph, outside: tuple[str, ...]) -> tuple[str, ...]:
        made: list[str] = []
        inside: dict[str, tuple[str, ...]] = {}
        for node in sorted(graph.nodes, key=lambda each: len(_ancestors(graph.needs, each.id))):
            before = (*outside, *(each for name in _ancestors(graph.needs, node.id) for each in (name, *inside[name])))
            inside[node.id] = tuple(each for inner in inner_graphs(node) for each in laid_out(inner, before))
            told = kinds.get(node.action) or node.capabilities.get("kind", ActionKind.READ_ONLY)
            specs.append(
                OperationSpec(node.id, node.action, ActionKind(told), None, tuple(dict.fromkeys((*before, *inside[node.id]))))
            )
            made += [node.id, *inside[node.id]]
        return tuple(made)

    try:
        laid_out(document.graph, ())
    except ValueError as exc:
        yield Finding("FORM", f"capabilities.kind: {exc}")
        return
    yield from (Finding("W1", why) for why in (*naming_faults(specs), *pivot_faults(specs)))


# -- policies: rules 3 and 5, checks 1 to 6 ---------------------------------------------------------------------------------


def _policies(document: Document) -> Iterator[Finding]:
    for name, terms in document.policies.items():
        yield from (Finding(code, f"policy {name!r}: {why}") for code, why in _unsound(terms))
    for node in nodes_in(document.graph):
        if node.policy_ref and node.policy_ref not in document.policies:
            yield Finding("V1", f"{node.id!r} names policy {node.policy_ref!r}, which there is not", node.id)
        if node.log_schema_ref and node.log_schema_ref not in document.log_schemas:
            yield Finding("FORM", f"{node.id!r} names log schema {node.log_schema_ref!r}, which there is not", node.id)
        guards = document.policy_of(node).loop_guards
        limits = () if guards is None else (guards.max_iters, guards.time_budget, guards.deadline_seconds)
        if node.type is NodeType.MAP and not any(each is not None and math.isfinite(each) for each in limits):
            yield Finding("V5", f"map {node.id!r} has no loopGuards: say maxIters or timeBudget", node.id)
    yield from _handlers(document, document.graph)


def _unsound(terms: PolicyTerms) -> Iterator[tuple[str, str]]:
    if terms.retry is not None:
        if terms.backoff is None:
            yield "V2", "retry needs a backoff"
        if not 0 <= terms.retry.max_attempts <= _MOST_ATTEMPTS:
            yield "V2", f"maxAttempts is between 0 and {_MOST_ATTEMPTS}"
    if terms.timeout is not None and not (math.isfinite(terms.timeout.seconds) and terms.timeout.seconds > 0):
        yield "V3", "timeout is a finite number of seconds above 0"
    key = terms.idempotency_key
    if terms.compensation is not None and not terms.compensation.safe_reinvoke and key is None:
        yield "W5", "its compensation may not be repeated: say safeReinvoke, or an idempotencyKey"
    if key is not None:
        if (key.path is None) is (key.template is None):
            yield "V6", "idempotencyKey has either a path or a template"
        said = key.template or ""
        if key.template is not None and not ("{nodeId}" in said and ("{runId}" in said or "{input.hash}" in said)):
            yield "V6", "keys collide: the template needs {nodeId}, and {runId} or {input.hash}"
    try:
        policy_from(structs.replace(terms, timeout=None), DEFAULT_POLICY)
    except InvalidInputError as exc:
        yield "FORM", str(exc)


def _handlers(document: Document, graph: Graph) -> Iterator[Finding]:
    for node in graph.nodes:
        ends = {each.target for each in graph.out_of(node.id)}
        for catch in document.policy_of(node).catch:
            if catch.handler not in ends:
                yield Finding(
                    "FORM", f"{node.id!r} names {catch.handler!r} as its handler, to which no edge leads from it", node.id
                )
        for inner in inner_graphs(node):
            yield from _handlers(document, inner)


# -- repair coverage: ALAS algorithm 1, line 10 (iii) ---------------------------------------------------------------------------


_EDITS: Final = {
    "delay": {Repairable.TIME, Repairable.ORDER},
    "order": {Repairable.ORDER},
    "resource": {Repairable.RESOURCE},
    "failure": {Repairable.RESOURCE},
}
"""Disruption → edits that answer it."""


def _coverage(document: Document) -> Iterator[Finding]:
    """Check that what may happen (`meta.disruptions`) can be answered near where it happens, within the node's bound."""
    for told in document.meta.get("disruptions", ()):
        kind, names = told.get("kind"), told.get("nodes", ()) if isinstance(told, Mapping) else ()
        if kind not in _EDITS:
            yield Finding("FORM", f"meta.disruptions: {kind!r} is none of {', '.join(_EDITS)}")
            continue
        by_id = {each.id: (graph, each) for graph in graphs_in(document.graph) for each in graph.nodes}
        for name in names:
            if name not in by_id:
                yield Finding("FORM", f"meta.disruptions names {name!r}, which is no node", str(name))
            elif why := _uncovered(document, *by_id[name], kind):
                yield Finding("REPAIR", f"{kind} at {name!r}: {why}", name)


def _uncovered(document: Document, graph: Graph, node: Node, kind: str) -> str | None:
    terms = document.policy_of(node)
    if kind == "failure" and (terms.retry or terms.catch or terms.compensation):
        return None
    allowed = _EDITS[kind] if node.repair is None else _EDITS[kind] & set(node.repair.edits)
    beside: dict[str, set[str]] = {}
    for edge in graph.edges:
        if edge.repairable in allowed:
            beside.setdefault(edge.source, set()).add(edge.target)
            beside.setdefault(edge.target, set()).add(edge.source)
    if node.id not in beside:
        return f"no edge at it may be repaired by {' or '.join(sorted(_EDITS[kind]))}"
    reach = len(descendants(beside, node.id))
    if node.repair is not None and reach > node.repair.radius:
        return f"a repair may reach {reach} nodes, and {node.repair.radius} are allowed"
    return None

"""Manifest: a document as an Argo workflow. Its convention is in docs/workflows.md.

Graphs are DAG templates, so that the edges are Argo's own. What fails ends the workflow, and its exit handler goes back: a DAG of
the compensations of what has been done, each after those of the tasks that came after it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain, count
from typing import Any, Final

from sagagraph.workflow.condition import All, AnyOf, Condition, Failed, Not, OutputIs, Succeeded
from sagagraph.workflow.language.document import (
    BINDINGS,
    Document,
    Edge,
    EdgeKind,
    Graph,
    Node,
    NodeType,
    PolicyTerms,
    graphs_in,
    nodes_in,
    notes_of,
)
from sagagraph.workflow.operation import reference_in
from sagagraph.workflow.order import descendants
from sagagraph.workflow.values import Json

NODE: Final = "sagagraph/node"
NOTES: Final = "sagagraph/notes"
_WAIT: Final = "Succeeded || {0}.Skipped || {0}.Omitted"
Template = dict[str, Any]


def manifest(document: Document) -> dict[str, Any]:
    """Return the document as a manifest. `{{workflow.parameters.image}}` runs an action: its name, its request, its key."""
    names = _names(document)
    templates: list[Template] = []
    _dag(document, document.graph, "main", names, templates)
    undoing = _back(document, names)
    spec: dict[str, Any] = {
        "entrypoint": "main",
        "arguments": {"parameters": [{"name": "input", "value": "{}"}, {"name": "image", "value": "sagagraph-actions"}]},
        "templates": [*templates, *undoing],
    }
    if undoing:
        spec["onExit"] = "back"
    notes = json.dumps(notes_of(document, "params", "items"))
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"generateName": f"{_slug(document.name)}-", "annotations": {NOTES: notes}},
        "spec": spec,
    }


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40] or "x"


def _names(document: Document) -> dict[str, str]:
    """Return a name for each node that Argo allows: small letters, digits and dashes, and each another one."""
    found: dict[str, str] = {}
    for node in nodes_in(document.graph):
        own = _slug(node.id)
        taken = {*found.values(), "main", "back"}
        found[node.id] = next(each for each in chain([own], (f"{own}-{n}" for n in count(2))) if each not in taken)
    return found


# -- templates -----------------------------------------------------------------------------------------------------------


def _dag(
    document: Document, graph: Graph, name: str, names: dict[str, str], templates: list[Template], *, in_map: bool = False
) -> None:
    inputs = {"inputs": {"parameters": [{"name": "item"}, {"name": "index"}]}} if in_map else {}
    tasks = [_task(document, node, graph, names) for node in graph.nodes]
    templates.append({"name": name, **inputs, "dag": {"tasks": tasks}})
    for node in graph.nodes:
        templates.append(_template(document, node, names))
        for number, each in enumerate(node.branches):
            _dag(document, each, f"{names[node.id]}-branch-{number}", names, templates)
        if node.body is not None:
            _dag(document, node.body, f"{names[node.id]}-each", names, templates, in_map=True)


def _task(document: Document, node: Node, graph: Graph, names: dict[str, str]) -> dict[str, Any]:
    own = {each.id for each in graph.nodes}
    task: dict[str, Any] = {"name": names[node.id], "template": names[node.id]}
    into = graph.into(node.id)
    if into:
        task["depends"] = " && ".join(_waited(document, each, graph, names) for each in into)
        ways = [_when(each, graph, own, names) for each in into]
        if any(ways):
            task["when"] = "{{=" + " || ".join(f"({each or 'true'})" for each in dict.fromkeys(ways)) + "}}"
    if node.type is NodeType.TASK:
        request = json.dumps(_request(node.params, own, names), ensure_ascii=False)
        key = "{{workflow.uid}}/" + names[node.id] + ("/{{inputs.parameters.index}}" if _is_in_map(document, node) else "")
        task["arguments"] = {"parameters": [{"name": "request", "value": request}, {"name": "key", "value": key}]}
    elif node.type is NodeType.MAP:
        task["template"] = f"{names[node.id]}-each"
        task["arguments"] = {"parameters": [{"name": "item", "value": "{{item}}"}, {"name": "index", "value": "0"}]}
        if isinstance(node.items, list):
            task["withItems"] = [each if isinstance(each, str | int | float | bool) else json.dumps(each) for each in node.items]
        else:
            task["withParam"] = _request(node.items, own, names)
    return task


def _is_in_map(document: Document, node: Node) -> bool:
    return any(each.body and node in list(nodes_in(each.body)) for each in nodes_in(document.graph))


def _template(document: Document, node: Node, names: dict[str, str]) -> Template:
    made: Template = {"name": names[node.id], "metadata": {"annotations": {NODE: node.id}}}
    if node.type is NodeType.CHOICE:
        return {**made, "suspend": {"duration": "0"}}
    if node.type is NodeType.PARALLEL:
        ways = [f"{names[node.id]}-branch-{number}" for number in range(len(node.branches))]
        return {**made, "dag": {"tasks": [{"name": each, "template": each} for each in ways]}}
    if node.type is NodeType.MAP:
        return {**made, "suspend": {}}
    outputs = {"parameters": [{"name": "result", "globalName": names[node.id], "valueFrom": {"path": "/tmp/result.json"}}]}  # noqa: S108
    return {
        **made,
        "inputs": {"parameters": [{"name": "request"}, {"name": "key"}]},
        "outputs": outputs,
        "container": {
            "image": "{{workflow.parameters.image}}",
            "args": [node.action or node.role, "{{inputs.parameters.request}}", "{{inputs.parameters.key}}"],
        },
        **template_terms(document.policy_of(node)),
    }


def template_terms(terms: PolicyTerms) -> dict[str, Any]:
    """Return what a template says of a policy. Which errors are repeated, and jitter, are in the note."""
    found: dict[str, Any] = {}
    if terms.retry is not None and terms.retry.max_attempts > 1:
        told: dict[str, Any] = {"limit": str(terms.retry.max_attempts - 1), "retryPolicy": "Always"}
        if (waits := terms.backoff) is not None:
            factor = "1" if waits.mode == "fixed" else "2"
            told["backoff"] = {"duration": _duration(waits.base), "factor": factor, "cap": _duration(waits.cap)}
        found["retryStrategy"] = told
    if terms.timeout is not None:
        found["timeout"] = _duration(terms.timeout.seconds)
    return found


def _duration(seconds: float) -> str:
    return f"{round(seconds * 1000)}ms"


def _waited(document: Document, edge: Edge, graph: Graph, names: dict[str, str]) -> str:
    source = next(each for each in graph.nodes if each.id == edge.source)
    name = names[source.id]
    terms = document.policy_of(source)
    if any(each.handler == edge.target for each in terms.catch):
        return f"({name}.Failed || {name}.Errored)"
    return f"({name}.{_WAIT.format(name)}" + (f" || {name}.Failed)" if terms.catch else ")")


def _when(edge: Edge, graph: Graph, own: set[str], names: dict[str, str]) -> str:
    ways = graph.out_of(edge.source)
    earlier = [each.guard for each in ways[: ways.index(edge)] if each.guard is not None]
    is_choice = next(each for each in graph.nodes if each.id == edge.source).type is NodeType.CHOICE
    if edge.kind is EdgeKind.DEFAULT:
        earlier = [each.guard for each in ways if each.guard is not None]
    unless = [Not(each) for each in earlier] if is_choice else []
    parts = [*unless, *([edge.guard] if edge.guard is not None else [])]
    return _expression(All(tuple(parts)), own, names) if parts else ""


def _place(node: str, path: tuple[str | int, ...], own: set[str], names: dict[str, str]) -> str:
    steps = "".join(f"[{each}]" if isinstance(each, int) else f"['{each}']" for each in path)
    if node in BINDINGS:
        root = "workflow.parameters.input" if node == "input" else f"inputs.parameters.{node}"
    else:
        root = (
            f"tasks['{names[node]}'].outputs.parameters.result"
            if node in own
            else f"workflow.outputs.parameters['{names[node]}']"
        )
    return f"jsonpath({root}, {json.dumps('$' + steps)})"


def _expression(condition: Condition, own: set[str], names: dict[str, str]) -> str:
    match condition:
        case Succeeded(node):
            return "true" if node in BINDINGS else f"tasks['{names[node]}'].status == 'Succeeded'"
        case Failed(node):
            return "false" if node in BINDINGS else f"tasks['{names[node]}'].status == 'Failed'"
        case OutputIs(node, path, comparison, value):
            return f"{_place(node, path, own, names)} {comparison.value} {json.dumps(value)}"
        case All(conditions):
            return " && ".join(f"({_expression(each, own, names)})" for each in conditions) or "true"
        case AnyOf(conditions):
            return " || ".join(f"({_expression(each, own, names)})" for each in conditions) or "false"
        case Not(inner):
            return f"!({_expression(inner, own, names)})"


def _request(value: Json, own: set[str], names: dict[str, str]) -> Json:
    if isinstance(value, dict):
        if (found := reference_in(value)) is not None:
            node, path = found
            return "{{=toJson(" + _place(node, path, own, names) + ")}}"
        return {key: _request(each, own, names) for key, each in value.items()}
    return [_request(each, own, names) for each in value] if isinstance(value, list | tuple) else value


# -- back ----------------------------------------------------------------------------------------------------------------


def _back(document: Document, names: dict[str, str]) -> list[Template]:
    """Return the exit handler and what it runs; what is inside a map has no names there, and is in the note only."""
    undone = {each.id: each for each in _outside_maps(document.graph) if document.handler_of(each)}
    tasks, templates = [], []
    dependents = _dependents(document.graph)
    for name, node in undone.items():
        after = sorted(f"undo-{names[each]}" for each in descendants(dependents, name) if each in undone)
        done = f"workflow.outputs.parameters['{names[name]}']"
        waits = " && ".join(f"({each}.{_WAIT.format(each)})" for each in after)
        tasks.append(
            {
                "name": f"undo-{names[name]}",
                "template": f"undo-{names[name]}",
                **({"depends": waits} if waits else {}),
                "when": "{{=workflow.status != 'Succeeded' && " + done + " != nil}}",
                "arguments": {"parameters": [{"name": "result", "value": "{{=" + done + "}}"}]},
            }
        )
        templates.append(
            {
                "name": f"undo-{names[name]}",
                "metadata": {"annotations": {NODE: name}},
                "inputs": {"parameters": [{"name": "result"}]},
                "retryStrategy": {"limit": "4", "retryPolicy": "Always", "backoff": {"duration": "1s", "factor": "2"}},
                "container": {
                    "image": "{{workflow.parameters.image}}",
                    "args": [
                        document.handler_of(node),
                        "{{inputs.parameters.result}}",
                        "{{workflow.uid}}/" + names[name] + "/undo",
                    ],
                },
            }
        )
    return [{"name": "back", "dag": {"tasks": tasks}}, *templates] if tasks else []


def _outside_maps(graph: Graph) -> Iterator[Node]:
    for node in graph.nodes:
        yield node
        for each in node.branches:
            yield from _outside_maps(each)


def _dependents(graph: Graph) -> dict[str, list[str]]:
    """Return what comes after each node; what is inside a parallel node comes with it."""
    found: dict[str, list[str]] = {}
    for each in graphs_in(graph):
        for edge in each.edges:
            found.setdefault(edge.source, []).append(edge.target)
    for node in nodes_in(graph):
        for inner in (inner for branch in node.branches for inner in branch.nodes):
            found.setdefault(inner.id, []).extend(found.get(node.id, ()))
            found.setdefault(f" into {node.id}", []).append(inner.id)
    return {
        name: [inside for each in after for inside in (each, *found.get(f" into {each}", ()))] for name, after in found.items()
    }

"""Reader: an Argo workflow as a document. Types, order, actions and policies are read from its templates; what manifests have no
field for, and what is an expression there, is in the note of an export, and believed if the manifest still is what it makes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import structs

from sagagraph.errors import InvalidInputError
from sagagraph.workflow.argo.manifest import NODE, NOTES, manifest, template_terms
from sagagraph.workflow.language.document import (
    BackoffTerms,
    CompensationTerms,
    Document,
    Edge,
    EdgeKind,
    Graph,
    LoopTerms,
    Node,
    NodeType,
    PolicyTerms,
    RetryTerms,
    TimeoutTerms,
    named,
    read_document,
)

_MOST_MEMBERS = 1000
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_NAME = re.compile(r"([a-zA-Z0-9_-]+)(?:\.[A-Z][a-z]+)?")


def read_manifest(value: Mapping[str, Any]) -> Document:
    """Return the document. Raises `InvalidInputError` for what documents do not express: steps, expressions of others, loops."""
    try:
        plain = _Reader(value).document()
        notes = json.loads(value["metadata"].get("annotations", {}).get(NOTES, "null"))
    except (KeyError, TypeError, AttributeError, StopIteration) as exc:
        raise InvalidInputError(f"this is no Argo workflow: {exc!r}", field="FILE") from exc
    except ValueError as exc:
        raise InvalidInputError(f"the note is not JSON: {exc}", field="FILE") from exc
    if not isinstance(notes, dict):
        if _has_expressions(value):
            raise InvalidInputError("its expressions (when) are in a language that documents do not evaluate", field="when")
        return plain
    try:
        whole = _with_notes(plain, notes)
        return whole if manifest(whole)["spec"] == value["spec"] else plain
    except (InvalidInputError, KeyError, StopIteration, ValueError):
        return plain


def _has_expressions(value: Mapping[str, Any]) -> bool:
    tasks = [
        task for each in value["spec"]["templates"] if each["name"] != "back" for task in each.get("dag", {}).get("tasks", ())
    ]
    return any("when" in each for each in tasks)


class _Reader:
    def __init__(self, value: Mapping[str, Any]) -> None:
        self._spec = value["spec"]
        self._name = value["metadata"].get("name") or value["metadata"].get("generateName", "workflow-").rstrip("-")
        self._templates = {each["name"]: each for each in self._spec["templates"]}
        self._policies: dict[str, PolicyTerms] = {}

    def document(self) -> Document:
        graph = self._graph(self._templates[self._spec["entrypoint"]])
        return Document(self._name, graph.nodes, graph.edges, self._policies)

    def _graph(self, template: Mapping[str, Any]) -> Graph:
        if "dag" not in template:
            raise InvalidInputError(f"template {template['name']!r} is no DAG", field="templates")
        tasks = {each["name"]: each for each in template["dag"]["tasks"]}
        ids = {name: self._id(task) for name, task in tasks.items()}
        edges: list[Edge] = []
        for name, task in tasks.items():
            told = [*task.get("dependencies", ()), *(each[1] for each in _NAME.finditer(task.get("depends", "")))]
            for each in dict.fromkeys(told):
                if each not in tasks:
                    raise InvalidInputError(f"task {name!r} depends on {each!r}, which there is not", field="depends")
                is_choice = "suspend" in self._templates.get(tasks[each]["template"], {}) and "when" in task
                edges.append(Edge(ids[each], ids[name], EdgeKind.BRANCH if is_choice else EdgeKind.SEQUENCE))
        return Graph(tuple(self._node(ids[name], task) for name, task in tasks.items()), tuple(edges))

    def _id(self, task: Mapping[str, Any]) -> str:
        own = self._templates.get(task["name"], {}).get("metadata", {}).get("annotations", {}).get(NODE)
        return str(own or task["name"])

    def _node(self, name: str, task: Mapping[str, Any]) -> Node:
        template = self._templates[task["template"]]
        if "withItems" in task or "withParam" in task:
            node = Node(name, NodeType.MAP, items=task.get("withItems", task.get("withParam")), body=self._graph(template))
            return structs.replace(node, policy_ref=named(PolicyTerms(loop_guards=LoopTerms(_MOST_MEMBERS)), self._policies))
        if "suspend" in template:
            return Node(name, NodeType.CHOICE)
        if "dag" in template:
            ways = [self._templates[each["template"]] for each in template["dag"]["tasks"]]
            branches = [self._graph(each) for each in ways] if all("dag" in each for each in ways) else [self._graph(template)]
            return Node(name, NodeType.PARALLEL, branches=tuple(branches))
        action = (template.get("container") or {}).get("args", [template["name"]])[0]
        told = {each["name"]: each.get("value", "null") for each in task.get("arguments", {}).get("parameters", ())}
        is_plain = "request" in told and "{{" not in told["request"]
        params = json.loads(told["request"]) if is_plain else None
        return Node(
            name, NodeType.TASK, action=action, params=params, policy_ref=named(self._terms(name, template), self._policies)
        )

    def _terms(self, name: str, template: Mapping[str, Any]) -> PolicyTerms:
        terms = PolicyTerms()
        if told := template.get("retryStrategy"):
            waits = told.get("backoff", {})
            mode = "fixed" if str(waits.get("factor", "2")) == "1" else "exponential"
            backoff = BackoffTerms(mode, _seconds(waits.get("duration", "1s")), _seconds(waits.get("cap", "1h")), 0.0)
            terms = PolicyTerms(RetryTerms(int(told.get("limit", 2)) + 1), backoff)
        seconds = _seconds(template["timeout"]) if "timeout" in template else template.get("activeDeadlineSeconds")
        undo = next(
            (each for each in self._templates.values() if each["name"].startswith("undo-") and _node_of(each) == name), None
        )
        return structs.replace(
            terms,
            timeout=TimeoutTerms(float(seconds)) if seconds else None,
            compensation=CompensationTerms(undo["container"]["args"][0], safe_reinvoke=True) if undo else None,
        )


def _node_of(template: Mapping[str, Any]) -> str | None:
    found: str | None = template.get("metadata", {}).get("annotations", {}).get(NODE)
    return found


def _seconds(text: Any) -> float:
    parts = _PART.findall(str(text))
    return sum(float(number) * _UNITS[unit] for number, unit in parts) if parts else float(text)


def _with_notes(plain: Document, notes: Mapping[str, Any]) -> Document:
    """Return the document with all that is noted, policies only where the templates say the same."""
    told = read_document({**{k: v for k, v in notes.items() if k not in ("nodes", "edges")}, "nodes": []})
    edges = msgspec.convert(notes["edges"], tuple[Edge, ...])

    def node_with(node: Node) -> Node:
        noted = dict(notes["nodes"].get(node.id, {}))
        terms = told.policies.get(noted.get("policyRef") or "default", PolicyTerms())
        if template_terms(terms) != template_terms(plain.policy_of(node)) and node.type is NodeType.TASK:
            raise InvalidInputError(f"the policy of {node.id!r} was changed", field="templates")
        if noted.get("role") == node.action:
            noted["action"] = ""
        bare = msgspec.to_builtins(structs.replace(node, branches=(), body=None, items=None, policy_ref=""))
        fresh = msgspec.convert({**bare, **noted}, Node)
        return structs.replace(fresh, branches=node.branches, body=node.body)

    whole = plain.graph.changed(node_with, edges)
    return structs.replace(told, nodes=whole.nodes, edges=whole.edges)

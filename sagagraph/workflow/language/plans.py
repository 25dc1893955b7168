"""Plans: the operations of any domain's plan as a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sagagraph.workflow.condition import All, Condition, Succeeded
from sagagraph.workflow.language.document import (
    Document,
    Edge,
    EdgeKind,
    Node,
    NodeType,
    PolicyTerms,
    Repairable,
)
from sagagraph.workflow.language.terms import terms_of
from sagagraph.workflow.operation import OperationSpec


def document_of(name: str, specs: Iterable[OperationSpec], meta: Mapping[str, Any] | None = None) -> Document:
    """Return a plan as a document: one node for each operation, one policy for all that have the same.

    A condition becomes the guard of each edge into its node. What no condition is on needs everything before it to succeed; where
    that may be skipped, the guard says so.
    """
    specs = tuple(specs)
    policies: dict[str, PolicyTerms] = {}
    nodes = tuple(_node(spec, policies) for spec in specs)
    optional = {spec.id for spec in specs if spec.condition is not None or spec.policy.catch}
    edges: list[Edge] = []
    for spec in specs:
        guard = spec.condition or (_all_of(spec.depends_on) if optional & set(spec.depends_on) else None)
        kind = EdgeKind.SEQUENCE if guard is None else EdgeKind.BRANCH
        edges += (Edge(each, spec.id, kind, guard, Repairable.TIME) for each in spec.depends_on)
    return Document(name, nodes, tuple(edges), policies, meta=dict(meta or {}))


def _all_of(names: tuple[str, ...]) -> Condition:
    return All(tuple(Succeeded(each) for each in names)) if len(names) > 1 else Succeeded(names[0])


def _node(spec: OperationSpec, policies: dict[str, PolicyTerms]) -> Node:
    terms = terms_of(spec)
    name = next((name for name, known in policies.items() if known == terms), "")
    if not name:
        name = f"p{len(policies)}"
        policies[name] = terms
    title = spec.inputs.get("title", "") if isinstance(spec.inputs, Mapping) else ""
    capabilities = {"kind": spec.kind.value, "version": spec.action_version}
    return Node(spec.id, NodeType.TASK, str(title), spec.action, capabilities=capabilities, params=spec.inputs, policy_ref=name)

"""Document: a workflow as people, models and other engines write it (ALAS appendix A.1). Its form is published as JSON Schema.

`msgspec` both checks a document at the border and keeps it frozen inside: the conditions and policies that it uses are journalled
by it already, and the vocabulary knows no pydantic (`.importlinter`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct, field, structs

from sagagraph.errors import InvalidInputError
from sagagraph.workflow.condition import Condition
from sagagraph.workflow.values import Json

DEFAULT: Final = "default"
"""The policy of nodes that name none (p0)."""
WORKFLOWS: Final = "workflows"
"""The domain of sagas that carry out documents: no plug-in, for the interpreter carries them on."""
INPUT, ITEM, INDEX = "input", "item", "index"
"""What references may name besides nodes: the workflow's input, and in a map's body its member and that one's place, from 0."""
BINDINGS: Final = (INPUT, ITEM, INDEX)
Name = Annotated[str, Meta(min_length=1, max_length=80, pattern=r"^\S(.*\S)?$")]
PolicyName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]+$")]
Schema = dict[str, Json]
Seconds = Annotated[float, Meta(ge=0)]


class _Part(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, rename="camel"):
    """Part of a document: unknown fields are refused, since one that is misspelt would be a promise that nobody keeps."""


class NodeType(StrEnum):
    TASK = "task"
    CHOICE = "choice"
    PARALLEL = "parallel"
    MAP = "map"


class EdgeKind(StrEnum):
    SEQUENCE = "sequence"
    BRANCH = "branch"
    DEFAULT = "default"


class Repairable(StrEnum):
    """What a repair may change about an edge (ALAS section 3.1)."""

    TIME = "time"
    ORDER = "order"
    RESOURCE = "resource"
    NONE = "none"


class Trigger(StrEnum):
    ON_FAILURE = "onFailure"
    """Whenever the saga goes back, for whatever reason."""
    ON_CANCEL = "onCancel"
    """Only for a person: other engines know it, this one does not (an effect of a failed saga would be left standing)."""
    MANUAL = "manual"
    """A person undoes it, and says so: `sagagraph resolve`."""


# -- policies ----------------------------------------------------------------------------------------------------------


class RetryTerms(_Part, frozen=True):
    """`max_attempts` counts the first one too."""

    max_attempts: int
    retry_on: tuple[str, ...] = ("*",)


class BackoffTerms(_Part, frozen=True):
    """`base` and `cap` in seconds; `jitter`: the share of a wait that may be missing."""

    mode: str = "exponential"
    base: Seconds = 0.1
    cap: Seconds = 5.0
    jitter: float = 0.5


class CatchTerms(_Part, frozen=True):
    errors: tuple[str, ...]
    handler: str


class TimeoutTerms(_Part, frozen=True):
    seconds: float


class KeyScope(StrEnum):
    WORKFLOW = "workflow"
    NODE = "node"
    RESOURCE = "resource"


class KeyTerms(_Part, frozen=True):
    """`template` may use {nodeId}, {runId}, {input.hash} and {generation}; `path` is one into the input."""

    path: str | None = None
    template: str | None = None
    scope: KeyScope = KeyScope.NODE


class CompensationTerms(_Part, frozen=True):
    """`handler`: an action, called with `{"request", "result"}`; `ACTION/undo` is the compensation that the action has itself."""

    handler: str
    safe_reinvoke: bool
    trigger: Trigger = Trigger.ON_FAILURE


class LoopTerms(_Part, frozen=True):
    max_iters: int | None = None
    deadline_seconds: Seconds | None = None
    time_budget: Seconds | None = None


class PolicyTerms(_Part, frozen=True):
    """Policy as ALAS writes it (appendix A.2); what is left out is as in the engine's own default."""

    retry: RetryTerms | None = None
    backoff: BackoffTerms | None = None
    catch: tuple[CatchTerms, ...] = ()
    timeout: TimeoutTerms | None = None
    idempotency_key: KeyTerms | None = None
    compensation: CompensationTerms | None = None
    loop_guards: LoopTerms | None = None


# -- graphs ------------------------------------------------------------------------------------------------------------


class IO(_Part, frozen=True):
    """JSON Schemas."""

    input: Schema | None = None
    output: Schema | None = None
    error: Schema | None = None


class RepairSpec(_Part, frozen=True):
    """Limits of what a repair of this node may touch (ALAS algorithm 1, line 5)."""

    edits: tuple[Repairable, ...] = ()
    radius: int = 8
    """How many nodes, connected by edges that may be repaired, it may reach."""


class Node(_Part, frozen=True):
    """Node. A task has an `action`, or a `role` that is yet to be filled; a parallel node `branches`; a map `items` and a `body`.

    `params` is a task's request; `{"$from": NODE, "path": […]}` in it stands for a value of an earlier node's output, or of
    "input", "item", "index".
    """

    id: Name
    type: NodeType
    name: str = ""
    action: str = ""
    role: str = ""
    capabilities: dict[str, Json] = field(default_factory=dict)
    params: Json = None
    io: IO = IO()
    policy_ref: str = ""
    log_schema_ref: str = ""
    repair: RepairSpec | None = None
    branches: tuple[Graph, ...] = ()
    items: Json = None
    body: Graph | None = None


class Edge(_Part, frozen=True):
    """Edge. `guard`: a condition over nodes, a tree and never a text. A `default` edge is taken if no branch is."""

    source: str = field(name="from")
    target: str = field(name="to")
    kind: EdgeKind = EdgeKind.SEQUENCE
    guard: Condition | None = None
    repairable: Repairable = Repairable.NONE


class Graph(_Part, frozen=True):
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()

    @property
    def needs(self) -> dict[str, tuple[str, ...]]:
        """Node → those that it comes after."""
        found: dict[str, list[str]] = {each.id: [] for each in self.nodes}
        for edge in self.edges:
            if edge.source not in found.setdefault(edge.target, []):
                found[edge.target].append(edge.source)
        return {name: tuple(before) for name, before in found.items()}

    def into(self, node: str) -> tuple[Edge, ...]:
        return tuple(each for each in self.edges if each.target == node)

    def out_of(self, node: str) -> tuple[Edge, ...]:
        return tuple(each for each in self.edges if each.source == node)

    def changed(self, change: Callable[[Node], Node], edges: tuple[Edge, ...] | None = None) -> Graph:
        """Return the graph with each node changed, after the nodes of the graphs inside it; with `edges`, all have these."""

        def one(node: Node) -> Node:
            body = node.body.changed(change, edges) if node.body else None
            return change(structs.replace(node, branches=tuple(each.changed(change, edges) for each in node.branches), body=body))

        own = {each.id for each in self.nodes}
        kept = self.edges if edges is None else tuple(each for each in edges if each.source in own)
        return Graph(tuple(map(one, self.nodes)), kept)


class Document(_Part, frozen=True):
    """Workflow document. `log_schemas`: which fields entries of a node's log must have. `meta` has no meaning to the engine."""

    name: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()
    policies: dict[PolicyName, PolicyTerms] = field(default_factory=dict)
    schemas: dict[str, Schema] = field(default_factory=dict)
    log_schemas: dict[str, Schema] = field(default_factory=dict)
    meta: dict[str, Json] = field(default_factory=dict)

    @property
    def graph(self) -> Graph:
        return Graph(self.nodes, self.edges)

    def policy_of(self, node: Node) -> PolicyTerms:
        return self.policies.get(node.policy_ref or DEFAULT, PolicyTerms())

    def handler_of(self, node: Node) -> str:
        """Return the action that undoes a task when something fails; empty if there is none."""
        terms = self.policy_of(node).compensation if node.type is NodeType.TASK else None
        return terms.handler if terms is not None and terms.trigger is Trigger.ON_FAILURE else ""


def inner_graphs(node: Node) -> tuple[Graph, ...]:
    return node.branches if node.body is None else (*node.branches, node.body)


def graphs_in(graph: Graph) -> Iterator[Graph]:
    """Yield the graph and all inside it, outer ones first."""
    yield graph
    for node in graph.nodes:
        for each in inner_graphs(node):
            yield from graphs_in(each)


def nodes_in(graph: Graph) -> Iterator[Node]:
    return (node for each in graphs_in(graph) for node in each.nodes)


# -- the border --------------------------------------------------------------------------------------------------------


def read_document(value: Json) -> Document:
    """Read a document from JSON, in ALAS's wrapper `{"Workflow": …}` or without. Raises `InvalidInputError`, with the place."""
    if isinstance(value, Mapping) and isinstance(value.get("Workflow"), Mapping):
        value = value["Workflow"]
    try:
        return msgspec.convert(value, Document)
    except msgspec.ValidationError as exc:
        what, _, where = str(exc).partition(" - at `$")
        hint = '; a guard is a tree, such as {"kind": "succeeded", "operation": NODE}' if "guard" in where else ""
        raise InvalidInputError(what + hint, field="workflow" + where.strip("`")) from exc


def document_json(document: Document) -> dict[str, Any]:
    written: dict[str, Any] = msgspec.to_builtins(document)
    return written


def notes_of(document: Document, *also: str) -> dict[str, Any]:
    """Return what other languages have no field for, `also` these fields of nodes; whoever reads it back believes it as far as it
    agrees with the rest.
    """
    noted = ("name", "role", "capabilities", "io", "policyRef", "logSchemaRef", "repair", *also)
    nodes = {each.id: msgspec.to_builtins(each) for each in nodes_in(document.graph)}
    return {
        **{name: value for name, value in document_json(document).items() if name not in ("nodes", "edges")},
        "nodes": {name: {key: node[key] for key in noted if key in node} for name, node in nodes.items()},
        "edges": [msgspec.to_builtins(edge) for graph in graphs_in(document.graph) for edge in graph.edges],
    }


def named(terms: PolicyTerms, policies: dict[PolicyName, PolicyTerms]) -> PolicyName:
    """Return the name of a policy, which joins `policies` if none of them says the same; empty for one that says nothing."""
    if terms == PolicyTerms():
        return ""
    name = next((each for each, known in policies.items() if known == terms), f"p{len(policies)}")
    policies[name] = terms
    return name


def document_schema() -> dict[str, Any]:
    """Return the JSON Schema of documents."""
    return msgspec.json.schema(Document)

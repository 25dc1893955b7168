"""Blueprint: a goal as roles, nodes, edges and invariants, before anybody is named (ALAS layer 1, algorithms 1 and 2).

A template or a model drafts it; what becomes of it is decided here: each node gets its role's schemas and log schema, a policy,
and the repair bounds that its edges allow, and the whole is checked like any other document.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Meta, Struct, structs

from sagagraph.context.model import Model, Question
from sagagraph.context.quoting import Quoted, new_nonce
from sagagraph.errors import InvalidInputError, WorkflowError
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.language.checks import findings
from sagagraph.workflow.language.document import (
    IO,
    BackoffTerms,
    CompensationTerms,
    Document,
    Edge,
    Graph,
    KeyTerms,
    LoopTerms,
    Node,
    NodeType,
    PolicyTerms,
    Repairable,
    RepairSpec,
    RetryTerms,
    TimeoutTerms,
    graphs_in,
)
from sagagraph.workflow.language.terms import OWN_KEY, OWN_UNDO
from sagagraph.workflow.reading import converted, schema_of
from sagagraph.workflow.values import Json

_ROUNDS: Final = 3
"""How often a model may mend its draft."""
_LOG: Final = {"required": ["ts", "nodeId", "eventType", "version", "correlationId"]}
_INSTRUCTIONS: Final = (
    "You draft a workflow for a goal: roles (what somebody must be able to do, in a few words), nodes that a role carries out, "
    "and edges that say what comes after what. A role with an effect outside says kind compensatable if it can be undone; what "
    "is final is one pivot, after everything compensatable. Name nobody: roles are filled later. A value of an earlier node's "
    'output is {"$from": node, "path": [field]} in params, one of the workflow\'s input has "input" as its node. '
    "Where the data holds faults of an earlier draft, mend exactly those."
)


class Role(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, rename="camel"):
    """Role: what whoever fills it must be able to do. `context`: all that it is told; `most_context`: in tokens."""

    name: str
    capabilities: tuple[str, ...]
    kind: ActionKind = ActionKind.READ_ONLY
    context: Annotated[str, Meta(max_length=4000)] = ""
    io: IO = IO()
    most_context: int = 1000
    undone_by: str = ""
    """The role of the agent that compensates it; empty for one that undoes its work itself."""


class Blueprint(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, rename="camel"):
    """Blueprint. Its tasks have roles. `invariants`: in words, for people; the edges and guards are what enforces them."""

    goal: str
    roles: tuple[Role, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()
    invariants: tuple[str, ...] = ()
    disruptions: tuple[dict[str, Json], ...] = ()
    policies: dict[str, PolicyTerms] = {}


def read_blueprint(value: Json) -> Blueprint:
    """Read a blueprint. Raises `InvalidInputError`, naming the place."""
    return converted(value, Blueprint, "blueprint", strict=True)


def template_of(blueprint: Blueprint) -> Document:
    """Return the workflow whose roles are yet to be filled (ALAS: W_template). Raises `WorkflowError` with every fault."""
    roles = {each.name: each for each in blueprint.roles}
    policies: dict[str, PolicyTerms] = dict(blueprint.policies)
    reach: dict[str, set[Repairable]] = {}
    graph = Graph(blueprint.nodes, blueprint.edges)
    for each in graphs_in(graph):
        for edge in each.edges:
            for end in (edge.source, edge.target):
                reach.setdefault(end, set()).add(edge.repairable)

    def node_of(node: Node) -> Node:
        if node.type is not NodeType.TASK:
            if node.type is NodeType.MAP and not node.policy_ref:
                policies.setdefault("each", PolicyTerms(loop_guards=LoopTerms(max_iters=100)))
                return structs.replace(node, policy_ref="each")
            return node
        role = roles.get(node.role)
        if role is None:
            raise WorkflowError(f"node {node.id!r} has role {node.role!r}, which the blueprint does not describe")
        if not node.policy_ref:
            policies.setdefault(role.name, _policy_of(role))
        edits = tuple(sorted(reach.get(node.id, set()) - {Repairable.NONE}))
        capabilities = {"kind": role.kind.value, "wanted": list(role.capabilities)}
        return structs.replace(
            node,
            io=role.io,
            policy_ref=node.policy_ref or role.name,
            log_schema_ref=role.name,
            repair=node.repair or RepairSpec(edits),
            capabilities=capabilities,
        )

    policy_names = [each.name for each in blueprint.roles if not _is_name(each.name)]
    if policy_names:
        raise WorkflowError(f"names of roles are letters, digits, dots, dashes: {', '.join(policy_names)}")
    nodes = graph.changed(node_of).nodes
    meta = {"invariants": list(blueprint.invariants), "disruptions": list(blueprint.disruptions)}
    document = Document(blueprint.goal, nodes, blueprint.edges, policies, log_schemas=dict.fromkeys(roles, _LOG), meta=meta)
    if faults := findings(document):
        raise WorkflowError(f"blueprint {blueprint.goal!r}: {'; '.join(each.message for each in faults)}")
    return document


def _is_name(text: str) -> bool:
    return bool(text) and all(each.isalnum() or each in "_.-" for each in text)


def _policy_of(role: Role) -> PolicyTerms:
    undone = role.kind is ActionKind.COMPENSATABLE
    return PolicyTerms(
        RetryTerms(3),
        BackoffTerms(),
        timeout=TimeoutTerms(30.0),
        idempotency_key=KeyTerms(template=OWN_KEY),
        compensation=CompensationTerms(role.undone_by or role.name + OWN_UNDO, safe_reinvoke=True) if undone else None,
    )


# -- drafts ----------------------------------------------------------------------------------------------------------------


async def drafted(goal: str, model: Model, known: Mapping[str, Any] | None = None) -> Blueprint:
    """Have a model draft a blueprint, and mend it while it has faults.

    Raises `WorkflowError` after the last attempt, `ModelError` if the model cannot be asked.
    """
    faults = ""
    for _round in range(_ROUNDS):
        data = {"goal": goal, **(known or {}), **({"faults": faults} if faults else {})}
        answer = await model.answer(Question(_INSTRUCTIONS, Quoted(data, new_nonce()), schema_of(Blueprint)))
        try:
            blueprint = read_blueprint(answer.content)
            template_of(blueprint)
        except (InvalidInputError, WorkflowError) as exc:
            faults = str(exc)
        else:
            return blueprint
    raise WorkflowError(f"model {model.name} drafted no blueprint for {goal!r} in {_ROUNDS} rounds: {faults}")

"""Filling: the roles of a workflow from a roster, by a score that anybody can follow (ALAS layer 2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
from msgspec import structs

from sagagraph.factory.blueprint import Blueprint, Role, template_of
from sagagraph.factory.roster import Member, Roster
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.language.document import CompensationTerms, Document, Node
from sagagraph.workflow.language.terms import OWN_UNDO

ENOUGH = 0.75
"""The share of a role's capabilities that a member must have."""
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Ranked:
    """One member for one role. `why_not`: what excludes it, whatever its score."""

    name: str
    score: float
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Filled:
    """A document with the roles that somebody fills. `ranking`: role → members, the best first."""

    document: Document
    ranking: Mapping[str, tuple[Ranked, ...]]
    unfilled: tuple[str, ...]


class Factory:
    """Factory: fills roles from one roster; what it has filled once it knows."""

    def __init__(self, roster: Roster) -> None:
        self._roster = roster
        self._known: dict[bytes, Filled] = {}

    def fill(self, blueprint: Blueprint) -> Filled:
        """Return the workflow with its roles filled; those that nobody fills are named. Raises `WorkflowError` for its faults."""
        key = msgspec.json.encode(blueprint)
        if key not in self._known:
            self._known[key] = self._filled(blueprint)
        return self._known[key]

    def _filled(self, blueprint: Blueprint) -> Filled:
        ranking = {role.name: self._ranked(role) for role in blueprint.roles}
        first = {name: ranked[0] for name, ranked in ranking.items() if ranked}
        chosen = {name: best.name for name, best in first.items() if not best.why_not and best.score >= ENOUGH}

        def node_with(node: Node) -> Node:
            return structs.replace(node, action=node.action or chosen.get(node.role, ""))

        template = template_of(blueprint)
        policies = dict(template.policies)
        for role in blueprint.roles:
            terms = policies.get(role.name)
            if terms is None or terms.compensation is None or role.name not in chosen:
                continue
            handler = chosen.get(role.undone_by, "") if role.undone_by else chosen[role.name] + OWN_UNDO
            if handler:
                undo = CompensationTerms(handler, safe_reinvoke=True)
                policies[role.name] = structs.replace(terms, compensation=undo)
        document = structs.replace(template, nodes=template.graph.changed(node_with).nodes, policies=policies)
        return Filled(document, ranking, tuple(name for name in ranking if name not in chosen))

    def _ranked(self, role: Role) -> tuple[Ranked, ...]:
        found = [Ranked(each.action.name, _score(role, each), _why_not(role, each)) for each in self._roster.members]
        return tuple(sorted(found, key=lambda each: (bool(each.why_not), -each.score, each.name)))


def _score(role: Role, member: Member) -> float:
    """Return the share of the role's capabilities, each in words, that the member has."""
    own = set(_WORD.findall(" ".join((member.action.name, *member.capabilities)).lower()))
    wanted = [set(_WORD.findall(each.lower())) for each in role.capabilities]
    return round(sum(len(each & own) / len(each) for each in wanted if each) / max(1, len(wanted)), 3)


def _why_not(role: Role, member: Member) -> str:
    if member.most_context is not None and role.most_context > member.most_context:
        return f"it takes {member.most_context} tokens of context, and {role.most_context} are wanted"
    is_undone = member.action.compensate is not None or bool(role.undone_by)
    if role.kind is ActionKind.COMPENSATABLE and not is_undone:
        return "nothing undoes it"
    if role.kind is not ActionKind.COMPENSATABLE and member.action.kind is not role.kind:
        return f"it is {member.action.kind.value}, and {role.kind.value} is wanted"
    return ""

"""Roles, and the rules that say who may ask for which path: what no rule names is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
ACTS: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
EACH: Final = SAFE | ACTS


class Role(StrEnum):
    GUEST = "guest"
    """Uses a server that knows no users; plans, and sees and changes what their browser began."""
    PLANNER = "planner"
    """Plans, and sees and changes what is their own."""
    OPERATOR = "operator"
    """Everything a planner does; sees all sagas, and acts on all."""
    READER = "reader"
    """Sees all sagas, and changes nothing."""

    @property
    def sees_all(self) -> bool:
        return self in (Role.OPERATOR, Role.READER)


EVERYBODY: Final = frozenset[Role | None]({None, *Role})
"""None: somebody who has not logged in."""
ANYBODY: Final = frozenset[Role | None](Role)
PLANNERS: Final = frozenset[Role | None]({Role.GUEST, Role.PLANNER, Role.OPERATOR})
OVERSEERS: Final = frozenset[Role | None]({Role.OPERATOR, Role.READER})
OPERATORS: Final = frozenset[Role | None]({Role.OPERATOR})


@dataclass(frozen=True, slots=True)
class Rule:
    path: str
    """A regular expression for the whole path."""
    methods: frozenset[str]
    who: frozenset[Role | None]

    def fits(self, method: str, path: str) -> bool:
        return method in self.methods and re.fullmatch(self.path, path, re.ASCII) is not None


RULES: Final = (
    Rule(r"/(healthz|readyz)", SAFE, EVERYBODY),
    Rule(r"/shared/[\w-]+", SAFE, EVERYBODY),
    Rule(r"/task/[\w-]+", SAFE | {"POST"}, EVERYBODY),
    Rule(r"/login", EACH, EVERYBODY),
    Rule(r"/login/(provider|back)", SAFE, EVERYBODY),
    Rule(r"/logout", ACTS, ANYBODY),
    Rule(r"/metrics", SAFE, OVERSEERS | {Role.GUEST}),
    Rule(r"/operate(/.*)?", SAFE, OVERSEERS),
    Rule(r"/operate(/.*)?", ACTS, OPERATORS),
    Rule(r"/api/v1/overview", SAFE, OVERSEERS),
    Rule(r"/api/v1/sagas/[^/]+/(yield|redact)", ACTS, OPERATORS),
    Rule(r"/api/v1/sagas(/.*)?", SAFE, ANYBODY),
    Rule(r"/api/v1/sagas(/.*)?", ACTS, PLANNERS),
    Rule(r"(/api/v1)?/missions(/.*)?", SAFE, ANYBODY),
    Rule(r"(/api/v1)?/missions(/.*)?", ACTS, PLANNERS),
    Rule(r"/api/v1/harness/[^/]+/audit", SAFE, ANYBODY),
    Rule(r"/api/v1/harness/\w+", ACTS, PLANNERS),
    Rule(r"/(docs|openapi\.json)", SAFE, ANYBODY),
    Rule(r"/(harness|board/[\w-]+)", EACH, PLANNERS),
    Rule(r"/|/stamp", SAFE, PLANNERS),
    # Gradio's own: the page, what it is made of, and the calls of its components.
    Rule(r"/(gradio_api|assets|static|svelte|custom_component|component_server|run|queue|call|upload|stream)/.*", EACH, PLANNERS),
    Rule(r"/(config|info|theme\.css|robots\.txt|favicon\.ico|manifest\.json|pwa_icon(/.*)?)", SAFE, PLANNERS),
)
"""The first that fits decides."""


def rule_for(method: str, path: str, rules: Iterable[Rule] = RULES) -> Rule | None:
    return next((each for each in rules if each.fits(method, path)), None)


def may(role: Role | None, method: str, path: str) -> bool:
    """Tell whether somebody with this role, or who has not logged in, may ask for it."""
    rule = rule_for(method, path)
    return rule is not None and role in rule.who

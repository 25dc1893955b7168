"""Harness: variables, derived quantities, rules and tests, as read from a file and never changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from flint import fmpq

from sagagraph.harness.language.tree import Node, names_in
from sagagraph.harness.registry.forms import Case, Rule

Value = fmpq | str | bool | tuple["Value", ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """`low`, `high`: the ends of its domain, both inside; None where it has no end. `choices`: all its values, where they are
    counted.

    `value`: of a constant or a parameter; None of what an executor decides. `step`: by which gradients and witnesses are rounded.
    """

    name: str
    kind: str
    """number, integer, boolean, string or list"""
    unit: str = "1"
    low: fmpq | None = None
    high: fmpq | None = None
    choices: tuple[Value, ...] = ()
    value: Value | None = None
    step: fmpq | None = None
    is_negotiable: bool = False
    has_domain: bool = True
    cost: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_decided(self) -> bool:
        return self.value is None

    @property
    def is_number(self) -> bool:
        return self.kind in ("number", "integer")

    @property
    def values(self) -> tuple[Value, ...]:
        """All values, where they are counted."""
        return self.choices or ((False, True) if self.kind == "boolean" else ())

    def excludes(self, value: Value | None) -> bool:
        """Tell whether a value is outside the domain."""
        if self.choices:
            return value not in self.choices
        if not isinstance(value, fmpq):
            return False
        below = self.low is not None and value < self.low
        return below or (self.high is not None and value > self.high) or (self.kind == "integer" and value.q != 1)


@dataclass(frozen=True, slots=True)
class Harness:
    id: str
    version: int
    rules: tuple[Rule, ...]
    variables: Mapping[str, Variable] = field(default_factory=dict)
    derived: Mapping[str, Node] = field(default_factory=dict)
    """In an order in which each rests on earlier ones only."""
    golden: tuple[Case, ...] = ()
    poisoned: tuple[Case, ...] = ()
    title: str = ""
    waived: tuple[str, ...] = ()
    approvals: int = 1
    """How many approve a change, of `approvers`; of all who have that role where nobody is named."""
    approvers: tuple[str, ...] = ()
    document: Mapping[str, Any] = field(default_factory=dict)
    """What the file says."""
    hash: str = ""
    """SHA-256 of the canonical form of what the file says: sorted keys, exact numbers."""
    warnings: tuple[str, ...] = ()

    @property
    def decided(self) -> dict[str, Variable]:
        return {name: each for name, each in self.variables.items() if each.is_decided}

    def rule(self, rule_id: str) -> Rule:
        return next(each for each in self.rules if each.id == rule_id)

    def fields_of(self, rule: Rule) -> tuple[str, ...]:
        """Return the fields that a rule reads, by itself or through derived quantities."""
        found: dict[str, None] = {}
        waiting = list(names_in(rule.tree))
        while waiting:
            name = waiting.pop(0)
            if name in self.derived:
                waiting += [each for each in names_in(self.derived[name]) if each not in found]
            else:
                found[name] = None
        return tuple(found)

    def with_values(self, values: Mapping[str, fmpq]) -> Harness:
        """Return it with other values of parameters: an overlay, never a change of the file."""
        changed = {name: replace(self.variables[name], value=value) for name, value in values.items()}
        return replace(self, variables={**self.variables, **changed})

    def with_rules(self, rules: tuple[Rule, ...]) -> Harness:
        return replace(self, rules=rules)


def hash_of(document: Any) -> str:
    """Return the SHA-256 of JSON with sorted keys and exact numbers: the same for the same content everywhere."""

    def exact(value: object) -> object:
        return {"exact": str(value)} if isinstance(value, fmpq) else str(value)

    said = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=exact)
    return hashlib.sha256(said.encode()).hexdigest()

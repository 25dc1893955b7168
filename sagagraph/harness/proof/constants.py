"""Constant rules: those that every artifact within the domains passes, or none. They are refused when a harness is loaded.

A rule over negotiable parameters alone is none: a person may move it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sagagraph.errors import InvalidInputError
from sagagraph.harness.language.tree import Call
from sagagraph.harness.proof.paths import truth
from sagagraph.harness.proof.search import Budget, Search
from sagagraph.harness.proof.system import UndefinedDomainError, UnsupportedRuleError, system_of
from sagagraph.harness.registry.forms import Rule
from sagagraph.harness.registry.harness import Harness
from sagagraph.harness.registry.loading import load_harness

_BOXES: Final = 40


def load_checked(path: Path) -> Harness:
    """Read a file and refuse constant rules. Raises `InvalidInputError`."""
    harness = load_harness(path)
    for rule in harness.rules:
        said = _constancy(harness, rule)
        if said:
            where = f"rules.{rule.id}.assertion"
            raise InvalidInputError(f"`{rule.assertion[:80]}` is {said} over the stated domains", field=where)
    return harness


def _constancy(harness: Harness, rule: Rule) -> str:
    """Return "always true" or "always false" where that is proven quickly; else nothing."""
    if any(harness.variables[name].is_negotiable for name in harness.fields_of(rule) if name in harness.variables):
        return ""
    try:
        system = system_of(harness.with_rules((rule,)))
        opposite = system_of(harness.with_rules((rule.with_tree(Call("not", (rule.tree,))),)))
    except (UndefinedDomainError, UnsupportedRuleError):
        return ""
    if Search(system, Budget(_BOXES)).run().tree is not None:
        return "always false"
    # A rule that has no value somewhere is not always true, though its opposite is never true either.
    has_values = truth(system.rules[rule.id], system.root.floats) is not False
    return "always true" if has_values and Search(opposite, Budget(_BOXES)).run().tree is not None else ""

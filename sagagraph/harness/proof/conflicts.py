"""Conflicts: all minimal sets of rules that no artifact passes at once, with domains taken as given (MARCO: Liffiton et al.
2016).

A map of what is known, kept by Z3, yields sets that are neither part of a satisfiable set nor contain a conflict, each as large
as possible: a satisfiable one need not be grown, and a conflict is shrunk rule by rule. Known points and certificates answer most
questions without another search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sagagraph.harness.judging.check import failing
from sagagraph.harness.proof.linear_rules import LinearRules
from sagagraph.harness.proof.search import Budget, Found, solve
from sagagraph.harness.proof.system import DOMAIN, Point, System

MOST_CONFLICTS: Final = 100
MOST_SEEDS: Final = 2000


@dataclass(frozen=True, slots=True)
class Conflict:
    """Conflict: `rules` cannot hold together. `witnesses`: for each of them a point that satisfies all the others; `minimal`: all
    of these exist.
    """

    rules: tuple[str, ...]
    found: Found
    witnesses: Mapping[str, Point]

    @property
    def minimal(self) -> bool:
        return len(self.witnesses) == len(self.rules)


@dataclass(slots=True)
class Oracle:
    """Oracle that decides sets of rules and remembers what it found out."""

    system: System
    boxes: int
    expired: Callable[[], bool] = lambda: False
    linear: LinearRules | None = None
    passed: list[tuple[frozenset[str], Point]] = field(default_factory=list)
    refuted: list[tuple[frozenset[str], Found]] = field(default_factory=list)

    @property
    def rules(self) -> list[str]:
        return [each for each in self.system.rules if not each.startswith(DOMAIN)]

    def decide(self, rules: frozenset[str]) -> Found:
        for known, point in self.passed:
            if rules <= known:
                return Found(witness=point)
        for core, found in self.refuted:
            if core <= rules:
                return found
        found = Found() if self.linear is None else self.linear.decide(rules)
        if not self._learn(found, rules):
            found = solve(self.system.only(rules), Budget(self.boxes, self.expired))
            self._learn(found, rules)
        return found

    def _learn(self, found: Found, rules: frozenset[str]) -> bool:
        """Remember an answer about these rules. Returns whether it is one."""
        if found.tree is not None:
            self.refuted.append((found.used_rules, found))
        elif found.witness is not None:
            failed = failing(self.system.harness, found.witness)
            if failed & rules:
                return False
            self.passed.append((frozenset(self.rules) - failed, found.witness))
        return found.tree is not None or found.witness is not None


def conflicts_of(oracle: Oracle) -> tuple[list[Conflict], bool]:
    """Return all minimal conflicts, the smallest first, and whether these are all of them."""
    rules = oracle.rules
    known = _Map(rules)
    found: list[Conflict] = []
    complete = True
    for _ in range(MOST_SEEDS):
        seed = known.unexplored()
        if seed is None or oracle.expired() or len(found) >= MOST_CONFLICTS:
            break
        answer = oracle.decide(seed)
        if answer.tree is not None:
            conflict = _shrink(oracle, answer.used_rules)
            found.append(conflict)
            known.block_above(frozenset(conflict.rules))
        else:
            complete &= answer.witness is not None
            known.block_below(seed)
    order = {rule: number for number, rule in enumerate(rules)}
    found.sort(key=lambda each: (len(each.rules), [order[rule] for rule in each.rules]))
    return found, complete and seed is None


def _shrink(oracle: Oracle, core: frozenset[str]) -> Conflict:
    """Leave out rules that are not needed. A rule without which the set is undecided stays, and the conflict is not called
    minimal.
    """
    order = [each for each in oracle.rules if each in core]
    current = frozenset(order)
    for rule in order:
        answer = oracle.decide(current - {rule})
        if answer.tree is not None:
            current = (answer.used_rules & current) or current - {rule}
    rules = tuple(each for each in order if each in current)
    witnesses = {each: point for each in rules if (point := oracle.decide(current - {each}).witness) is not None}
    return Conflict(rules, oracle.decide(current), witnesses)


class _Map:
    """Map of the sets of rules about which nothing is known yet."""

    def __init__(self, rules: list[str]) -> None:
        import z3

        self._z3: Any = z3
        self._rules = {rule: z3.Bool(f"r{number}") for number, rule in enumerate(rules)}
        self._solver = z3.Solver()
        self._conflicts: list[frozenset[str]] = []

    def unexplored(self) -> frozenset[str] | None:
        """Return an unexplored set that is contained in no other one, or None."""
        if self._solver.check() != self._z3.sat:
            return None
        model = self._solver.model()
        chosen = {rule for rule, name in self._rules.items() if self._z3.is_true(model[name])}
        for rule in self._rules:
            # A larger set is in no satisfiable one either, so that only conflicts are left to avoid.
            if not any(rule in each and each <= chosen | {rule} for each in self._conflicts):
                chosen.add(rule)
        return frozenset(chosen)

    def block_above(self, rules: frozenset[str]) -> None:
        self._conflicts.append(rules)
        self._solver.add(self._z3.Or([self._z3.Not(self._rules[each]) for each in rules]))

    def block_below(self, rules: frozenset[str]) -> None:
        self._solver.add(self._z3.Or([name for rule, name in self._rules.items() if rule not in rules]))

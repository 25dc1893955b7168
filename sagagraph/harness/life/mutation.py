"""Mutation tests: rules changed a little, each of which some golden or poisoned case must notice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from flint import fmpq

from sagagraph.harness.judging.check import check
from sagagraph.harness.language.tree import Call, Each, Literal, Node, in_words
from sagagraph.harness.registry.harness import Harness

_TURNED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class Mutant:
    """`name`: what was changed, as a waiver states it. `killed`: a case finds other rules failing than before."""

    name: str
    killed: bool


def mutants(harness: Harness) -> tuple[Mutant, ...]:
    """Return every mutant of every rule and derived quantity, and whether the cases of the harness notice it."""
    expected = _outcomes(harness)
    return tuple(Mutant(name, killed=_outcomes(each) != expected) for name, each in _changed(harness))


def score(found: tuple[Mutant, ...]) -> float:
    """Return the share that is killed, 0 to 1."""
    return sum(each.killed for each in found) / len(found) if found else 1.0


def _outcomes(harness: Harness) -> list[tuple[str, ...]]:
    return [check(harness, each.artifact).failed for each in (*harness.golden, *harness.poisoned)]


def _changed(harness: Harness) -> Iterator[tuple[str, Harness]]:
    for number, rule in enumerate(harness.rules):
        before, after = harness.rules[:number], harness.rules[number + 1 :]
        yield f"{rule.id}: removed", harness.with_rules((*before, *after))
        for tree in variants(rule.tree):
            yield f"{rule.id}: {in_words(tree)}", harness.with_rules((*before, rule.with_tree(tree), *after))
    for name, node in harness.derived.items():
        for tree in variants(node):
            yield f"{name}: {in_words(tree)}", replace(harness, derived={**harness.derived, name: tree})


def variants(node: Node) -> Iterator[Node]:
    """Yield it with one operator turned, one constant 1 % up or down, or one term dropped."""
    match node:
        case Literal(fmpq() as value, _) if not isinstance(value, bool) and value != 0:
            for factor in (fmpq(101, 100), fmpq(99, 100)):
                yield Literal(value * factor, str(value * factor))
        case Call(name, operands):
            if name in _TURNED:
                yield Call(_TURNED[name], operands)
            if name in ("+", "-", "*", "/"):
                yield operands[0]
            if name in ("and", "or"):
                yield Call("or" if name == "and" else "and", operands)
                yield from operands
            for number, each in enumerate(operands):
                for changed in variants(each):
                    yield Call(name, (*operands[:number], changed, *operands[number + 1 :]))
        case Each(name, body, bound, items):
            for changed in variants(body):
                yield Each(name, changed, bound, items)

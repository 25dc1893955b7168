"""Cases: golden and poisoned artifacts, mutants of rules that some case must notice, and the case that a surprise adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flint import fmpq

from sagagraph.errors import InvalidInputError
from sagagraph.harness.judging.check import RuleVerdict, check, exact, run_tests
from sagagraph.harness.language.tree import Call, Each, Literal, Node, in_words
from sagagraph.harness.proof.system import significant
from sagagraph.harness.registry.harness import Harness
from sagagraph.harness.registry.loading import harness_of

_TURNED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class Mutant:
    """Mutant of a rule. `name`: what was changed, as a waiver states it. `killed`: for some case, different rules fail than
    before.
    """

    name: str
    killed: bool


def mutants(harness: Harness) -> tuple[Mutant, ...]:
    """Return every mutant of every rule and derived quantity, and whether the cases of the harness notice it."""
    harness = harness.inside
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
    """Yield it with one operator inverted, one constant 1 % up or down, or one term dropped."""
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


@dataclass(frozen=True, slots=True)
class _Bound:
    variable: str
    sign: str
    at: fmpq
    room: fmpq
    """The distance to the nearest golden case, as a share of the range of all golden cases and the surprise."""

    def stated(self, case: Mapping[str, Any], rule_id: str) -> Mapping[str, Any]:
        """Return a poisoned case that states exactly which rules it fails, the new rule included if it fails that too."""
        value = exact(case["artifact"].get(self.variable))
        is_kept = not isinstance(value, fmpq) or (value <= self.at if self.sign == "<=" else value >= self.at)
        return case if is_kept or case.get("fails") is None else {**case, "fails": [*case["fails"], rule_id]}


def learned(harness: Harness, artifact: Mapping[str, Any], name: str) -> Harness:
    """Return the next version of a harness, with the surprise as a poisoned case and a rule that it fails.

    Raises:
        InvalidInputError: the artifact does not pass now, or no bound on one variable separates it from the golden cases.
    """
    if check(harness, artifact).verdict is not RuleVerdict.PASS:
        raise InvalidInputError("does not pass: the harness knows it already", field="artifact")
    bound = max(_bounds(harness, artifact), key=lambda each: each.room, default=None)
    if bound is None:
        raise InvalidInputError("no bound on one variable tells it from the golden cases: write the rule", field="artifact")
    rule_id, limit = f"LEARNED_{name}", f"learned_{name}"
    document = dict(harness.document)
    tests = dict(document.get("tests") or {})
    case = {"name": name, "artifact": dict(artifact), "must_fail": [rule_id]}
    unit = harness.variables[bound.variable].unit
    changed = harness_of({
        **document,
        "version": fmpq(harness.version + 1),
        "variables": {**document["variables"], limit: {"unit": unit, "value": bound.at, "kind": "parameter"}},
        "rules": [*document["rules"], {"id": rule_id, "assertion": f"{bound.variable} {bound.sign} {limit}",
                                       "target_field": bound.variable, "severity": "CRITICAL", "source": f"learned from {name}"}],
        "tests": {**tests, "poisoned": [*(bound.stated(each, rule_id) for each in tests.get("poisoned") or ()), case]},
    })  # fmt: skip
    broken = [each.name for each in run_tests(changed).cases if not each.kept]
    if broken:
        raise InvalidInputError(f"cases would no longer be as stated: {', '.join(broken)}; write the rule", field="artifact")
    return changed


def _bounds(harness: Harness, artifact: Mapping[str, Any]) -> Iterator[_Bound]:
    """Yield a bound half-way to the nearest golden case, for each variable with all golden cases on one side."""
    for name, variable in harness.variables.items():
        value = exact(artifact.get(name))
        golden = [each for case in harness.golden if isinstance(each := exact(case.artifact.get(name)), fmpq)]
        if not variable.is_decided or not variable.is_number or not isinstance(value, fmpq) or not golden:
            continue
        for sign, nearest in (("<=", max(golden)), (">=", min(golden))):
            gap = value - nearest if sign == "<=" else nearest - value
            if gap > 0:
                whole = max(*golden, value) - min(*golden, value)
                yield _Bound(name, sign, significant((value + nearest) / 2, 6, upwards=sign == ">="), gap / whole)

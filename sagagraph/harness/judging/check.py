"""Checks: every rule of a harness on one artifact, with its margin and the values that it used. It gives no advice."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from flint import arb, fmpq

from sagagraph.errors import InvalidInputError
from sagagraph.files import text_file
from sagagraph.harness.judging.exact import NotApartError, NoValueError, Terms
from sagagraph.harness.language.core import CoreForm, NotSupportedError, TooLargeError
from sagagraph.harness.language.parser import NotANumberError, rational
from sagagraph.harness.language.polynomials import TooManyError, polynomial
from sagagraph.harness.language.tree import COMPARISONS, Call, Node
from sagagraph.harness.registry.forms import Rule
from sagagraph.harness.registry.harness import Harness, Value, Variable, hash_of

BITS: Final = (50, 100, 200)


class RuleVerdict(StrEnum):
    PASS = "PASS"  # noqa: S105 - no password
    FAIL = "FAIL"
    ERROR = "ERROR"
    """It has no value: a missing field, a value of the wrong kind, a division by zero, an overflow. Never a pass."""
    UNDECIDED = "UNDECIDED"
    """200 bits do not tell the sides apart. Treated as a failure."""


@dataclass(frozen=True, slots=True)
class RuleResult:
    """`margin`: in the rule's unit, how far the rule is kept (negative: missed); None where there is no such number."""

    rule: str
    verdict: RuleVerdict
    margin: float | None = None
    left: float | None = None
    right: float | None = None
    operator: str = ""
    trace: Mapping[str, Any] | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """`outside`: decided fields that are outside their domains; then nothing passes as a whole."""

    verdict: RuleVerdict
    rules: tuple[RuleResult, ...]
    outside: tuple[str, ...]
    artifact_hash: str
    harness_hash: str

    @property
    def failed(self) -> tuple[str, ...]:
        """The rules that do not pass."""
        return tuple(each.rule for each in self.rules if each.verdict is not RuleVerdict.PASS)


def read_artifact(path: Path) -> Mapping[str, Any]:
    """Read an artifact: a JSON object, with exact numbers. Raises `InvalidInputError`."""
    return artifact_from(text_file(path, "--artifact"), "--artifact")


def artifact_from(text: str, field: str = "artifact") -> Mapping[str, Any]:
    """Return an artifact from its JSON. What is no finite number becomes None: rules that read it are in error."""
    try:
        found = json.loads(text, parse_float=_decimal, parse_int=_decimal, parse_constant=lambda _: None)
        json.dumps(found, ensure_ascii=False, default=str).encode()  # half a character can be escaped in JSON
    except (ValueError, RecursionError) as exc:
        raise InvalidInputError(f"is not JSON: {str(exc)[:120]}", field=field) from exc
    if not isinstance(found, dict):
        raise InvalidInputError("an artifact is a JSON object", field=field)
    return found


def _decimal(text: str) -> fmpq | None:
    try:
        return rational(text)
    except NotANumberError:
        return None


def exact(value: object) -> Value | None:
    """Return a value of JSON or Python exactly: a float is the decimal that Python writes for it. None for what is no value."""
    if isinstance(value, bool | str | fmpq):
        return value
    if isinstance(value, int | float):
        return _decimal(repr(value))
    if isinstance(value, list | tuple):
        items = [exact(each) for each in value]
        return None if None in items else tuple(each for each in items if each is not None)
    return None


def check(harness: Harness, artifact: Mapping[str, Any]) -> Checked:
    """Judge an artifact. The same input gives the same answer everywhere; nothing of it raises."""
    values = {name: exact(value) for name, value in artifact.items()}
    given = {**values, **{name: each.value for name, each in harness.variables.items() if each.value is not None}}
    judge = _Judge(harness, given, [Terms(given, harness.derived, bits) for bits in BITS], _faults(harness, values))
    results = tuple(judge.result(rule) for rule in harness.rules)
    outside = _outside(harness, values)
    return Checked(_overall(results, outside), results, outside, hash_of(values), harness.hash)


def passes(harness: Harness, artifact: Mapping[str, Value]) -> bool:
    """Tell whether an artifact passes all rules within its domains: the verdict of `check`, without what it says."""
    if _faults(harness, artifact) or _outside(harness, artifact):
        return False
    given = {**artifact, **{name: each.value for name, each in harness.variables.items() if each.value is not None}}
    judge = _Judge(harness, given, [Terms(given, harness.derived, bits) for bits in BITS], {})
    return all(judge.verdict(rule)[0] is RuleVerdict.PASS for rule in harness.rules)


def _outside(harness: Harness, values: Mapping[str, Value | None]) -> tuple[str, ...]:
    decided = (each for each in harness.variables.values() if each.is_decided)
    return tuple(each.name for each in decided if each.name in values and each.excludes(values[each.name]))


def _overall(results: tuple[RuleResult, ...], outside: tuple[str, ...]) -> RuleVerdict:
    found = {each.verdict for each in results}
    for worst in (RuleVerdict.ERROR, RuleVerdict.FAIL, RuleVerdict.UNDECIDED):
        if worst in found:
            return worst
    return RuleVerdict.FAIL if outside else RuleVerdict.PASS


def _faults(harness: Harness, values: Mapping[str, Value | None]) -> dict[str, str]:
    """Return why stated values cannot be used, by their names."""
    return {name: fault for name, value in values.items() if (fault := _fault(harness.variables.get(name), value))}


def _fault(variable: Variable | None, value: Value | None) -> str:
    if value is None:
        return "is no finite number"
    if variable is None:
        return ""
    kinds = {"number": fmpq, "integer": fmpq, "boolean": bool, "string": str, "list": tuple}
    if not isinstance(value, kinds[variable.kind]):
        return f"is no {variable.kind}"
    if variable.value is not None and variable.value != value:
        return "is fixed by the harness, and the artifact states something else"
    return ""


@dataclass(frozen=True, slots=True)
class _Judge:
    """Of one artifact. `terms`: its values with more and more bits. `faults`: why fields cannot be used."""

    harness: Harness
    given: Mapping[str, Value | None]
    terms: list[Terms]
    faults: Mapping[str, str]

    def result(self, rule: Rule) -> RuleResult:
        fields = self.harness.fields_of(rule)
        trace = {name: shown(self.given[name]) for name in fields if self.given.get(name) is not None}
        missing = {name: "is missing" for name in fields if name not in self.given}
        for name in fields:
            if name in self.faults or name in missing:
                return RuleResult(
                    rule.id, RuleVerdict.ERROR, trace=trace, reason=f"{name} {self.faults.get(name) or missing[name]}"
                )
        verdict, reason = self.verdict(rule)
        left = right = None
        operator = ""
        if isinstance(rule.tree, Call) and rule.tree.name in COMPARISONS:
            left, right = (self._number(each) for each in rule.tree.operands)
            operator = rule.tree.name
        margin = _float(self._margin(rule.tree))
        return RuleResult(rule.id, verdict, margin, _float(left), _float(right), operator, trace, reason)

    def verdict(self, rule: Rule) -> tuple[RuleVerdict, str]:
        """Return it with the reason, where it is neither passed nor failed."""
        for each in self.terms:
            try:
                holds = each.value(rule.tree)
            except NotApartError as exc:
                apart = exc
            except NoValueError as exc:
                return RuleVerdict.ERROR, str(exc)
            except RecursionError:
                return RuleVerdict.ERROR, "it is nested too deep"
            else:
                if not isinstance(holds, bool):
                    return RuleVerdict.ERROR, "it is neither true nor false"
                return RuleVerdict.PASS if holds else RuleVerdict.FAIL, ""
        return self._same_or_undecided(rule, apart)

    def _same_or_undecided(self, rule: Rule, apart: NotApartError) -> tuple[RuleVerdict, str]:
        """Sides that no precision tells apart are equal only if they are the same by the rules of algebra, term by term."""
        tree = rule.tree
        if isinstance(tree, Call) and tree.name in COMPARISONS and apart.sides is tree.operands:
            form = CoreForm({name: value for name, value in self.given.items() if value is not None}, {}, self.harness.derived)
            with suppress(NotSupportedError, TooLargeError, TooManyError, RecursionError):
                if not polynomial(form.number(Call("-", apart.sides))):
                    return RuleVerdict.PASS if tree.name in ("<=", ">=", "==") else RuleVerdict.FAIL, ""
        return RuleVerdict.UNDECIDED, "200 bits do not tell its sides apart"

    def _number(self, node: Node) -> fmpq | arb | None:
        try:
            return self.terms[1].number(node)
        except (NoValueError, NotApartError, RecursionError):
            return None

    def _margin(self, tree: Node) -> Any:
        """`Any`: Flint types its arithmetic by what all its numbers have in common."""
        if not isinstance(tree, Call):
            return None
        if tree.name in COMPARISONS:
            left, right = (self._number(each) for each in tree.operands)
            return None if left is None or right is None else _distance(tree.name, left, right)
        if tree.name not in ("not", "and", "or"):
            return None
        found = [self._margin(each) for each in tree.operands]
        if None in found:
            return None
        if tree.name == "not":
            return -found[0]
        return (min if tree.name == "and" else max)(found, key=lambda each: float(arb(each)))


def _distance(sign: str, left: Any, right: Any) -> Any:
    if sign in ("<", "<="):
        return right - left
    if sign in (">", ">="):
        return left - right
    return -abs(left - right) if sign == "==" else abs(left - right)


def _float(value: fmpq | arb | None) -> float | None:
    """Return it with twelve digits, the same on every machine; None where it is too large for JSON."""
    if value is None or not abs(arb(value)) < 10**300:
        return None
    found = float(value.mid()) if isinstance(value, arb) else int(value.p) / int(value.q)
    return float(f"{found:.12g}")


def shown(value: Value | None) -> Any:
    """Return a value for JSON: an integer as one, other rationals as floats."""
    if isinstance(value, tuple):
        return [shown(each) for each in value]
    if isinstance(value, fmpq) and not isinstance(value, bool):
        if value.q == 1:
            return int(value.p)
        return int(value.p) / int(value.q) if abs(value) < 10**300 and abs(value.q) < 10**300 else str(value)
    return value

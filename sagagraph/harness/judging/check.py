"""Checks: every rule of a harness on one artifact, with its margin and the values that it used. It gives no advice."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
from sagagraph.harness.registry.harness import Harness, Rule, Value, Variable, hash_of

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
    faults = {name: fault for name, value in values.items() if (fault := _fault(harness.variables.get(name), value))}
    known: dict[str, Value | None] = {name: each.value for name, each in harness.variables.items() if each.value is not None}
    given = {**values, **known}
    terms = [Terms(given, harness.derived, bits) for bits in BITS]
    results = tuple(_judge(harness, rule, given, faults, terms) for rule in harness.rules)
    outside = tuple(
        name for name, each in harness.variables.items() if each.is_decided and name in values and _is_outside(each, values[name])
    )
    return Checked(_overall(results, outside), results, outside, hash_of(_plainly(artifact)), harness.hash)


def passes(harness: Harness, artifact: Mapping[str, Value]) -> bool:
    """Tell whether an artifact passes all rules within its domains: the verdict of `check`, without what it says."""
    if any(_fault(harness.variables.get(name), value) for name, value in artifact.items()):
        return False
    if any(name in harness.variables and _is_outside(harness.variables[name], value) for name, value in artifact.items()):
        return False
    given = {**artifact, **{name: each.value for name, each in harness.variables.items() if each.value is not None}}
    few = Terms(given, harness.derived, BITS[0])
    for rule in harness.rules:
        try:
            holds = few.value(rule.tree)
        except NotApartError:
            holds = check(harness.with_rules((rule,)), artifact).verdict is RuleVerdict.PASS
        except (NoValueError, RecursionError):
            return False
        if holds is not True:
            return False
    return True


def _plainly(artifact: Mapping[str, Any]) -> Any:
    return {name: value if isinstance(value, fmpq | str | bool) else exact(value) for name, value in artifact.items()}


def _overall(results: tuple[RuleResult, ...], outside: tuple[str, ...]) -> RuleVerdict:
    found = {each.verdict for each in results}
    for worst in (RuleVerdict.ERROR, RuleVerdict.FAIL, RuleVerdict.UNDECIDED):
        if worst in found:
            return worst
    return RuleVerdict.FAIL if outside else RuleVerdict.PASS


def _fault(variable: Variable | None, value: Value | None) -> str:
    """Why a stated value cannot be used; empty where it can."""
    if value is None:
        return "is no finite number"
    if variable is None:
        return ""
    kinds = {"number": fmpq, "integer": fmpq, "boolean": bool, "string": str, "list": tuple}
    if not isinstance(value, kinds[variable.kind]) or (isinstance(value, bool) and variable.kind != "boolean"):
        return f"is no {variable.kind}"
    if variable.value is not None and variable.value != value:
        return "is fixed by the harness, and the artifact states something else"
    return ""


def _is_outside(variable: Variable, value: Value | None) -> bool:
    if variable.choices:
        return value not in variable.choices
    if not isinstance(value, fmpq) or isinstance(value, bool):
        return False
    below = variable.low is not None and value < variable.low
    return below or (variable.high is not None and value > variable.high) or (variable.kind == "integer" and value.q != 1)


def _judge(
    harness: Harness, rule: Rule, given: Mapping[str, Value | None], faults: Mapping[str, str], terms: list[Terms]
) -> RuleResult:
    fields = harness.fields_of(rule)
    trace = {name: shown(given[name]) for name in fields if given.get(name) is not None}
    for name in fields:
        if name in faults:
            return RuleResult(rule.id, RuleVerdict.ERROR, trace=trace, reason=f"{name} {faults[name]}")
        if name not in given:
            return RuleResult(rule.id, RuleVerdict.ERROR, trace=trace, reason=f"{name} is missing")
    stated = _stated(rule, terms[1], trace)
    for each in terms:
        try:
            holds = each.value(rule.tree)
        except NotApartError as exc:
            apart = exc
        except (NoValueError, RecursionError) as exc:
            return _with(stated, RuleVerdict.ERROR, str(exc) if isinstance(exc, NoValueError) else "it is nested too deep")
        else:
            if not isinstance(holds, bool):
                return _with(stated, RuleVerdict.ERROR, "it is neither true nor false")
            return _with(stated, RuleVerdict.PASS if holds else RuleVerdict.FAIL)
    return _same_or_undecided(stated, rule, apart, given, harness)


def _same_or_undecided(
    stated: RuleResult, rule: Rule, apart: NotApartError, given: Mapping[str, Value | None], harness: Harness
) -> RuleResult:
    """Sides that no precision tells apart are equal only if they are the same symbolically, term by term."""
    compared = isinstance(rule.tree, Call) and rule.tree.name in COMPARISONS and apart.sides == rule.tree.operands
    if compared and isinstance(rule.tree, Call) and identical(Call("-", apart.sides), given, harness.derived):
        holds = rule.tree.name in ("<=", ">=", "==")
        return _with(stated, RuleVerdict.PASS if holds else RuleVerdict.FAIL)
    return _with(stated, RuleVerdict.UNDECIDED, "200 bits do not tell its sides apart")


def identical(difference: Node, values: Mapping[str, Value | None], derived: Mapping[str, Node]) -> bool:
    """Tell whether a difference is 0 by the rules of algebra alone, once values are put in."""
    form = CoreForm({name: value for name, value in values.items() if value is not None}, {}, derived)
    try:
        return not polynomial(form.number(difference))
    except (NotSupportedError, TooLargeError, TooManyError, RecursionError):
        return False


def _with(result: RuleResult, verdict: RuleVerdict, reason: str = "") -> RuleResult:
    return RuleResult(result.rule, verdict, result.margin, result.left, result.right, result.operator, result.trace, reason)


def _stated(rule: Rule, terms: Terms, trace: Mapping[str, Any]) -> RuleResult:
    """What is said of a rule whatever its verdict."""
    tree = rule.tree
    if not isinstance(tree, Call) or tree.name not in COMPARISONS:
        return RuleResult(rule.id, RuleVerdict.FAIL, _float(_margin(tree, terms)), trace=trace)
    left, right = (_try(each, terms) for each in tree.operands)
    margin = None if left is None or right is None else _distance(tree.name, left, right)
    return RuleResult(rule.id, RuleVerdict.FAIL, _float(margin), _float(left), _float(right), tree.name, trace)


def _try(node: Node, terms: Terms) -> fmpq | arb | None:
    try:
        return terms.number(node)
    except (NoValueError, NotApartError, RecursionError):
        return None


def _margin(tree: Node, terms: Terms) -> Any:
    """`Any`: Flint types its arithmetic by what all its numbers have in common."""
    if not isinstance(tree, Call):
        return None
    if tree.name in COMPARISONS:
        left, right = (_try(each, terms) for each in tree.operands)
        return None if left is None or right is None else _distance(tree.name, left, right)
    if tree.name == "not":
        inner = _margin(tree.operands[0], terms)
        return None if inner is None else -inner
    if tree.name in ("and", "or"):
        found = [each for each in (_margin(part, terms) for part in tree.operands) if each is not None]
        if len(found) < len(tree.operands):
            return None
        return (min if tree.name == "and" else max)(found, key=lambda each: float(arb(each)))
    return None


def _distance(sign: str, left: Any, right: Any) -> Any:
    if sign in ("<", "<="):
        return right - left
    if sign in (">", ">="):
        return left - right
    return -abs(left - right) if sign == "==" else abs(left - right)


def _float(value: fmpq | arb | None) -> float | None:
    """Return it with twelve digits, the same on every machine; None where it is too large for JSON."""
    if value is None:
        return None
    found = (
        float(arb(value).mid())
        if isinstance(value, arb)
        else float(int(value.p) / int(value.q))
        if abs(value) < 10**300
        else None
    )
    return None if found is None or found in (float("inf"), float("-inf")) or found != found else float(f"{found:.12g}")


def shown(value: Value | None) -> Any:
    """Return a value for JSON: an integer as one, other rationals as floats."""
    if isinstance(value, tuple):
        return [shown(each) for each in value]
    if isinstance(value, fmpq) and not isinstance(value, bool):
        if value.q == 1:
            return int(value.p)
        return int(value.p) / int(value.q) if abs(value) < 10**300 and abs(value.q) < 10**300 else str(value)
    return value

"""Checks: every rule of a harness applied to one artifact, with its margin and the values that it used. It gives no advice."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from flint import arb, fmpq

from sagagraph.errors import InvalidInputError
from sagagraph.files import text_file
from sagagraph.harness.judging.exact import NotApartError, NoValueError, Terms
from sagagraph.harness.language.core import CoreForm, NotSupportedError, TooLargeError
from sagagraph.harness.language.formulas import TooManyError, polynomial
from sagagraph.harness.language.parser import MOST_DIGITS, NotANumberError, rational
from sagagraph.harness.language.tree import COMPARISONS, Call, Node
from sagagraph.harness.registry.harness import Case, Harness, Rule, Value, Variable, hash_of

BITS: Final = (50, 100, 200)


class RuleVerdict(StrEnum):
    PASS = "PASS"  # noqa: S105 - no password
    FAIL = "FAIL"
    ERROR = "ERROR"
    """It has no value: a missing field, a value of the wrong kind, a division by zero, an overflow. Never a pass."""
    UNKNOWN = "UNKNOWN"
    """An external validator should have judged it, but has not. Treated as a failure."""
    UNDECIDED = "UNDECIDED"
    """200 bits do not separate the sides. Treated as a failure."""


@dataclass(frozen=True, slots=True)
class RuleResult:
    """Result of a rule. `margin`: in the rule's unit, how far it is from being broken (negative: by how much it is); None if
    there is no such number.
    """

    rule: str
    verdict: RuleVerdict
    margin: float | None = None
    left: float | None = None
    right: float | None = None
    operator: str = ""
    trace: Mapping[str, Any] | None = None
    reason: str = ""


_NONE: Final[Mapping[str, RuleResult]] = {}


@dataclass(frozen=True, slots=True)
class Checked:
    """Result of a check. `outside`: decided fields that are outside their domains; if there are any, nothing passes as a
    whole.
    """

    verdict: RuleVerdict
    rules: tuple[RuleResult, ...]
    outside: tuple[str, ...]
    artifact_hash: str
    harness_hash: str

    @property
    def failed(self) -> tuple[str, ...]:
        """Return the rules that do not pass."""
        return tuple(each.rule for each in self.rules if each.verdict is not RuleVerdict.PASS)


def read_artifact(path: Path) -> Mapping[str, Any]:
    """Read an artifact: a JSON object, with exact numbers. Raises `InvalidInputError`."""
    return artifact_from(text_file(path, "--artifact"), "--artifact")


def artifact_from(text: str, field: str = "artifact") -> Mapping[str, Any]:
    """Return an artifact from its JSON. Numbers that are not finite become None: rules that read them are in error."""
    try:
        found = json.loads(text, parse_float=_decimal, parse_int=_decimal, parse_constant=lambda _: None)
        json.dumps(found, ensure_ascii=False, default=str).encode()  # a lone surrogate can be escaped in JSON
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
    """Return a value of JSON or Python exactly: a float is the decimal that Python writes for it. None for anything that is not a
    value.
    """
    if isinstance(value, bool | str | fmpq):
        return value
    if isinstance(value, int | float):
        return _decimal(repr(value)) if abs(value) < 10**MOST_DIGITS else None
    if isinstance(value, list | tuple):
        try:
            items = [exact(each) for each in value]
        except RecursionError:
            return None
        return None if None in items else tuple(each for each in items if each is not None)
    return None


def check(harness: Harness, artifact: Mapping[str, Any], outside: Mapping[str, RuleResult] = _NONE) -> Checked:
    """Judge an artifact. The same input gives the same answer everywhere, and no input raises an exception.

    `outside`: verdicts of rules that external validators judge; without them these are UNKNOWN.
    """
    values = {name: exact(value) for name, value in artifact.items()}
    judge = _Judge(harness, values)
    unknown = "it is judged outside, and nobody was asked"
    results = tuple(
        outside.get(rule.id, RuleResult(rule.id, RuleVerdict.UNKNOWN, reason=unknown)) if rule.uses else judge.result(rule)
        for rule in harness.rules
    )
    found = {each.verdict for each in results}
    worst = next(
        (each for each in (RuleVerdict.ERROR, RuleVerdict.FAIL, RuleVerdict.UNDECIDED, RuleVerdict.UNKNOWN) if each in found),
        None,
    )
    beyond = judge.outside()
    verdict = worst or (RuleVerdict.FAIL if beyond else RuleVerdict.PASS)
    return Checked(verdict, results, beyond, hash_of(values), harness.hash)


def passes(harness: Harness, artifact: Mapping[str, Value]) -> bool:
    """Tell whether an artifact passes all rules within its domains: the verdict of `check`, without the details."""
    judge = _Judge(harness, artifact)
    if judge.faults or judge.outside():
        return False
    return all(judge.verdict(rule)[0] is RuleVerdict.PASS for rule in harness.rules)


def failing(harness: Harness, artifact: Mapping[str, Value]) -> frozenset[str]:
    """Return the ids of the rules that an artifact does not pass."""
    judge = _Judge(harness, artifact)
    return frozenset(rule.id for rule in harness.rules if judge.verdict(rule)[0] is not RuleVerdict.PASS)


class _Judge:
    """Judge of one artifact. `faults`: why fields that it states cannot be used, by their names."""

    def __init__(self, harness: Harness, values: Mapping[str, Value | None]) -> None:
        self.harness = harness
        self.values = values
        self.given = {**values, **{name: each.value for name, each in harness.variables.items() if each.value is not None}}
        self.terms = [Terms(self.given, harness.derived, bits) for bits in BITS]
        stated = ((name, _fault(harness.variables.get(name), value)) for name, value in values.items())
        self.faults = {name: fault for name, fault in stated if fault}

    def outside(self) -> tuple[str, ...]:
        """Return the decided fields that are outside their domains."""
        decided = self.harness.decided
        return tuple(name for name, each in decided.items() if name in self.values and each.excludes(self.values[name]))

    def result(self, rule: Rule) -> RuleResult:
        fields = self.harness.fields_of(rule)
        trace = {name: shown(self.given[name]) for name in fields if self.given.get(name) is not None}
        for name in fields:
            fault = self.faults.get(name, "" if name in self.given else "is missing")
            if fault:
                return RuleResult(rule.id, RuleVerdict.ERROR, trace=trace, reason=f"{name} {fault}")
        verdict, reason = self.verdict(rule)
        margin = _float(self._margin(rule.tree))
        if not isinstance(rule.tree, Call) or rule.tree.name not in COMPARISONS:
            return RuleResult(rule.id, verdict, margin, trace=trace, reason=reason)
        left, right = (_float(self._number(each)) for each in rule.tree.operands)
        return RuleResult(rule.id, verdict, margin, left, right, rule.tree.name, trace, reason)

    def verdict(self, rule: Rule) -> tuple[RuleVerdict, str]:
        """Return the verdict with the reason, if it is neither passed nor failed.

        Sides that no precision distinguishes are equal only if they are the same by the rules of algebra, term by term.
        """
        for each in self.terms:
            try:
                return RuleVerdict.PASS if each.truth(rule.tree) else RuleVerdict.FAIL, ""
            except NotApartError as exc:
                sides = exc.sides
            except NoValueError as exc:
                return RuleVerdict.ERROR, str(exc)
            except RecursionError:
                return RuleVerdict.ERROR, "it is nested too deep"
        tree = rule.tree
        if isinstance(tree, Call) and tree.name in COMPARISONS and sides is tree.operands:
            form = CoreForm({name: value for name, value in self.given.items() if value is not None}, {}, self.harness.derived)
            with suppress(NotSupportedError, TooLargeError, TooManyError, RecursionError):
                if not polynomial(form.number(Call("-", sides))):
                    return RuleVerdict.PASS if tree.name in ("<=", ">=", "==") else RuleVerdict.FAIL, ""
        return RuleVerdict.UNDECIDED, "200 bits do not tell its sides apart"

    def _number(self, node: Node) -> fmpq | arb | None:
        try:
            return self.terms[1].number(node)
        except (NoValueError, NotApartError, RecursionError):
            return None

    def _margin(self, tree: Node) -> Any:
        """Return the margin. `Any`: Flint types its arithmetic by what all its numbers have in common."""
        if not isinstance(tree, Call) or tree.name not in (*COMPARISONS, "not", "and", "or"):
            return None
        found: list[Any] = [(self._number if tree.name in COMPARISONS else self._margin)(each) for each in tree.operands]
        if None in found:
            return None
        match tree.name, found:
            case "not", [margin]:
                return -margin
            case "and" | "or" as word, margins:
                return (min if word == "and" else max)(margins, key=lambda each: float(arb(each)))
            case "<" | "<=", [left, right]:
                return right - left
            case ">" | ">=", [left, right]:
                return left - right
            case sign, [left, right]:
                return -abs(left - right) if sign == "==" else abs(left - right)


def _fault(variable: Variable | None, value: Value | None) -> str:
    if value is None:
        return "is not a finite number"
    if variable is None:
        return ""
    kinds = {"number": fmpq, "integer": fmpq, "boolean": bool, "string": str, "list": tuple}
    if not isinstance(value, kinds[variable.kind]):
        return f"is no {variable.kind}"
    is_moved = variable.value is not None and variable.value != value
    return "is fixed by the harness, and the artifact states something else" if is_moved else ""


def _float(value: fmpq | arb | None) -> float | None:
    """Return it with twelve digits, the same on every machine; None if it is too large for JSON."""
    if value is None or not abs(arb(value)) < 10**300:
        return None
    found = float(value.mid()) if isinstance(value, arb) else int(value.p) / int(value.q)
    return float(f"{found:.12g}")


def shown(value: Value | None) -> Any:
    """Return a value for JSON: a whole number as an integer, other rationals as floats."""
    if isinstance(value, tuple):
        return [shown(each) for each in value]
    if not isinstance(value, fmpq):
        return value
    if value.q == 1:
        return int(value.p)
    return int(value.p) / int(value.q) if abs(value) < 10**300 and abs(value.q) < 10**300 else str(value)


def checked_json(
    harness: Harness, artifact: Mapping[str, Any] | None, outside: Mapping[str, RuleResult] = _NONE
) -> dict[str, Any]:
    """Return the result for an artifact or, without one, for the harness's own tests (docs/formats.md)."""
    said: dict[str, Any] = {"harness": harness.id, "version": harness.version, "harness_hash": harness.hash,
                            "warnings": list(harness.warnings)}  # fmt: skip
    if artifact is not None:
        found = check(harness, artifact, outside)
        return {**said, "verdict": found.verdict, "rules": [asdict(each) for each in found.rules],
                "outside_domain": list(found.outside), "artifact_hash": found.artifact_hash}  # fmt: skip
    tested = run_tests(harness)
    rules = [
        {"rule": each.id, "verdict": "FAIL" if each.id in tested.broken else "PASS", "margin": None} for each in harness.rules
    ]
    verdict = "PASS" if tested.kept else "FAIL"
    return {**said, "verdict": verdict, "rules": rules, "tests": [asdict(each) for each in tested.cases]}


# -- the tests of a harness -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tested:
    """Tested case. `fails`: the rules that the artifact does not pass. `reason`: what differs from what the case states."""

    name: str
    kept: bool
    fails: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TestedHarness:
    """Tested harness. `broken`: rules for which some test differs from what it states."""

    cases: tuple[Tested, ...]
    broken: frozenset[str]

    @property
    def kept(self) -> bool:
        return all(each.kept for each in self.cases)


def run_tests(harness: Harness) -> TestedHarness:
    """Judge all golden and poisoned artifacts, by the rules that need no external validator."""
    harness = harness.inside
    broken: set[str] = set()
    cases = [_run(harness, each, broken, is_golden=True) for each in harness.golden]
    cases += [_run(harness, each, broken, is_golden=False) for each in harness.poisoned]
    return TestedHarness(tuple(cases), frozenset(broken))


def _run(harness: Harness, case: Case, broken: set[str], *, is_golden: bool) -> Tested:
    checked = check(harness, case.artifact)
    fails, must = checked.failed, case.must_fail if case.fails is None else case.fails
    wrong = set(fails) ^ set(must) if is_golden or case.fails is not None else set(must) - set(fails)
    broken |= wrong
    unstated = not is_golden and not must and not fails
    if not wrong and not unstated and not (is_golden and checked.outside):
        return Tested(case.name, kept=True, fails=fails)
    wanted = ", ".join(must) or ("some rule" if unstated else "none")
    outside = f"; {', '.join(checked.outside)} outside the domain" if checked.outside else ""
    return Tested(case.name, kept=False, fails=fails, reason=f"must fail {wanted}, fails {', '.join(fails) or 'none'}{outside}")

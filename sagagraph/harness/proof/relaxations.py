"""Relaxations: the least change of one number, a parameter or a limit that a rule states, after which some artifact passes all
rules.

Where all is linear, Z3 finds the end exactly. Elsewhere boxes are searched nearest first, so that what is left behind is a
proven bound.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Final

from flint import fmpq

from sagagraph.harness.language.core import And, Below, Formula, Or, Var
from sagagraph.harness.language.polynomials import TooManyError, polynomial
from sagagraph.harness.language.tree import COMPARISONS, Call, Literal, Name
from sagagraph.harness.proof.linear import exact_float, from_z3, to_z3
from sagagraph.harness.proof.rounding import significant
from sagagraph.harness.proof.search import Budget, Node, Satisfied, Search, middle_of, solve
from sagagraph.harness.proof.system import Point, Span, System, UnsupportedRuleError, system_of
from sagagraph.harness.registry.harness import Harness, Rule, Severity, Variable

LIMIT: Final = "limit_of_rule_"
_REACH: Final = (fmpq(1, 2), fmpq(4), fmpq(32), fmpq(1000), fmpq(10) ** 6)
_PRECISION: Final = 1e-9
_DIGITS: Final = 8


@dataclass(frozen=True, slots=True)
class Relaxation:
    """`name`: of a parameter, or of a rule whose limit is a plain number. `to`: sufficient, and no more than rounding away
    from the least.

    `least`: the end itself, of which no smaller change suffices; `strict`: it does not suffice itself. `proven`: that nothing
    less does.
    """

    kind: str
    name: str
    before: fmpq
    to: fmpq
    least: fmpq
    strict: bool
    proven: bool
    witness: Point


def negotiable(harness: Harness, rules: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield what may be moved: negotiable parameters, and limits that rules in conflict state as numbers, unless they are
    FATAL.
    """
    for name, each in harness.variables.items():
        if each.is_negotiable:
            yield "parameter", name
    for rule in harness.rules:
        if rule.id in rules and rule.severity is not Severity.FATAL and rule.is_negotiable and limit_of(rule) is not None:
            yield "rule", rule.id


def limits(harness: Harness, rules: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield every limit in a conflict: what stands alone on one side of a comparison, negotiable or not."""
    for rule in harness.rules:
        if rule.id not in rules or not isinstance(rule.tree, Call) or rule.tree.name not in COMPARISONS:
            continue
        for side in rule.tree.operands:
            if isinstance(side, Name) and side.name in harness.variables and not harness.variables[side.name].is_decided:
                yield "parameter", side.name
        if limit_of(rule) is not None:
            yield "rule", rule.id


def limit_of(rule: Rule) -> tuple[int, fmpq] | None:
    """Return on which side of its comparison a rule states a plain number, and which."""
    if isinstance(rule.tree, Call) and rule.tree.name in COMPARISONS - {"==", "!="}:
        for side, operand in enumerate(rule.tree.operands):
            value, sign = (operand.operands[0], -1) if isinstance(operand, Call) and operand.name == "neg" else (operand, 1)
            if isinstance(value, Literal) and isinstance(value.value, fmpq) and not isinstance(value.value, bool):
                return side, value.value * sign
    return None


def relaxation(
    harness: Harness, kind: str, name: str, boxes: int, expired: Callable[[], bool] = lambda: False
) -> Relaxation | None:
    """Return the least change that suffices alone, in either direction; None where none was found. Raises
    `UnsupportedRuleError`.
    """
    moved, variable = (harness, harness.variables[name]) if kind == "parameter" else _with_limit(harness, harness.rule(name))
    before = variable.value
    if not isinstance(before, fmpq):
        return None
    found = [each for sign in (1, -1) if (each := _one_way(moved, variable, before, sign, kind, boxes, expired)) is not None]
    best = min(found, key=lambda each: abs(each.least - before), default=None)
    return None if best is None else replace(best, kind=kind, name=name)


def _with_limit(harness: Harness, rule: Rule) -> tuple[Harness, Variable]:
    """Return the harness with a rule's number as a parameter."""
    stated = limit_of(rule)
    if stated is None or not isinstance(rule.tree, Call):
        raise UnsupportedRuleError(f"rule {rule.id} states no limit")
    side, value = stated
    name = f"{LIMIT}{[each.id for each in harness.rules].index(rule.id)}"
    operands = tuple(Name(name) if number == side else each for number, each in enumerate(rule.tree.operands))
    variable = Variable(name, "number", value=value)
    rules = tuple(replace(each, tree=Call(rule.tree.name, operands)) if each.id == rule.id else each for each in harness.rules)
    return replace(harness, rules=rules, variables={**harness.variables, name: variable}), variable


def _one_way(
    harness: Harness, variable: Variable, before: fmpq, sign: int, kind: str, boxes: int, expired: Callable[[], bool]
) -> Relaxation | None:
    name = variable.name
    parts = system_of(harness, freed={name: (before, before)}).components()
    if any(name not in each.root.spans and Search(each, Budget(boxes, expired)).run().witness is None for each in parts):
        return None
    part = next((each for each in parts if name in each.root.spans), None)
    if part is None:
        return None
    alone = harness.with_rules(tuple(each for each in harness.rules if each.id in part.rules))
    linear = _linear_optimum(alone, variable, before, sign, kind)
    if linear is not None:
        least, strict = linear
        return (
            None
            if least is None
            else _sufficient(harness, name, before, least, sign, boxes, strict=strict, proven=True, witness=None)
        )
    for reach in _REACH:
        span = _span(variable, before, sign, reach * max(abs(before), fmpq(1)), kind)
        if span is None or expired():
            return None
        system = system_of(alone, freed={name: span})
        found = Search(system, Budget(boxes, expired)).run()
        if found.witness is not None:
            return _nearest(harness, system, name, before, sign, found.witness, boxes, expired)
        if span[0 if sign < 0 else 1] in (variable.low, variable.high) and None not in (variable.low, variable.high):
            return None
    return None


def _span(variable: Variable, before: fmpq, sign: int, reach: fmpq, kind: str) -> Span | None:
    """As far as its domain; without one, a parameter keeps its sign."""
    low, high = variable.low, variable.high
    if low is None and before > 0 and kind == "parameter":
        low = fmpq(0)
    if high is None and before < 0 and kind == "parameter":
        high = fmpq(0)
    far = before + sign * reach
    if sign > 0:
        far = far if high is None else min(far, high)
        return (before, far) if far > before else None
    far = far if low is None else max(far, low)
    return (far, before) if far < before else None


def _nearest(
    harness: Harness, system: System, name: str, before: fmpq, sign: int, witness: Point, boxes: int, expired: Callable[[], bool]
) -> Relaxation | None:
    """Search boxes in the order of how near they come to the value as it is."""
    search = Search(system, Budget(10**9, expired))
    best = witness
    numbered = count()
    queue = [(0.0, next(numbered), Node(system.root))]
    proven = False
    bound = fmpq(0)
    for _ in range(boxes):
        if not queue or expired():
            proven = not queue
            bound = _distance(best, name, before) if not queue else bound
            break
        near, _, node = heapq.heappop(queue)
        bound = max(bound, fmpq(*near.as_integer_ratio()))
        if float_of(_distance(best, name, before)) - near <= _PRECISION * max(1e-9, float_of(abs(before)), near):
            proven = True
            break
        node, _, false = search.narrow(node)
        if false is not None or _bound(node, name, before, sign) >= float_of(_distance(best, name, before)):
            continue
        best = _better(search, node, name, before, sign, best)
        parts = search.open_parts(node)
        try:
            if len(node.box.spans) > 3 and search.refuted_by_sum(node, parts) is not None:
                continue
        except Satisfied as exc:
            best = min(best, exc.point, key=lambda each: _distance(each, name, before))
        division = search.divide(node, parts)
        for each in division.parts if division is not None else ():
            heapq.heappush(queue, (_bound(each, name, before, sign), next(numbered), each))
    least = best[name]
    if not isinstance(least, fmpq):
        return None
    return _sufficient(
        harness, name, before, least, sign, boxes, strict=False, proven=proven, witness=best, bound=before + sign * bound
    )


def _better(search: Search, node: Node, name: str, before: fmpq, sign: int, best: Point) -> Point:
    """With the others in the middle, the nearest value that they allow; tried and judged."""
    others = {each: span for each, span in node.box.floats.items() if each != name}
    box = node.box
    for each, span in others.items():
        at = exact_float(middle_of(span))
        at = fmpq((at + fmpq(1, 2)).floor()) if each in search.system.integers else at
        if each not in box.choices:
            box = box.with_span(each, (at, at))
    narrowed, _, false = search.narrow(Node(box, node.assumed, settled=node.settled))
    if false is None:
        edge = narrowed.box.spans[name][0 if sign > 0 else 1]
        choices = {each: values[0] for each, values in narrowed.box.choices.items() if values and each not in narrowed.box.spans}
        numbers = {each: narrowed.box.spans[each][0] for each in others}
        low, high = node.box.spans[name]
        width = fmpq(0) if low is None or high is None else high - low
        for nudge in (fmpq(0), fmpq(1, 10**15), fmpq(1, 10**12), fmpq(2, 10**9)):
            value = None if edge is None else edge + sign * nudge * max(abs(edge), width, fmpq(1, 10**6))
            point: dict[str, Any] = {**numbers, **choices, name: value}
            if value is not None and abs(value - before) < _distance(best, name, before) and search.satisfies(point):
                return point
    try:
        search.try_points(node, search.open_parts(node))
    except Satisfied as exc:
        if _distance(exc.point, name, before) < _distance(best, name, before):
            return exc.point
    return best


def _distance(point: Point, name: str, before: fmpq) -> fmpq:
    value = point[name]
    return abs(value - before) if isinstance(value, fmpq) else fmpq(0)


def _bound(node: Node, name: str, before: fmpq, sign: int) -> float:
    low, high = node.box.spans[name]
    end = low if sign > 0 else high
    return max(0.0, float_of((end - before) * sign)) if end is not None else 0.0


def float_of(value: fmpq) -> float:
    return int(value.p) / int(value.q)


def _sufficient(
    harness: Harness, name: str, before: fmpq, least: fmpq, sign: int, boxes: int, *,
    strict: bool, proven: bool, witness: Point | None, bound: fmpq | None = None,
) -> Relaxation | None:  # fmt: skip
    """Round it away from `before` until it suffices as it is written."""
    simple = [_simplest(bound, least)] if bound is not None else []
    for to in (*simple, *(_rounded(least, sign, digits, strict=strict) for digits in (_DIGITS, 12, 15))):
        found = solve(system_of(harness.with_values({name: to})), Budget(boxes))
        if found.witness is not None:
            end = simple[0] if simple else least
            return Relaxation("", name, before, to, end, strict, proven, found.witness)
    if witness is None:
        return None
    rest = {each: value for each, value in witness.items() if each != name}
    return Relaxation("", name, before, least, least, strict, proven, rest)


def _rounded(least: fmpq, sign: int, digits: int, *, strict: bool) -> fmpq:
    to = significant(least, digits, upwards=sign > 0)
    return to + sign * fmpq(10) ** (_power(least) - digits) if to == least and strict else to


def _simplest(bound: fmpq, reached: fmpq) -> fmpq:
    """Return the number with the fewest digits between what is proven too little and what suffices."""
    low, high = min(bound, reached), max(bound, reached)
    for digits in range(1, 15):
        for found in (significant(reached, digits), significant(bound, digits)):
            if low <= found <= high:
                return found
    return reached


def _power(value: fmpq) -> int:
    size, power = abs(value), 0
    while size >= 1:
        size, power = size / 10, power + 1
    return power


# -- linear ----------------------------------------------------------------------------------------------------------


def _linear_optimum(harness: Harness, variable: Variable, before: fmpq, sign: int, kind: str) -> tuple[fmpq | None, bool] | None:
    """Return the end and whether it is excluded, (None, False) where no value suffices; None where not all is linear."""
    import z3

    low, high = variable.low, variable.high
    low = fmpq(0) if low is None and before > 0 and kind == "parameter" else low
    high = fmpq(0) if high is None and before < 0 and kind == "parameter" else high
    span = (before, high) if sign > 0 else (low, before)
    system = system_of(harness, freed={variable.name: span})
    if system.root.choices:
        return None
    optimize = z3.Optimize()
    optimize.set("timeout", 5000)
    names = {
        each: (z3.Int if each in system.integers else z3.Real)(f"v{number}") for number, each in enumerate(system.root.spans)
    }
    for each, ends in system.root.spans.items():
        for end, is_low in zip(ends, (True, False), strict=True):
            if end is not None:
                optimize.add(names[each] >= to_z3(end) if is_low else names[each] <= to_z3(end))
    try:
        for formula in system.rules.values():
            optimize.add(_linear(formula, names))
    except (TooManyError, _NotLinearError):
        return None
    goal = optimize.minimize(names[variable.name] * sign)
    answer = optimize.check()
    if answer == z3.unsat:
        return None, False
    if answer != z3.sat:
        return None
    infinite, value, epsilon = (from_z3(z3.simplify(each)) for each in optimize.lower_values(goal))
    return None if infinite != 0 else (value * sign, epsilon != 0)


class _NotLinearError(Exception):
    pass


def _linear(formula: Formula, names: Mapping[str, Any]) -> Any:
    import z3

    match formula:
        case And(parts):
            return z3.And([_linear(each, names) for each in parts])
        case Or(parts):
            return z3.Or([_linear(each, names) for each in parts])
        case Below(term, strict):
            found = []
            for monomial, factor in polynomial(term).items():
                if len(monomial) > 1 or any(power != 1 or not isinstance(atom, Var) for atom, power in monomial):
                    raise _NotLinearError
                found.append(to_z3(factor) * names[monomial[0][0].name] if monomial else to_z3(factor))  # type: ignore[union-attr]
            left = z3.Sum(found or [to_z3(fmpq(0))])
            return left < 0 if strict else left <= 0
        case _:
            raise _NotLinearError

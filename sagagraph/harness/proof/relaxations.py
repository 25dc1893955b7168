"""Relaxations: by how much a limit would have to move alone until some artifact passes all rules.

Boxes are searched in the order of how near they come to the value as it is; the linear relaxation says how near (Horst and Tuy
1996, branch and bound). Where all is linear, that is exact at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from flint import fmpq

from sagagraph.harness.language.tree import COMPARISONS, Call, Literal, Name
from sagagraph.harness.proof.linear import bound_rows, exact_float, least, products, relax
from sagagraph.harness.proof.paths import Parts
from sagagraph.harness.proof.rounding import significant
from sagagraph.harness.proof.search import Budget, Node, Search, middle_of, solve
from sagagraph.harness.proof.system import Point, Span, System, UnsupportedRuleError, system_of
from sagagraph.harness.registry.forms import Rule, Severity
from sagagraph.harness.registry.harness import Harness, Variable

LIMIT: Final = "limit_of_rule_"
_REACH: Final = (fmpq(1, 2), fmpq(4), fmpq(32), fmpq(1000), fmpq(10) ** 6, fmpq(10) ** 12)
"""How far it may move, as a multiple of its value; the last one beside 1 too."""
_PRECISION: Final = 1e-9
_DIGITS: Final = 8
_NEAR: Final = 200
"""Boxes for each value that is tried near a bound which nothing has reached."""
_MOST_STUCK: Final = 20
"""Boxes too small to divide in which nothing was found or refuted."""


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


def movable(harness: Harness, rules: frozenset[str]) -> dict[tuple[str, str], bool]:
    """Return what could move alone, by kind and name, and whether a person may move it: negotiable parameters, and what stands
    alone on one side of a comparison in a conflict, as a number or a parameter. FATAL protects numbers.
    """
    found = {("parameter", name): True for name, each in harness.variables.items() if each.is_negotiable}
    for rule in harness.rules:
        if rule.id not in rules or not isinstance(rule.tree, Call) or rule.tree.name not in COMPARISONS:
            continue
        if limit_of(rule) is not None:
            found["rule", rule.id] = rule.severity is not Severity.FATAL and rule.negotiable
        for side in rule.tree.operands:
            if isinstance(side, Name) and side.name in harness.variables and not harness.variables[side.name].is_decided:
                found.setdefault(("parameter", side.name), False)
    return found


def limit_of(rule: Rule) -> tuple[int, fmpq] | None:
    """Return on which side of its comparison a rule states a plain number, and which."""
    if isinstance(rule.tree, Call) and rule.tree.name in COMPARISONS - {"==", "!="}:
        for side, operand in enumerate(rule.tree.operands):
            value, sign = (operand.operands[0], -1) if isinstance(operand, Call) and operand.name == "neg" else (operand, 1)
            if isinstance(value, Literal) and isinstance(value.value, fmpq):
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
    ways = [_Way(moved, variable, before, sign, kind, boxes, expired) for sign in (1, -1)]
    best = min((each for way in ways if (each := way.go()) is not None), key=lambda each: abs(each.least - before), default=None)
    return None if best is None else replace(best, name=name)


def _with_limit(harness: Harness, rule: Rule) -> tuple[Harness, Variable]:
    """Return the harness with a rule's number as a parameter."""
    stated = limit_of(rule)
    if stated is None or not isinstance(rule.tree, Call):
        raise UnsupportedRuleError(f"rule {rule.id} states no limit")
    side, value = stated
    name = f"{LIMIT}{[each.id for each in harness.rules].index(rule.id)}"
    operands = tuple(Name(name) if number == side else each for number, each in enumerate(rule.tree.operands))
    variable = Variable(name, "number", value=value)
    rules = tuple(each.with_tree(Call(rule.tree.name, operands)) if each.id == rule.id else each for each in harness.rules)
    return replace(harness, rules=rules, variables={**harness.variables, name: variable}), variable


@dataclass(frozen=True, slots=True)
class _Way:
    """One direction: `sign` 1 is up."""

    harness: Harness
    variable: Variable
    before: fmpq
    sign: int
    kind: str
    boxes: int
    expired: Callable[[], bool]

    def go(self) -> Relaxation | None:
        name = self.variable.name
        parts = system_of(self.harness, freed={name: (self.before, self.before)}).components()
        part = next((each for each in parts if name in each.root.spans), None)
        rest = [each for each in parts if each is not part]
        if part is None or any(Search(each, Budget(self.boxes, self.expired)).run().witness is None for each in rest):
            return None
        alone = self.harness.with_rules(tuple(each for each in self.harness.rules if each.id in part.rules))
        size = abs(self.before) or fmpq(1)
        reaches = (*(each * size for each in _REACH), _REACH[-1] * max(size, fmpq(1)))
        spans = list(dict.fromkeys(span for each in reaches if (span := self._span(each)) is not None))
        for number, span in enumerate((*spans[:1], *spans[-1:], *spans[1:])):
            if self.expired():
                return None
            system = system_of(alone, freed={name: span})
            found = Search(system, Budget(self.boxes, self.expired)).run()
            if found.tree is not None and span == spans[-1]:
                return None
            if found.witness is not None and number != 1:  # the widest one only tells whether there is anything to find
                return self._nearest(system, found.witness)
        return None

    def _span(self, reach: fmpq) -> Span | None:
        end = self.variable.high if self.sign > 0 else self.variable.low
        if end is None and self.kind == "parameter" and self.before * self.sign < 0:
            end = fmpq(0)  # without a domain, a parameter keeps its sign
        far = self.before + self.sign * reach
        if end is not None:
            far = min(far, end) if self.sign > 0 else max(far, end)
        if (far - self.before) * self.sign <= 0:
            return None
        return (self.before, far) if self.sign > 0 else (far, self.before)

    def _nearest(self, system: System, best: Point) -> Relaxation | None:
        """Search boxes from the nearest; what is left when they come no nearer than a point that passes is proven."""
        search = Search(system, Budget(10**9, self.expired))
        numbered = count()
        best, near, strict = self._optimum(search, best)
        queue = [(near, next(numbered), Node(system.root))]
        bound, proven = fmpq(0), False
        stuck: list[fmpq] = []
        for _ in range(self.boxes):
            reached = self._distance(best)
            bound = max(bound, min([reached, *stuck, *(each[0] for each in queue[:1])]))
            proven = float_of(reached - bound) <= _PRECISION * max(1e-99, float_of(abs(self.before)), float_of(bound))
            if proven or self.expired() or not queue or len(stuck) > _MOST_STUCK:
                break
            near, _, node = heapq.heappop(queue)
            node, _, false = search.narrow(node)
            if false is not None or max(near, self._bound(node)) >= reached:
                continue
            parts = search.open_parts(node)
            best = self._better(search, node, parts, best)
            _, divided = search.divide(node, parts)
            if not divided:
                stuck.append(near)
            for each in divided:
                heapq.heappush(queue, (max(near, self._bound(each)), next(numbered), each))
        return self._sufficient(best, self.before + self.sign * bound, strict=strict, proven=proven)

    def _optimum(self, search: Search, best: Point) -> tuple[Point, fmpq, bool]:
        """Return the better point, how near the linear relaxation comes at most, and whether that end itself is excluded."""
        node, _, _ = search.narrow(Node(search.system.root))
        rows, name, integers = search.rows(search.open_parts(node)), self.variable.name, search.system.integers
        listed = [*rows, *products(rows, bound_rows(node.box, sorted(node.box.spans)), all_pairs=False)]
        found = least(listed, node.box, name, self.sign, integers)
        if found.least is None or found.point is None:
            return best, fmpq(0), False
        point = found.point
        if found.strict:  # just beyond it
            ends = sorted((found.least, found.least + self.sign * (abs(found.least) or fmpq(1, 1000)) / 10**12))
            point = relax(rows, node.box.with_span(name, (ends[0], ends[1])), integers).point or point
        tried = search.try_near(node, point) or best
        return min(best, tried, key=self._distance), abs(found.least - self.before), found.strict

    def _better(self, search: Search, node: Node, parts: Parts, best: Point) -> Point:
        """With the others in the middle, the nearest value that they allow; tried and judged."""
        name, box = self.variable.name, node.box
        for each, span in node.box.floats.items():
            at = exact_float(middle_of(span))
            at = fmpq((at + fmpq(1, 2)).floor()) if each in search.system.integers else at
            box = box if each == name else box.with_span(each, (at, at))
        narrowed, _, false = search.narrow(Node(box, node.assumed, settled=node.settled))
        edge = narrowed.box.spans[name][0 if self.sign > 0 else 1]
        if false is None and edge is not None:
            numbers = {each: end for each, (end, _) in narrowed.box.spans.items() if end is not None}
            for nudge in (fmpq(0), fmpq(1, 10**15), fmpq(1, 10**12), fmpq(2, 10**9)):
                value = edge + self.sign * nudge * (max(abs(edge), abs(self.before)) or fmpq(1, 10**6))
                point = search.system.point({**numbers, name: value})
                if self._distance(point) < self._distance(best) and search.satisfies(point):
                    return point
        return min(best, search.try_middle(node, parts) or best, key=self._distance)

    def _distance(self, point: Point) -> fmpq:
        value = point[self.variable.name]
        return abs(value - self.before) if isinstance(value, fmpq) else fmpq(0)

    def _bound(self, node: Node) -> fmpq:
        end = node.box.spans[self.variable.name][0 if self.sign > 0 else 1]
        return fmpq(0) if end is None else max(fmpq(0), (end - self.before) * self.sign)

    def _sufficient(self, best: Point, bound: fmpq, *, strict: bool, proven: bool) -> Relaxation | None:
        """Round it away from `before` until it suffices as it is written."""
        reached = best[self.variable.name]
        if not isinstance(reached, fmpq):
            return None
        simple = _simplest(bound, reached) if proven else None
        end = bound if strict or not proven else reached if simple is None else simple
        listed = [] if simple is None and (proven or strict) else [end if simple is None else simple]
        for to in (*listed, *(self._rounded(end, digits) for digits in (_DIGITS, _DIGITS + 1, 12, 15))):
            found = solve(system_of(self.harness.with_values({self.variable.name: to})), Budget(self.boxes if proven else _NEAR))
            if found.witness is not None:
                proven = abs(to - bound) <= abs(bound) / 10 ** (_DIGITS - 1)
                return Relaxation(self.kind, self.variable.name, self.before, to, end, strict, proven, found.witness)
        rest = {each: value for each, value in best.items() if each != self.variable.name}
        return Relaxation(self.kind, self.variable.name, self.before, reached, end, strict, proven, rest)

    def _rounded(self, end: fmpq, digits: int) -> fmpq:
        """Return a decimal beyond it, or a whole number."""
        upwards = self.sign > 0
        if self.variable.kind == "integer":
            return fmpq(end.ceil() if upwards else end.floor())
        to = significant(end, digits, upwards=upwards)
        return to if to != end else significant(end + self.sign * (abs(end) or fmpq(1)) / 10**digits, digits, upwards=upwards)


def _simplest(bound: fmpq, reached: fmpq) -> fmpq | None:
    """Return the number with the fewest digits between what is proven too little and what suffices."""
    low, high = min(bound, reached), max(bound, reached)
    for digits in range(1, 15):
        for found in (significant(reached, digits), significant(bound, digits)):
            if low <= found <= high:
                return found
    return None


def float_of(value: fmpq) -> float:
    return int(value.p) / int(value.q)

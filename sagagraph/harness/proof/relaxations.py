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
from sagagraph.harness.proof.boxes import Parts
from sagagraph.harness.proof.linear import Relaxed, bound_rows, exact_float, least, products, relax
from sagagraph.harness.proof.search import THOROUGH, Budget, Node, Search, middle_of, solve
from sagagraph.harness.proof.system import Box, Numbers, Point, Span, System, inside, rounded_points, significant, system_of
from sagagraph.harness.registry.harness import Harness, Rule, Severity, Variable

_LIMIT: Final = "limit of a rule"
"""No variable has such a name."""
_REACH: Final = (fmpq(1, 2), fmpq(4), fmpq(32), fmpq(1000), fmpq(10) ** 6, fmpq(10) ** 12)
"""How far it may move, as a multiple of its value; the last one beside 1 too."""
_PRECISION: Final = 1e-9
_DIGITS: Final = 8
_NEAR: Final = 200
"""Boxes for each value that is tried near a bound which nothing has reached."""
_NUDGES: Final = (fmpq(0), fmpq(1, 10**15), fmpq(1, 10**12), fmpq(2, 10**9))
"""How far beyond an end a value is tried, as a share of it."""
_DESCENTS: Final = 20
_MOST_STUCK: Final = 20
"""Boxes too small to divide in which nothing was found or refuted."""


@dataclass(frozen=True, slots=True)
class Relaxation:
    """`name`: of a parameter, or of a rule whose limit is a plain number. `to`: sufficient, and no more than rounding away
    from the least.

    `proven`: that nothing less suffices.
    """

    kind: str
    name: str
    before: fmpq
    to: fmpq
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


def limit_of(rule: Rule) -> tuple[fmpq, Call] | None:
    """Return the plain number on one side of a rule's comparison, and the comparison with a name in its place."""
    if isinstance(rule.tree, Call) and rule.tree.name in COMPARISONS - {"==", "!="}:
        for side, operand in enumerate(rule.tree.operands):
            value, sign = (operand.operands[0], -1) if isinstance(operand, Call) and operand.name == "neg" else (operand, 1)
            if isinstance(value, Literal) and isinstance(value.value, fmpq):
                named = (*rule.tree.operands[:side], Name(_LIMIT), *rule.tree.operands[side + 1 :])
                return value.value * sign, Call(rule.tree.name, named)
    return None


def relaxation(
    harness: Harness, kind: str, name: str, boxes: int, expired: Callable[[], bool] = lambda: False
) -> Relaxation | None:
    """Return the least change that suffices alone, in either direction; None where none was found.

    `kind`: of `name`, parameter or rule; a rule's number is treated as a parameter. Raises `UnreadableError`.
    """
    variable = harness.variables.get(name) if kind == "parameter" else None
    stated = limit_of(harness.rule(name)) if kind == "rule" else None
    if stated is not None:
        variable = Variable(_LIMIT, "number", value=stated[0])
        rules = tuple(each.with_tree(stated[1]) if each.id == name else each for each in harness.rules)
        harness = replace(harness, rules=rules, variables={**harness.variables, _LIMIT: variable})
    if variable is None or not isinstance(variable.value, fmpq):
        return None
    before = variable.value
    ways = [_Way(harness, variable, before, sign, kind, boxes, expired) for sign in (1, -1)]
    best = min((each for way in ways if (each := way.go()) is not None), key=lambda each: abs(each.to - before), default=None)
    return None if best is None else replace(best, name=name)


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

    def _nearest(self, system: System, witness: Point) -> Relaxation | None:
        """Search boxes from the nearest; what is left when they come no nearer than a point that passes is proven."""
        search = Search(system, Budget(10**9, self.expired))
        numbered = count()
        best = self._descended(search, system.numbers(witness))
        queue = [(fmpq(0), next(numbered), Node(system.root))]
        bound, proven = fmpq(0), False
        stuck: list[fmpq] = []
        excluded: set[fmpq] = set()
        for _ in range(self.boxes):
            reached = self._distance(best)
            bound = max(bound, min([reached, *stuck, *(each[0] for each in queue[:1])]))
            proven = float_of(reached - bound) <= _PRECISION * max(1e-99, float_of(abs(self.before)), float_of(bound))
            if proven or self.expired() or not queue or len(stuck) > _MOST_STUCK:
                break
            near, _, node = heapq.heappop(queue)
            if near >= reached:
                continue
            node, _, false = search.narrow(replace(node, box=self._nearer(node.box, best)))
            near = max(near, self._bound(node))
            if false is not None or near >= reached:
                continue
            parts = search.open_parts(node)
            found = self._least(search, node, parts)
            if found.is_refuted:
                continue
            if found.least is not None and abs(found.least - self.before) >= near:
                near = abs(found.least - self.before)
                excluded |= {near} if found.strict else set()
            best = self._better(search, node, found.point or {}, best)
            divided = search.divide(node, parts)[1]
            if not divided:
                stuck.append(near)
            for each in divided:
                heapq.heappush(queue, (max(near, self._bound(each)), next(numbered), each))
        end = self.before + self.sign * bound
        return self._sufficient(system.point(best), end, strict=bound in excluded, proven=proven)

    def _nearer(self, box: Box, best: Numbers) -> Box:
        """Leave out what is further away than a point that passes."""
        name = self.variable.name
        low, high = box.spans[name]
        return box.with_span(name, (low, best[name]) if self.sign > 0 else (best[name], high))

    def _least(self, search: Search, node: Node, parts: Parts) -> Relaxed:
        """Return how near the linear relaxation comes in a box, and whether that end itself is excluded."""
        rows, name = search.rows(parts), self.variable.name
        listed = [*rows, *products(rows, bound_rows(node.box, sorted(node.box.spans)), all_pairs=False)]
        found = least(listed, node.box, name, self.sign)
        if found.least is None or not found.strict:
            return found
        beyond = found.least + self.sign * (abs(found.least) or fmpq(1, 1000)) / 10**12
        just = node.box.with_span(name, (min(found.least, beyond), max(found.least, beyond)))
        return replace(found, point=relax(listed, just).point or found.point)

    # -- points --

    def _better(self, search: Search, node: Node, near: Numbers, best: Numbers) -> Numbers:
        """Return the nearest point around one of the box, or around its middle; with few digits only at some depths."""
        middle = {name: exact_float(middle_of(span)) for name, span in node.box.floats.items()}
        is_thorough = node.depth in THOROUGH
        for start in [{**middle, **near}, middle][not is_thorough :]:
            for numbers in rounded_points(start, node.box, search.system) if is_thorough else [start]:
                found = self._at(search, node, numbers, best)
                if found is not None:
                    return self._descended(search, found)
        return best

    def _fixed(self, search: Search, node: Node, numbers: Numbers, free: tuple[str, ...]) -> Box | None:
        """Return what is left of a box with all but a few of its variables at these values; None for nothing."""
        box = node.box
        for name, at in numbers.items():
            box = box if name in free else box.with_span(name, (at, at))
        narrowed, _, false = search.narrow(replace(node, box=box))
        return None if false is not None else narrowed.box

    def _at(self, search: Search, node: Node, numbers: Numbers, best: Numbers) -> Numbers | None:
        """Return the nearest value that these values of the others allow, with them, if it passes and is nearer than the best."""
        name = self.variable.name
        box = self._fixed(search, node, numbers, (name,))
        edge = None if box is None else box.spans[name][0 if self.sign > 0 else 1]
        if edge is None or (edge - best[name]) * self.sign >= 0:
            return None
        size = max(abs(edge), abs(self.before)) or fmpq(1, 10**6)
        values = (significant(edge, 9), *(edge + self.sign * nudge * size for nudge in _NUDGES))
        points = ({**numbers, name: inside(value, node.box.spans[name])} for value in values)
        nearer = (each for each in points if self._distance(each) < self._distance(best))
        return next((each for each in nearer if search.satisfies(search.system.point(each))), None)

    def _descended(self, search: Search, best: Numbers) -> Numbers:
        """Move one of the others at a time, as long as that brings the point nearer."""
        name, system = self.variable.name, search.system
        for _ in range(_DESCENTS):
            before = self._distance(best)
            for other in [each for each in system.root.spans if each != name and each not in system.symbols]:
                node = Node(self._nearer(system.root, best))
                box = self._fixed(search, node, best, (name, other))
                low, high = (None, None) if box is None else box.spans[other]
                for at in (low, high, exact_float(middle_of(box.floats[other])) if box is not None else None):
                    for value in () if at is None else (significant(at, 9), at):
                        value = inside(
                            fmpq((value + fmpq(1, 2)).floor()) if other in system.integers else value, system.root.spans[other]
                        )
                        best = self._at(search, node, {**best, other: value}, best) or best
            if self._distance(best) > before * (1 - fmpq(1, 10**6)):
                break
        return best

    def _distance(self, numbers: Numbers) -> fmpq:
        return abs(numbers[self.variable.name] - self.before)

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
                proven = abs(to - bound) <= max(abs(bound), abs(self.before)) / 10 ** (_DIGITS - 1)
                return Relaxation(self.kind, self.variable.name, self.before, to, proven, found.witness)
        rest = {each: value for each, value in best.items() if each != self.variable.name}
        return Relaxation(self.kind, self.variable.name, self.before, reached, proven, rest)

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
    if low <= 0 <= high:
        return fmpq(0)
    for digits in range(1, 15):
        for found in (significant(reached, digits), significant(bound, digits)):
            if low <= found <= high:
                return found
    return None


def float_of(value: fmpq) -> float:
    return int(value.p) / int(value.q)

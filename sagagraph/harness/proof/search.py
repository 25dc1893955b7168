"""Search: branch and prune over boxes until a point satisfies every rule, or every box is refuted; the refutations are the
certificate.

It proves by the interval kernel or by multipliers whatever it cuts off a box; any point that it returns was judged exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Final

from flint import fmpq

from sagagraph.harness.judging.check import passes
from sagagraph.harness.language.formulas import Below, Formula, Or, TooManyError, Var, names_in, polynomial
from sagagraph.harness.proof.boxes import Hull, Parts, Tree, implied, rules_of, truth
from sagagraph.harness.proof.intervals import Interval, of_rational
from sagagraph.harness.proof.linear import Row, bound_rows, exact_float, products, relax
from sagagraph.harness.proof.system import Box, Numbers, Point, System, rounded_points

DEEPEST: Final = 120
_NARROWINGS: Final = 6
_WORTHWHILE: Final = 0.05
_WIDE: Final = 1e12
"""If a domain has no end, points are sought this far out."""
THOROUGH: Final = frozenset({0, 3, 6, 10, 15, 21, 28, 36, 45, 55})
"""Depths at which more is tried: everything multiplied with everything, for rules that only touch; corners; fewer digits."""
_MOST_PAIRED: Final = 16


@dataclass(slots=True)
class Budget:
    """Budget: how many boxes may be examined, and until when."""

    boxes: int = 4000
    expired: Callable[[], bool] = lambda: False
    used: int = 0

    @property
    def is_over(self) -> bool:
        return self.used >= self.boxes or self.expired()


@dataclass(frozen=True, slots=True)
class Found:
    """Finding: exactly one of `witness` and `tree`, or neither: undecided."""

    witness: Point | None = None
    tree: Tree | None = None

    @property
    def used_rules(self) -> frozenset[str]:
        """Return the rules that the certificate uses: a conflict, not necessarily a minimal one."""
        return frozenset(each for each in rules_of(self.tree or {}) if not each.startswith("\t"))


@dataclass(frozen=True, slots=True)
class Node:
    box: Box
    assumed: Mapping[str, int] = field(default_factory=dict)
    depth: int = 0
    settled: frozenset[str] = frozenset()
    """Rules that hold everywhere in the box."""


class _Ended(Exception):  # noqa: N818 - no error: a point passes, or the budget is used up
    def __init__(self, found: Found) -> None:
        self.found = found
        super().__init__("ended")


class Search:
    """Search in one system."""

    def __init__(self, system: System, budget: Budget) -> None:
        self.system = system
        self.budget = budget
        self._judging = system.harness.with_rules(tuple(each for each in system.harness.rules if each.id in system.rules))
        self.filling = _filling(system)
        self._rows: dict[str, Row | None] = {}
        self._is_open = False
        """Whether some box was too small or too deep to divide, and not refuted."""

    def run(self) -> Found:
        try:
            tree = self._refute(Node(self.system.root))
            return Found() if self._is_open else Found(tree=tree)
        except _Ended as exc:
            return exc.found
        except RecursionError:
            return Found()

    def _refute(self, node: Node) -> Tree:
        """Return the certificate that the box has no solution. Raises `_Ended`."""
        if self.budget.is_over:
            raise _Ended(Found())
        self.budget.used += 1
        narrowed, cuts, false = self.narrow(node)
        found: Tree = {"rule": false}
        if false is None:
            parts = self.open_parts(narrowed)
            point = self.try_points(narrowed, parts)
            if point is not None:
                raise _Ended(Found(witness=point))
            combination = self._refuted_by_sum(narrowed, parts)
            if combination is not None:
                found = {"sum": combination}
            else:
                said, divided = self.divide(narrowed, parts) if node.depth < DEEPEST else ({}, [])
                self._is_open |= not divided
                found = {**said, "parts": [self._refute(each) for each in divided]}
        return {"cuts": cuts, "then": found} if cuts else found

    def open_parts(self, node: Node) -> Parts:
        floats = node.box.floats
        return [
            (path, part)
            for rule, formula in self.system.rules.items()
            if rule not in node.settled
            for path, part in implied(formula, rule, floats, node.assumed)
            if truth(part, floats, path, node.assumed) is not True
        ]

    # -- narrowing --

    def narrow(self, node: Node) -> tuple[Node, list[Tree], str | None]:
        """Cut off what single rules exclude. Returns the rest, the cuts, and the rule that excludes all of the rest, if there is
        one.
        """
        cuts: list[Tree] = []
        for _ in range(_NARROWINGS):
            before = node.box
            for rule, formula in self.system.rules.items():
                if rule in node.settled:
                    continue
                holds = truth(formula, node.box.floats, rule, node.assumed)
                if holds is False:
                    return node, cuts, rule
                if holds:
                    node = replace(node, settled=node.settled | {rule})
                    continue
                for _, part in list(implied(formula, rule, node.box.floats, node.assumed)):
                    if isinstance(part, Below):
                        node = self._narrow_by(rule, part, formula, node, cuts)
            if node.box is before:
                break
        return node, cuts, None

    def _narrow_by(self, rule: str, part: Below, formula: Formula, node: Node, cuts: list[Tree]) -> Node:
        before = node.box.floats
        hull = Hull(dict(before))
        hull.require(part.term, (-inf, 0.0))
        if hull.is_empty:
            return node
        for name, span in hull.box.items():
            for side in (0, 1) if span != before[name] else ():
                node = self._cut(rule, formula, name, side, span[side], node, cuts)
        return node

    def _cut(self, rule: str, formula: Formula, name: str, side: int, proposed: float, node: Node, cuts: list[Tree]) -> Node:
        """Cut a slab off at one end, if the rule is false everywhere in it: the widest of a few. For whole numbers the cut is
        between two of them.
        """
        (low, high), spans, outwards = node.box.floats[name], node.box.spans[name], (-1, 1)[side]
        gain, is_finite = abs(proposed - (low, high)[side]), high - low < inf
        if not gain > (_WORTHWHILE * (high - low) if is_finite else 0) or proposed in (inf, -inf):
            return node
        margins = (1e-12 * abs(proposed), 1e-9 * gain, 0.5 * gain, 0.9 * gain) if is_finite else (1e-9 * (1 + abs(proposed)),)
        for margin in margins:
            near = proposed + outwards * margin
            if name in self.system.integers and abs(near) < 1e15:
                near = -(-near // 1) - 0.5 if side == 0 else near // 1 + 0.5
            at = exact_float(near)
            if (spans[0] is not None and at <= spans[0]) or (spans[1] is not None and at >= spans[1]):
                continue
            outer, inner = ((spans[0], at), (at, spans[1])) if side == 0 else ((at, spans[1]), (spans[0], at))
            if truth(formula, self._within(node.box, name, outer).floats, rule, node.assumed) is False:
                cuts.append({"variable": name, "at": str(at), "side": ("below", "above")[side], "rule": rule})
                return replace(node, box=self._within(node.box, name, inner))
        return node

    def _within(self, box: Box, name: str, span: tuple[fmpq | None, fmpq | None]) -> Box:
        """Round ends of whole numbers inwards to whole ones."""
        low, high = span
        if name in self.system.integers:
            low, high = (None if low is None else fmpq(low.ceil())), (None if high is None else fmpq(high.floor()))
        return box.with_span(name, (low, high))

    # -- points --

    def try_points(self, node: Node, parts: Parts) -> Point | None:
        """Return a point that passes near the middle or, at some depths, near a corner."""
        listed = [{name: exact_float(middle_of(span)) for name, span in node.box.floats.items()}]
        for side in (0, 1) if node.depth in THOROUGH else ():
            corner = {name: end for name, span in node.box.spans.items() if (end := span[side]) is not None}
            listed += [corner] if len(corner) == len(node.box.spans) else []
        for point in listed:
            here = {name: of_rational(value) for name, value in point.items()}
            may_hold = all(truth(each, here) is not False for _, each in parts)
            if may_hold and (found := self.try_near(node, point)) is not None:
                return found
        return None

    def try_near(self, node: Node, point: Numbers, *, exactly: bool = False) -> Point | None:
        """Return a point near one that passes, with the middle of every variable that it does not state."""
        numbers = {**{name: exact_float(middle_of(span)) for name, span in node.box.floats.items()}, **point}
        listed = (self.system.point(rounded) for rounded in rounded_points(numbers, node.box, self.system, exactly=exactly))
        return next((each for each in listed if self.satisfies(each)), None)

    def satisfies(self, point: Point) -> bool:
        """Tell whether the point passes the judge of artifacts."""
        return passes(self._judging, {**self.filling, **point})

    # -- linear relaxation --

    def rows(self, parts: Parts) -> list[Row]:
        """Return the inequalities that can be multiplied out."""
        for path, part in parts:
            if isinstance(part, Below) and path not in self._rows:
                try:
                    self._rows[path] = Row((path,), polynomial(part.term), part.strict)
                except TooManyError:
                    self._rows[path] = None
        return [row for path, _ in parts if (row := self._rows.get(path)) is not None]

    def _refuted_by_sum(self, node: Node, parts: Parts) -> Sequence[Tree] | None:
        """Return inequalities with multipliers that exclude the whole box. Raises `_Ended`."""
        rows = self.rows(parts)
        if not rows:
            return None
        names = sorted({atom.name for row in rows for m in row.polynomial for atom, _ in m if isinstance(atom, Var)})
        bounds = bound_rows(node.box, names)
        is_last = not self.divide(node, parts)[1]
        is_thorough = is_last or node.depth in THOROUGH
        listed = [*rows, *products(rows, bounds, all_pairs=False)]
        shared = Counter(monomial for row in listed for monomial in row.polynomial if monomial)
        if max(shared.values(), default=0) < 2 and not is_last and (node.depth == 0 or not is_thorough):
            return None  # with no monomial in common, sums say no more than the inequalities alone
        refutation, near = relax(listed, node.box)
        if near is not None:
            point = self.try_near(node, near, exactly=True)
            if point is not None:
                raise _Ended(Found(witness=point))
            if is_thorough and (node.depth or is_last) and len(rows) + len(bounds) <= _MOST_PAIRED:
                refutation, _ = relax([*rows, *products(rows, bounds, all_pairs=True)], node.box)
        return refutation

    # -- splitting --

    def divide(self, node: Node, parts: Parts) -> tuple[Tree, list[Node]]:
        """Divide a box, by the cases of a rule, or in the middle of a variable. Returns what the certificate states about it, and
        the parts: none if nothing is left to divide.
        """
        case = next(((path, len(each.parts)) for path, each in parts if isinstance(each, Or)), None)
        split = self._widest(node, parts)
        if case is not None:
            taken = [{**node.assumed, case[0]: number} for number in range(case[1])]
            return {"cases": case[0]}, [replace(node, assumed=each, depth=node.depth + 1) for each in taken]
        if split is None:
            return {}, []
        name, at = split
        low, high = node.box.spans[name]
        boxes = (self._within(node.box, name, (low, at)), self._within(node.box, name, (at, high)))
        return {"variable": name, "at": str(at)}, [replace(node, box=each, depth=node.depth + 1) for each in boxes]

    def _widest(self, node: Node, parts: Parts) -> tuple[str, fmpq] | None:
        """Return the variable to split, and where: variables that stand for words first, then the widest relative to its
        domain.
        """
        floats, root = node.box.floats, self.system.root.floats
        read = {name for _, part in parts for name in names_in(part)}
        shares: dict[str, float] = {}
        for name in floats.keys() & read:
            low, high = floats[name]
            least = 1.0 if name in self.system.integers else 1e-13 * max(abs(low), abs(high), 1e-100)
            if high - low >= least and high > low:
                whole = min(root[name][1], _WIDE) - max(root[name][0], -_WIDE)
                weight = 10.0 if name in self.system.symbols else 1.0
                shares[name] = weight * (min(high, _WIDE) - max(low, -_WIDE)) / whole if whole > 0 else 0.0
        if not shares:
            return None
        best = max(shares, key=lambda name: (shares[name], name))
        at = middle_of(floats[best])
        exact = exact_float(at // 1 + 0.5 if best in self.system.integers else at)
        low_end, high_end = node.box.spans[best]
        inside = (low_end is None or low_end < exact) and (high_end is None or exact < high_end)
        return (best, exact) if inside else None


def solve(system: System, budget: Budget) -> Found:
    """Decide a system part by part. One part without a solution refutes the whole; a witness has a value for every variable."""
    undecided = False
    point = dict(_filling(system))
    for part in sorted(system.components(), key=lambda each: len(each.rules)):
        found = Search(part, budget).run()
        if found.tree is not None:
            return found
        undecided |= found.witness is None and bool(part.root.spans)
        point |= found.witness or {}
    return Found() if undecided or not Search(system, budget).satisfies(point) else Found(witness=point)


def _filling(system: System) -> Point:
    """Return some value for every variable, for those on which nothing depends."""
    numbers: dict[str, fmpq] = {}
    for name, span in system.whole.floats.items():
        middle = exact_float(middle_of(span))
        listed = (each for each in system.harness.variables[name].choices if isinstance(each, fmpq))
        numbers[name] = next(listed, fmpq(middle.floor()) if name in system.integers else middle)
    return system.point(numbers)


def middle_of(span: Interval) -> float:
    """Return the middle; if an end is far out or missing, that of the nearer region."""
    near = min(abs(span[0]), abs(span[1]))
    far = max(_WIDE, 4 * near) if near < inf else _WIDE
    low, high = max(span[0], -far), min(span[1], far)
    return low + (high - low) / 2

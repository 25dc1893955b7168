"""Search: branch and prune over boxes until a point satisfies every rule, or every box is refuted; the refutations are the
certificate.

Whatever it leaves out of a box it proves by the interval kernel or by multipliers; whatever point it returns was judged exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Final

from flint import fmpq

from sagagraph.harness.judging.check import passes
from sagagraph.harness.language.core import And, Below, Formula, Member, Or, Var, names_in, names_in_term
from sagagraph.harness.language.polynomials import TooManyError, polynomial
from sagagraph.harness.proof.intervals import Interval
from sagagraph.harness.proof.linear import Row, bound_rows, exact_float, products, relax
from sagagraph.harness.proof.rounding import rounded_points
from sagagraph.harness.proof.system import Box, Point, System
from sagagraph.harness.proof.terms import Bounds, Hull, bounds_of
from sagagraph.harness.registry.harness import Value

Tree = Mapping[str, Any]
"""A certificate's node, ready for JSON (docs/harness.md says how it is read)."""
DEEPEST: Final = 120
_NARROWINGS: Final = 6
_WORTHWHILE: Final = 0.05
_WIDE: Final = 1e12
_PAIRED: Final = frozenset({0, 3, 6, 10, 15, 21, 28, 36, 45, 55})
"""Depths at which everything is multiplied with everything, for rules that only touch."""
_MOST_PAIRED: Final = 16
"""Where a domain has no end, points are sought this far out."""


@dataclass(slots=True)
class Budget:
    """How many boxes may be looked at, and until when. `is_over` is asked before each box."""

    boxes: int = 4000
    expired: Callable[[], bool] = lambda: False
    used: int = 0

    @property
    def is_over(self) -> bool:
        return self.used >= self.boxes or self.expired()


@dataclass(frozen=True, slots=True)
class Found:
    """Exactly one of `witness` and `tree`, or neither: undecided."""

    witness: Point | None = None
    tree: Tree | None = None

    @property
    def used_rules(self) -> frozenset[str]:
        """The rules that the certificate rests on: a conflict, not necessarily the least."""
        return frozenset() if self.tree is None else frozenset(rules_of(self.tree))


def rules_of(tree: Tree) -> Iterator[str]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        waiting += [*node.get("parts", ()), *([node["then"]] if "then" in node else [])]
        if "rule" in node:
            yield node["rule"]
        for cut in node.get("cuts", ()):
            yield cut["rule"]
        for product in node.get("sum", ()):
            yield from (each.split("\t")[0] for each in product["of"] if not each.startswith("\t"))
        if "cases" in node:
            yield node["cases"].split("\t")[0]


def truth(formula: Formula, floats: Mapping[str, Interval], box: Box) -> bool | None:
    """Tell whether a formula holds all over the box, nowhere in it, or neither is known."""
    match formula:
        case Below(term, strict):
            low, high = bounds_of(term, floats)
            if low > high or low > 0 or (strict and low >= 0):
                return False
            return True if high < 0 or (high <= 0 and not strict) else None
        case Member(name, values):
            left = [each for each in box.choices[name] if each in values]
            return False if not left else True if len(left) == len(box.choices[name]) else None
        case And(parts):
            found = [truth(each, floats, box) for each in parts]
            return False if False in found else None if None in found else True
        case Or(parts):
            found = [truth(each, floats, box) for each in parts]
            return True if True in found else None if None in found else False


def implied(
    formula: Formula, path: str, floats: Mapping[str, Interval], box: Box, assumed: Mapping[str, int]
) -> Iterator[tuple[str, Formula]]:
    """Yield what a formula comes down to in the box, each part by its path: all of an `and`, the one case that is left of an
    `or`.
    """
    if isinstance(formula, And):
        for number, each in enumerate(formula.parts):
            yield from implied(each, f"{path}\t{number}", floats, box, assumed)
    elif isinstance(formula, Or):
        if path in assumed:
            possible = [assumed[path]]
        else:
            possible = [number for number, each in enumerate(formula.parts) if truth(each, floats, box) is not False]
        if len(possible) == 1:
            yield from implied(formula.parts[possible[0]], f"{path}\t{possible[0]}", floats, box, assumed)
        else:
            yield path, formula
    else:
        yield path, formula


@dataclass(frozen=True, slots=True)
class Node:
    box: Box
    assumed: Mapping[str, int] = field(default_factory=dict)
    depth: int = 0
    settled: frozenset[str] = frozenset()
    """Rules that hold all over the box."""


@dataclass(frozen=True, slots=True)
class Division:
    """How a box is divided: what the certificate says of it, and the parts."""

    said: Tree
    parts: tuple[Node, ...]


class Search:
    """One system's search. `judged`: whether a point satisfies all the rules, by the judge of artifacts."""

    def __init__(self, system: System, budget: Budget) -> None:
        self.system = system
        self.budget = budget
        self._judging = system.harness.with_rules(tuple(each for each in system.harness.rules if each.id in system.rules))
        self._filling = _filling(system)
        self._polynomials: dict[str, Row | None] = {}
        self._nonlinear = frozenset(_nonlinear(system))

    def run(self) -> Found:
        try:
            tree = self._refute(Node(self.system.root))
        except _Satisfied as exc:
            return Found(witness=exc.point)
        except (_GivenUp, RecursionError):
            return Found()
        return Found(tree=tree)

    # -- one box --

    def _refute(self, node: Node) -> Tree:
        """Return the certificate that the box has no solution. Raises `_Satisfied` or `_GivenUp`."""
        if self.budget.is_over or node.depth > DEEPEST:
            raise _GivenUp
        self.budget.used += 1
        narrowed, cuts, false = self.narrow(node)
        if false is not None:
            return _with_cuts(cuts, {"rule": false})
        open_parts = self.open_parts(narrowed)
        self.try_points(narrowed, open_parts)
        combination = self.refuted_by_sum(narrowed, open_parts)
        if combination is not None:
            return _with_cuts(cuts, {"sum": combination})
        return _with_cuts(cuts, self._split(narrowed, open_parts))

    def open_parts(self, node: Node) -> list[tuple[str, Formula]]:
        floats = node.box.floats
        parts = [
            each
            for rule, formula in self.system.rules.items()
            if rule not in node.settled
            for each in implied(formula, rule, floats, node.box, node.assumed)
        ]
        return [(path, each) for path, each in parts if truth(each, floats, node.box) is not True]

    def narrow(self, node: Node) -> tuple[Node, list[Tree], str | None]:
        """Cut off what single rules exclude. Returns the rest, the cuts, and the rule that excludes all of the rest, if one
        does.
        """
        cuts: list[Tree] = []
        for _ in range(_NARROWINGS):
            before = node.box
            for rule, formula in self.system.rules.items():
                if rule in node.settled:
                    continue
                holds = truth_assumed(formula, rule, node.box.floats, node.box, node.assumed)
                if holds is False:
                    return node, cuts, rule
                if holds:
                    node = replace(node, settled=node.settled | {rule})
                    continue
                for _, part in list(implied(formula, rule, node.box.floats, node.box, node.assumed)):
                    node = self._narrow_by(rule, part, formula, node, cuts)
            if node.box is before:
                break
        return node, cuts, None

    def _narrow_by(self, rule: str, part: Formula, formula: Formula, node: Node, cuts: list[Tree]) -> Node:
        if isinstance(part, Member):
            left = tuple(each for each in node.box.choices[part.name] if each in part.values)
            if not left or len(left) == len(node.box.choices[part.name]):
                return node
            cuts.append({"variable": part.name, "values": [_plain(each) for each in left], "rule": rule})
            return replace(node, box=node.box.with_choice(part.name, left))
        if not isinstance(part, Below):
            return node
        before = node.box.floats
        hull = Hull(dict(before))
        hull.require(part.term, (-inf, 0.0))
        if hull.is_empty:
            return node
        for name, span in hull.box.items():
            for side in (0, 1) if span != before[name] else ():
                node = self._cut(rule, formula, name, side, hull.box[name][side], node, cuts)
        return node

    def _cut(self, rule: str, formula: Formula, name: str, side: int, proposed: float, node: Node, cuts: list[Tree]) -> Node:
        """Cut a slab off at one end, if the rule is false all over it."""
        low, high = node.box.floats[name]
        end = (low, high)[side]
        width = high - low
        gain = abs(proposed - end)
        if not gain > (_WORTHWHILE * width if width < inf else 0) or proposed in (inf, -inf):
            return node
        for part in (1 - 1e-9, 0.5, 0.1) if width < inf else (1.0,):
            at = self._whole(
                name,
                end + (proposed - end) * part if width < inf else proposed + (1e-9 + abs(proposed) * 1e-9) * (-1, 1)[side],
                side,
            )
            exact = exact_float(at)
            spans = node.box.spans[name]
            if (spans[0] is not None and exact <= spans[0]) or (spans[1] is not None and exact >= spans[1]):
                continue
            slab = node.box.with_span(name, (spans[0], exact) if side == 0 else (exact, spans[1]))
            if truth_assumed(formula, rule, slab.floats, slab, node.assumed) is False:
                kept = (exact, spans[1]) if side == 0 else (spans[0], exact)
                cuts.append({"variable": name, "at": str(exact), "side": ("below", "above")[side], "rule": rule})
                return replace(node, box=_tightened(node.box.with_span(name, kept), name, self.system))
        return node

    def _whole(self, name: str, at: float, side: int) -> float:
        """Cuts of whole numbers fall between them."""
        if name not in self.system.integers or abs(at) > 1e15:
            return at
        return (at // 1 - 0.5) if side == 0 else (-(-at // 1) + 0.5)

    # -- points --

    def try_points(self, node: Node, open_parts: list[tuple[str, Formula]]) -> None:
        floats = node.box.floats
        middle = {name: middle_of(span) for name, span in floats.items()}
        here = {name: (value, value) for name, value in middle.items()}
        if not open_parts or all(truth(each, here, node.box) is not False for _, each in open_parts):
            self._try({name: exact_float(each) for name, each in middle.items()}, node.box)

    def _try(self, numbers: Mapping[str, fmpq], box: Box) -> None:
        choices = {name: values[0] for name, values in box.choices.items() if values and name not in box.spans}
        for point in rounded_points(numbers, box, self.system):
            if self.satisfies({**point, **choices}):
                raise _Satisfied({**point, **choices})

    def satisfies(self, point: Point) -> bool:
        harness = self._judging
        point = {**self._filling, **point}
        freed = {name: value for name, value in point.items() if name in self.system.freed and isinstance(value, fmpq)}
        if freed:
            harness = harness.with_values(freed)
        return passes(harness, {name: value for name, value in point.items() if name not in freed})

    # -- linear relaxation --

    def rows(self, open_parts: list[tuple[str, Formula]]) -> list[Row]:
        return [row for path, part in open_parts if isinstance(part, Below) and (row := self._row(path, part)) is not None]

    def _row(self, path: str, part: Below) -> Row | None:
        if path not in self._polynomials:
            try:
                self._polynomials[path] = Row((path,), polynomial(part.term), part.strict)
            except TooManyError:
                self._polynomials[path] = None
        return self._polynomials[path]

    def refuted_by_sum(self, node: Node, open_parts: list[tuple[str, Formula]]) -> list[Tree] | None:
        rows = self.rows(open_parts)
        if not rows:
            return None
        floats = node.box.floats
        names = sorted({atom.name for row in rows for m in row.polynomial for atom, _ in m if isinstance(atom, Var)})
        bounds = bound_rows(node.box, names)
        found = relax([*rows, *products(rows, bounds, all_pairs=False)], node.box, floats)
        if found.refutation is None and found.point is not None:
            self._try_relaxed(node, rows, found.point, floats)
            is_last = self.divide(node, open_parts) is None
            if (is_last or node.depth in _PAIRED) and len(rows) + len(bounds) <= _MOST_PAIRED:
                found = relax([*rows, *products(rows, bounds, all_pairs=True)], node.box, floats)
        if found.refutation is None:
            return None
        return [{"of": list(of), "times": str(factor)} for of, factor in found.refutation]

    def _try_relaxed(self, node: Node, rows: list[Row], point: Mapping[str, fmpq], floats: Bounds) -> None:
        whole = self.system.integers & point.keys()
        if whole and any(point[name].q != 1 for name in whole):
            point = relax(rows, node.box, floats, whole).point or point
        middle = {name: exact_float(middle_of(span)) for name, span in floats.items()}
        self._try({**middle, **point}, node.box)

    # -- splitting --

    def _split(self, node: Node, open_parts: list[tuple[str, Formula]]) -> Tree:
        division = self.divide(node, open_parts)
        if division is None:
            raise _GivenUp
        return {**division.said, "parts": [self._refute(each) for each in division.parts]}

    def divide(self, node: Node, open_parts: list[tuple[str, Formula]]) -> Division | None:
        """Divide a box: by values, by the cases of a rule, or in the middle of a variable. None where nothing is left to
        divide.
        """
        read = _names(open_parts)
        for name, values in node.box.choices.items():
            if len(values) > 1 and name in read:
                halves = (values[: len(values) // 2], values[len(values) // 2 :])
                said = {"variable": name, "halves": [[_plain(each) for each in half] for half in halves]}
                return Division(said, tuple(self._part(node, node.box.with_choice(name, half)) for half in halves))
        case = next(((path, each) for path, each in open_parts if isinstance(each, Or)), None)
        split = self.widest(node, open_parts)
        if case is not None and (split is None or node.depth % 2 == 0):
            path, formula = case
            taken = [{**node.assumed, path: number} for number in range(len(formula.parts))]
            return Division({"cases": path}, tuple(replace(node, assumed=each, depth=node.depth + 1) for each in taken))
        if split is None:
            return None
        name, at = split
        low, high = node.box.spans[name]
        boxes = (node.box.with_span(name, (low, at)), node.box.with_span(name, (at, high)))
        parts = tuple(self._part(node, _tightened(each, name, self.system)) for each in boxes)
        return Division({"variable": name, "at": str(at)}, parts)

    def _part(self, node: Node, box: Box) -> Node:
        return replace(node, box=box, depth=node.depth + 1)

    def widest(self, node: Node, open_parts: list[tuple[str, Formula]]) -> tuple[str, fmpq] | None:
        """Return the variable to split, and where: the widest beside its domain, of those that what is open reads."""
        floats = node.box.floats
        root = self.system.root.floats
        read = _names(open_parts)
        best: tuple[float, str] | None = None
        for name, (low, high) in floats.items():
            if name in read and low < high and not _is_narrow(low, high):
                share = _share(floats[name], root[name]) * (1.0 if name in self._nonlinear else 0.2)
                if name in self.system.integers and high - low < 1:
                    continue
                best = max(best or (0.0, ""), (share, name))
        if best is None or not best[1]:
            return None
        at = middle_of(floats[best[1]])
        if best[1] in self.system.integers:
            at = at // 1 + 0.5
        exact = exact_float(at)
        low_end, high_end = node.box.spans[best[1]]
        inside = (low_end is None or low_end < exact) and (high_end is None or exact < high_end)
        return (best[1], exact) if inside else None


def solve(system: System, budget: Budget) -> Found:
    """Decide a system part by part. One part without a solution refutes all; a witness has a value for every variable."""
    undecided = False
    point = dict(_filling(system))
    for part in sorted(system.components(), key=lambda each: len(each.rules)):
        found = Search(part, budget).run()
        if found.tree is not None:
            return found
        undecided |= found.witness is None and bool(part.root.spans or part.root.choices)
        point |= found.witness or {}
    return Found() if undecided or not Search(system, budget).satisfies(point) else Found(witness=point)


def _filling(system: System) -> Point:
    """Some value for every variable, for those on which nothing depends."""
    numbers: dict[str, Value] = {name: exact_float(middle_of(span)) for name, span in system.whole.floats.items()}
    whole = {name: fmpq(value.floor()) for name, value in numbers.items() if name in system.integers and isinstance(value, fmpq)}
    return {**numbers, **whole, **{name: values[0] for name, values in system.whole.choices.items()}}


class _Satisfied(Exception):  # noqa: N818 - no error: the search has ended
    def __init__(self, point: Point) -> None:
        self.point = point
        super().__init__("satisfied")


class _GivenUp(Exception):  # noqa: N818 - no error either
    pass


Satisfied = _Satisfied


def truth_assumed(
    formula: Formula, path: str, floats: Mapping[str, Interval], box: Box, assumed: Mapping[str, int]
) -> bool | None:
    """Like `truth`, where cases are assumed."""
    if isinstance(formula, And):
        found = [truth_assumed(each, f"{path}\t{number}", floats, box, assumed) for number, each in enumerate(formula.parts)]
        return False if False in found else None if None in found else True
    if isinstance(formula, Or):
        listed = enumerate(formula.parts) if path not in assumed else [(assumed[path], formula.parts[assumed[path]])]
        found = [truth_assumed(each, f"{path}\t{number}", floats, box, assumed) for number, each in listed]
        return True if True in found else None if None in found else False
    return truth(formula, floats, box)


def _with_cuts(cuts: list[Tree], then: Tree) -> Tree:
    return {"cuts": cuts, "then": then} if cuts else then


def _tightened(box: Box, name: str, system: System) -> Box:
    """Ends of whole numbers are whole; a number that is counted keeps the values within."""
    low, high = box.spans[name]
    if name in system.integers:
        low, high = (None if low is None else fmpq(low.ceil())), (None if high is None else fmpq(high.floor()))
        box = box.with_span(name, (low, high))
    if name in box.choices:
        left = tuple(
            v for v in box.choices[name] if isinstance(v, fmpq) and (low is None or v >= low) and (high is None or v <= high)
        )
        return box.with_choice(name, left) if left else box
    return box


def middle_of(span: Interval) -> float:
    """Return the middle; without ends, of what is sought."""
    low, high = max(span[0], -_WIDE), min(span[1], _WIDE)
    return low + (high - low) / 2 if low <= high else span[0] if abs(span[0]) < inf else span[1]


def _share(span: Interval, root: Interval) -> float:
    width, whole = min(span[1], _WIDE) - max(span[0], -_WIDE), min(root[1], _WIDE) - max(root[0], -_WIDE)
    return width / whole if whole > 0 else 0.0


def _is_narrow(low: float, high: float) -> bool:
    return high - low <= 1e-13 * max(abs(low), abs(high), 1e-100)


def _plain(value: Value) -> Any:
    return value if isinstance(value, str | bool) else str(value)


def _names(parts: list[tuple[str, Formula]]) -> frozenset[str]:
    return frozenset(name for _, part in parts for name in names_in(part))


def _nonlinear(system: System) -> Iterator[str]:
    """Variables in terms that are more than a number times a variable."""
    for formula in system.rules.values():
        waiting: list[Any] = [formula]
        while waiting:
            each = waiting.pop()
            if isinstance(each, And | Or):
                waiting += each.parts
            elif isinstance(each, Below):
                try:
                    found = polynomial(each.term)
                except TooManyError:
                    yield from names_in_term(each.term)
                    continue
                for monomial in found:
                    if len(monomial) > 1 or any(count > 1 or not isinstance(atom, Var) for atom, count in monomial):
                        for atom, _ in monomial:
                            yield from names_in_term(atom)

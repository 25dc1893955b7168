"""Boxes: bounds of terms and formulas from those of variables, and vice versa (hull consistency, HC4); parts of rules by path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from itertools import accumulate
from typing import Any, Final

from sagagraph.harness.language.formulas import And, Below, Const, Formula, Function, Or, Power, Product, Sum, Term, Var, parts_of
from sagagraph.harness.proof import intervals as i
from sagagraph.harness.proof.intervals import Interval

Bounds = dict[str, Interval]
Join = Callable[[Interval, Interval], Interval]
_MOST_CONSTANTS: Final = 50_000


def bounds_of(term: Term, box: Mapping[str, Interval]) -> Interval:
    """Return bounds of all values that the term has in the box; EMPTY if it has none."""
    match term:
        case Const():
            return _constant(term)
        case Var(name):
            return box[name]
        case Sum(terms) | Product(terms):
            return reduce(i.add if isinstance(term, Sum) else i.multiply, [bounds_of(each, box) for each in terms])
        case Power(base, exponent):
            return i.power(bounds_of(base, box), exponent)
        case Function(name, argument):
            return i.FUNCTIONS[name](bounds_of(argument, box))


def has_values(part: Formula | Term, box: Mapping[str, Interval]) -> bool:
    """Tell whether every quotient, logarithm and root in it has a value everywhere in the box."""
    match part:
        case Power(base, exponent) if exponent < 0:
            low, high = bounds_of(base, box)
            has_own = low > 0 or high < 0
        case Function("log" | "sqrt" as name, base):
            low = bounds_of(base, box)[0]
            has_own = low > 0 or (low == 0 and name == "sqrt")
        case _:
            has_own = True
    return has_own and all(has_values(each, box) for each in parts_of(part))


_INVERSE: Final[dict[str, Callable[[Interval], Interval]]] = {
    "exp": i.log, "log": i.exp, "sqrt": lambda wanted: i.power((max(wanted[0], 0.0), wanted[1]), 2),
}  # fmt: skip
_constants: dict[int, tuple[Const, Interval]] = {}


def _constant(term: Const) -> Interval:
    """Return bounds of a constant, cached by its identity: rationals hash slowly."""
    known = _constants.get(id(term))
    if known is None or known[0] is not term:
        if len(_constants) > _MOST_CONSTANTS:
            _constants.clear()
        known = _constants[id(term)] = (term, i.of_rational(term.value))
    return known[1]


class Hull:
    """Hull: narrows a box to what an inequality leaves of it. Its results are proposals: callers that cut something off prove
    that themselves.
    """

    def __init__(self, box: Bounds) -> None:
        self.box = box
        self.is_empty = False

    def require(self, term: Term, wanted: Interval) -> None:
        """Narrow the box to where the term can be within `wanted`."""
        match term:
            case Const():
                found = i.intersect(_constant(term), wanted)
                self.is_empty |= found[0] > found[1]
            case Var(name):
                found = i.intersect(self.box[name], wanted)
                self.is_empty |= found[0] > found[1]
                if not self.is_empty:
                    self.box[name] = found
            case Sum(terms):
                self._each_of(terms, i.add, (0.0, 0.0), lambda others: i.add(wanted, i.negate(others)))
            case Product(factors):
                self._each_of(factors, i.multiply, (1.0, 1.0), lambda others: _quotient(wanted, others))
            case Power(base, exponent):
                self._power(base, exponent, wanted)
            case Function(name, argument):
                self._narrow(argument, bounds_of(argument, self.box), _INVERSE[name](wanted))

    def _each_of(self, terms: tuple[Term, ...], join: Join, none: Interval, rest: Callable[[Interval], Interval | None]) -> None:
        """Narrow every part of a sum or product to what all the others leave for it."""
        found = [bounds_of(each, self.box) for each in terms]
        before, after = [*accumulate(found, join, initial=none)], none
        for index in range(len(terms) - 1, -1, -1):
            wanted = rest(join(before[index], after))
            if not isinstance(terms[index], Const) and wanted is not None:
                self._narrow(terms[index], found[index], wanted)
            after = join(after, found[index])

    def _power(self, base: Term, exponent: int, wanted: Interval) -> None:
        found = bounds_of(base, self.box)
        if exponent < 0:
            if wanted[0] <= 0 <= wanted[1]:
                return
            wanted, exponent = i.inverse(wanted), -exponent
        if exponent % 2:
            self._narrow(base, found, (i.root(wanted[0], exponent)[0], i.root(wanted[1], exponent)[1]))
        elif wanted[1] < 0:
            self.is_empty = True
        else:
            least, most = i.root(max(wanted[0], 0.0), exponent)[0], i.root(wanted[1], exponent)[1]
            low, high = (least, most) if found[0] >= 0 else (-most, -least) if found[1] <= 0 else (-most, most)
            self._narrow(base, found, (low, high))

    def _narrow(self, term: Term, found: Interval, wanted: Interval) -> None:
        both = i.intersect(found, wanted)
        if both[0] > both[1]:
            self.is_empty = True
        elif both != found and not self.is_empty:
            self.require(term, both)


def _quotient(left: Interval, right: Interval) -> Interval | None:
    return None if right[0] <= 0 <= right[1] else i.multiply(left, i.inverse(right))


Tree = Mapping[str, Any]
"""A certificate's node, ready for JSON (docs/harness.md says how it is read)."""
Parts = list[tuple[str, Formula]]
"""What must hold in a box but does not hold everywhere in it, each by its path in the rules."""
_NONE: Final[Mapping[str, int]] = {}


def rules_of(tree: Tree) -> Iterator[str]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        waiting += [*node.get("parts", ()), *([node["then"]] if "then" in node else [])]
        said = [node.get("rule"), node.get("cases"), *(each["rule"] for each in node.get("cuts", ()))]
        said += [each for product in node.get("sum", ()) for each in product["of"]]
        yield from (rule_of(each) for each in said if each is not None)


def rule_of(path: str) -> str:
    """Return the rule with which a path begins."""
    head, *_ = path.removeprefix("\t").split("\t")
    return f"\t{head}" if path.startswith("\t") else head


def truth(formula: Formula, floats: Mapping[str, Interval], path: str = "", assumed: Mapping[str, int] = _NONE) -> bool | None:
    """Tell whether a formula holds everywhere in the box, nowhere in it, or neither is known. `assumed`: cases, by their
    paths.
    """
    if isinstance(formula, Below):
        low, high = bounds_of(formula.term, floats)
        if low > high or low > 0 or (formula.strict and low >= 0):
            return False
        return True if high < 0 or (high <= 0 and not formula.strict) else None
    chosen = [assumed[path]] if path in assumed else range(len(formula.parts))
    found = [truth(formula.parts[number], floats, f"{path}\t{number}", assumed) for number in chosen]
    if isinstance(formula, And):
        return False if False in found else None if None in found else True
    return True if True in found else None if None in found else False


def implied(
    formula: Formula, path: str, floats: Mapping[str, Interval], assumed: Mapping[str, int]
) -> Iterator[tuple[str, Formula]]:
    """Yield what a formula reduces to in the box, each part by its path: all of an `and`, the one case that is left of an
    `or`.
    """
    if isinstance(formula, And):
        for number, each in enumerate(formula.parts):
            yield from implied(each, f"{path}\t{number}", floats, assumed)
    elif isinstance(formula, Or):
        left = [assumed[path]] if path in assumed else [
            number for number, each in enumerate(formula.parts) if truth(each, floats, f"{path}\t{number}", assumed) is not False
        ]  # fmt: skip
        if len(left) == 1:
            yield from implied(formula.parts[left[0]], f"{path}\t{left[0]}", floats, assumed)
        else:
            yield path, formula
    else:
        yield path, formula

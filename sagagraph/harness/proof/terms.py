"""Terms over boxes: bounds of a term from bounds of its variables, and back (hull consistency, HC4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sagagraph.harness.language.formulas import Const, Function, Power, Product, Sum, Term, Var
from sagagraph.harness.proof import intervals as i
from sagagraph.harness.proof.intervals import Interval

Bounds = dict[str, Interval]
_MOST_CONSTANTS: Final = 50_000
FORWARD: Final = {"exp": i.exp, "log": i.log, "sqrt": i.sqrt}


def bounds_of(term: Term, box: Mapping[str, Interval]) -> Interval:
    """Return bounds of all values that the term has in the box; EMPTY where it has none."""
    match term:
        case Const():
            return _constant(term)
        case Var(name):
            return box[name]
        case Sum(terms) | Product(terms):
            join = i.add if isinstance(term, Sum) else i.multiply
            found = bounds_of(terms[0], box)
            for each in terms[1:]:
                found = join(found, bounds_of(each, box))
            return found
        case Power(base, exponent):
            return i.power(bounds_of(base, box), exponent)
        case Function(name, argument):
            return FORWARD[name](bounds_of(argument, box))


_constants: dict[int, tuple[Const, Interval]] = {}


def _constant(term: Const) -> Interval:
    """Bounds of a constant, kept by its identity: rationals hash slowly."""
    known = _constants.get(id(term))
    if known is None or known[0] is not term:
        if len(_constants) > _MOST_CONSTANTS:
            _constants.clear()
        known = _constants[id(term)] = (term, i.of_rational(term.value))
    return known[1]


class Hull:
    """Narrows a box to what an inequality leaves of it. Its results are proposals: whoever cuts something off proves that
    anew.
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
                self._sum(terms, wanted)
            case Product(factors):
                self._product(factors, wanted)
            case Power(base, exponent):
                self._power(base, exponent, wanted)
            case Function(name, argument):
                self._function(name, argument, wanted)

    def _sum(self, terms: tuple[Term, ...], wanted: Interval) -> None:
        found = [bounds_of(each, self.box) for each in terms]
        before = [(0.0, 0.0)]
        for each in found:
            before.append(i.add(before[-1], each))
        after = (0.0, 0.0)
        for index in range(len(terms) - 1, -1, -1):
            others = i.add(before[index], after)
            if not isinstance(terms[index], Const):
                self._narrow(terms[index], found[index], i.add(wanted, i.negate(others)))
            after = i.add(after, found[index])

    def _product(self, factors: tuple[Term, ...], wanted: Interval) -> None:
        found = [bounds_of(each, self.box) for each in factors]
        before: list[Interval] = [(1.0, 1.0)]
        for each in found:
            before.append(i.multiply(before[-1], each))
        after: Interval = (1.0, 1.0)
        for index in range(len(factors) - 1, -1, -1):
            others = i.multiply(before[index], after)
            if not isinstance(factors[index], Const) and not others[0] <= 0 <= others[1]:
                self._narrow(factors[index], found[index], i.multiply(wanted, i.inverse(others)))
            after = i.multiply(after, found[index])

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

    def _function(self, name: str, argument: Term, wanted: Interval) -> None:
        found = bounds_of(argument, self.box)
        if name == "exp":
            self._narrow(argument, found, i.log(wanted))
        elif name == "log":
            self._narrow(argument, found, i.exp(wanted))
        elif wanted[1] < 0:
            self.is_empty = True
        else:
            self._narrow(argument, found, i.power((max(wanted[0], 0.0), wanted[1]), 2))

    def _narrow(self, term: Term, found: Interval, wanted: Interval) -> None:
        both = i.intersect(found, wanted)
        if both[0] > both[1]:
            self.is_empty = True
        elif both != found and not self.is_empty:
            self.require(term, both)

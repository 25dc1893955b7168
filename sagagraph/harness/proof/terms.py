"""Terms over boxes: bounds of a term from bounds of its variables, and back (hull consistency, HC4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from itertools import accumulate
from typing import Final

from sagagraph.harness.language.formulas import Const, Function, Power, Product, Sum, Term, Var
from sagagraph.harness.proof import intervals as i
from sagagraph.harness.proof.intervals import Interval

Bounds = dict[str, Interval]
Join = Callable[[Interval, Interval], Interval]
_MOST_CONSTANTS: Final = 50_000


def bounds_of(term: Term, box: Mapping[str, Interval]) -> Interval:
    """Return bounds of all values that the term has in the box; EMPTY where it has none."""
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
                self._each_of(terms, i.add, (0.0, 0.0), lambda others: i.add(wanted, i.negate(others)))
            case Product(factors):
                self._each_of(factors, i.multiply, (1.0, 1.0), lambda others: _quotient(wanted, others))
            case Power(base, exponent):
                self._power(base, exponent, wanted)
            case Function(name, argument):
                self._function(name, argument, wanted)

    def _each_of(self, terms: tuple[Term, ...], join: Join, none: Interval, rest: Callable[[Interval], Interval | None]) -> None:
        """Narrow every part of a sum or product to what is left beside all the others."""
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


def _quotient(left: Interval, right: Interval) -> Interval | None:
    return None if right[0] <= 0 <= right[1] else i.multiply(left, i.inverse(right))

"""Polynomials: terms multiplied out, over variables and whatever cannot be multiplied out (atoms)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Final

from flint import fmpq

from sagagraph.harness.language.formulas import Const, Function, Power, Product, Sum, Term, Var, add, multiply, raise_to

Atom = Var | Function | Power
Monomial = tuple[tuple[Atom, int], ...]
"""Atoms with their exponents, sorted; () is the constant."""
Polynomial = dict[Monomial, fmpq]
MOST_MONOMIALS: Final = 300
MOST_EXPONENT: Final = 12


class TooManyError(Exception):
    """Multiplied out it has too many monomials."""


def polynomial(term: Term) -> Polynomial:
    """Return a term multiplied out. Raises `TooManyError`."""
    match term:
        case Const(value):
            return _total([((), value)])
        case Sum(terms):
            return _total(item for each in terms for item in polynomial(each).items())
        case Product(factors):
            return reduce(times, map(polynomial, factors), {(): fmpq(1)})
        case Power(base, exponent) if 0 < exponent <= MOST_EXPONENT:
            return reduce(times, [polynomial(base)] * exponent)
        case Power(base, exponent):
            inner = polynomial(base)
            if len(inner) > 1 or not inner or not -MOST_EXPONENT <= exponent < 0:
                return {((Power(_term(inner), exponent), 1),): fmpq(1)}
            ((monomial, factor),) = inner.items()
            return {_sorted({Power(atom, -1): -exponent * count for atom, count in monomial}): factor**exponent}
        case Function(name, argument):
            return {((Function(name, _term(polynomial(argument))), 1),): fmpq(1)}
        case Var():
            return {((term, 1),): fmpq(1)}


def times(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the product. Raises `TooManyError`."""
    if len(left) * len(right) > MOST_MONOMIALS * 4:
        raise TooManyError
    found = _total((_product(one, other), one_factor * other_factor)
                   for one, one_factor in left.items() for other, other_factor in right.items())  # fmt: skip
    if len(found) > MOST_MONOMIALS:
        raise TooManyError
    return found


def _total(items: Iterable[tuple[Monomial, fmpq]]) -> Polynomial:
    found: Polynomial = {}
    for monomial, factor in items:
        found[monomial] = found.get(monomial, fmpq(0)) + factor
    return {monomial: factor for monomial, factor in found.items() if factor != 0}


def _product(left: Monomial, right: Monomial) -> Monomial:
    """An atom and its inverse cancel: where the inverse has a value, their product is 1."""
    powers: dict[Atom, int] = dict(left)
    for atom, count in right:
        powers[atom] = powers.get(atom, 0) + count
    for atom in list(powers):
        if isinstance(atom, Power) and atom.exponent == -1 and atom.base in powers:
            count = min(powers[atom], powers[atom.base])
            powers[atom] -= count
            powers[atom.base] -= count
    return _sorted(powers)


def _sorted(powers: dict[Atom, int]) -> Monomial:
    return tuple(sorted(((atom, count) for atom, count in powers.items() if count), key=repr))


def _term(found: Polynomial) -> Term:
    """Return it as a term again, in one order."""
    monomials = sorted(found.items(), key=lambda item: repr(item[0]))
    return add(*(multiply(Const(factor), *(raise_to(atom, count) for atom, count in monomial)) for monomial, factor in monomials))

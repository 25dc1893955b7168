"""Polynomials: terms multiplied out, over variables and whatever cannot be multiplied out (atoms)."""

from __future__ import annotations

from typing import Final

from flint import fmpq

from sagagraph.harness.language.core import Const, Function, Power, Product, Sum, Term, Var, add, multiply, raise_to

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
            return {(): value} if value != 0 else {}
        case Sum(terms):
            found: Polynomial = {}
            for each in terms:
                accumulate(found, polynomial(each), fmpq(1))
            return found
        case Product(factors):
            found = {(): fmpq(1)}
            for each in factors:
                found = _times(found, polynomial(each))
            return found
        case Power(base, exponent) if 0 < exponent <= MOST_EXPONENT:
            inner, found = polynomial(base), {(): fmpq(1)}
            for _ in range(exponent):
                found = _times(found, inner)
            return found
        case Power(base, exponent):
            inner = polynomial(base)
            if len(inner) == 1 and exponent < 0:
                ((monomial, factor),) = inner.items()
                inverse = tuple(sorted(((Power(atom, -1), count * -exponent) for atom, count in monomial), key=repr))
                return (
                    {inverse: factor**exponent}
                    if abs(exponent) <= MOST_EXPONENT
                    else {((Power(_term(inner), exponent), 1),): fmpq(1)}
                )
            return {((Power(_term(inner), exponent), 1),): fmpq(1)}
        case Function(name, argument):
            return {((Function(name, _term(polynomial(argument))), 1),): fmpq(1)}
        case _:
            return {((term, 1),): fmpq(1)}


def accumulate(into: Polynomial, other: Polynomial, factor: fmpq) -> None:
    """Add a multiple of another one to it."""
    for monomial, each in other.items():
        found = into.get(monomial, fmpq(0)) + each * factor
        if found == 0:
            into.pop(monomial, None)
        else:
            into[monomial] = found


def _times(left: Polynomial, right: Polynomial) -> Polynomial:
    if len(left) * len(right) > MOST_MONOMIALS * 4:
        raise TooManyError
    found: Polynomial = {}
    for one, one_factor in left.items():
        for other, other_factor in right.items():
            accumulate(found, {_product(one, other): one_factor * other_factor}, fmpq(1))
    if len(found) > MOST_MONOMIALS:
        raise TooManyError
    return found


def times(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the product. Raises `TooManyError`."""
    return _times(left, right)


def _product(left: Monomial, right: Monomial) -> Monomial:
    """An atom and its inverse cancel: where the inverse has a value, their product is 1."""
    powers: dict[Atom, int] = {}
    for atom, count in (*left, *right):
        powers[atom] = powers.get(atom, 0) + count
    for atom in list(powers):
        if isinstance(atom, Power) and atom.exponent == -1 and atom.base in powers:
            count = min(powers[atom], powers[atom.base])
            powers[atom] -= count
            powers[atom.base] -= count
    return tuple(sorted(((atom, count) for atom, count in powers.items() if count), key=repr))


def _term(found: Polynomial) -> Term:
    """Return it as a term again, in one order."""
    monomials = sorted(found.items(), key=lambda item: repr(item[0]))
    return add(*(multiply(Const(factor), *(raise_to(atom, count) for atom, count in monomial)) for monomial, factor in monomials))

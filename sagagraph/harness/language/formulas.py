"""Formulas: inequalities over few operations, and how they are combined and multiplied out; what solver and checker work on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Final

from flint import fmpq


@dataclass(frozen=True, slots=True)
class Const:
    value: fmpq


@dataclass(frozen=True, slots=True)
class Var:
    name: str


@dataclass(frozen=True, slots=True)
class Sum:
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Product:
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Power:
    """Power of a term. `exponent`: a whole number, not 0 or 1."""

    base: Term
    exponent: int


@dataclass(frozen=True, slots=True)
class Function:
    """Function of a term. `name`: exp, log or sqrt."""

    name: str
    base: Term


Term = Const | Var | Sum | Product | Power | Function


@dataclass(frozen=True, slots=True)
class Below:
    """Inequality: `term` is at most 0; `strict`: less than 0."""

    term: Term
    strict: bool


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Formula, ...]


Formula = Below | And | Or
TRUE: Final = And(())
FALSE: Final = Or(())
ZERO: Final = Const(fmpq(0))
ONE: Final = Const(fmpq(1))


def both(*parts: Formula) -> Formula:
    return _joined(And, FALSE, parts)


def either(*parts: Formula) -> Formula:
    return _joined(Or, TRUE, parts)


def _joined(join: type[And] | type[Or], end: Formula, parts: tuple[Formula, ...]) -> Formula:
    flat: list[Formula] = []
    for each in parts:
        if each == end:
            return end
        flat += each.parts if isinstance(each, join) else (each,)
    found = tuple(dict.fromkeys(flat))
    return found[0] if len(found) == 1 else join(found)


def opposite(formula: Formula) -> Formula:
    """Return a formula that holds wherever this one does not."""
    match formula:
        case Below(term, strict):
            return Below(negate(term), not strict)
        case And(parts):
            return either(*(opposite(each) for each in parts))
        case Or(parts):
            return both(*(opposite(each) for each in parts))


def _split(kind: type[Sum] | type[Product], terms: tuple[Term, ...]) -> tuple[list[fmpq], list[Term]]:
    """Return the constants among terms, with nested terms of the same kind flattened, and the rest."""
    flat = [part for each in terms for part in (each.terms if isinstance(each, kind) else (each,))]
    return [each.value for each in flat if isinstance(each, Const)], [each for each in flat if not isinstance(each, Const)]


def add(*terms: Term) -> Term:
    constants, rest = _split(Sum, terms)
    constant = sum(constants, fmpq(0))
    if constant != 0 or not rest:
        rest.append(Const(constant))
    return rest[0] if len(rest) == 1 else Sum(tuple(rest))


def multiply(*factors: Term) -> Term:
    constants, rest = _split(Product, factors)
    constant = prod(constants, start=fmpq(1))
    if constant == 0:
        return ZERO
    if constant != 1 or not rest:
        rest.insert(0, Const(constant))
    return rest[0] if len(rest) == 1 else Product(tuple(rest))


def negate(term: Term) -> Term:
    return multiply(Const(fmpq(-1)), term)


def raise_to(base: Term, exponent: int) -> Term:
    if exponent == 0:
        return ONE
    if exponent == 1:
        return base
    if isinstance(base, Const) and base.value != 0 and abs(exponent) <= 1000:
        return Const(base.value**exponent)
    if isinstance(base, Power):
        return raise_to(base.base, base.exponent * exponent) if exponent > 0 or base.exponent > 0 else Power(base, exponent)
    return Power(base, exponent)


def below(left: Term, right: Term, *, strict: bool = False) -> Formula:
    term = add(left, negate(right))
    if isinstance(term, Const):
        return TRUE if term.value < 0 or (term.value == 0 and not strict) else FALSE
    return Below(term, strict)


def equal(left: Term, right: Term) -> Formula:
    return both(below(left, right), below(right, left))


def one_of(name: str, values: tuple[fmpq, ...]) -> Formula:
    """Return the formula that a variable has one of these values."""
    return either(*(equal(Var(name), Const(each)) for each in values))


def parts_of(part: Formula | Term) -> tuple[Formula | Term, ...]:
    """Return its direct parts."""
    match part:
        case Sum(parts) | Product(parts) | And(parts) | Or(parts):
            return parts
        case Below(inner, _) | Power(inner, _) | Function(_, inner):
            return (inner,)
    return ()


def names_in(part: Formula | Term) -> Iterator[str]:
    if isinstance(part, Var):
        yield part.name
    for each in parts_of(part):
        yield from names_in(each)


Atom = Var | Function | Power
Monomial = tuple[tuple[Atom, int], ...]
"""Atoms with their exponents, sorted; () is the constant."""
Polynomial = dict[Monomial, fmpq]
MOST_MONOMIALS: Final = 300
MOST_EXPONENT: Final = 12


class TooManyError(Exception):
    """A term has too many monomials when multiplied out."""


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
    """Multiply. An atom and its inverse cancel: wherever the inverse has a value, their product is 1."""
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
    """Return it as a term again, in canonical order."""
    monomials = sorted(found.items(), key=lambda item: repr(item[0]))
    return add(*(multiply(Const(factor), *(raise_to(atom, count) for atom, count in monomial)) for monomial, factor in monomials))

"""Formulas: inequalities over few operations, and how they are put together; what solver and checker work on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
    """`exponent`: a whole number, not 0 or 1."""

    base: Term
    exponent: int


@dataclass(frozen=True, slots=True)
class Function:
    """`name`: exp, log or sqrt."""

    name: str
    base: Term


Term = Const | Var | Sum | Product | Power | Function


@dataclass(frozen=True, slots=True)
class Below:
    """`term` is at most 0; `strict`: less than 0."""

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
    """Return what holds wherever it does not."""
    match formula:
        case Below(term, strict):
            return Below(negate(term), not strict)
        case And(parts):
            return either(*(opposite(each) for each in parts))
        case Or(parts):
            return both(*(opposite(each) for each in parts))


def _split(kind: type[Sum] | type[Product], terms: tuple[Term, ...]) -> tuple[list[fmpq], list[Term]]:
    """Return the constants in terms, those of the kind itself opened, and the rest."""
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
    """Return that a variable has one of these values."""
    return either(*(equal(Var(name), Const(each)) for each in values))


def names_in(part: Formula | Term) -> Iterator[str]:
    match part:
        case Var(name):
            yield name
        case Sum(parts) | Product(parts) | And(parts) | Or(parts):
            for each in parts:
                yield from names_in(each)
        case Below(inner, _) | Power(inner, _) | Function(_, inner):
            yield from names_in(inner)

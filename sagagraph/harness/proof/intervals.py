"""Intervals: their ends are doubles, rounded outwards after every operation; the kernel that solver and checker share.

A double's neighbour is further out than any rounding error of + - * /; exact sums stay as they are, products of whole numbers
too. Ends of exp and log come from Arb, whose balls contain the true value. If an operation has no value on part of an interval,
the result is that of the rest; if it has none at all, EMPTY.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache
from math import inf, isnan, nextafter
from typing import Final

from flint import arb, fmpq

Interval = tuple[float, float]
LINE: Final[Interval] = (-inf, inf)
EMPTY: Final[Interval] = (inf, -inf)
_UNITS: Final = (1.0, -1.0)
_EXACT: Final = 2.0**53


def down(value: float) -> float:
    return nextafter(value, -inf)


def up(value: float) -> float:
    return nextafter(value, inf)


def of_rational(value: fmpq) -> Interval:
    """Return the narrowest interval of doubles around it: the number itself, if it is a double."""
    try:
        near = int(value.p) / int(value.q)
    except OverflowError:
        return of_ball(arb(value))
    exact = fmpq(*near.as_integer_ratio())
    return near if exact <= value else down(near), near if exact >= value else up(near)


def of_ball(value: arb) -> Interval:
    if not value.is_finite():
        return LINE
    low, high = float(value.lower()), float(value.upper())
    return (low, high) if low == high and arb(low) == value else (down(low), up(high))


def add(left: Interval, right: Interval) -> Interval:
    a, b = left
    c, d = right
    if a > b or c > d:
        return EMPTY
    low, high = a + c, b + d
    # The difference of a sum and its larger part is exact: if it is the smaller one, nothing was rounded.
    return (low if low - a == c and low - c == a else nextafter(low, -inf),
            high if high - b == d and high - d == b else nextafter(high, inf))  # fmt: skip


def multiply(left: Interval, right: Interval) -> Interval:
    a, b = left
    c, d = right
    if a > b or c > d:
        return EMPTY
    if a == b and a in _UNITS:
        return (c, d) if a > 0 else (-d, -c)
    if a >= 0 and c >= 0:
        low, high = a * c, b * d
    else:
        products = (_times(a, c), _times(a, d), _times(b, c), _times(b, d))
        low, high = min(products), max(products)
    if isnan(low):
        low = 0.0 if a >= 0 and c >= 0 else -inf
    if isnan(high):
        high = inf
    if low.is_integer() and high.is_integer() and -_EXACT < low <= high < _EXACT and all(map(float.is_integer, (a, b, c, d))):
        return low, high
    # A product that is 0 because a factor is 0 is exact; one that underflowed is not.
    return (low if low == 0 and (a == 0 or c == 0) and a >= 0 and c >= 0 else nextafter(low, -inf), nextafter(high, inf))


def _times(left: float, right: float) -> float:
    return 0.0 if left == 0 or right == 0 else left * right


def negate(value: Interval) -> Interval:
    return -value[1], -value[0]


def inverse(value: Interval) -> Interval:
    low, high = value
    if low > high or low == high == 0:
        return EMPTY
    if low < 0 < high:
        return LINE
    below, above = (-inf if high == 0 else down(1 / high)), (inf if low == 0 else up(1 / low))
    return (max(below, 0.0), above) if low >= 0 else (below, min(above, 0.0))


@lru_cache(maxsize=200_000)
def _at(function: Callable[..., arb], value: float, *exponent: int) -> Interval:
    return of_ball(function(arb(value), *exponent))


def power(value: Interval, exponent: int) -> Interval:
    """Raise to a power. `exponent`: a whole number."""
    if exponent < 0:
        return inverse(power(value, -exponent))
    low, high = value
    if low > high:
        return EMPTY
    if exponent % 2 == 0:
        near, far = (0.0 if low < 0 < high else min(abs(low), abs(high))), max(abs(low), abs(high))
        return max(_at(operator.pow, near, exponent)[0], 0.0), _at(operator.pow, far, exponent)[1]
    return _at(operator.pow, low, exponent)[0], _at(operator.pow, high, exponent)[1]


def root(value: float, exponent: int) -> Interval:
    """Return bounds of the real root; for a negative number only if the exponent is odd."""
    low, high = _at(arb.root, abs(value), exponent)
    return (-high, min(-low, 0.0)) if value < 0 else (max(low, 0.0), high)


def exp(value: Interval) -> Interval:
    return EMPTY if value[0] > value[1] else (max(0.0, _at(arb.exp, value[0])[0]), _at(arb.exp, value[1])[1])


def log(value: Interval) -> Interval:
    low, high = value
    if low > high or high <= 0:
        return EMPTY
    return (-inf if low <= 0 else _at(arb.log, low)[0]), _at(arb.log, high)[1]


def sqrt(value: Interval) -> Interval:
    low, high = value
    return EMPTY if low > high or high < 0 else (root(max(low, 0.0), 2)[0], root(high, 2)[1])


FUNCTIONS: Final[dict[str, Callable[[Interval], Interval]]] = {"exp": exp, "log": log, "sqrt": sqrt}


def intersect(left: Interval, right: Interval) -> Interval:
    return max(left[0], right[0]), min(left[1], right[1])

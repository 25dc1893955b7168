"""Intervals: ends as doubles, rounded outwards after every operation; the kernel that solver and checker share.

A double's neighbour is further out than any rounding error of + - * /; exact sums stay as they are, products of whole numbers
too. Ends of exp and log come from Arb, whose balls contain the true value. Where an operation has no value on part of an
interval, the result is that of the rest; where it has none at all, EMPTY.
"""

from __future__ import annotations

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
    """Return the narrowest interval of doubles around it: itself, if it is one."""
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
    return (down(low) if low > -inf else low, up(high) if high < inf else high)


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
    if low == 0:
        return (down(1 / high) if high < inf else 0.0, inf)
    if high == 0:
        return (-inf, up(1 / low) if low > -inf else 0.0)
    return (down(1 / high) if abs(high) < inf else min(0.0, down(0.0)), up(1 / low) if abs(low) < inf else up(0.0))


def power(value: Interval, exponent: int) -> Interval:
    """`exponent`: a whole number."""
    if exponent < 0:
        return inverse(power(value, -exponent))
    low, high = value
    if low > high:
        return EMPTY
    if exponent % 2 == 0:
        if low >= 0:
            return _raised(low, exponent)[0], _raised(high, exponent)[1]
        if high <= 0:
            return _raised(-high, exponent)[0], _raised(-low, exponent)[1]
        return 0.0, _raised(max(-low, high), exponent)[1]
    below = _raised(low, exponent)[0] if low >= 0 else -_raised(-low, exponent)[1]
    above = _raised(high, exponent)[1] if high >= 0 else -_raised(-high, exponent)[0]
    return below, above


@lru_cache(maxsize=100_000)
def _raised(value: float, exponent: int) -> Interval:
    """Of a number that is not negative."""
    if value == inf:
        return 1.7e308, inf
    low, high = of_ball(arb(value) ** exponent) if value else (0.0, 0.0)
    return max(low, 0.0), high


def exp(value: Interval) -> Interval:
    if value[0] > value[1]:
        return EMPTY
    return _exp_down(value[0]), _exp_up(value[1])


@lru_cache(maxsize=100_000)
def _exp_down(value: float) -> float:
    if value < -745:
        return 0.0
    return max(0.0, of_ball(arb(value).exp())[0]) if value < 709 else 8e307


@lru_cache(maxsize=100_000)
def _exp_up(value: float) -> float:
    if value > 709:
        return inf
    return of_ball(arb(value).exp())[1] if value > -746 else 5e-324


def log(value: Interval) -> Interval:
    low, high = value
    if low > high or high <= 0:
        return EMPTY
    return (of_ball(arb(low).log())[0] if 0 < low < inf else -inf if low <= 0 else 709.0,
            of_ball(arb(high).log())[1] if high < inf else inf)  # fmt: skip


def sqrt(value: Interval) -> Interval:
    low, high = value
    if low > high or high < 0:
        return EMPTY
    return root(max(low, 0.0), 2)[0] if low < inf else 0.0, root(high, 2)[1]


@lru_cache(maxsize=100_000)
def root(value: float, exponent: int) -> Interval:
    """Return bounds of the real root; of a negative number for odd exponents only."""
    if abs(value) == inf:
        return value, value
    low, high = of_ball(arb(abs(value)).root(exponent))
    return (-high, -low) if value < 0 else (max(low, 0.0), high)


FUNCTIONS: Final[dict[str, Callable[[Interval], Interval]]] = {"exp": exp, "log": log, "sqrt": sqrt}


def intersect(left: Interval, right: Interval) -> Interval:
    return max(left[0], right[0]), min(left[1], right[1])

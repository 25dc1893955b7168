"""Exact values of terms: rationals as long as they stay rational, balls with outward rounding (Arb) once exp, log or roots are
involved.

A comparison is decided only if the sides are apart, or rational; otherwise the caller asks again with more bits.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, Final

from flint import arb, ctx, fmpq, fmpz

from sagagraph.harness.language.tree import COMPARISONS, Call, Literal, Meaning, Node, Parts
from sagagraph.harness.registry.harness import Value

Result = fmpq | arb | str | bool | tuple["Result", ...]
Number = fmpq | arb
MOST_BITS: Final = 20_000
"""Digits of a rational, before it counts as an overflow."""
_LARGEST_ARGUMENT: Final = 10**6


class NoValueError(Exception):
    """A term has no value: a missing field, a division by zero, an overflow, a value of the wrong kind."""


class NotApartError(Exception):
    """The two sides of a comparison cannot be told apart with this many bits."""

    def __init__(self, sides: tuple[Node, ...]) -> None:
        super().__init__("not apart")
        self.sides = sides


class Terms(Meaning[Result]):
    """Terms of an artifact, with their values at one precision. Derived quantities are computed once."""

    def __init__(self, values: Mapping[str, Value | None], derived: Mapping[str, Node], bits: int) -> None:
        super().__init__(derived)
        self._values = values
        self._bits = bits

    def value(self, node: Node) -> Result:
        """Return the value. Raises `NoValueError` or `NotApartError`."""
        with ctx.workprec(self._bits):
            return self.of(node)

    def truth(self, node: Node) -> bool:
        return _boolean(self.value(node))

    def number(self, node: Node) -> Number:
        return _number(self.value(node))

    def literal(self, node: Literal) -> Result:
        return node.value

    def named(self, name: str) -> Result:
        value = self._values.get(name)
        if value is None:
            raise NoValueError(f"{name} is {'no finite number' if name in self._values else 'missing'}")
        return value

    def joined(self, word: str, parts: Parts[Result]) -> bool:
        return (all if word == "and" else any)(_boolean(each) for _, each in parts)

    def chosen(
        self, node: Call, condition: Result, then: Callable[[], Result], otherwise: Callable[[], Result]  # noqa: ARG002 - others name the node
    ) -> Result:  # fmt: skip
        return then() if _boolean(condition) else otherwise()

    def items(self, node: Node, value: Result) -> tuple[Result, ...]:  # noqa: ARG002 - as above
        if not isinstance(value, tuple):
            raise NoValueError(f"{_named(value)} is no list")
        return value

    def applied(self, name: str, node: Call, values: tuple[Result, ...]) -> Result:
        if name in COMPARISONS:
            return _compared(name, node, *values)
        if name == "list":
            return values
        if name == "len":
            return fmpq(len(values[0] if isinstance(values[0], str) else self.items(node, values[0])))
        if name == "not":
            return not _boolean(values[0])
        if not values and name != "sum":
            raise NoValueError(f"{name} of an empty list")
        return _bounded(_FUNCTIONS[name](*map(_number, values)))


def _compared(sign: str, node: Call, left: Result, right: Result) -> bool:
    if isinstance(left, bool | str | tuple) or isinstance(right, bool | str | tuple):
        if sign not in ("==", "!=") or (type(left) is not type(right) and node.name != "in"):
            raise NoValueError(f"{_named(left)} cannot be compared with {_named(right)} by {sign}")
        return (type(left) is type(right) and left == right) is (sign == "==")
    if left < right:
        return sign in ("<", "<=", "!=")
    if left > right:
        return sign in (">", ">=", "!=")
    if isinstance(left, arb) or isinstance(right, arb):
        raise NotApartError(node.operands)
    return sign in ("<=", ">=", "==")


def _boolean(value: Result) -> bool:
    if not isinstance(value, bool):
        raise NoValueError(f"{_named(value)} is neither true nor false")
    return value


def _number(value: Result) -> Number:
    if isinstance(value, bool) or not isinstance(value, fmpq | arb):
        raise NoValueError(f"{_named(value)} is no number")
    return value


def _named(value: Result) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value[:40]) if isinstance(value, str) else "a list" if isinstance(value, tuple) else "a number"


def _bounded(value: Number) -> Number:
    if isinstance(value, fmpq):
        if value.p.bit_length() + value.q.bit_length() > MOST_BITS:
            raise NoValueError("an overflow: a number with too many digits")
    elif not value.is_finite():
        raise NoValueError("an overflow")
    return value


def _divide(left: Number, right: Number) -> Number:
    if right == 0 or (isinstance(right, arb) and right.contains(0)):
        raise NoValueError(f"a division by {'zero' if isinstance(right, fmpq) else 'what may be zero'}")
    return left / right


def _power(base: Number, exponent: Number) -> Number:
    """Raise any base to a whole exponent, or a positive base to any exponent."""
    if isinstance(exponent, fmpq) and exponent.q == 1:
        return _whole_power(base, exponent.p)
    if not base > 0:
        raise NoValueError("a power of what is not positive, with an exponent that is not whole")
    if isinstance(exponent, fmpq) and exponent.q == 2 and (root := _root(base)) is not None:
        return _whole_power(root, exponent.p)
    return _exp(arb(base).log() * exponent)


def _whole_power(base: Number, exponent: fmpz) -> Number:
    if exponent < 0:
        return _divide(fmpq(1), _whole_power(base, -exponent))
    if isinstance(base, arb):
        return base ** int(exponent) if exponent < 10**6 else _exp(base.log() * fmpq(exponent))
    if base in (fmpq(0), fmpq(1), fmpq(-1)):
        return fmpq(1) if exponent == 0 or base == 1 or (base == -1 and exponent % 2 == 0) else base
    if max(base.p.bit_length(), base.q.bit_length()) * exponent > MOST_BITS:
        raise NoValueError("an overflow: a power with too many digits")
    return base ** int(exponent)


def _exp(value: Number) -> Number:
    if not abs(arb(value)) < _LARGEST_ARGUMENT:
        raise NoValueError("an overflow in exp")
    return fmpq(1) if isinstance(value, fmpq) and value == 0 else arb(value).exp()


def _log(value: Number) -> Number:
    if not value > 0:
        raise NoValueError("log of what is not positive")
    return fmpq(0) if isinstance(value, fmpq) and value == 1 else arb(value).log()


def _sqrt(value: Number) -> Number:
    if not value >= 0:
        raise NoValueError("sqrt of what may be negative")
    root = _root(value)
    return arb(value).sqrt() if root is None else root


def _root(value: Number) -> fmpq | None:
    """Return the square root of a number that is not negative, if it is rational."""
    if isinstance(value, arb):
        return None
    top, bottom = value.p.isqrt(), value.q.isqrt()
    return fmpq(top, bottom) if top * top == value.p and bottom * bottom == value.q else None


def _extreme(name: str) -> Callable[..., Number]:
    def one(left: Number, right: Number) -> Number:
        if isinstance(left, fmpq) and isinstance(right, fmpq):
            return min(left, right) if name == "min" else max(left, right)
        return arb(left).min(arb(right)) if name == "min" else arb(left).max(arb(right))

    return lambda *numbers: reduce(one, numbers)


_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": _divide, "**": _power, "neg": operator.neg, "abs": abs,
    "exp": _exp, "log": _log, "sqrt": _sqrt, "kelvin": lambda value: value + fmpq(27315, 100),
    "sum": lambda *numbers: sum(numbers, fmpq(0)), "min": _extreme("min"), "max": _extreme("max"),
}  # fmt: skip
"""`Any`: Flint types its arithmetic by what all its numbers have in common."""

"""Exact values of terms: rationals as long as they stay rational, balls with outward rounding (Arb) where exp, log or roots
come in.

A comparison is decided only if the sides are apart, or rational; otherwise the caller asks again with more bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flint import arb, ctx, fmpq, fmpz

from sagagraph.harness.language.tree import COMPARISONS, Call, Each, Items, Literal, Name, Node
from sagagraph.harness.registry.harness import Value

Result = fmpq | arb | str | bool | tuple["Result", ...]
MOST_BITS: Final = 20_000
"""Of a rational, before it is an overflow."""
ZERO_CELSIUS: Final = fmpq(27315, 100)
_LARGEST_ARGUMENT: Final = 10**6


class NoValueError(Exception):
    """A term has no value: a missing field, a division by zero, an overflow, a value of the wrong kind."""


class NotApartError(Exception):
    """The two sides of a comparison cannot be told apart with so many bits."""

    def __init__(self, left: Node, right: Node) -> None:
        super().__init__("not apart")
        self.sides = (left, right)


class Terms:
    """Values of an artifact's terms at one precision. Derived quantities are computed once."""

    def __init__(self, values: Mapping[str, Value | None], derived: Mapping[str, Node], bits: int) -> None:
        self._values = values
        self._derived = derived
        self._bits = bits
        self._known: dict[str, Result] = {}

    def of(self, node: Node) -> Result:
        """Return the value. Raises `NoValueError` or `NotApartError`."""
        with ctx.workprec(self._bits):
            return self._of(node, {})

    def number(self, node: Node) -> fmpq | arb:
        with ctx.workprec(self._bits):
            return self._number(node, {})

    def _of(self, node: Node, bound: Mapping[str, Result]) -> Result:
        if isinstance(node, Call):
            return self._call(node, bound)
        if isinstance(node, Name):
            return bound[node.name] if node.name in bound else self._named(node.name)
        if isinstance(node, Literal):
            return node.value
        if isinstance(node, Items):
            return tuple(self._of(each, bound) for each in node.items)
        return self._each(node, bound)

    def _named(self, name: str) -> Result:
        if name not in self._known:
            if name in self._derived:
                self._known[name] = self._of(self._derived[name], {})
            elif name not in self._values:
                raise NoValueError(f"{name} is missing")
            else:
                value = self._values[name]
                if value is None:
                    raise NoValueError(f"{name} is no finite number")
                self._known[name] = value
        return self._known[name]

    def _each(self, node: Each, bound: Mapping[str, Result]) -> bool:
        items = self._list(node.items, bound)
        return (all if node.name == "all" else any)(self._boolean(node.body, {**bound, node.bound: each}) for each in items)

    def _call(self, node: Call, bound: Mapping[str, Result]) -> Result:
        name, operands = node.name, node.operands
        if name in COMPARISONS:
            return self._compare(name, operands[0], operands[1], bound)
        if name in _ARITHMETIC:
            return self._arithmetic(name, *(self._number(each, bound) for each in operands))
        match name:
            case "neg":
                return -self._number(operands[0], bound)
            case "and":
                return all(self._boolean(each, bound) for each in operands)
            case "or":
                return any(self._boolean(each, bound) for each in operands)
            case "not":
                return not self._boolean(operands[0], bound)
            case "implies":
                return not self._boolean(operands[0], bound) or self._boolean(operands[1], bound)
            case "if":
                return self._of(operands[1] if self._boolean(operands[0], bound) else operands[2], bound)
            case "in":
                wanted, listed = self._of(operands[0], bound), self._list(operands[1], bound)
                return any(self._same(wanted, each, node) for each in listed)
            case _:
                return self._function(name, operands, bound)

    def _function(self, name: str, operands: tuple[Node, ...], bound: Mapping[str, Result]) -> Result:
        if name in ("all", "any"):
            listed = self._list(operands[0], bound)
            if not all(isinstance(each, bool) for each in listed):
                raise NoValueError(f"{name} wants booleans")
            return all(listed) if name == "all" else any(listed)
        if name == "len":
            value = self._of(operands[0], bound)
            if not isinstance(value, tuple | str):
                raise NoValueError("len wants a list")
            return fmpq(len(value))
        if name in ("sum", "min", "max"):
            return self._gathered(name, operands, bound)
        value = self._number(operands[0], bound)
        if name == "abs":
            return _bounded(abs(value))  # type: ignore[arg-type] # Flint types it as any scalar
        if name == "kelvin":
            return value + ZERO_CELSIUS
        found: fmpq | arb = _FUNCTIONS[name](value)
        return found

    def _gathered(self, name: str, operands: tuple[Node, ...], bound: Mapping[str, Result]) -> fmpq | arb:
        listed = self._list(operands[0], bound) if len(operands) == 1 and not _is_number(operands[0]) else None
        if listed is None:
            listed = tuple(self._of(each, bound) for each in operands)
        numbers = [_number(each) for each in listed]
        if name == "sum":
            return sum(numbers, fmpq(0))
        if not numbers:
            raise NoValueError(f"{name} of an empty list")
        found = numbers[0]
        for each in numbers[1:]:
            if isinstance(found, fmpq) and isinstance(each, fmpq):
                found = min(found, each) if name == "min" else max(found, each)
            else:
                found = arb(found).min(arb(each)) if name == "min" else arb(found).max(arb(each))
        return found

    def _compare(self, sign: str, left: Node, right: Node, bound: Mapping[str, Result]) -> bool:
        one, other = self._of(left, bound), self._of(right, bound)
        if isinstance(one, bool | str | tuple) or isinstance(other, bool | str | tuple):
            if sign not in ("==", "!=") or type(one) is not type(other):
                raise NoValueError(f"{_named(one)} cannot be compared with {_named(other)} by {sign}")
            return (one == other) is (sign == "==")
        if isinstance(one, fmpq) and isinstance(other, fmpq):
            return _COMPARE[sign](one, other)
        if one < other:
            return sign in ("<", "<=", "!=")
        if one > other:
            return sign in (">", ">=", "!=")
        raise NotApartError(left, right)

    def _same(self, one: Result, other: Result, node: Call) -> bool:
        if isinstance(one, arb) or isinstance(other, arb):
            if not isinstance(one, arb | fmpq) or isinstance(one, bool) or not isinstance(other, arb | fmpq):
                return False
            if one < other or one > other:
                return False
            raise NotApartError(*node.operands)
        return type(one) is type(other) and one == other

    def _boolean(self, node: Node, bound: Mapping[str, Result]) -> bool:
        value = self._of(node, bound)
        if not isinstance(value, bool):
            raise NoValueError(f"{_named(value)} is neither true nor false")
        return value

    def _number(self, node: Node, bound: Mapping[str, Result]) -> fmpq | arb:
        return _number(self._of(node, bound))

    def _list(self, node: Node, bound: Mapping[str, Result]) -> tuple[Result, ...]:
        value = self._of(node, bound)
        if not isinstance(value, tuple):
            raise NoValueError(f"{_named(value)} is no list")
        return value

    def _arithmetic(self, name: str, left: fmpq | arb, right: fmpq | arb) -> fmpq | arb:
        if name == "+":
            found = left + right
        elif name == "-":
            found = left - right
        elif name == "*":
            found = left * right
        elif name == "/":
            found = _divide(left, right)
        else:
            found = _power(left, right)
        return _bounded(found)


_ARITHMETIC: Final = frozenset({"+", "-", "*", "/", "**"})
_COMPARE: Final = {
    "<": lambda one, other: bool(one < other),
    "<=": lambda one, other: bool(one <= other),
    ">": lambda one, other: bool(one > other),
    ">=": lambda one, other: bool(one >= other),
    "==": lambda one, other: bool(one == other),
    "!=": lambda one, other: bool(one != other),
}


def _is_number(node: Node) -> bool:
    """Whether a single operand can only be a number: then it is the minimum of itself."""
    return isinstance(node, Literal) or (isinstance(node, Call) and node.name in _ARITHMETIC | {"neg"})


def _number(value: Result) -> fmpq | arb:
    if isinstance(value, bool) or not isinstance(value, fmpq | arb):
        raise NoValueError(f"{_named(value)} is no number")
    return value


def _named(value: Result) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value[:40]) if isinstance(value, str) else "a list" if isinstance(value, tuple) else "a number"


def _bounded(value: fmpq | arb) -> fmpq | arb:
    if isinstance(value, fmpq):
        if value.p.bit_length() + value.q.bit_length() > MOST_BITS:
            raise NoValueError("an overflow: a number with too many digits")
    elif not value.is_finite():
        raise NoValueError("an overflow")
    return value


def _divide(left: fmpq | arb, right: fmpq | arb) -> fmpq | arb:
    if isinstance(right, fmpq):
        if right == 0:
            raise NoValueError("a division by zero")
    elif right.contains(0):
        raise NoValueError("a division by what may be zero")
    return left / right


def _power(base: fmpq | arb, exponent: fmpq | arb) -> fmpq | arb:
    """A whole exponent over any base, any other over a positive one."""
    if isinstance(exponent, fmpq) and exponent.q == 1:
        return _whole_power(base, exponent.p)
    if (
        isinstance(base, fmpq)
        and isinstance(exponent, fmpq)
        and base > 0
        and exponent.q == 2
        and (root := _root(base)) is not None
    ):
        return _whole_power(root, exponent.p)
    if not base > 0:
        raise NoValueError("a power of what is not positive, with an exponent that is not whole")
    return _exp(arb(base).log() * exponent)


def _whole_power(base: fmpq | arb, exponent: fmpz) -> fmpq | arb:
    if exponent < 0:
        return _divide(fmpq(1), _whole_power(base, -exponent))
    if isinstance(base, arb):
        return base ** int(exponent) if exponent < 10**6 else _exp(base.log() * fmpq(exponent))
    size = max(base.p.bit_length(), base.q.bit_length())
    if base not in (fmpq(0), fmpq(1), fmpq(-1)) and size * exponent > MOST_BITS:
        raise NoValueError("an overflow: a power with too many digits")
    if base in (fmpq(0), fmpq(1), fmpq(-1)):
        return fmpq(1) if exponent == 0 or base == 1 or (base == -1 and exponent % 2 == 0) else base
    return base ** int(exponent)


def _exp(value: fmpq | arb) -> fmpq | arb:
    if isinstance(value, fmpq) and value == 0:
        return fmpq(1)
    if not abs(arb(value)) < _LARGEST_ARGUMENT:
        raise NoValueError("an overflow in exp")
    return _bounded(arb(value).exp())


def _log(value: fmpq | arb) -> fmpq | arb:
    if isinstance(value, fmpq) and value == 1:
        return fmpq(0)
    if not value > 0:
        raise NoValueError("log of what is not positive")
    return _bounded(arb(value).log())


def _sqrt(value: fmpq | arb) -> fmpq | arb:
    if isinstance(value, fmpq) and (root := _root(value)) is not None:
        return root
    if not value >= 0:
        raise NoValueError("sqrt of what may be negative")
    return _bounded(arb(value).sqrt())


def _root(value: fmpq) -> fmpq | None:
    """Return the square root, if it is rational."""
    if value < 0:
        return None
    top, bottom = value.p.isqrt(), value.q.isqrt()
    return fmpq(top, bottom) if top * top == value.p and bottom * bottom == value.q else None


_FUNCTIONS: Final = {"exp": _exp, "log": _log, "sqrt": _sqrt}

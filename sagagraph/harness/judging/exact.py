"""Exact values of terms: rationals as long as they stay rational, balls with outward rounding (Arb) where exp, log or roots
come in.

A comparison is decided only if the sides are apart, or rational; otherwise the caller asks again with more bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import eq, ge, gt, le, lt, ne
from typing import Final

from flint import arb, ctx, fmpq, fmpz

from sagagraph.harness.language.meaning import Meaning, Parts
from sagagraph.harness.language.tree import Call, Literal, Node
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


class Terms(Meaning[Result]):
    """Values of an artifact's terms at one precision. Derived quantities are computed once."""

    def __init__(self, values: Mapping[str, Value | None], derived: Mapping[str, Node], bits: int) -> None:
        super().__init__(derived)
        self._values = values
        self._bits = bits

    def value(self, node: Node) -> Result:
        """Return the value. Raises `NoValueError` or `NotApartError`."""
        with ctx.workprec(self._bits):
            return self.of(node)

    def number(self, node: Node) -> fmpq | arb:
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

    def negated(self, node: Node, value: Result) -> bool:  # noqa: ARG002 - others name the node
        return not _boolean(value)

    def chosen(
        self, node: Call, condition: Result, then: Callable[[], Result], otherwise: Callable[[], Result]  # noqa: ARG002 - as above
    ) -> Result:  # fmt: skip
        return then() if _boolean(condition) else otherwise()

    def is_list(self, value: Result) -> bool:
        return isinstance(value, tuple)

    def items(self, node: Node, value: Result) -> tuple[Result, ...]:  # noqa: ARG002 - as above
        if not isinstance(value, tuple):
            raise NoValueError(f"{_named(value)} is no list")
        return value

    def listed(self, node: Call, items: tuple[Result, ...]) -> Result:  # noqa: ARG002 - as above
        return items

    def length(self, node: Node, value: Result) -> Result:
        return fmpq(len(value) if isinstance(value, str) else len(self.items(node, value)))

    def gathered(self, node: Call, values: tuple[Result, ...]) -> fmpq | arb:
        numbers = [_number(each) for each in values]
        if node.name == "sum":
            return sum(numbers, fmpq(0))
        if not numbers:
            raise NoValueError(f"{node.name} of an empty list")
        found = numbers[0]
        for each in numbers[1:]:
            if isinstance(found, fmpq) and isinstance(each, fmpq):
                found = min(found, each) if node.name == "min" else max(found, each)
            else:
                found = arb(found).min(arb(each)) if node.name == "min" else arb(found).max(arb(each))
        return found

    def compared(self, sign: str, node: Call, left: Result, right: Result) -> bool:
        if isinstance(left, bool | str | tuple) or isinstance(right, bool | str | tuple):
            if sign not in ("==", "!=") or (type(left) is not type(right) and node.name != "in"):
                raise NoValueError(f"{_named(left)} cannot be compared with {_named(right)} by {sign}")
            return (type(left) is type(right) and left == right) is (sign == "==")
        if isinstance(left, fmpq) and isinstance(right, fmpq):
            return _COMPARE[sign](left, right)
        if left < right:
            return sign in ("<", "<=", "!=")
        if left > right:
            return sign in (">", ">=", "!=")
        raise NotApartError(node.operands[0], node.operands[1])

    def applied(self, node: Call, value: Result) -> fmpq | arb:
        number = _number(value)
        match node.name:
            case "neg":
                return -number
            case "abs":
                return _bounded(abs(number))  # type: ignore[arg-type] # Flint types it as any scalar
            case "kelvin":
                return number + ZERO_CELSIUS
            case _:
                return _FUNCTIONS[node.name](number)

    def calculated(self, node: Call, left: Result, right: Result) -> fmpq | arb:
        one, other = _number(left), _number(right)
        match node.name:
            case "+":
                return _bounded(one + other)
            case "-":
                return _bounded(one - other)
            case "*":
                return _bounded(one * other)
            case "/":
                return _bounded(_divide(one, other))
            case _:
                return _bounded(_power(one, other))


_COMPARE: Final[Mapping[str, Callable[[fmpq, fmpq], bool]]] = {"<": lt, "<=": le, ">": gt, ">=": ge, "==": eq, "!=": ne}


def _boolean(value: Result) -> bool:
    if not isinstance(value, bool):
        raise NoValueError(f"{_named(value)} is neither true nor false")
    return value


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


_FUNCTIONS: Final[Mapping[str, Callable[[fmpq | arb], fmpq | arb]]] = {"exp": _exp, "log": _log, "sqrt": _sqrt}

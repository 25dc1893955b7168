"""Core form: an assertion with its constants put in, derived quantities inlined, and cases separated, as inequalities over few
operations.

Booleans and strings that are decided become whole numbers: 0 and 1, or the position among the values. Solver and checker both
begin here; it decides nothing. A formula is true wherever the assertion passes; if a term of it has no value, it may allow more
than the assertion, never less.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Final, TypeVar

from flint import fmpq

from sagagraph.harness.language.formulas import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Const,
    Formula,
    Function,
    Term,
    Var,
    add,
    below,
    both,
    either,
    equal,
    multiply,
    negate,
    opposite,
    raise_to,
)
from sagagraph.harness.language.tree import COMPARISONS, Call, Literal, Meaning, Node, Parts

MOST_TERMS: Final = 50_000
MOST_CASES: Final = 64


class TooLargeError(Exception):
    """The core form has too many parts or cases."""


class NotSupportedError(Exception):
    """Only an artifact can state this value: a list that is decided, or a field of unknown kind."""


Fixed = fmpq | str | bool | tuple["Fixed", ...]
Cases = list[tuple[Formula, Term | str]]
"""The value of a number or a string under each condition."""
Core = Cases | Formula | tuple["Core", ...]
"""Numbers and strings by cases, booleans as formulas, lists."""
Numbers = list[tuple[Formula, Term]]
C = TypeVar("C")


class CoreForm(Meaning[Core]):
    """Core form of assertions, as formulas. `fixed`: values of constants and parameters; `symbols`: all values of decided names
    that are not numbers.
    """

    def __init__(self, fixed: Mapping[str, Fixed], symbols: Mapping[str, tuple[Fixed, ...]], derived: Mapping[str, Node]) -> None:
        super().__init__(derived)
        self._fixed = fixed
        self._symbols = symbols
        self._count = 0

    def formula(self, node: Node) -> Formula:
        """Return the formula. Raises `TooLargeError`, `NotSupportedError`."""
        return _truth(self.of(node))

    def number(self, node: Node) -> Term:
        """Return a number that does not depend on cases. Raises the same errors as `formula`."""
        cases = _number(self.of(node))
        if len(cases) != 1 or cases[0][0] != TRUE:
            raise NotSupportedError("a number by cases")
        return cases[0][1]

    def of(self, node: Node, bound: Mapping[str, Core] | None = None) -> Core:
        self._count += 1
        if self._count > MOST_TERMS:
            raise TooLargeError("it expands to too many parts")
        return super().of(node, bound)

    def literal(self, node: Literal) -> Core:
        return _fixed(node.value)

    def named(self, name: str) -> Core:
        if name in self._fixed:
            return _fixed(self._fixed[name])
        values = self._symbols.get(name)
        if values is None:
            return [(TRUE, Var(name))]
        if isinstance(values[0], bool):
            return below(ONE, Var(name))
        return [(equal(Var(name), Const(fmpq(number))), str(each)) for number, each in enumerate(values)]

    def joined(self, word: str, parts: Parts[Core]) -> Formula:
        return (both if word == "and" else either)(*(_truth(each) for _, each in parts))

    def chosen(self, node: Call, condition: Core, then: Callable[[], Core], otherwise: Callable[[], Core]) -> Core:  # noqa: ARG002 - others name the node
        yes = _truth(condition)
        if yes in (TRUE, FALSE):
            return then() if yes == TRUE else otherwise()
        one, other, no = then(), otherwise(), opposite(yes)
        if isinstance(one, list) and isinstance(other, list):
            return _bounded([(both(yes, when), each) for when, each in one] + [(both(no, when), each) for when, each in other])
        return either(both(yes, _truth(one)), both(no, _truth(other)))

    def items(self, node: Node, value: Core) -> tuple[Core, ...]:  # noqa: ARG002 - as above
        if not isinstance(value, tuple):
            raise NotSupportedError("a list that is not fixed")
        return value

    def applied(self, name: str, node: Call, values: tuple[Core, ...]) -> Core:
        if name in COMPARISONS:
            return _compared(name, *values)
        if name == "list":
            return values
        if name == "not":
            return opposite(_truth(values[0]))
        if name == "len":
            if isinstance(values[0], list):
                return [(when, Const(fmpq(len(each)))) for when, each in values[0] if isinstance(each, str)]
            return [(TRUE, Const(fmpq(len(self.items(node, values[0])))))]
        if not values and name != "sum":
            raise NotSupportedError(f"{name} of an empty list")
        numbers = [_number(each) for each in values]
        if name in ("min", "max"):
            return [*reduce(lambda one, other: _paired(one, other, _EXTREMES[name]), numbers)]
        if name == "sum":
            numbers.insert(0, [(TRUE, ZERO)])
        if name in _OPERATIONS:
            operation = _OPERATIONS[name]
            return [*reduce(lambda one, other: _paired(one, other, lambda x, y: [(TRUE, operation(x, y))]), numbers)]
        return _bounded([(both(when, case), each) for when, term in numbers[0] for case, each in _function(name, term)])


def _fixed(value: Fixed) -> Core:
    if isinstance(value, bool):
        return TRUE if value else FALSE
    if isinstance(value, tuple):
        return tuple(_fixed(each) for each in value)
    return [(TRUE, value if isinstance(value, str) else Const(value))]


def _truth(value: Core) -> Formula:
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0][1], Var):
        raise NotSupportedError(value[0][1].name)
    if isinstance(value, list | tuple):
        raise NotSupportedError("an assertion that is no comparison")
    return value


def _number(value: Core) -> Numbers:
    if not isinstance(value, list):
        raise NotSupportedError("a value that is no number")
    found: Numbers = [(when, each) for when, each in value if not isinstance(each, str)]
    if len(found) < len(value):
        raise NotSupportedError("a text where a number is expected")
    return found


def _compared(sign: str, left: Core, right: Core) -> Formula:
    if isinstance(left, list) and isinstance(right, list):
        if len(left) * len(right) > MOST_CASES:
            raise TooLargeError("too many cases")
        return either(*(both(one_when, other_when, _compare(sign, one, other))
                        for one_when, one in left for other_when, other in right))  # fmt: skip
    if sign not in ("==", "!="):
        raise NotSupportedError("an order of what is no number")
    one, other = _truth(left), _truth(right)
    same = either(both(one, other), both(opposite(one), opposite(other)))
    return same if sign == "==" else opposite(same)


def _compare(sign: str, left: Term | str, right: Term | str) -> Formula:
    if isinstance(left, str) or isinstance(right, str):
        if sign not in ("==", "!="):
            raise NotSupportedError("an order of what is no number")
        return TRUE if (left == right) is (sign == "==") else FALSE
    match sign:
        case "<" | "<=":
            return below(left, right, strict=sign == "<")
        case ">" | ">=":
            return below(right, left, strict=sign == ">")
        case "==":
            return equal(left, right)
        case _:
            return either(below(left, right, strict=True), below(right, left, strict=True))


def _paired(left: Numbers, right: Numbers, join: Callable[[Term, Term], Numbers]) -> Numbers:
    return _bounded([(both(one_when, other_when, when), each) for one_when, one in left for other_when, other in right
                     for when, each in join(one, other)])  # fmt: skip


def _bounded(cases: list[tuple[Formula, C]]) -> list[tuple[Formula, C]]:
    found = [each for each in cases if each[0] != FALSE]
    if len(found) > MOST_CASES:
        raise TooLargeError("too many cases")
    return found


def _function(name: str, term: Term) -> Cases:
    if name == "abs":
        return [(below(ZERO, term), term), (below(term, ZERO, strict=True), negate(term))]
    return [(TRUE, _apply(name, term))]


def _apply(name: str, term: Term) -> Term:
    match name:
        case "neg":
            return negate(term)
        case "kelvin":
            return add(term, Const(fmpq(27315, 100)))
        case "exp" if term == ZERO:
            return ONE
        case "log" if term == ONE:
            return ZERO
        case "sqrt" if isinstance(term, Const) and term.value >= 0 and (term.value.p.is_square() and term.value.q.is_square()):
            return Const(fmpq(term.value.p.isqrt(), term.value.q.isqrt()))
        case _:
            return Function(name, term)


def _to_the(base: Term, exponent: Term) -> Term:
    if isinstance(exponent, Const) and exponent.value.q in (1, 2) and abs(exponent.value.p) <= 10_000:
        return raise_to(base if exponent.value.q == 1 else _apply("sqrt", base), int(exponent.value.p))
    return Function("exp", multiply(exponent, Function("log", base)))


_OPERATIONS: Final[dict[str, Callable[[Term, Term], Term]]] = {
    "+": add,
    "sum": add,
    "-": lambda left, right: add(left, negate(right)),
    "*": multiply,
    "/": lambda left, right: multiply(left, raise_to(right, -1)),
    "**": _to_the,
}
_EXTREMES: Final[dict[str, Callable[[Term, Term], Numbers]]] = {
    "min": lambda left, right: [(below(left, right), left), (below(right, left, strict=True), right)],
    "max": lambda left, right: [(below(left, right), right), (below(right, left, strict=True), left)],
}

"""Core form: an assertion with its constants put in, derived quantities inlined, cases told apart, as inequalities over few
operations.

Solver and checker both begin here; it decides nothing. A formula is true wherever the assertion passes; where a term of it has
no value, it may say more than the assertion, never less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from flint import fmpq

from sagagraph.harness.language.tree import COMPARISONS, Call, Each, Items, Literal, Name, Node

MOST_TERMS: Final = 50_000
MOST_CASES: Final = 64


class TooLargeError(Exception):
    """The core form has too many parts or cases."""


class NotSupportedError(Exception):
    """A value that only an artifact can state: a list that is decided, a field of unknown kind."""


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
    factors: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Power:
    """`exponent`: a whole number, not 0 or 1."""

    base: Term
    exponent: int


@dataclass(frozen=True, slots=True)
class Function:
    """`name`: exp, log or sqrt."""

    name: str
    argument: Term


Term = Const | Var | Sum | Product | Power | Function


@dataclass(frozen=True, slots=True)
class Below:
    """`term` is at most 0; `strict`: less than 0."""

    term: Term
    strict: bool


@dataclass(frozen=True, slots=True)
class Member:
    """A variable that is no number has one of these values."""

    name: str
    values: frozenset[str | bool]


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Formula, ...]


Formula = Below | Member | And | Or
TRUE: Final = And(())
FALSE: Final = Or(())
ONE: Final = Const(fmpq(1))

Fixed = fmpq | str | bool | tuple["Fixed", ...]
Cases = list[tuple[Formula, Term]]
"""What a number is under which condition."""


def both(*parts: Formula) -> Formula:
    flat: list[Formula] = []
    for each in parts:
        if each == FALSE:
            return FALSE
        flat += each.parts if isinstance(each, And) else (each,)
    found = tuple(dict.fromkeys(flat))
    return found[0] if len(found) == 1 else And(found)


def either(*parts: Formula) -> Formula:
    flat: list[Formula] = []
    for each in parts:
        if each == TRUE:
            return TRUE
        flat += each.parts if isinstance(each, Or) else (each,)
    found = tuple(dict.fromkeys(flat))
    return found[0] if len(found) == 1 else Or(found)


def add(*terms: Term) -> Term:
    constant, rest = fmpq(0), list[Term]()
    for each in terms:
        for part in each.terms if isinstance(each, Sum) else (each,):
            if isinstance(part, Const):
                constant += part.value
            else:
                rest.append(part)
    if constant != 0 or not rest:
        rest.append(Const(constant))
    return rest[0] if len(rest) == 1 else Sum(tuple(rest))


def multiply(*factors: Term) -> Term:
    constant, rest = fmpq(1), list[Term]()
    for each in factors:
        for part in each.factors if isinstance(each, Product) else (each,):
            if isinstance(part, Const):
                constant *= part.value
            else:
                rest.append(part)
    if constant == 0:
        return Const(constant)
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


def below(left: Term, right: Term, *, strict: bool) -> Formula:
    term = add(left, negate(right))
    if isinstance(term, Const):
        return TRUE if term.value < 0 or (term.value == 0 and not strict) else FALSE
    return Below(term, strict)


def names_in(formula: Formula) -> Iterator[str]:
    match formula:
        case Below(term, _):
            yield from names_in_term(term)
        case Member(name, _):
            yield name
        case And(parts) | Or(parts):
            for each in parts:
                yield from names_in(each)


def names_in_term(term: Term) -> Iterator[str]:
    waiting = [term]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Var):
            yield each.name
        waiting += getattr(each, "terms", ()) or getattr(each, "factors", ()) or ()
        waiting += [part for part in (getattr(each, "base", None), getattr(each, "argument", None)) if part is not None]


class CoreForm:
    """Makes formulas of assertions. `fixed`: values of constants and parameters; `choices`: of decided names that are no
    numbers.
    """

    def __init__(
        self, fixed: Mapping[str, Fixed], choices: Mapping[str, tuple[str | bool, ...]], derived: Mapping[str, Node]
    ) -> None:
        self._fixed = fixed
        self._choices = choices
        self._derived = derived
        self._known: dict[str, Cases] = {}
        self._count = 0

    def formula(self, node: Node) -> Formula:
        """Raises `TooLargeError`, `NotSupportedError`."""
        return self._formula(node, {}, positive=True)

    def number(self, node: Node) -> Term | None:
        """Return a number as a term; None where it depends on cases."""
        cases = self._cases(node, {})
        return cases[0][1] if len(cases) == 1 and cases[0][0] == TRUE else None

    def _formula(self, node: Node, bound: Mapping[str, Fixed], *, positive: bool) -> Formula:
        self._counted()
        match node:
            case Literal(bool() as value, _):
                return TRUE if value is positive else FALSE
            case Name(name):
                return self._boolean_name(name, bound, positive=positive)
            case Each(name, body, variable, items):
                parts = [
                    self._formula(body, {**bound, variable: each}, positive=positive) for each in self._fixed_list(items, bound)
                ]
                return both(*parts) if (name == "all") is positive else either(*parts)
            case Call(name, operands) if name in COMPARISONS:
                return self._comparison(name if positive else _NEGATED[name], *operands, bound=bound)
            case Call("not", (operand,)):
                return self._formula(operand, bound, positive=not positive)
            case Call("and" | "or" as name, operands):
                parts = [self._formula(each, bound, positive=positive) for each in operands]
                return both(*parts) if (name == "and") is positive else either(*parts)
            case Call("implies", (left, right)):
                join = either if positive else both
                return join(self._formula(left, bound, positive=not positive), self._formula(right, bound, positive=positive))
            case Call("if", (condition, then, otherwise)):
                yes, no = (self._formula(condition, bound, positive=each) for each in (True, False))
                return either(
                    both(yes, self._formula(then, bound, positive=positive)),
                    both(no, self._formula(otherwise, bound, positive=positive)),
                )
            case Call("in", (wanted, items)):
                sign = "==" if positive else "!="
                parts = [self._comparison(sign, wanted, each, bound=bound) for each in self._items(items, bound)]
                return either(*parts) if positive else both(*parts)
            case Call("all" | "any" as name, (items,)):
                parts = [self._formula(each, bound, positive=positive) for each in self._items(items, bound)]
                return both(*parts) if (name == "all") is positive else either(*parts)
        raise NotSupportedError("an assertion that is no comparison")

    def _boolean_name(self, name: str, bound: Mapping[str, Fixed], *, positive: bool) -> Formula:
        value = bound.get(name, self._fixed.get(name))
        if isinstance(value, bool):
            return TRUE if value is positive else FALSE
        if name in self._derived:
            return self._formula(self._derived[name], {}, positive=positive)
        return Member(name, frozenset({positive}))

    # -- comparisons --

    def _comparison(self, sign: str, left: Node, right: Node, *, bound: Mapping[str, Fixed]) -> Formula:
        if self._is_symbol(left, bound) or self._is_symbol(right, bound):
            return self._symbols(sign, left, right, bound)
        found: list[Formula] = []
        lefts, rights = self._cases(left, bound), self._cases(right, bound)
        if len(lefts) * len(rights) > MOST_CASES:
            raise TooLargeError("too many cases")
        for one_when, one in lefts:
            for other_when, other in rights:
                found.append(both(one_when, other_when, _compare(sign, one, other)))
        return either(*found)

    def _is_symbol(self, node: Node, bound: Mapping[str, Fixed]) -> bool:
        match node:
            case Literal(literal, _):
                return isinstance(literal, str | bool)
            case Name(name):
                value = bound.get(name, self._fixed.get(name))
                return isinstance(value, str | bool) or name in self._choices or self._derives_truth(name)
            case Call(name, _):
                return name in COMPARISONS | {"and", "or", "not", "in", "implies", "all", "any"}
            case Each():
                return True
        return False

    def _derives_truth(self, name: str) -> bool:
        return name in self._derived and self._is_symbol(self._derived[name], {})

    def _symbols(self, sign: str, left: Node, right: Node, bound: Mapping[str, Fixed]) -> Formula:
        """Strings and booleans are the same where some value fits both."""
        if sign not in ("==", "!="):
            raise NotSupportedError("an order of what is no number")
        values = self._values(left, bound) | self._values(right, bound)
        same = [both(self._is(left, each, bound), self._is(right, each, bound)) for each in sorted(values, key=str)]
        if sign == "==":
            return either(*same)
        other = [both(self._is(left, each, bound), self._is_not(right, each, bound)) for each in sorted(values, key=str)]
        return either(*other)

    def _values(self, node: Node, bound: Mapping[str, Fixed]) -> frozenset[str | bool]:
        value = (
            node.value
            if isinstance(node, Literal)
            else bound.get(node.name, self._fixed.get(node.name))
            if isinstance(node, Name)
            else None
        )
        if isinstance(value, str | bool):
            return frozenset({value})
        if isinstance(node, Name) and node.name in self._choices:
            return frozenset(self._choices[node.name])
        if isinstance(node, Name) and node.name not in self._derived:
            raise NotSupportedError(node.name)
        return frozenset({True, False})

    def _is(self, node: Node, value: str | bool, bound: Mapping[str, Fixed]) -> Formula:
        known = (
            node.value
            if isinstance(node, Literal)
            else bound.get(node.name, self._fixed.get(node.name))
            if isinstance(node, Name)
            else None
        )
        if isinstance(known, str | bool):
            return TRUE if known == value and type(known) is type(value) else FALSE
        if isinstance(node, Name) and node.name in self._choices:
            return Member(node.name, frozenset({value})) if value in self._choices[node.name] else FALSE
        return self._formula(node, bound, positive=value) if isinstance(value, bool) else FALSE

    def _is_not(self, node: Node, value: str | bool, bound: Mapping[str, Fixed]) -> Formula:
        return either(*(self._is(node, each, bound) for each in self._values(node, bound) if each != value))

    # -- numbers --

    def _cases(self, node: Node, bound: Mapping[str, Fixed]) -> Cases:
        self._counted()
        match node:
            case Literal(fmpq() as value, _):
                return [(TRUE, Const(value))]
            case Name(name):
                return self._named(name, bound)
            case Call("if", (condition, then, otherwise)):
                yes, no = (self._formula(condition, bound, positive=each) for each in (True, False))
                return _bounded(
                    [(both(yes, when), term) for when, term in self._cases(then, bound)]
                    + [(both(no, when), term) for when, term in self._cases(otherwise, bound)]
                )
            case Call("abs", (operand,)):
                return _bounded([case for when, term in self._cases(operand, bound) for case in _absolute(when, term)])
            case Call("min" | "max" as name, operands):
                listed = self._gathered(operands, bound)
                if not listed:
                    raise NotSupportedError(f"{name} of an empty list")
                found = listed[0]
                for each in listed[1:]:
                    found = _bounded([case for one in found for other in each for case in _extreme(name, one, other)])
                return found
            case Call("sum", operands):
                found = [(TRUE, Const(fmpq(0)))]
                for each in self._gathered(operands, bound):
                    found = _joined(found, each, add)
                return found
            case Call("len", (operand,)):
                return [(TRUE, Const(fmpq(len(self._items(operand, bound)))))]
            case Call(name, operands):
                return self._operation(name, [self._cases(each, bound) for each in operands])
        raise NotSupportedError("a value that is no number")

    def _named(self, name: str, bound: Mapping[str, Fixed]) -> Cases:
        value = bound.get(name, self._fixed.get(name))
        if isinstance(value, fmpq) and not isinstance(value, bool):
            return [(TRUE, Const(value))]
        if value is not None:
            raise NotSupportedError(name)
        if name not in self._derived:
            return [(TRUE, Var(name))]
        if name not in self._known:
            self._known[name] = self._cases(self._derived[name], {})
        return self._known[name]

    def _gathered(self, operands: tuple[Node, ...], bound: Mapping[str, Fixed]) -> list[Cases]:
        if len(operands) == 1 and self._is_list(operands[0], bound):
            operands = self._items(operands[0], bound)
        return [self._cases(each, bound) for each in operands]

    def _is_list(self, node: Node, bound: Mapping[str, Fixed]) -> bool:
        if isinstance(node, Name):
            return isinstance(bound.get(node.name, self._fixed.get(node.name)), tuple) or (
                node.name in self._derived and isinstance(self._derived[node.name], Items)
            )
        return isinstance(node, Items)

    def _items(self, node: Node, bound: Mapping[str, Fixed]) -> tuple[Node, ...]:
        if isinstance(node, Items):
            return node.items
        if isinstance(node, Name) and isinstance(self._derived.get(node.name), Items):
            return self._items(self._derived[node.name], {})
        return tuple(Literal(each, str(each)) for each in self._fixed_list(node, bound) if not isinstance(each, tuple))

    def _fixed_list(self, node: Node, bound: Mapping[str, Fixed]) -> tuple[Fixed, ...]:
        if isinstance(node, Name):
            value = bound.get(node.name, self._fixed.get(node.name))
            if isinstance(value, tuple):
                return value
        if isinstance(node, Items) and all(isinstance(each, Literal) for each in node.items):
            return tuple(each.value for each in node.items if isinstance(each, Literal))
        raise NotSupportedError("a list that is not fixed")

    def _operation(self, name: str, operands: list[Cases]) -> Cases:
        if len(operands) == 1:
            return [(when, _apply(name, term)) for when, term in operands[0]]
        return _joined(operands[0], operands[1], _OPERATIONS[name])

    def _counted(self) -> None:
        self._count += 1
        if self._count > MOST_TERMS:
            raise TooLargeError("it expands to too many parts")


_NEGATED: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def _compare(sign: str, left: Term, right: Term) -> Formula:
    match sign:
        case "<" | "<=":
            return below(left, right, strict=sign == "<")
        case ">" | ">=":
            return below(right, left, strict=sign == ">")
        case "==":
            return both(below(left, right, strict=False), below(right, left, strict=False))
        case _:
            return either(below(left, right, strict=True), below(right, left, strict=True))


def _absolute(when: Formula, term: Term) -> Cases:
    zero = Const(fmpq(0))
    return [(both(when, below(zero, term, strict=False)), term), (both(when, below(term, zero, strict=True)), negate(term))]


def _extreme(name: str, one: tuple[Formula, Term], other: tuple[Formula, Term]) -> Cases:
    (one_when, left), (other_when, right) = one, other
    when = both(one_when, other_when)
    left_first, right_first = below(left, right, strict=False), below(right, left, strict=True)
    least, most = (left, right) if name == "min" else (right, left)
    return [(both(when, left_first), least), (both(when, right_first), most)]


def _joined(left: Cases, right: Cases, join: Callable[[Term, Term], Term]) -> Cases:
    return _bounded([(both(one_when, other_when), join(one, other)) for one_when, one in left for other_when, other in right])


def _bounded(cases: Cases) -> Cases:
    found = [each for each in cases if each[0] != FALSE]
    if len(found) > MOST_CASES:
        raise TooLargeError("too many cases")
    return found


def _apply(name: str, term: Term) -> Term:
    match name:
        case "neg":
            return negate(term)
        case "kelvin":
            return add(term, Const(fmpq(27315, 100)))
        case "exp" if isinstance(term, Const) and term.value == 0:
            return ONE
        case _:
            return Function(name, term)


def _to_the(base: Term, exponent: Term) -> Term:
    if isinstance(exponent, Const) and exponent.value.q == 1 and abs(exponent.value) <= 10_000:
        return raise_to(base, int(exponent.value.p))
    return Function("exp", multiply(exponent, Function("log", base)))


_OPERATIONS: Final[dict[str, Callable[[Term, Term], Term]]] = {
    "+": add,
    "-": lambda left, right: add(left, negate(right)),
    "*": multiply,
    "/": lambda left, right: multiply(left, raise_to(right, -1)),
    "**": _to_the,
}

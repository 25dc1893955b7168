"""Kinds of the parts of an assertion: a number with its unit, a boolean, a string, a list. Whatever does not fit is refused.

Bare numbers have no unit, zero has any. Units of both sides must be the same, their factors too, unless bare numbers in the terms
are exactly what converts one into the other, as 3.6 does with km/h and m/s. This finds a rule that multiplies by 60 where it
should divide (docs/harness.md). Pint reads units.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import chain, combinations
from math import prod
from typing import Any, Final, NoReturn

import pint
from flint import fmpq

from sagagraph.errors import InvalidInputError
from sagagraph.harness.language.tree import COMPARISONS, Call, Literal, Meaning, Node, Parts, short

_READABLE: Final = re.compile(r"[\w°µμ%$€£¥*/^(). ·⁰¹²³⁴⁵⁶⁷⁸⁹⁻-]{1,80}")
_HUGE: Final = re.compile(r"[0-9]{5}|(\*\*|\^)[\s(]*-?[0-9.]{3}|(\*\*|\^)[\s(]*-?[0-9.]+[\s)]*(\*\*|\^)")
_CURRENCIES: Final = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "·": "*", "µ": "u", "μ": "u"}
_CELSIUS: Final = frozenset({"degC", "°C", "celsius", "degree_Celsius"})
_TOLERANCE: Final = 1e-9
"""Factors are floats: 3.6 km/h and 1 m/s differ by the last digits of a double."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Unit. `factor`: how many base units it is. `powers`: of base units, by name. `offset`: for a scale with another zero
    (degC).
    """

    text: str
    factor: float
    powers: tuple[tuple[str, Fraction], ...]
    offset: bool = False

    def times(self, other: Unit, power: Fraction = Fraction(1)) -> Unit:
        """Return the unit of this times a power of the other."""
        powers = dict(self.powers)
        for name, each in other.powers:
            powers[name] = powers.get(name, Fraction(0)) + each * power
        return _unit(_text(self, other, power), self.factor * other.factor ** float(power), powers)

    def equals(self, other: Unit) -> bool:
        """Tell whether numbers in both units can be compared directly: the same dimension and the same factor."""
        close = abs(self.factor - other.factor) <= _TOLERANCE * max(abs(self.factor), abs(other.factor))
        return close and self.powers == other.powers and self.offset == other.offset


def _unit(text: str, factor: float, powers: Mapping[str, Fraction]) -> Unit:
    return Unit(text, factor, tuple(sorted((name, power) for name, power in powers.items() if power)))


ONE: Final = Unit("1", 1.0, ())
KELVIN: Final = Unit("K", 1.0, (("kelvin", Fraction(1)),))


def _text(left: Unit, right: Unit, power: Fraction) -> str:
    if right.text == "1":
        return left.text
    shown = f"({right.text})" if re.search(r"[*/^ ]", right.text) and power != 1 else right.text
    raised = shown if abs(power) == 1 else f"{shown}^{abs(power)}"
    if power < 0:
        return f"{left.text}/{f'({raised})' if '/' in raised or '*' in raised else raised}"
    return raised if left.text == "1" else f"{left.text}*{raised}"


@cache
def read_unit(text: str, where: str) -> Unit:
    """Read a unit. A name that Pint does not know, such as a currency or a kind of thing, is a unit of its own.

    Raises:
        InvalidInputError: names `where`, and what cannot be read.
    """
    said = text.strip()
    if said in ("", "1"):
        return ONE
    if said in _CELSIUS:
        return Unit("degC", 1.0, KELVIN.powers, offset=True)
    unreadable = InvalidInputError(f"{said[:40]!r} cannot be read as a unit", field=where)
    if not _READABLE.fullmatch(said) or _HUGE.search(said):
        raise unreadable
    registry = _registry()
    for _attempt in range(10):
        try:
            quantity = registry.Quantity(registry.parse_expression("".join(_CURRENCIES.get(each, each) for each in said)))
            factor, base = registry.get_base_units(quantity.units, check_nonmult=False)
            value = float(quantity.magnitude) * float(factor)
            powers = {str(name): Fraction(power).limit_denominator(100) for name, power in base._units.items()}
        except pint.UndefinedUnitError as exc:
            for name in [exc.unit_names] if isinstance(exc.unit_names, str) else exc.unit_names:
                if not name.isidentifier():
                    raise unreadable from exc
                registry.define(f"{name} = [{name}]")
        except Exception as exc:  # Pint's reader raises whatever Python's tokenizer and arithmetic raise
            raise unreadable from exc
        else:
            if any(getattr(registry._units.get(str(name)), "is_multiplicative", True) is False for name in quantity.units._units):
                raise InvalidInputError(f"{said!r} has a zero of its own: state K, or degC alone", field=where)
            if 0 < value < float("inf"):
                return _unit(said, value, powers)
            break
    raise unreadable


@cache
def _registry() -> Any:
    """Return Pint's registry. `Any`: registries are typed by what their numbers are made of."""
    return pint.UnitRegistry(cache_folder=None)


@dataclass(frozen=True, slots=True)
class Kind:
    """Kind. `name`: number, boolean, string, list, or any, if the file does not say. `unit`: of a number; None if any fits.

    `bare`: the plain numbers that the value was multiplied by, any of which may convert units.
    """

    name: str
    unit: Unit | None = None
    items: Kind | None = None
    bare: tuple[float, ...] = ()


ANY: Final = Kind("any")
BOOLEAN: Final = Kind("boolean")
STRING: Final = Kind("string")
NUMBER: Final = Kind("number")
"""Of any unit."""
PURE: Final = Kind("number", ONE)
_MOST_BARE: Final = 12
_SAME: Final = 1e-9


def pure(value: fmpq) -> Kind:
    """Return the kind of a plain number other than zero."""
    size = abs(float(value.p) / float(value.q)) if max(abs(value.p), value.q) < 10**300 else 1.0
    return Kind("number", ONE, bare=(size,) if size not in (0.0, 1.0) else ())


def kind_of(node: Node, known: Mapping[str, Kind], where: str) -> Kind:
    """Return the kind of a tree. `known`: the kind of every name; names that are missing are of any kind.

    Raises:
        InvalidInputError: names `where` and the term that does not fit.
    """
    return _Kinds(known, where).of(node)


class _Kinds(Meaning[Kind]):
    """Kinds of a tree's parts. All items of a list have the same kind, so one item stands for all of them."""

    def __init__(self, known: Mapping[str, Kind], where: str) -> None:
        super().__init__({})
        self._kinds = known
        self._where = where

    def literal(self, node: Literal) -> Kind:
        if isinstance(node.value, bool):
            return BOOLEAN
        return STRING if isinstance(node.value, str) else NUMBER if node.value == 0 else pure(node.value)

    def named(self, name: str) -> Kind:
        return self._kinds.get(name, ANY)

    def joined(self, word: str, parts: Parts[Kind]) -> Kind:  # noqa: ARG002 - others tell `and` from `or`
        for node, kind in parts:
            self._want(node, kind, "boolean")
        return BOOLEAN

    def chosen(self, node: Call, condition: Kind, then: Callable[[], Kind], otherwise: Callable[[], Kind]) -> Kind:
        self._want(node.operands[0], condition, "boolean")
        return self._join(node.operands[1], then(), node.operands[2], otherwise())

    def is_list(self, value: Kind) -> bool:
        return value.name == "list"

    def items(self, node: Node, value: Kind) -> tuple[Kind, ...]:
        self._want(node, value, "list")
        return (value.items or ANY,)

    def applied(self, name: str, node: Call, values: tuple[Kind, ...]) -> Kind:
        operands = node.operands
        if name == "not":
            self._want(operands[0], values[0], "boolean")
            return BOOLEAN
        if name == "len":
            if values[0].name not in ("list", "string", "any"):
                self._fail(f"len needs a list, not `{short(operands[0])}`")
            return PURE
        if name == "list":
            return Kind("list", items=self._same(node, values) if values else ANY)
        if name not in ("==", "!="):
            for each, kind in zip(operands, values, strict=False):
                self._want(each, kind, "number")
        if name in COMPARISONS:
            self._same(node, values)
            return BOOLEAN
        if name in ("sum", "min", "max"):
            return self._same(node, values)
        if name == "kelvin":
            if values[0].unit is not None and not values[0].unit.offset:
                self._fail(f"kelvin() needs a temperature in degC; `{short(operands[0])}` is in {values[0].unit.text}")
            return Kind("number", KELVIN)
        for each, kind in zip(operands, values, strict=False):
            if kind.unit is not None and kind.unit.offset:
                self._fail(f"`{short(each)}` is in degC, which has a zero of its own: write kelvin({short(each)})")
        if name in ("+", "-"):
            return self._same(node, values)
        return self._function(name, operands[0], values[0]) if len(values) == 1 else self._scaled(name, node, *values)

    def _function(self, name: str, operand: Node, value: Kind) -> Kind:
        if name in ("exp", "log"):
            if value.unit is not None and not _converted(value, PURE):
                self._fail(f"{name} needs a number without a unit; `{short(operand)}` is in {value.unit.text}")
            return PURE
        if name == "sqrt" and value.unit is not None:
            return Kind("number", ONE.times(value.unit, Fraction(1, 2)), bare=tuple(each**0.5 for each in value.bare))
        return value

    def _scaled(self, name: str, node: Call, left: Kind, right: Kind) -> Kind:
        """Return the kind of a product, a quotient or a power."""
        if "any" in (left.name, right.name):
            return ANY
        base, other = left.unit or ONE, right.unit or ONE
        if name != "**":
            power = Fraction(1 if name == "*" else -1)
            bare = left.bare + tuple(each ** float(power) for each in right.bare)
            is_zero = left.unit is None or (right.unit is None and name == "*")
            return NUMBER if is_zero else Kind("number", base.times(other, power), bare=bare)
        if not other.equals(ONE):
            self._fail(f"the exponent `{short(node.operands[1])}` has the unit {other.text}; it must have none")
        if base.equals(ONE):
            return PURE
        exponent = _constant(node.operands[1])
        if exponent is None or abs(exponent) > 100:
            self._fail(f"`{short(node.operands[0])}` has the unit {base.text}; its exponent must be a plain number")
        return Kind("number", ONE.times(base, exponent), bare=tuple(each ** float(exponent) for each in left.bare))

    # -- what several parts have in common --

    def _want(self, node: Node, kind: Kind, name: str) -> None:
        if kind.name not in (name, "any"):
            self._fail(f"`{short(node)}` is a {kind.name}, where a {name} is expected")

    def _same(self, node: Call, kinds: tuple[Kind, ...]) -> Kind:
        """Return the common kind of all operands; for a single operand that is a list, the kind of its items."""
        found = kinds[0]
        for operand, each in zip(node.operands[1:], kinds[1:], strict=False):
            found = self._join(node.operands[0], found, operand, each)
        return found

    def _join(self, left: Node, one: Kind, right: Node, other: Kind) -> Kind:
        if "any" in (one.name, other.name):
            return one if other.name == "any" else other
        if one.name != other.name:
            self._fail(f"`{short(left)}` is a {one.name}, `{short(right)}` a {other.name}: they cannot be compared")
        if one.unit is None or other.unit is None or _converted(one, other):
            return replace(other if one.unit is None else one, bare=())
        said = f"the units differ: `{short(left)}` is in {one.unit.text}, `{short(right)}` in {other.unit.text}"
        if one.unit.powers == other.unit.powers and not one.unit.offset and not other.unit.offset:
            said += f"; 1 of the first is {one.unit.factor / other.unit.factor:.6g} of the second"
            said += ", and no bare number in them converts by that"
        return self._fail(said)

    def _fail(self, message: str) -> NoReturn:
        raise InvalidInputError(message, field=self._where)


def _converted(left: Kind, right: Kind) -> bool:
    """Tell whether the units are the same, or some of the bare numbers convert the left one into the right one exactly."""
    one, other = left.unit or ONE, right.unit or ONE
    if one.equals(other):
        return True
    if one.powers != other.powers or one.offset or other.offset:
        return False
    wanted = one.factor / other.factor
    bare = (*left.bare, *(1 / each for each in right.bare))[:_MOST_BARE]
    chosen = chain.from_iterable(combinations(bare, count) for count in range(1, len(bare) + 1))
    return any(abs(prod(each) / wanted - 1) < _SAME for each in chosen)


def _constant(node: Node) -> Fraction | None:
    """Return the exponent, if it is a number, a negative number or a quotient of two."""
    match node:
        case Literal(fmpq() as value, _):
            return Fraction(int(value.p), int(value.q)) if max(abs(int(value.p)), int(value.q)) <= 1000 else None
        case Call("neg", (operand,)):
            inner = _constant(operand)
            return None if inner is None else -inner
        case Call("/", (left, right)):
            one, other = _constant(left), _constant(right)
            return None if one is None or not other else one / other
        case _:
            return None

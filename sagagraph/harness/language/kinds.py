"""Kinds: what each part of an assertion is: a number with its unit, a boolean, a string, a list. What does not fit is refused.

Bare numbers have no unit, zero has any. Units of both sides must be the same, their factors too, unless bare numbers in the
terms are exactly what converts one into the other, as 3.6 does with km/h and m/s. A rule that multiplies by 60 where it should
divide is found by that (docs/harness.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations
from math import prod
from typing import Final, NoReturn

from flint import fmpq

from sagagraph.errors import InvalidInputError
from sagagraph.harness.language.tree import COMPARISONS, Call, Each, Items, Literal, Name, Node, in_words
from sagagraph.harness.language.units import KELVIN, ONE, Unit


@dataclass(frozen=True, slots=True)
class Kind:
    """`name`: number, boolean, string, list, or any, where the file does not say. `unit`: of a number; None where any fits.

    `bare`: the plain numbers that the value was multiplied by, any of which may convert units.
    """

    name: str
    unit: Unit | None = None
    items: Kind | None = None
    bare: tuple[float, ...] = ()

    def in_words(self) -> str:
        return f"number in {self.unit.text}" if self.unit is not None and not self.unit.is_one() else self.name


ANY: Final = Kind("any")
_MOST_BARE: Final = 12
_SAME: Final = 1e-9
BOOLEAN: Final = Kind("boolean")
STRING: Final = Kind("string")
NUMBER: Final = Kind("number")
"""Of any unit."""
PURE: Final = Kind("number", ONE)


def pure(value: fmpq) -> Kind:
    """Return the kind of a plain number that is no zero."""
    size = abs(float(value.p) / float(value.q)) if max(abs(value.p), value.q) < 10**300 else 1.0
    return Kind("number", ONE, bare=(size,) if size not in (0.0, 1.0) else ())


def kind_of(node: Node, known: Mapping[str, Kind], where: str) -> Kind:
    """Return its kind. `known`: of every name; names that are missing are of any kind.

    Raises:
        InvalidInputError: names `where` and the term that does not fit.
    """
    return _Kinds(known, where).of(node)


def require_boolean(node: Node, known: Mapping[str, Kind], where: str) -> None:
    """Refuse an assertion that is neither true nor false."""
    kind = kind_of(node, known, where)
    if kind.name not in ("boolean", "any"):
        raise InvalidInputError(f"`{_short(node)}` is a {kind.in_words()}; an assertion is true or false", field=where)


@dataclass(frozen=True, slots=True)
class _Kinds:
    known: Mapping[str, Kind]
    where: str

    def of(self, node: Node) -> Kind:
        match node:
            case Literal(bool(), _):
                return BOOLEAN
            case Literal(str(), _):
                return STRING
            case Literal(fmpq() as value, _):
                return NUMBER if value == 0 else pure(value)
            case Literal():
                return NUMBER
            case Name(name):
                return self.known.get(name, ANY)
            case Items(items):
                return Kind("list", items=self._same(items) if items else ANY)
            case Each(_, body, bound, items):
                inner = _Kinds({**self.known, bound: self._items_of(items)}, self.where)
                inner._want(body, "boolean")
                return BOOLEAN
            case Call():
                return self._call(node)

    def _call(self, node: Call) -> Kind:
        name, operands = node.name, node.operands
        if name in ("and", "or", "not", "implies"):
            for each in operands:
                self._want(each, "boolean")
            return BOOLEAN
        if name in COMPARISONS:
            return self._comparison(node)
        if name == "in":
            listed = self._items_of(operands[1])
            self._join(operands[0], self.of(operands[0]), operands[1], listed)
            return BOOLEAN
        if name == "if":
            self._want(operands[0], "boolean")
            return self._same(operands[1:])
        return self._function(node) if name.isalpha() and name != "neg" else self._arithmetic(node)

    def _comparison(self, node: Call) -> Kind:
        left, right = (self.of(each) for each in node.operands)
        if node.name not in ("==", "!="):
            for each, kind in zip(node.operands, (left, right), strict=True):
                if kind.name not in ("number", "any"):
                    self._fail(f"`{_short(each)}` is a {kind.name}; only numbers are compared by {node.name}")
        self._join(node.operands[0], left, node.operands[1], right)
        return BOOLEAN

    def _arithmetic(self, node: Call) -> Kind:
        kinds = [self._want(each, "number") for each in node.operands]
        if node.name == "neg":
            self._no_offset(node.operands[0], kinds[0])
            return kinds[0]
        for each, kind in zip(node.operands, kinds, strict=True):
            self._no_offset(each, kind)
        if node.name in ("+", "-"):
            return self._join(node.operands[0], kinds[0], node.operands[1], kinds[1])
        if any(kind.name == "any" for kind in kinds):
            return ANY
        left, right = (kind.unit or ONE for kind in kinds)
        if node.name == "*":
            is_zero = any(kind.unit is None for kind in kinds)
            return NUMBER if is_zero else Kind("number", left.times(right), bare=kinds[0].bare + kinds[1].bare)
        if node.name == "/":
            bare = kinds[0].bare + tuple(1 / each for each in kinds[1].bare)
            return NUMBER if kinds[0].unit is None else Kind("number", left.times(right, Fraction(-1)), bare=bare)
        return self._power(node, left, right, kinds[0].bare)

    def _power(self, node: Call, base: Unit, exponent: Unit, bare: tuple[float, ...]) -> Kind:
        if not exponent.is_one():
            self._fail(f"the exponent `{_short(node.operands[1])}` has the unit {exponent.text}; it must have none")
        power = _constant(node.operands[1])
        if base.is_one():
            return PURE
        if power is None or abs(power) > 100:
            self._fail(f"`{_short(node.operands[0])}` has the unit {base.text}; its exponent must be a plain number")
        return Kind("number", base.to_the(power), bare=tuple(each ** float(power) for each in bare))

    def _function(self, node: Call) -> Kind:
        name, operands = node.name, node.operands
        if name in ("all", "any"):
            if (listed := self._items_of(operands[0])).name not in ("boolean", "any"):
                self._fail(f"{name} wants a list of booleans, `{_short(operands[0])}` has {listed.in_words()}s")
            return BOOLEAN
        if name == "len":
            if self.of(operands[0]).name not in ("list", "string", "any"):
                self._fail(f"len wants a list, not `{_short(operands[0])}`")
            return PURE
        if name in ("sum", "min", "max") and len(operands) == 1:
            listed = self._items_of(operands[0])
            if listed.name not in ("number", "any"):
                self._fail(f"{name} wants a list of numbers, `{_short(operands[0])}` has {listed.name}s")
            return listed
        kinds = [self._want(each, "number") for each in operands]
        if name in ("min", "max"):
            return self._same(operands)
        if name == "kelvin":
            return self._kelvin(operands[0], kinds[0])
        self._no_offset(operands[0], kinds[0])
        if name in ("exp", "log"):
            unit = kinds[0].unit
            if unit is not None and not _converted(kinds[0], PURE):
                self._fail(f"{name} wants a number without unit; `{_short(operands[0])}` is in {unit.text}")
            return PURE
        if name == "sqrt" and kinds[0].unit is not None:
            return Kind("number", kinds[0].unit.to_the(Fraction(1, 2)), bare=tuple(each**0.5 for each in kinds[0].bare))
        return kinds[0]

    def _kelvin(self, operand: Node, kind: Kind) -> Kind:
        if kind.name == "number" and kind.unit is not None and not kind.unit.offset:
            self._fail(f"kelvin() wants a temperature in degC; `{_short(operand)}` is in {kind.unit.text}")
        return Kind("number", KELVIN)

    # -- what several parts have in common --

    def _want(self, node: Node, name: str) -> Kind:
        kind = self.of(node)
        if kind.name not in (name, "any"):
            self._fail(f"`{_short(node)}` is a {kind.name}, where a {name} is expected")
        return kind

    def _same(self, nodes: tuple[Node, ...]) -> Kind:
        found = self.of(nodes[0])
        for each in nodes[1:]:
            found = self._join(nodes[0], found, each, self.of(each))
        return found

    def _items_of(self, node: Node) -> Kind:
        kind = self.of(node)
        if kind.name == "any":
            return ANY
        if kind.name != "list":
            self._fail(f"`{_short(node)}` is a {kind.name}, where a list is expected")
        return kind.items or ANY

    def _join(self, left: Node, left_kind: Kind, right: Node, right_kind: Kind) -> Kind:
        if "any" in (left_kind.name, right_kind.name):
            return left_kind if right_kind.name == "any" else right_kind
        if left_kind.name != right_kind.name:
            self._fail(f"`{_short(left)}` is a {left_kind.name}, `{_short(right)}` a {right_kind.name}: they cannot be compared")
        one, other = left_kind.unit, right_kind.unit
        if one is not None and other is not None and not _converted(left_kind, right_kind):
            self._differ(left, one, right, other)
        return replace(right_kind if one is None else left_kind, bare=())

    def _differ(self, left: Node, one: Unit, right: Node, other: Unit) -> NoReturn:
        said = f"the units differ: `{_short(left)}` is in {one.text}, `{_short(right)}` in {other.text}"
        if one.powers == other.powers and not one.offset and not other.offset:
            said += (
                f"; 1 of the first is {one.factor / other.factor:.6g} of the second, and no bare number in them converts by that"
            )
        self._fail(said)

    def _no_offset(self, node: Node, kind: Kind) -> None:
        if kind.unit is not None and kind.unit.offset:
            self._fail(f"`{_short(node)}` is in degC, which has a zero of its own: write kelvin({_short(node)})")

    def _fail(self, message: str) -> NoReturn:
        raise InvalidInputError(message, field=self.where)


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
    """The exponent, if it is a number, a negative one or a quotient of two."""
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


def _short(node: Node) -> str:
    said = in_words(node)
    return said if len(said) <= 120 else f"{said[:117]}..."

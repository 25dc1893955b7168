"""Units: what a unit is made of and by which factor, so that only like is compared with like. Pint reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Final

from sagagraph.errors import InvalidInputError
from sagagraph.extras import needing

_READABLE: Final = re.compile(r"[\w°µμ%$€£¥*/^(). ·⁰¹²³⁴⁵⁶⁷⁸⁹⁻-]{1,80}")
_HUGE: Final = re.compile(r"[0-9]{5}|(\*\*|\^)[\s(]*-?[0-9.]{3}|(\*\*|\^)[\s(]*-?[0-9.]+[\s)]*(\*\*|\^)")
_CURRENCIES: Final = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "·": "*", "µ": "u", "μ": "u"}
_CELSIUS: Final = frozenset({"degC", "°C", "celsius", "degree_Celsius"})
_TOLERANCE: Final = 1e-9
"""Factors are floats: 3.6 km/h and 1 m/s differ by the last digits of a double."""


@dataclass(frozen=True, slots=True)
class Unit:
    """`factor`: how many base units it is. `powers`: of base units, by name. `offset`: a scale with another zero (degC)."""

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

    def to_the(self, power: Fraction) -> Unit:
        return ONE.times(self, power)

    def equals(self, other: Unit) -> bool:
        """Tell whether numbers of both can be compared as they are: the same dimension and the same factor."""
        close = abs(self.factor - other.factor) <= _TOLERANCE * max(abs(self.factor), abs(other.factor))
        return close and self.powers == other.powers and self.offset == other.offset

    def is_one(self) -> bool:
        return self.equals(ONE)


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
    """Return the unit of a text. A name that Pint does not know, as of a currency or of things, is a unit of its own.

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
    with needing("harness"):
        import pint
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
    """`Any`: Pint's registries are typed by what their numbers are made of."""
    with needing("harness"):
        import pint
    return pint.UnitRegistry(cache_folder=None)

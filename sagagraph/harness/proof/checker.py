"""Checker: replays a certificate, box by box. It shares with the solver the core form and the interval kernel, and nothing else.

A certificate says how the domains are divided and why no point of any part passes: a rule that is false everywhere in it, or a
sum of inequalities that is above 0 everywhere in it. Whatever is missing, too wide or untrue is rejected, with its position in
the tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import inf, isinf
from typing import Any

from flint import fmpq

from sagagraph.harness.language.core import CoreForm, NotSupportedError, TooLargeError
from sagagraph.harness.language.formulas import (
    Below,
    Const,
    Formula,
    Function,
    Monomial,
    Or,
    Polynomial,
    Power,
    Product,
    Sum,
    Term,
    TooManyError,
    Var,
    one_of,
    polynomial,
    times,
)
from sagagraph.harness.proof import intervals as kernel
from sagagraph.harness.registry.harness import Harness, Variable, hash_of

_KEYS = {"harness", "rules", "values", "domains", "tree", "hash"}
Ends = tuple[fmpq | None, fmpq | None]


@dataclass(frozen=True, slots=True)
class Replayed:
    """Result of a replay. `reason`: why the certificate is rejected, and where in the tree."""

    accepted: bool
    reason: str = ""


class _RefusedError(Exception):
    pass


@dataclass(frozen=True, slots=True)
class _Place:
    """Part of the domains, both ends included. `taken`: cases assumed, by path."""

    ends: Mapping[str, Ends]
    taken: Mapping[str, int] = field(default_factory=dict)
    name: str = "tree"

    @property
    def is_void(self) -> bool:
        return any(low is not None and high is not None and low > high for low, high in self.ends.values())

    def called(self, step: object) -> _Place:
        return replace(self, name=f"{self.name}.{step}")


def replay(harness: Harness, certificate: object) -> Replayed:
    """Tell whether a certificate proves that no artifact within the domains passes the rules that it names."""
    try:
        _Checker(harness, certificate).check()
    except _RefusedError as exc:
        return Replayed(accepted=False, reason=str(exc))
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, ZeroDivisionError, RecursionError, OverflowError,
            TooManyError) as exc:  # fmt: skip
        return Replayed(accepted=False, reason=f"it is not in the form of a certificate: {type(exc).__name__} {exc}"[:200])
    return Replayed(accepted=True)


def seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a certificate with its hash."""
    return {**content, "hash": hash_of(content)}


def stated_domains(harness: Harness) -> dict[str, Any]:
    """Return the domains in the form in which a certificate states them."""
    return {name: {"type": each.kind, "ends": [None if end is None else str(end) for end in (each.low, each.high)],
                   "values": [value if isinstance(value, str | bool) else str(value) for value in each.values]}
            for name, each in harness.decided.items()}  # fmt: skip


class _Checker:
    def __init__(self, harness: Harness, certificate: object) -> None:
        if not isinstance(certificate, Mapping) or certificate.keys() != _KEYS:
            raise _RefusedError(f"a certificate has exactly {', '.join(sorted(_KEYS))}")
        if hash_of({key: value for key, value in certificate.items() if key != "hash"}) != certificate["hash"]:
            raise _RefusedError("its hash is not that of its content")
        if certificate["harness"] != harness.hash:
            raise _RefusedError("it is about another harness, or another version of it")
        if certificate["domains"] != stated_domains(harness):
            raise _RefusedError("its domains are not those of the harness")
        self._tree = certificate["tree"]
        self._harness = harness.with_values({name: _rational(text) for name, text in certificate["values"].items()})
        self._decided = self._harness.decided
        self._rules = self._formulas(certificate["rules"])
        self._polynomials: dict[str, Polynomial] = {}

    def _formulas(self, wanted: Sequence[str]) -> dict[str, Formula]:
        fixed = {name: each.value for name, each in self._harness.variables.items() if each.value is not None}
        symbols = {name: each.symbols for name, each in self._decided.items() if not each.is_number}
        form = CoreForm(fixed, symbols, self._harness.derived)
        known = {rule.id: rule for rule in self._harness.rules}
        domains = {f"\tdomain {name}": one_of(name, tuple(value for value in each.choices if isinstance(value, fmpq)))
                   for name, each in self._decided.items() if each.is_number and each.choices}  # fmt: skip
        try:
            return {**{rule_id: form.formula(known[rule_id].tree) for rule_id in wanted}, **domains}
        except (NotSupportedError, TooLargeError) as exc:
            raise _RefusedError(f"a rule that it names cannot be read: {exc}") from exc

    def check(self) -> None:
        self._check(self._tree, _Place({name: _ends(each) for name, each in self._decided.items()}))

    def _check(self, node: Mapping[str, Any], place: _Place) -> None:
        match node:
            case {"rule": rule, **more} if not more:
                self._require_false(rule, place)
            case {"sum": products, **more} if not more:
                self._check_sum(products, place)
            case {"cuts": cuts, "then": then, **more} if not more:
                for cut in cuts:
                    low, high = self._divided(place, cut["variable"], cut["at"])
                    slab, place = (low, high) if cut["side"] == "below" else (high, low)
                    if not slab.is_void:
                        self._require_false(cut["rule"], slab.called("cut"))
                self._check(then, place.called("then"))
            case {"variable": variable, "at": at, "parts": parts, **more} if not more:
                for number, (each, part) in enumerate(zip(parts, self._divided(place, variable, at), strict=True)):
                    if not part.is_void:
                        self._check(each, part.called(number))
            case {"cases": path, "parts": parts, **more} if not more:
                formula = self._part(path, place)
                if not isinstance(formula, Or) or len(parts) != len(formula.parts):
                    raise _RefusedError(f"{place.name}: cases of {path!r} are missing")
                for number, each in enumerate(parts):
                    self._check(each, replace(place, taken={**place.taken, path: number}).called(number))
            case _:
                raise _RefusedError(f"{place.name}: {sorted(node)} is no node of a certificate")

    def _divided(self, place: _Place, variable: str, said: str) -> tuple[_Place, _Place]:
        """Return both parts of a divided box, without the division `said`; whole numbers are rounded inwards."""
        at, (low, high) = _rational(said), place.ends[variable]
        if (low is not None and at < low) or (high is not None and at > high):
            raise _RefusedError(f"{place.name}: {variable} is divided outside its box")
        under, above = at, at
        if self._decided[variable].kind != "number":
            under, above = fmpq(at.floor()), fmpq(at.ceil())
        return (replace(place, ends={**place.ends, variable: (low, under)}),
                replace(place, ends={**place.ends, variable: (above, high)}))  # fmt: skip

    # -- what holds in a box --

    def _require_false(self, rule: str, place: _Place) -> None:
        if self._status(self._rules[rule], rule, place) is not False:
            raise _RefusedError(f"{place.name}: rule {rule} is not false all over this box")

    def _status(self, formula: Formula, path: str, place: _Place) -> bool | None:
        if isinstance(formula, Below):
            low, high = _range(formula.term, place.ends)
            if low > high or low > 0 or (formula.strict and low >= 0):
                return False
            return True if high < 0 or (high <= 0 and not formula.strict) else None
        chosen = [place.taken[path]] if path in place.taken else range(len(formula.parts))
        found = {self._status(formula.parts[number], f"{path}\t{number}", place) for number in chosen}
        ends = isinstance(formula, Or)
        return ends if ends in found else None if None in found else not ends

    def _part(self, path: str, place: _Place) -> Formula:
        """Return what is at a path, if it must hold: all of an `and`, and of an `or` only the assumed case, or the one that is
        left.
        """
        here = next((each for each in self._rules if path == each or path.startswith(f"{each}\t")), None)
        if here is None:
            raise _RefusedError(f"{place.name}: {path!r} is in no rule that it names")
        formula = self._rules[here]
        for step in path[len(here) :].split("\t")[1:]:
            number = int(step)
            if isinstance(formula, Below):
                raise _RefusedError(f"{place.name}: there is no {path!r}")
            if isinstance(formula, Or) and place.taken.get(here) != number:
                others = [each for each in range(len(formula.parts)) if each != number]
                gone = all(self._status(formula.parts[each], f"{here}\t{each}", place) is False for each in others)
                if here in place.taken or not gone:
                    raise _RefusedError(f"{place.name}: {path!r} need not hold in this box")
            formula, here = formula.parts[number], f"{here}\t{step}"
        return formula

    # -- sums --

    def _check_sum(self, products: Sequence[Mapping[str, Any]], place: _Place) -> None:
        """Check that a sum of terms that cannot be above 0 is above 0 everywhere in the box; or at least 0, with some term below
        0.
        """
        total: dict[Monomial, fmpq] = {}
        is_strict = False
        for each in products:
            factor = _rational(each["times"])
            if factor <= 0 or not each["of"]:
                raise _RefusedError(f"{place.name}: a multiplier is not above 0")
            product: Polynomial = {(): -factor}
            all_strict = True
            for path in each["of"]:
                inequality, strict = self._inequality(path, place)
                product = {monomial: -value for monomial, value in times(product, inequality).items()}
                all_strict &= strict
            is_strict |= all_strict
            for monomial, value in product.items():
                total[monomial] = total.get(monomial, fmpq(0)) + value
        lowest = fmpq(0)
        for monomial, value in total.items():
            end = _end(monomial, place.ends, upper=value < 0) if value else fmpq(0)
            if end is None:
                raise _RefusedError(f"{place.name}: the sum has no lower bound")
            lowest += value * end
        if lowest < 0 or (lowest == 0 and not is_strict):
            raise _RefusedError(f"{place.name}: the sum can be {'0' if lowest == 0 else 'below 0'}, which refutes nothing")

    def _inequality(self, path: str, place: _Place) -> tuple[Polynomial, bool]:
        """Return the term that is at most 0, and whether it is strictly less."""
        side, _, name = path.removeprefix("\t").partition(" ")
        if path.startswith("\t") and side in ("lower", "upper"):
            end = place.ends[name][side == "upper"]
            if end is None:
                raise _RefusedError(f"{place.name}: {name} has no {side} end")
            sign = fmpq(-1 if side == "lower" else 1)
            return {((Var(name), 1),): sign, (): -sign * end}, False
        part = self._part(path, place)
        if not isinstance(part, Below):
            raise _RefusedError(f"{place.name}: {path!r} is no inequality")
        if path not in self._polynomials:
            self._polynomials[path] = polynomial(part.term)
        return self._polynomials[path], part.strict


def _rational(text: object) -> fmpq:
    top, _, bottom = str(text).partition("/")
    return fmpq(int(top), int(bottom or "1"))


def _ends(variable: Variable) -> Ends:
    if variable.is_number and not variable.choices:
        return variable.low, variable.high
    codes = [value if isinstance(value, fmpq) else fmpq(int(value) if isinstance(value, bool) else place)
             for place, value in enumerate(variable.values)]  # fmt: skip
    return min(codes), max(codes)


def _range(term: Term, ends: Mapping[str, Ends]) -> kernel.Interval:
    match term:
        case Var(name):
            low, high = ends[name]
            return (-inf if low is None else kernel.of_rational(low)[0], inf if high is None else kernel.of_rational(high)[1])
        case Const(value):
            return kernel.of_rational(value)
        case Power(base, exponent):
            return kernel.power(_range(base, ends), exponent)
        case Sum(terms) | Product(terms):
            join = kernel.add if isinstance(term, Sum) else kernel.multiply
            return reduce(join, (_range(each, ends) for each in terms))
        case Function(name, base):
            return kernel.FUNCTIONS[name](_range(base, ends))


def _end(monomial: Monomial, ends: Mapping[str, Ends], *, upper: bool) -> fmpq | None:
    """Return one end of a monomial in the box; None if it has none."""
    match monomial:
        case ():
            return fmpq(1)
        case ((Var(name), 1),):
            return ends[name][upper]
    powers = (kernel.power(_range(atom, ends), count) for atom, count in monomial)
    found = reduce(kernel.multiply, powers, (1.0, 1.0))[upper]
    return None if isinf(found) else fmpq(*found.as_integer_ratio())

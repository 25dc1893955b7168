"""Checker: replays a certificate, box by box. It shares with the solver the core form, the interval kernel and nothing else.

A certificate says how the domains are divided and why no point of each part passes: a rule that is false all over it, or a sum of
inequalities that is above 0 all over it. Whatever is missing, too wide or untrue is refused with its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isinf
from typing import Any

from flint import fmpq

from sagagraph.harness.language.core import (
    And,
    Below,
    Const,
    CoreForm,
    Formula,
    Function,
    Member,
    NotSupportedError,
    Or,
    Power,
    Product,
    Sum,
    Term,
    TooLargeError,
    Var,
)
from sagagraph.harness.proof import intervals as kernel
from sagagraph.harness.registry.harness import Harness, Value, hash_of

_KEYS = {"harness", "rules", "values", "domains", "tree", "hash"}
_MOST_NODES = 1_000_000
_MOST_MONOMIALS = 5_000


@dataclass(frozen=True, slots=True)
class Replayed:
    """`reason`: why it is refused, and where in the tree."""

    accepted: bool
    reason: str = ""


class _RefusedError(Exception):
    pass


@dataclass(frozen=True, slots=True)
class _Place:
    """A part of the domains. `ends` of numbers, both inside; `left`: values of what is counted; `taken`: cases assumed, by
    path.
    """

    ends: Mapping[str, tuple[fmpq | None, fmpq | None]]
    left: Mapping[str, tuple[Value, ...]]
    taken: Mapping[str, int] = field(default_factory=dict)
    name: str = "tree"


def replay(harness: Harness, certificate: object) -> Replayed:
    """Tell whether a certificate proves that no artifact within the domains passes the rules that it names."""
    try:
        _Checker(harness, certificate).check()
    except _RefusedError as exc:
        return Replayed(accepted=False, reason=str(exc))
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, ZeroDivisionError, RecursionError, OverflowError) as exc:
        return Replayed(accepted=False, reason=f"it is not in the form of a certificate: {type(exc).__name__} {exc}"[:200])
    return Replayed(accepted=True)


def seal(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a certificate with its hash."""
    return {**content, "hash": hash_of(content)}


def stated_domains(harness: Harness) -> dict[str, Any]:
    """Return the domains as a certificate states them."""
    stated: dict[str, Any] = {}
    for name, each in harness.variables.items():
        if each.is_decided:
            values = each.choices or ((False, True) if each.kind == "boolean" else ())
            ends = [None if end is None else str(end) for end in (each.low, each.high)]
            stated[name] = {"type": each.kind, "ends": ends, "values": [_shown(value) for value in values]}
    return stated


def _shown(value: Value) -> Any:
    return value if isinstance(value, str | bool) else str(value)


class _Checker:
    def __init__(self, harness: Harness, certificate: object) -> None:
        if not isinstance(certificate, Mapping) or certificate.keys() != _KEYS:
            raise _RefusedError(f"a certificate has exactly {', '.join(sorted(_KEYS))}")
        self._said = certificate
        if hash_of({key: value for key, value in certificate.items() if key != "hash"}) != certificate["hash"]:
            raise _RefusedError("its hash is not that of its content")
        if certificate["harness"] != harness.hash:
            raise _RefusedError("it is about another harness, or another version of it")
        if certificate["domains"] != stated_domains(harness):
            raise _RefusedError("its domains are not those of the harness")
        self._harness = harness.with_values({name: _rational(text) for name, text in certificate["values"].items()})
        self._rules = self._formulas(certificate["rules"])
        self._count = 0

    def _formulas(self, wanted: Sequence[str]) -> dict[str, Formula]:
        variables = self._harness.variables
        fixed = {name: each.value for name, each in variables.items() if each.value is not None}
        counted = {name: each.choices or (False, True) for name, each in variables.items()
                   if each.is_decided and (each.choices or each.kind == "boolean")}  # fmt: skip
        symbols = {name: tuple(v for v in values if isinstance(v, str | bool)) for name, values in counted.items()}
        form = CoreForm(fixed, {name: values for name, values in symbols.items() if values}, self._harness.derived)
        known = {rule.id: rule for rule in self._harness.rules}
        try:
            return {rule_id: form.formula(known[rule_id].tree) for rule_id in wanted}
        except (NotSupportedError, TooLargeError) as exc:
            raise _RefusedError(f"a rule that it names cannot be read: {exc}") from exc

    def check(self) -> None:
        ends, left = {}, {}
        for name, each in self._harness.variables.items():
            if not each.is_decided:
                continue
            numbers = [value for value in each.choices if isinstance(value, fmpq) and not isinstance(value, bool)]
            if each.kind in ("number", "integer"):
                ends[name] = (min(numbers), max(numbers)) if numbers else (each.low, each.high)
            if each.choices or each.kind == "boolean":
                left[name] = each.choices or (False, True)
        waiting: list[tuple[Mapping[str, Any], _Place]] = [(self._said["tree"], _Place(ends, left))]
        while waiting:
            self._count += 1
            if self._count > _MOST_NODES:
                raise _RefusedError("it has too many nodes")
            node, place = waiting.pop()
            waiting += self._node(node, place)

    def _node(self, node: Mapping[str, Any], place: _Place) -> list[tuple[Mapping[str, Any], _Place]]:
        keys = node.keys()
        if keys == {"rule"}:
            if self._status(self._rules[node["rule"]], node["rule"], place) is not False:
                raise _RefusedError(f"{place.name}: rule {node['rule']} is not false all over this box")
            return []
        if keys == {"sum"}:
            self._check_sum(node["sum"], place)
            return []
        if keys == {"cuts", "then"}:
            for number, cut in enumerate(node["cuts"]):
                place = self._after_cut(cut, place, f"{place.name.partition('!')[0]}!cut {number}")
            return [(node["then"], _named(place, f"{place.name.partition('!')[0]}.then"))]
        if keys == {"variable", "at", "parts"}:
            return self._halves(node, place)
        if keys == {"variable", "halves", "parts"}:
            return self._value_halves(node, place)
        if keys == {"cases", "parts"}:
            return self._cases(node, place)
        raise _RefusedError(f"{place.name}: {sorted(keys)} is no node of a certificate")

    # -- dividing --

    def _after_cut(self, cut: Mapping[str, Any], place: _Place, name: str) -> _Place:
        variable, rule = cut["variable"], cut["rule"]
        if "values" in cut:
            kept = [_read(value, place.left[variable]) for value in cut["values"]]
            gone = tuple(value for value in place.left[variable] if value not in kept)
            slab, rest = self._keeping(place, variable, gone), self._keeping(place, variable, tuple(kept))
        else:
            low_part, high_part = self._divided(place, variable, _rational(cut["at"]))
            slab, rest = (low_part, high_part) if cut["side"] == "below" else (high_part, low_part)
        if not _is_void(slab) and self._status(self._rules[rule], rule, slab) is not False:
            raise _RefusedError(f"{name}: rule {rule} is not false all over what is cut off")
        return _named(rest, name)

    def _halves(self, node: Mapping[str, Any], place: _Place) -> list[tuple[Mapping[str, Any], _Place]]:
        parts = self._divided(place, node["variable"], _rational(node["at"]))
        if len(node["parts"]) != 2:
            raise _RefusedError(f"{place.name}: one half of {node['variable']} is missing")
        return [(each, _named(part, f"{place.name}.{number}")) for number, (each, part) in
                enumerate(zip(node["parts"], parts, strict=True)) if not _is_void(part)]  # fmt: skip

    def _value_halves(self, node: Mapping[str, Any], place: _Place) -> list[tuple[Mapping[str, Any], _Place]]:
        variable = node["variable"]
        halves = [tuple(_read(value, place.left[variable]) for value in half) for half in node["halves"]]
        if {value for half in halves for value in half} != set(place.left[variable]) or len(halves) != len(node["parts"]):
            raise _RefusedError(f"{place.name}: values of {variable} are missing")
        return [(each, _named(self._keeping(place, variable, half), f"{place.name}.{number}"))
                for number, (each, half) in enumerate(zip(node["parts"], halves, strict=True))]  # fmt: skip

    def _cases(self, node: Mapping[str, Any], place: _Place) -> list[tuple[Mapping[str, Any], _Place]]:
        path = node["cases"]
        formula = self._part(path, place)
        if not isinstance(formula, Or) or len(node["parts"]) != len(formula.parts):
            raise _RefusedError(f"{place.name}: cases of {path!r} are missing")
        return [(each, _Place(place.ends, place.left, {**place.taken, path: number}, f"{place.name}.{number}"))
                for number, each in enumerate(node["parts"])]  # fmt: skip

    def _divided(self, place: _Place, variable: str, at: fmpq) -> tuple[_Place, _Place]:
        """Both parts have `at`; whole numbers and counted ones are then rounded inwards."""
        low, high = place.ends[variable]
        if (low is not None and at < low) or (high is not None and at > high):
            raise _RefusedError(f"{place.name}: {variable} is divided outside its box")
        return self._within(place, variable, low, at), self._within(place, variable, at, high)

    def _within(self, place: _Place, variable: str, low: fmpq | None, high: fmpq | None) -> _Place:
        left = place.left
        if self._harness.variables[variable].kind == "integer":
            low, high = None if low is None else fmpq(low.ceil()), None if high is None else fmpq(high.floor())
        if variable in left:
            kept = tuple(
                v for v in left[variable] if isinstance(v, fmpq) and (low is None or v >= low) and (high is None or v <= high)
            )
            left = {**left, variable: kept}
        return _Place({**place.ends, variable: (low, high)}, left, place.taken, place.name)

    def _keeping(self, place: _Place, variable: str, values: tuple[Value, ...]) -> _Place:
        ends = place.ends
        if variable in ends and values:
            numbers = [each for each in values if isinstance(each, fmpq)]
            ends = {**ends, variable: (min(numbers), max(numbers))}
        return _Place(ends, {**place.left, variable: values}, place.taken, place.name)

    # -- what holds in a box --

    def _status(self, formula: Formula, path: str, place: _Place) -> bool | None:
        match formula:
            case Below(term, strict):
                low, high = _range(term, place.ends)
                if low > high or low > 0 or (strict and low >= 0):
                    return False
                return True if high < 0 or (high <= 0 and not strict) else None
            case Member(name, values):
                fitting = sum(each in values for each in place.left[name])
                return False if fitting == 0 else True if fitting == len(place.left[name]) else None
            case And(parts):
                found = [self._status(each, f"{path}\t{number}", place) for number, each in enumerate(parts)]
                return False if any(each is False for each in found) else True if all(found) else None
            case Or(parts):
                chosen = [place.taken[path]] if path in place.taken else range(len(parts))
                found = [self._status(parts[number], f"{path}\t{number}", place) for number in chosen]
                return True if any(each is True for each in found) else None if any(each is None for each in found) else False

    def _part(self, path: str, place: _Place) -> Formula:
        """Return what is at a path, if it must hold: all of an `and`, of an `or` only the case assumed, or the one that is
        left.
        """
        rule, *steps = path.split("\t")
        formula, here = self._rules[rule], rule
        for step in steps:
            number = int(step)
            if isinstance(formula, Or):
                others = [n for n in range(len(formula.parts)) if n != number]
                taken = place.taken.get(here)
                if taken != number and not (
                    taken is None and all(self._status(formula.parts[n], f"{here}\t{n}", place) is False for n in others)
                ):
                    raise _RefusedError(f"{place.name}: {path!r} need not hold in this box")
            elif not isinstance(formula, And):
                raise _RefusedError(f"{place.name}: there is no {path!r}")
            formula, here = formula.parts[number], f"{here}\t{step}"
        return formula

    # -- sums --

    def _check_sum(self, products: Sequence[Mapping[str, Any]], place: _Place) -> None:
        """The sum of what cannot be above 0 is above 0 all over the box; or at least 0, and something in it is below 0."""
        total: dict[str, tuple[fmpq, tuple[tuple[Term, int], ...]]] = {}
        is_strict = False
        for each in products:
            times = _rational(each["times"])
            if times <= 0 or not each["of"]:
                raise _RefusedError(f"{place.name}: a multiplier is not above 0")
            sign, product, all_strict = fmpq(-1), _Expanded.one(), True
            for path in each["of"]:
                term, strict = self._inequality(path, place)
                product, sign, all_strict = product.times(_Expanded.of(term)), -sign, all_strict and strict
            is_strict |= all_strict
            for key, (factor, atoms) in product.parts.items():
                before = total[key][0] if key in total else fmpq(0)
                total[key] = (before + times * sign * factor, atoms)
        least = fmpq(0)
        for factor, atoms in total.values():
            if factor != 0:
                bound = _end(atoms, place.ends, upper=factor < 0)
                if bound is None:
                    raise _RefusedError(f"{place.name}: the sum has no lower bound")
                least += factor * bound
        if least < 0 or (least == 0 and not is_strict):
            raise _RefusedError(f"{place.name}: the sum can be {'0' if least == 0 else 'below 0'}, which refutes nothing")

    def _inequality(self, path: str, place: _Place) -> tuple[Term, bool]:
        if path.startswith("\t"):
            side, _, name = path.strip().partition(" ")
            end = place.ends[name][("lower", "upper").index(side)]
            if end is None:
                raise _RefusedError(f"{place.name}: {name} has no {side} end")
            sign = fmpq(-1 if side == "lower" else 1)
            return Sum((Product((Const(sign), Var(name))), Const(-sign * end))), False
        part = self._part(path, place)
        if not isinstance(part, Below):
            raise _RefusedError(f"{place.name}: {path!r} is no inequality")
        return part.term, part.strict


def _named(place: _Place, name: str) -> _Place:
    return _Place(place.ends, place.left, place.taken, name)


def _is_void(place: _Place) -> bool:
    crossed = any(low is not None and high is not None and low > high for low, high in place.ends.values())
    return crossed or any(not values for values in place.left.values())


def _rational(text: object) -> fmpq:
    top, _, bottom = str(text).partition("/")
    return fmpq(int(top), int(bottom or "1"))


def _read(said: object, known: Sequence[Value]) -> Value:
    return next(each for each in known if _shown(each) == said and isinstance(said, bool) is isinstance(each, bool))


def _interval(ends: tuple[fmpq | None, fmpq | None]) -> kernel.Interval:
    low, high = ends
    return (-inf if low is None else kernel.of_rational(low)[0], inf if high is None else kernel.of_rational(high)[1])


def _range(term: Term, ends: Mapping[str, tuple[fmpq | None, fmpq | None]]) -> kernel.Interval:
    if isinstance(term, Var):
        return _interval(ends[term.name])
    if isinstance(term, Const):
        return kernel.of_rational(term.value)
    if isinstance(term, Power):
        return kernel.power(_range(term.base, ends), term.exponent)
    if isinstance(term, Function):
        return {"exp": kernel.exp, "log": kernel.log, "sqrt": kernel.sqrt}[term.name](_range(term.argument, ends))
    first, *others = term.terms if isinstance(term, Sum) else term.factors
    join, found = kernel.add if isinstance(term, Sum) else kernel.multiply, _range(first, ends)
    for each in others:
        found = join(found, _range(each, ends))
    return found


def _end(atoms: tuple[tuple[Term, int], ...], ends: Mapping[str, tuple[fmpq | None, fmpq | None]], *, upper: bool) -> fmpq | None:
    """Return one end of a monomial in the box; None where it has none."""
    if not atoms:
        return fmpq(1)
    if len(atoms) == 1 and isinstance(atoms[0][0], Var) and atoms[0][1] == 1:
        return ends[atoms[0][0].name][upper]
    found: kernel.Interval = (1.0, 1.0)
    for atom, count in atoms:
        found = kernel.multiply(found, kernel.power(_range(atom, ends), count))
    end = found[upper]
    return None if isinf(end) else fmpq(*end.as_integer_ratio())


@dataclass(frozen=True, slots=True)
class _Expanded:
    """A term multiplied out: its monomials by their text, each with its factor and its atoms."""

    parts: Mapping[str, tuple[fmpq, tuple[tuple[Term, int], ...]]]

    @staticmethod
    def one() -> _Expanded:
        return _Expanded({"": (fmpq(1), ())})

    @staticmethod
    def of(term: Term) -> _Expanded:
        match term:
            case Const(value):
                return _Expanded({"": (value, ())})
            case Sum(terms):
                found: dict[str, tuple[fmpq, tuple[tuple[Term, int], ...]]] = {}
                for each in terms:
                    for key, (factor, atoms) in _Expanded.of(each).parts.items():
                        found[key] = ((found[key][0] if key in found else fmpq(0)) + factor, atoms)
                return _Expanded({key: each for key, each in found.items() if each[0] != 0})
            case Product(factors):
                whole = _Expanded.one()
                for each in factors:
                    whole = whole.times(_Expanded.of(each))
                return whole
            case Power(base, exponent) if exponent > 0:
                inner, whole = _Expanded.of(base), _Expanded.one()
                for _ in range(exponent):
                    whole = whole.times(inner)
                return whole
            case Power(base, exponent):
                return _Expanded.of(base).inverse(-exponent)
            case Function(name, argument):
                return _Expanded._atom(Function(name, _Expanded.of(argument).term()))
            case _:
                return _Expanded._atom(term)

    @staticmethod
    def _atom(term: Term) -> _Expanded:
        return _Expanded({f"{term!r}^1": (fmpq(1), ((term, 1),))})

    def times(self, other: _Expanded) -> _Expanded:
        if len(self.parts) * len(other.parts) > _MOST_MONOMIALS:
            raise _RefusedError("a sum has too many monomials")
        found: dict[str, tuple[fmpq, tuple[tuple[Term, int], ...]]] = {}
        for one_factor, one in self.parts.values():
            for other_factor, each in other.parts.values():
                atoms = _joined(one, each)
                key = ";".join(f"{atom!r}^{count}" for atom, count in atoms)
                found[key] = ((found[key][0] if key in found else fmpq(0)) + one_factor * other_factor, atoms)
        return _Expanded({key: each for key, each in found.items() if each[0] != 0})

    def inverse(self, exponent: int) -> _Expanded:
        """One monomial is inverted atom by atom; anything else is an atom of its own."""
        if len(self.parts) == 1:
            ((factor, atoms),) = self.parts.values()
            inverted = tuple(
                sorted(((Power(atom, -1), count * exponent) for atom, count in atoms), key=lambda each: repr(each[0]))
            )
            key = ";".join(f"{atom!r}^{count}" for atom, count in inverted)
            return _Expanded({key: (factor**-exponent, inverted)})
        return _Expanded._atom(Power(self.term(), -exponent))

    def term(self) -> Term:
        """Return it as a term, in one order."""
        terms: list[Term] = []
        for _, (factor, atoms) in sorted(self.parts.items()):
            powers = [atom if count == 1 else Power(atom, count) for atom, count in atoms]
            terms.append(Product((Const(factor), *powers)) if powers else Const(factor))
        return terms[0] if len(terms) == 1 else Sum(tuple(terms)) if terms else Const(fmpq(0))


def _joined(one: tuple[tuple[Term, int], ...], other: tuple[tuple[Term, int], ...]) -> tuple[tuple[Term, int], ...]:
    """Exponents are added; what stands beside its inverse goes, for there both have values and their product is 1."""
    counts: dict[Term, int] = {}
    for atom, count in (*one, *other):
        counts[atom] = counts.get(atom, 0) + count
    for atom, count in list(counts.items()):
        if isinstance(atom, Power) and atom.exponent == -1 and atom.base in counts:
            both = min(count, counts[atom.base])
            counts[atom] -= both
            counts[atom.base] -= both
    return tuple(sorted(((atom, count) for atom, count in counts.items() if count), key=lambda each: repr(each[0])))

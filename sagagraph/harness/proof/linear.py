"""Linear relaxation: inequalities as sums of monomials, each a variable of its own with its bounds in the box. Z3 solves it
exactly.

If it has no solution, the multipliers that show it (Farkas) are the proof of a leaf; if it has one, that is a point worth trying.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import isinf
from typing import Any, Final

from flint import fmpq

from sagagraph.harness.language.core import Var
from sagagraph.harness.language.polynomials import Monomial, Polynomial, TooManyError, times
from sagagraph.harness.proof import intervals as i
from sagagraph.harness.proof.intervals import Interval
from sagagraph.harness.proof.system import Box, Span
from sagagraph.harness.proof.terms import bounds_of

MOST_PRODUCTS: Final = 150
_MILLISECONDS: Final = 2000
Combination = list[tuple[tuple[str, ...], fmpq]]
"""Products of inequalities, by their ids, each with its multiplier."""


@dataclass(frozen=True, slots=True)
class Row:
    """`polynomial` is at most 0; `strict`: less. `of`: the inequalities that it is the product of."""

    of: tuple[str, ...]
    polynomial: Polynomial
    strict: bool


@dataclass(frozen=True, slots=True)
class Relaxed:
    """`refutation`: why there is no solution. `point`: values of variables in a solution."""

    refutation: Combination | None = None
    point: Mapping[str, fmpq] | None = None


def bound_rows(box: Box, names: Sequence[str]) -> list[Row]:
    """Return the ends of variables as inequalities, `lower x` and `upper x` behind a tab, which no rule's id has."""
    rows: list[Row] = []
    for name in names:
        low, high = box.spans[name]
        variable: Monomial = ((Var(name), 1),)
        if low is not None:
            rows.append(Row((f"\tlower {name}",), _without_zero({variable: fmpq(-1), (): low}), strict=False))
        if high is not None:
            rows.append(Row((f"\tupper {name}",), _without_zero({variable: fmpq(1), (): -high}), strict=False))
    return rows


def _without_zero(found: Polynomial) -> Polynomial:
    return {monomial: factor for monomial, factor in found.items() if factor != 0}


def product_of(one: Row, other: Row) -> Row | None:
    """Return the product of two inequalities, as one: none is above 0, so their product is not below."""
    try:
        found = {monomial: -factor for monomial, factor in times(one.polynomial, other.polynomial).items()}
    except TooManyError:
        return None
    return Row((*one.of, *other.of), found, one.strict and other.strict)


def products(rows: Sequence[Row], bounds: Sequence[Row], *, all_pairs: bool) -> list[Row]:
    """Return products that tie non-linear monomials to their variables: of bounds, or of everything with everything."""
    wanted = {monomial for row in rows for monomial in row.polynomial if _is_quadratic(monomial)}
    pairs = combinations_with_replacement([*rows, *bounds] if all_pairs else bounds, 2)
    found: list[Row] = []
    for one, other in pairs:
        if len(found) >= MOST_PRODUCTS:
            break
        made = product_of(one, other)
        if made is not None and (all_pairs or any(monomial in wanted for monomial in made.polynomial)):
            found.append(made)
    return found


def _is_quadratic(monomial: Monomial) -> bool:
    return sum(count for _, count in monomial) == 2 and all(isinstance(atom, Var) for atom, _ in monomial)


def monomial_span(monomial: Monomial, box: Box, floats: Mapping[str, Interval]) -> Span:
    """Return the bounds of a monomial in the box: of a variable exactly, of anything else by intervals."""
    if len(monomial) == 1 and isinstance(monomial[0][0], Var) and monomial[0][1] == 1:
        return box.spans[monomial[0][0].name]
    found: Interval = (1.0, 1.0)
    for atom, count in monomial:
        found = i.multiply(found, i.power(bounds_of(atom, floats), count))
    return None if isinf(found[0]) else exact_float(found[0]), None if isinf(found[1]) else exact_float(found[1])


def exact_float(value: float) -> fmpq:
    top, bottom = value.as_integer_ratio()
    return fmpq(top, bottom)


def relax(rows: Sequence[Row], box: Box, floats: Mapping[str, Interval], integers: frozenset[str] = frozenset()) -> Relaxed:
    """Solve the relaxation. With `integers` only for a point: then nothing is refuted."""
    import z3

    monomials = sorted({monomial for row in rows for monomial in row.polynomial if monomial}, key=repr)
    spans = {monomial: monomial_span(monomial, box, floats) for monomial in monomials}
    if any(low is not None and high is not None and low > high for low, high in spans.values()):
        return Relaxed()
    whole = {((Var(name), 1),) for name in integers}
    names: dict[Monomial, Any] = {
        monomial: (z3.Int if monomial in whole else z3.Real)(f"m{number}") for number, monomial in enumerate(monomials)
    }
    solver = z3.Solver() if integers else z3.SolverFor("QF_LRA")
    solver.set("timeout", _MILLISECONDS)
    for monomial, (low, high) in spans.items():
        if low is not None:
            solver.add(names[monomial] >= to_z3(low))
        if high is not None:
            solver.add(names[monomial] <= to_z3(high))
    for number, row in enumerate(rows):
        left = z3.Sum(
            [to_z3(factor) * names[m] if m else to_z3(factor) for m, factor in row.polynomial.items()] or [to_z3(fmpq(0))]
        )
        solver.assert_and_track(left < 0 if row.strict else left <= 0, f"row{number}")
    answer = solver.check()
    if answer == z3.sat:
        model = solver.model()
        return Relaxed(point={monomial[0][0].name: from_z3(model.eval(each, model_completion=True))
                              for monomial, each in names.items()
                              if len(monomial) == 1 and isinstance(monomial[0][0], Var) and monomial[0][1] == 1})  # fmt: skip
    if answer != z3.unsat or integers:
        return Relaxed()
    core = {int(str(each).removeprefix("row")) for each in solver.unsat_core()}
    return Relaxed(refutation=_multipliers([rows[each] for each in sorted(core)], spans))


def _multipliers(rows: Sequence[Row], spans: Mapping[Monomial, Span]) -> Combination | None:
    """Return multipliers whose sum of rows is above 0 all over the box."""
    import z3

    solver = z3.SolverFor("QF_LRA")
    solver.set("timeout", _MILLISECONDS)
    factors = [z3.Real(f"k{number}") for number in range(len(rows))]
    for each in factors:
        solver.add(each >= 0)
    solver.add(z3.Sum(factors or [to_z3(fmpq(0))]) == 1)
    total = [to_z3(row.polynomial.get((), fmpq(0))) * each for row, each in zip(rows, factors, strict=True)]
    for number, monomial in enumerate(sorted({m for row in rows for m in row.polynomial if m}, key=repr)):
        above, under = z3.Real(f"p{number}"), z3.Real(f"n{number}")
        low, high = spans[monomial]
        coefficient = z3.Sum([to_z3(row.polynomial[monomial]) * each for row, each in zip(rows, factors, strict=True)
                              if monomial in row.polynomial])  # fmt: skip
        solver.add(above >= 0, under >= 0, coefficient == above - under)
        if low is None:
            solver.add(above == 0)
        if high is None:
            solver.add(under == 0)
        total += [above * to_z3(low)] if low is not None else []
        total += [-under * to_z3(high)] if high is not None else []
    value = z3.Sum(total)
    strict = z3.Sum([each for row, each in zip(rows, factors, strict=True) if row.strict] or [to_z3(fmpq(0))])
    solver.add(value >= 0, value + strict > 0)
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    found = [(row.of, from_z3(model.eval(each, model_completion=True))) for row, each in zip(rows, factors, strict=True)]
    return [(of, factor) for of, factor in found if factor != 0]


def to_z3(value: fmpq) -> Any:
    """`Any`: Z3 publishes no types."""
    import z3

    return z3.Q(int(value.p), int(value.q))


def from_z3(value: Any) -> fmpq:
    fraction = value.as_fraction() if hasattr(value, "as_fraction") else value.as_long()
    return fmpq(fraction.numerator, fraction.denominator)

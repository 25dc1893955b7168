"""Linear relaxation: inequalities as sums of monomials, each treated as a variable with its bounds in the box. Z3 solves it
exactly.

If it has no solution, the multipliers that show this (Farkas) are the proof of a leaf; if it has one, that is a point worth
trying.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations_with_replacement
from math import isinf
from typing import Any, Final

from flint import fmpq

from sagagraph.harness.language.formulas import Atom, Monomial, Polynomial, TooManyError, Var, times
from sagagraph.harness.proof import intervals as i
from sagagraph.harness.proof.boxes import bounds_of
from sagagraph.harness.proof.system import Box

MOST_PRODUCTS: Final = 150
_MILLISECONDS: Final = 2000


@dataclass(frozen=True, slots=True)
class Row:
    """Row: `polynomial` is at most 0; `strict`: less. `of`: the inequalities whose product it is; none for the end of a
    monomial.
    """

    of: tuple[str, ...]
    polynomial: Polynomial
    strict: bool = False


def bound_rows(box: Box, names: Sequence[str]) -> list[Row]:
    """Return the ends of variables as inequalities, `lower x` and `upper x` after a tab, which occurs in no rule's id."""
    return [replace(row, of=(f"\t{side} {name}",)) for name in names for side, row in _ends(((Var(name), 1),), box)]


def _ends(monomial: Monomial, box: Box) -> Iterator[tuple[str, Row]]:
    """Yield the bounds of a monomial in the box: exactly for a variable, by intervals for anything else."""
    name = _variable(monomial)
    floats = reduce(i.multiply, (i.power(bounds_of(atom, box.floats), count) for atom, count in monomial))
    ends = [None if isinf(each) else exact_float(each) for each in floats] if name is None else box.spans[name]
    for side, end, sign in zip(("lower", "upper"), ends, (fmpq(-1), fmpq(1)), strict=True):
        if end is not None:
            yield side, Row((), {monomial: sign, (): -sign * end} if end != 0 else {monomial: sign})


def products(rows: Sequence[Row], bounds: Sequence[Row], *, all_pairs: bool) -> list[Row]:
    """Return products that link non-linear monomials to their variables: of bounds, or of everything with everything.

    Neither factor is above 0, so their product is not below 0.
    """
    squares = (m for row in rows for m in row.polynomial if sum(count for _, count in m) == 2)
    wanted = {frozenset(_atoms(each)) for each in squares if all(isinstance(atom, Var) for atom in _atoms(each))}
    bounded = [(frozenset(atom for monomial in each.polynomial for atom in _atoms(monomial)), each) for each in bounds]
    pairs = combinations_with_replacement([*rows, *bounds], 2) if all_pairs else (
        (one, other) for (here, one), (there, other) in combinations_with_replacement(bounded, 2) if here | there in wanted
    )  # fmt: skip
    found: list[Row] = []
    for one, other in pairs:
        if len(found) >= MOST_PRODUCTS:
            break
        try:
            made = {monomial: -factor for monomial, factor in times(one.polynomial, other.polynomial).items()}
        except TooManyError:
            continue
        found.append(Row((*one.of, *other.of), made, one.strict and other.strict))
    return found


def _atoms(monomial: Monomial) -> Iterator[Atom]:
    return (atom for atom, _ in monomial)


def _variable(monomial: Monomial) -> str | None:
    """Return the variable that it is, if it is one."""
    match monomial:
        case ((Var(name), 1),):
            return name
    return None


def exact_float(value: float) -> fmpq:
    return fmpq(*value.as_integer_ratio())


def relax(rows: Sequence[Row], box: Box) -> tuple[list[dict[str, Any]] | None, dict[str, fmpq] | None]:
    """Solve the relaxation. Returns a certificate that it has no solution, or values of variables in a solution, or neither."""
    import z3

    monomials = _monomials(rows)
    names = [f"m{number}" for number in range(len(monomials))]
    listed = [*rows, *(row for monomial in monomials for _, row in _ends(monomial, box))]
    known = dict(zip(monomials, names, strict=True))
    sums = (" ".join(f"(* {_text(factor)} {known[each]})" if each else _text(factor) for each, factor in row.polynomial.items())
            for row in listed)  # fmt: skip
    solver = _solver()
    said = [f"({'<' if row.strict else '<='} (+ 0 {each}) 0)" for row, each in zip(listed, sums, strict=True)]
    for number, each in enumerate(_read(names, said)):
        solver.assert_and_track(each, f"row{number}")
    answer = solver.check()
    if answer == z3.sat:
        return None, {name: _value(solver.model(), known[each]) for each in monomials if (name := _variable(each)) is not None}
    if answer != z3.unsat:
        return None, None
    core = {int(str(each).removeprefix("row")) for each in solver.unsat_core()}
    return _refutation([listed[each] for each in sorted(core)]), None


def _monomials(rows: Sequence[Row]) -> list[Monomial]:
    return sorted({monomial for row in rows for monomial in row.polynomial if monomial}, key=repr)


def _refutation(rows: Sequence[Row]) -> list[dict[str, Any]] | None:
    """Return multipliers with which everything except a constant cancels, which is above 0, or 0 although some row is strict."""
    import z3

    factors = [f"k{number}" for number in range(len(rows))]

    def total(monomial: Monomial, more: Iterable[str] = ()) -> str:
        parts = (f"(* {_text(row.polynomial[monomial])} {each})" for row, each in zip(rows, factors, strict=True)
                 if monomial in row.polynomial)  # fmt: skip
        return f"(+ 0 {' '.join((*parts, *more))})"

    strict = (each for row, each in zip(rows, factors, strict=True) if row.strict)
    said = [*(f"(>= {each} 0)" for each in factors), *(f"(= {total(each)} 0)" for each in _monomials(rows)),
            f"(>= {total(())} 0)", f"(> {total((), strict)} 0)"]  # fmt: skip
    solver = _solver()
    solver.add(_read(factors, said))
    if solver.check() != z3.sat:
        return None
    found = [(row.of, _value(solver.model(), each)) for row, each in zip(rows, factors, strict=True)]
    return [{"of": list(of), "times": str(factor)} for of, factor in found if of and factor != 0] or None


def _solver() -> Any:
    """Return a solver. `Any`: Z3 publishes no types."""
    import z3

    solver = z3.SolverFor("QF_LRA")
    solver.set("timeout", _MILLISECONDS)
    return solver


def _read(names: Iterable[str], said: Iterable[str]) -> Any:
    """Read a row from text, which takes a third of the time of Z3's operators."""
    import z3

    declared = "".join(f"(declare-const {each} Real)" for each in names)
    return z3.parse_smt2_string(declared + "".join(f"(assert {each})" for each in said))


def _text(value: fmpq) -> str:
    return f"(/ {value.p} {value.q})" if value >= 0 else f"(- (/ {-value.p} {value.q}))"


def _value(model: Any, name: str) -> fmpq:
    import z3

    found = model.eval(z3.Real(name), model_completion=True).as_fraction()
    return fmpq(found.numerator, found.denominator)

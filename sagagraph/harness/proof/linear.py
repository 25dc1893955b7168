"""Linear relaxation: inequalities as sums of monomials, each a variable of its own with its bounds in the box. Z3 solves it
exactly.

If it has no solution, the multipliers that show it (Farkas) are the proof of a leaf; if it has one, that is a point worth trying.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations_with_replacement
from math import isinf
from typing import Any, Final

from flint import fmpq

from sagagraph.harness.language.formulas import Atom, Monomial, Polynomial, TooManyError, Var, times
from sagagraph.harness.proof import intervals as i
from sagagraph.harness.proof.boxes import bounds_of
from sagagraph.harness.proof.system import Box, Span

MOST_PRODUCTS: Final = 150
_MILLISECONDS: Final = 2000
_NOTHING: Final = fmpq(0)
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
    """`refutation`: why there is no solution. `point`: values of variables in a solution. `least`: of a variable that was to be
    least, its value there, or just below that if `strict`.
    """

    refutation: Combination | None = None
    is_refuted: bool = False
    point: Mapping[str, fmpq] | None = None
    least: fmpq | None = None
    strict: bool = False


def bound_rows(box: Box, names: Sequence[str]) -> list[Row]:
    """Return the ends of variables as inequalities, `lower x` and `upper x` behind a tab, which no rule's id has."""
    rows: list[Row] = []
    for name in names:
        variable: Monomial = ((Var(name), 1),)
        for side, end, sign in zip(("lower", "upper"), box.spans[name], (fmpq(-1), fmpq(1)), strict=True):
            if end is not None:
                row: Polynomial = {variable: sign, (): -sign * end} if end != 0 else {variable: sign}
                rows.append(Row((f"\t{side} {name}",), row, strict=False))
    return rows


def products(rows: Sequence[Row], bounds: Sequence[Row], *, all_pairs: bool) -> list[Row]:
    """Return products that tie non-linear monomials to their variables: of bounds, or of everything with everything.

    Neither factor is above 0, so their product is not below.
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


def _span(monomial: Monomial, box: Box) -> Span:
    """Return the bounds of a monomial in the box: of a variable exactly, of anything else by intervals."""
    name = _variable(monomial)
    if name is not None:
        return box.spans[name]
    low, high = reduce(i.multiply, (i.power(bounds_of(atom, box.floats), count) for atom, count in monomial))
    return None if isinf(low) else exact_float(low), None if isinf(high) else exact_float(high)


def _variable(monomial: Monomial) -> str | None:
    """Return the variable that it is, if it is one."""
    match monomial:
        case ((Var(name), 1),):
            return name
    return None


def exact_float(value: float) -> fmpq:
    return fmpq(*value.as_integer_ratio())


class _Program:
    """The relaxation as Z3 has it, read from text: that takes a third of the time that its operators take."""

    def __init__(self, solver: Any, rows: Sequence[Row], box: Box) -> None:
        """`solver`: `Any`, Z3 publishes no types."""
        monomials = sorted({monomial for row in rows for monomial in row.polynomial if monomial}, key=repr)
        self.spans = {monomial: _span(monomial, box) for monomial in monomials}
        self.is_void = any(low is not None and high is not None and low > high for low, high in self.spans.values())
        self.names = {monomial: f"m{number}" for number, monomial in enumerate(monomials)}
        solver.set("timeout", _MILLISECONDS)
        said = [f"({'<' if row.strict else '<='} {self._sum(row.polynomial)} 0)" for row in rows]
        for monomial, (low, high) in self.spans.items():
            said += [] if low is None else [f"(>= {self.names[monomial]} {_text(low)})"]
            said += [] if high is None else [f"(<= {self.names[monomial]} {_text(high)})"]
        for number, each in enumerate(_read(self.names.values(), said)):
            if number < len(rows):
                solver.assert_and_track(each, f"row{number}")
            else:
                solver.add(each)

    def _sum(self, polynomial: Polynomial) -> str:
        constant = _text(polynomial.get((), _NOTHING))
        scaled = (f"(* {_text(factor)} {self.names[monomial]})" for monomial, factor in polynomial.items() if monomial)
        return f"(+ 0 {constant} {' '.join(scaled)})"

    def point(self, model: Any) -> dict[str, fmpq]:
        values = {_variable(monomial): each for monomial, each in self.names.items()}
        return {name: _value(model, each) for name, each in values.items() if name is not None}


def relax(rows: Sequence[Row], box: Box) -> Relaxed:
    """Solve the relaxation."""
    import z3

    solver = z3.SolverFor("QF_LRA")
    program = _Program(solver, rows, box)
    answer = None if program.is_void else solver.check()
    if answer == z3.sat:
        return Relaxed(point=program.point(solver.model()))
    if answer != z3.unsat:
        return Relaxed()
    core = {int(str(each).removeprefix("row")) for each in solver.unsat_core()}
    return Relaxed(_multipliers([rows[each] for each in sorted(core)], program.spans))


def least(rows: Sequence[Row], box: Box, name: str, sign: int) -> Relaxed:
    """Find the least (`sign` 1) or greatest (-1) value of a variable in the relaxation."""
    import z3

    optimize = z3.Optimize()
    program = _Program(optimize, rows, box)
    variable: Monomial = ((Var(name), 1),)
    if program.is_void:
        return Relaxed(is_refuted=True)
    if variable not in program.names:
        return Relaxed()
    goal = optimize.minimize(z3.Real(program.names[variable]) * sign)
    answer = optimize.check()
    if answer != z3.sat:
        return Relaxed(is_refuted=answer == z3.unsat)
    infinite, value, epsilon = (_rational(z3.simplify(each)) for each in optimize.lower_values(goal))
    return Relaxed() if infinite != 0 else Relaxed(point=program.point(optimize.model()), least=value * sign, strict=epsilon != 0)


def _multipliers(rows: Sequence[Row], spans: Mapping[Monomial, Span]) -> Combination | None:
    """Return multipliers whose sum of rows is above 0 all over the box: `k` of rows, `p` and `n` of ends of monomials."""
    import z3

    factors = [f"k{number}" for number in range(len(rows))]
    names, total = [*factors], [_scaled(rows, factors, ())]
    said = [f"(= (+ 0 {' '.join(factors)}) 1)"]
    for number, monomial in enumerate(sorted({m for row in rows for m in row.polynomial if m}, key=repr)):
        shares = f"p{number}", f"n{number}"
        names += shares
        said.append(f"(= {_scaled(rows, factors, monomial)} (- {' '.join(shares)}))")
        for share, end, sign in zip(shares, spans[monomial], ("+", "-"), strict=True):
            if end is None:
                said.append(f"(= {share} 0)")
            else:
                total.append(f"({sign} (* {_text(end)} {share}))")
    strict = " ".join(each for row, each in zip(rows, factors, strict=True) if row.strict)
    value = f"(+ 0 {' '.join(total)})"
    said += [*(f"(>= {each} 0)" for each in names), f"(>= {value} 0)", f"(> (+ {value} 0 {strict}) 0)"]
    solver = z3.SolverFor("QF_LRA")
    solver.set("timeout", _MILLISECONDS)
    solver.add(_read(names, said))
    if solver.check() != z3.sat:
        return None
    found = [(row.of, _value(solver.model(), each)) for row, each in zip(rows, factors, strict=True)]
    return [(of, factor) for of, factor in found if factor != 0]


def _scaled(rows: Sequence[Row], factors: Sequence[str], monomial: Monomial) -> str:
    """Return the factor of a monomial in the sum of all rows."""
    parts = (f"(* {_text(row.polynomial[monomial])} {each})" for row, each in zip(rows, factors, strict=True)
             if monomial in row.polynomial)  # fmt: skip
    return f"(+ 0 {' '.join(parts)})"


def _read(names: Iterable[str], said: Iterable[str]) -> Any:
    import z3

    declared = "".join(f"(declare-const {each} Real)" for each in names)
    return z3.parse_smt2_string(declared + "".join(f"(assert {each})" for each in said))


def _text(value: fmpq) -> str:
    return f"(/ {value.p} {value.q})" if value >= 0 else f"(- (/ {-value.p} {value.q}))"


def _value(model: Any, name: str) -> fmpq:
    import z3

    return _rational(model.eval(z3.Real(name), model_completion=True))


def _rational(value: Any) -> fmpq:
    fraction = value.as_fraction() if hasattr(value, "as_fraction") else value.as_long()
    return fmpq(fraction.numerator, fraction.denominator)

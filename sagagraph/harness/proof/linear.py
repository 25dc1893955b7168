"""Linear relaxation: inequalities as sums of monomials, each treated as a variable with its bounds in the box. Z3 solves it
exactly.

If it has no solution, the multipliers that show this (Farkas) are the proof of a leaf; if it has one, that is a point worth
trying.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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

    @property
    def is_linear(self) -> bool:
        return all(not monomial or _variable(monomial) is not None for monomial in self.polynomial)


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
    solver = Rows([(f"row{number}", row) for number, row in enumerate(rows)], box)
    core, values = solver.decide(solver.names)
    return (refutation([rows[int(each.removeprefix("row"))] for each in sorted(core)], box) if core else None), values


class Rows:
    """Rows in a solver, each under a name under which it is left out or taken; several may share one."""

    def __init__(self, rows: Sequence[tuple[str, Row]], box: Box) -> None:
        import z3

        self.names = frozenset(name for name, _ in rows)
        monomials = _monomials([row for _, row in rows])
        known = {monomial: f"m{number}" for number, monomial in enumerate(monomials)}
        switches = {name: z3.Bool(f"row{number}") for number, name in enumerate(dict(rows))}
        ends = [row for monomial in monomials for _, row in _ends(monomial, box)]
        self._solver = _solver()
        self._read = _read(
            [*((each, "Real") for each in known.values()), *((str(each), "Bool") for each in switches.values())],
            [*(f"(=> {switches[name]} {_compared(row, known)})" for name, row in rows), *(_compared(row, known) for row in ends)],
        )
        self._solver.add(self._read)
        self._switches = switches
        self._variables = {name: z3.Real(known[each]) for each in monomials if (name := _variable(each)) is not None}

    def decide(self, names: frozenset[str]) -> tuple[frozenset[str], dict[str, fmpq] | None]:
        """Return which of these rows exclude each other within the box, or values of variables in a solution; neither if the
        solver gave up.
        """
        import z3

        chosen = {switch: name for name, switch in self._switches.items() if name in names}
        answer = self._solver.check(*chosen)
        if answer == z3.sat:
            model = self._solver.model()
            return frozenset(), {name: _value(model, each) for name, each in self._variables.items()}
        return frozenset(chosen[each] for each in self._solver.unsat_core()) if answer == z3.unsat else frozenset(), None

    def least(self, variable: str, sign: int) -> fmpq | None:
        """Return the least value (`sign` 1), or the greatest, of a variable where all rows hold; None if there is none."""
        import z3

        solver = z3.Optimize()
        solver.set("timeout", _MILLISECONDS)
        solver.add(self._read, *self._switches.values())
        least = solver.minimize(sign * self._variables[variable])
        found = least.value() if solver.check() == z3.sat else None
        if not z3.is_int_value(found) and not z3.is_rational_value(found):
            return None
        return sign * _rational(found)


def _compared(row: Row, known: Mapping[Monomial, str]) -> str:
    total = " ".join(f"(* {_text(factor)} {known[each]})" if each else _text(factor) for each, factor in row.polynomial.items())
    return f"({'<' if row.strict else '<='} (+ 0 {total}) 0)"


def _monomials(rows: Sequence[Row]) -> list[Monomial]:
    return sorted({monomial for row in rows for monomial in row.polynomial if monomial}, key=repr)


def refutation(excluded: Sequence[Row], box: Box) -> list[dict[str, Any]] | None:
    """Return multipliers of rows and of bounds with which everything except a constant cancels, which is above 0, or 0
    although some row is strict.
    """
    import z3

    rows = [*excluded, *(row for monomial in _monomials(excluded) for _, row in _ends(monomial, box))]
    factors = [f"k{number}" for number in range(len(rows))]

    def total(monomial: Monomial, more: Iterable[str] = ()) -> str:
        parts = (f"(* {_text(row.polynomial[monomial])} {each})" for row, each in zip(rows, factors, strict=True)
                 if monomial in row.polynomial)  # fmt: skip
        return f"(+ 0 {' '.join((*parts, *more))})"

    strict = (each for row, each in zip(rows, factors, strict=True) if row.strict)
    said = [*(f"(>= {each} 0)" for each in factors), *(f"(= {total(each)} 0)" for each in _monomials(rows)),
            f"(>= {total(())} 0)", f"(> {total((), strict)} 0)"]  # fmt: skip
    solver = _solver()
    solver.add(_read([(each, "Real") for each in factors], said))
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    found = [(row.of, _value(model, z3.Real(each))) for row, each in zip(rows, factors, strict=True)]
    return [{"of": list(of), "times": str(factor)} for of, factor in found if of and factor != 0] or None


def _solver() -> Any:
    """Return a solver. `Any`: Z3 publishes no types."""
    import z3

    solver = z3.SolverFor("QF_LRA")
    solver.set("timeout", _MILLISECONDS)
    return solver


def _read(names: Iterable[tuple[str, str]], said: Iterable[str]) -> Any:
    """Read a row from text, which takes a third of the time of Z3's operators."""
    import z3

    declared = "".join(f"(declare-const {name} {kind})" for name, kind in names)
    return z3.parse_smt2_string(declared + "".join(f"(assert {each})" for each in said))


def _text(value: fmpq) -> str:
    return f"(/ {value.p} {value.q})" if value >= 0 else f"(- (/ {-value.p} {value.q}))"


def _value(model: Any, constant: Any) -> fmpq:
    return _rational(model.eval(constant, model_completion=True))


def _rational(value: Any) -> fmpq:
    numerator, _, denominator = value.as_string().partition("/")
    return fmpq(int(numerator), int(denominator or 1))

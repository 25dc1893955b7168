"""Linear rules over numbers: any set of them is decided in one solver, which keeps what it has learnt about the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from flint import fmpq

from sagagraph.harness.language.formulas import Below
from sagagraph.harness.proof.boxes import implied
from sagagraph.harness.proof.linear import Row, Rows, refutation
from sagagraph.harness.proof.search import Budget, Found, Search
from sagagraph.harness.proof.system import DOMAIN, Point, System

_FEWEST: Final = 12
"""Fewer rules are decided as quickly by a search for each set."""


class LinearRules:
    """Linear rules of a system."""

    def __init__(self, rows: Mapping[str, Sequence[Row]], system: System, filling: Point) -> None:
        self._rows, self._system, self._filling = rows, system, filling
        self._solver = Rows([(rule, row) for rule, each in rows.items() for row in each], system.root)

    @staticmethod
    def of(system: System) -> LinearRules | None:
        """Return them if all rules are linear, over numbers, and there are many."""
        if len(system.rules) < _FEWEST or system.integers or any(each.startswith(DOMAIN) for each in system.rules):
            return None
        search, rows = Search(system, Budget()), dict[str, Sequence[Row]]()
        for rule, formula in system.rules.items():
            parts = list(implied(formula, rule, system.root.floats, {}))
            rows[rule] = search.rows(parts)
            if len(rows[rule]) < len(parts) or not all(isinstance(part, Below) for _, part in parts):
                return None
        is_linear = all(row.is_linear for each in rows.values() for row in each)
        return LinearRules(rows, system, search.filling) if is_linear else None

    def least(self, variable: str, sign: int) -> fmpq | None:
        """Return the least value (`sign` 1), or the greatest, of a variable where all rules hold; None if there is none."""
        return self._solver.least(variable, sign)

    def decide(self, rules: frozenset[str]) -> Found:
        """Return a point or a proof; neither if the solver gave up."""
        core, values = self._solver.decide(rules)
        if values is not None:
            return Found(witness={**self._filling, **self._system.point(values)})
        rows = [row for rule in self._rows if rule in core for row in self._rows[rule]]
        found = refutation(rows, self._system.root) if core else None
        return Found() if found is None else Found(tree={"sum": found})

"""Logic: a CP-SAT model some of whose conditions may be known already: only what is still open is stated."""

from __future__ import annotations

from collections.abc import Iterable

from ortools.sat.python import cp_model

Int = cp_model.IntVar
Literal = cp_model.IntVar | bool
"""True and False: known."""
Expression = cp_model.LinearExpr


def no(literal: Literal) -> Literal:
    return not literal if isinstance(literal, bool) else ~literal  # type: ignore[return-value] # OR-Tools: Literal


def total(terms: Iterable[cp_model.LinearExprT]) -> Expression:
    """Return the sum, as an expression even if there is nothing to add."""
    return cp_model.LinearExpr.sum(list(terms)) + 0


class Logic(cp_model.CpModel):
    def yes(self) -> Int:
        return self.new_bool_var("")

    def minutes(self, least: int, most: int) -> Int:
        return self.new_int_var(least, max(least, most), "")

    def some(self, *literals: Literal, given: Iterable[Literal] = ()) -> None:
        """Require that one of them holds, if all those given do."""
        clause = [*literals, *map(no, given)]
        if not any(each is True for each in clause):
            self.add_bool_or([each for each in clause if each is not False])

    def must(self, relation: cp_model.BoundedLinearExpression | bool, *given: Literal) -> None:
        if not any(each is False for each in given):
            self.add(relation).only_enforce_if([each for each in given if each is not True])

    def both(self, one: Literal, other: Literal) -> Literal:
        """Return whether both hold."""
        if isinstance(one, bool) or isinstance(other, bool):
            return other if one is True else one if other is True else False
        together = self.yes()
        self.add_min_equality(together, [one, other])
        return together

    def last(self, before: Int, then: Int, most: int, *given: Literal) -> Int:
        """Return `then` if all those given hold, and otherwise what was before."""
        if any(each is False for each in given):
            return before
        if all(each is True for each in given):
            return then
        now = self.minutes(0, most)
        self.must(now == then, *given)
        for each in given:
            self.must(now == before, no(each))
        return now

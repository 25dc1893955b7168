"""Relaxations: how far a limit alone would have to move until some artifact passes all rules.

The interval between a value that does not help and one that does is bisected; that no nearer value helps is then proven for all
of them at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from flint import fmpq

from sagagraph.harness.language.tree import COMPARISONS, Call, Literal, Name
from sagagraph.harness.proof.linear_rules import LinearRules
from sagagraph.harness.proof.search import Budget, Found, solve
from sagagraph.harness.proof.system import Point, significant, system_of
from sagagraph.harness.registry.harness import Harness, Rule, Severity, Variable

_LIMIT: Final = "limit of a rule"
"""A name that no variable has."""
_REACH: Final = (fmpq(1, 2), fmpq(4), fmpq(32), fmpq(1000), fmpq(10) ** 6, fmpq(10) ** 12)
"""How far it may move, as a multiple of its value; the last one also beyond 1."""
_PRECISION: Final = fmpq(1, 10**8)
_LEAST: Final = fmpq(1, 10**13)
"""How near it comes to the least change: as a share of the value reached, or of how far it may first have had to move."""
_FEW: Final = 100
"""Boxes for each value that is tried."""
_MOST_UNDECIDED: Final = 3
_DIGITS: Final = (9, 12, 15)
_MOST_RETURNS: Final = 5
"""How often a nearer value that helps may turn up behind one that does not."""


@dataclass(frozen=True, slots=True)
class Relaxation:
    """Relaxation. `name`: of a parameter, or of a rule whose limit is a plain number. `to`: sufficient, and no more than rounding
    away from the least change.

    `proven`: that no smaller change suffices.
    """

    kind: str
    name: str
    before: fmpq
    to: fmpq
    proven: bool
    witness: Point


def movable(harness: Harness, rules: frozenset[str]) -> dict[tuple[str, str], bool]:
    """Return the limits that could move alone, by kind and name, and whether a person may move them: negotiable parameters, and
    numbers or parameters on one side of a comparison in a conflict. FATAL protects numbers.
    """
    found = {("parameter", name): True for name, each in harness.variables.items() if each.is_negotiable}
    for rule in harness.rules:
        if rule.id not in rules or not isinstance(rule.tree, Call) or rule.tree.name not in COMPARISONS:
            continue
        if limit_of(rule) is not None:
            found["rule", rule.id] = rule.severity is not Severity.FATAL and rule.negotiable
        for side in rule.tree.operands:
            if isinstance(side, Name) and side.name in harness.variables and not harness.variables[side.name].is_decided:
                found.setdefault(("parameter", side.name), False)
    return found


def limit_of(rule: Rule) -> tuple[fmpq, Call] | None:
    """Return the plain number on one side of a rule's comparison, and the comparison with a name in its place."""
    if isinstance(rule.tree, Call) and rule.tree.name in COMPARISONS - {"==", "!="}:
        for side, operand in enumerate(rule.tree.operands):
            value, sign = (operand.operands[0], -1) if isinstance(operand, Call) and operand.name == "neg" else (operand, 1)
            if isinstance(value, Literal) and isinstance(value.value, fmpq):
                named = (*rule.tree.operands[:side], Name(_LIMIT), *rule.tree.operands[side + 1 :])
                return value.value * sign, Call(rule.tree.name, named)
    return None


def relaxation(
    harness: Harness,
    kind: str,
    name: str,
    boxes: int,
    expired: Callable[[], bool] = lambda: False,
    conflict: frozenset[str] = frozenset(),
) -> Relaxation | None:
    """Return the least change that suffices alone, in either direction; None if none was found.

    `kind`: of `name`, parameter or rule; a rule's number is treated as a parameter. `conflict`: rules that cannot hold
    together, if some are known. Rules in no conflict cost little: a change is sought for those in one, tried on all of them,
    and sought again beside those that it breaks. Raises `UnreadableError`.
    """
    variable = harness.variables.get(name) if kind == "parameter" else None
    stated = limit_of(harness.rule(name)) if kind == "rule" else None
    if stated is not None:
        variable = Variable(_LIMIT, "number", value=stated[0])
        rules = tuple(each.with_tree(stated[1]) if each.id == name else each for each in harness.rules)
        harness = replace(harness, rules=rules, variables={**harness.variables, _LIMIT: variable})
    if variable is None or not isinstance(variable.value, fmpq):
        return None
    every = frozenset(each.id for each in harness.rules)
    regarded = conflict or _refuted(harness, boxes, expired) or every
    while True:
        part = harness.with_rules(tuple(each for each in harness.rules if each.id in regarded))
        found = _least(part, variable, variable.value, kind, boxes, expired)
        if found is None or regarded == every:
            break
        moved = _extended(harness.with_values({variable.name: found.to}), part, found.witness, Budget(boxes, expired))
        if moved.witness is not None:
            found = replace(found, witness=moved.witness)
            break
        broken = moved.used_rules - regarded
        regarded = regarded | broken if broken else every
    return None if found is None else replace(found, name=name)


def _extended(harness: Harness, part: Harness, witness: Point, budget: Budget) -> Found:
    """Look for a point that passes all rules beside one that passes those of a part."""
    held = {name: witness[name] for rule in part.rules for name in part.fields_of(rule) if name in part.decided}
    beside = solve(system_of(harness.with_values(held)), budget).witness
    return solve(system_of(harness), budget) if beside is None else Found(witness={**beside, **held})


def _refuted(harness: Harness, boxes: int, expired: Callable[[], bool]) -> frozenset[str]:
    return solve(system_of(harness), Budget(boxes, expired)).used_rules


def _least(
    harness: Harness, variable: Variable, before: fmpq, kind: str, boxes: int, expired: Callable[[], bool]
) -> Relaxation | None:
    best: Relaxation | None = None
    for sign in (1, -1):
        most = None if best is None else abs(best.to - best.before)
        best = _Way(harness, variable, before, sign, kind, boxes, expired, most).go() or best
    return best


@dataclass(frozen=True, slots=True)
class _Way:
    """Direction of a move: `sign` 1 is up. `most`: how far the search goes."""

    harness: Harness
    variable: Variable
    before: fmpq
    sign: int
    kind: str
    boxes: int
    expired: Callable[[], bool]
    most: fmpq | None = None

    def go(self) -> Relaxation | None:
        size = abs(self.before) or fmpq(1)
        ends = [self._end(each) for each in (*(each * size for each in _REACH), _REACH[-1] * max(size, fmpq(1)))]
        near = self.before
        for end in dict.fromkeys(ends):
            if (end - near) * self.sign <= 0:
                continue
            reached, is_refuted = self._search(near, end)
            if reached is not None:
                return self._nearest(near, reached)
            near = end if is_refuted else near
        return None

    def _end(self, reach: fmpq) -> fmpq:
        """Return the limit after a move of this size, or at the end of its domain; without a domain, a parameter keeps
        its sign.
        """
        end = self.variable.high if self.sign > 0 else self.variable.low
        if end is None and self.kind == "parameter" and self.before * self.sign < 0:
            end = fmpq(0)
        far = self.before + self.sign * (reach if self.most is None else min(reach, self.most))
        return far if end is None else min(far, end) if self.sign > 0 else max(far, end)

    def _search(self, near: fmpq, far: fmpq) -> tuple[fmpq | None, bool]:
        """Treat the limit as one more number to decide. Returns a value that helps; if there is none, whether that is proven."""
        found = solve(system_of(self._free(near, far)), Budget(self.boxes, self.expired))
        reached = (found.witness or {}).get(self.variable.name)
        return (reached if isinstance(reached, fmpq) else None), found.tree is not None

    def _free(self, near: fmpq, far: fmpq) -> Harness:
        low, high = (near, far) if self.sign > 0 else (far, near)
        free = replace(self.variable, value=None, low=low, high=high, choices=(), has_domain=True)
        return replace(self.harness, variables={**self.harness.variables, free.name: free})

    def _at(self, value: fmpq, boxes: int) -> Found:
        return solve(system_of(self.harness.with_values({self.variable.name: value})), Budget(boxes, self.expired))

    def _nearest(self, proven: fmpq, reached: fmpq) -> Relaxation | None:
        """Bisect the interval, then look once more for anything nearer. `proven`: up to there nothing helps."""
        farthest, again = abs(reached - self.before), None
        optimum = self._optimum(proven, reached)
        for _ in range(_MOST_RETURNS):
            near, undecided = proven, 0
            if optimum is not None:
                near, reached, optimum = self._just_before(optimum, proven, farthest), optimum, None
            while not self._is_close(near, reached, farthest) and undecided < _MOST_UNDECIDED and not self.expired():
                middle = (near + reached) / 2
                middle = fmpq(middle.floor()) if self.variable.kind == "integer" else middle
                tried = self._at(middle, min(self.boxes, _FEW))
                near, reached = (middle, reached) if tried.witness is None else (near, middle)
                undecided += tried.witness is None and tried.tree is None
            again, is_refuted = self._search(proven, near)
            if again is None:
                break
            reached = again
        is_proven = again is None and is_refuted and self._is_close(near, reached, farthest)
        return self._sufficient(near, reached, is_proven=is_proven)

    def _optimum(self, proven: fmpq, reached: fmpq) -> fmpq | None:
        """Return the nearest value that helps, if the rules are linear: then nothing has to be bisected."""
        linear = LinearRules.of(system_of(self._free(proven, reached)))
        found = None if linear is None else linear.least(self.variable.name, self.sign)
        return found if found is not None and self._at(found, self.boxes).witness is not None else None

    def _just_before(self, reached: fmpq, proven: fmpq, farthest: fmpq) -> fmpq:
        return reached - self.sign * min(abs(reached - proven), self._precision(reached, farthest))

    def _is_close(self, near: fmpq, reached: fmpq, farthest: fmpq) -> bool:
        if self.variable.kind == "integer":
            return abs(reached - near) <= 1
        return abs(reached - near) <= self._precision(reached, farthest)

    def _precision(self, reached: fmpq, farthest: fmpq) -> fmpq:
        return max(_PRECISION * abs(reached), _LEAST * farthest)

    def _sufficient(self, near: fmpq, reached: fmpq, *, is_proven: bool) -> Relaxation | None:
        """Return the number with the fewest digits that helps, just beyond one that does not; otherwise one slightly further."""
        shorter = (fmpq(0), *(significant(reached, digits, upwards=self.sign < 0) for digits in range(1, 16)))
        between = [to for to in shorter if (to - near) * self.sign > 0 and (reached - to) * self.sign >= 0]
        beyond = [significant(reached, digits, upwards=self.sign > 0) for digits in _DIGITS]
        for to in dict.fromkeys((*between, *(each for each in beyond if not self.variable.excludes(each)), reached)):
            witness = self._at(to, self.boxes).witness
            if witness is not None:
                return Relaxation(self.kind, self.variable.name, self.before, to, is_proven, witness)
        return None


def float_of(value: fmpq) -> float:
    return int(value.p) / int(value.q)

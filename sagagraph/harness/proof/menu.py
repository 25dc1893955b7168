"""Menu: the ways out of a paradox, what each costs, and which of them no other one beats (the Pareto set).

Nothing is relaxed by it: the first way is always the report, and a person signs any other one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, Final

from flint import fmpq

from sagagraph.harness.judging.check import RuleVerdict, check, shown
from sagagraph.harness.language.tree import Call, Literal, Name, Node
from sagagraph.harness.proof.explain import Explanation, explain, point_json
from sagagraph.harness.proof.relaxations import float_of, relaxation
from sagagraph.harness.proof.system import Point
from sagagraph.harness.registry.harness import Harness, Variable

MARGINS: Final = (0, 5, 10)
"""Per cent beyond the least value."""
_SHARE: Final = "share_of_both"
_BOXES: Final = 1000


@dataclass(frozen=True, slots=True)
class Option:
    """`moves`: each parameter with its value and its new one. `closer`: rules that a witness keeps by no more than 5 % of
    their limit.

    `cost`: what the file states of a parameter, times the share of its value by which it moves.
    """

    moves: Mapping[str, tuple[fmpq, fmpq]]
    margin: int
    witness: Point
    closer: Mapping[str, float]
    cost: Mapping[str, float]
    is_pareto: bool = False


def menu_of(harness: Harness, found: Explanation) -> tuple[Option, ...]:
    """Return what resolves the paradox: one negotiable parameter each; pairs of those that do not help alone."""
    least = [{each.name: (each.before, each.to)} for each in found.relaxations if each.kind == "parameter"]
    alone = {name for each in least for name in each}
    helpless = [name for name, each in harness.variables.items() if each.is_negotiable and name not in alone]
    pairs = (pair for one, other in combinations(helpless, 2) if (pair := _pair(harness, one, other)) is not None)
    options = [
        option for moves in (*least, *pairs) for margin in MARGINS if (option := _option(harness, moves, margin)) is not None
    ]
    return tuple(replace(each, is_pareto=not any(_beats(other.cost, each.cost) for other in options)) for each in options)


def _option(harness: Harness, least: Mapping[str, tuple[fmpq, fmpq]], margin: int) -> Option | None:
    moves = {name: (before, to + (to - before) * margin / 100) for name, (before, to) in least.items()}
    for name, (before, to) in moves.items():
        if harness.variables[name].kind == "integer":
            moves[name] = (before, fmpq(to.ceil() if to > before else to.floor()))
    moved = harness.with_values({name: to for name, (_, to) in moves.items()})
    witness = explain(moved, relax=False).witness
    if witness is None:
        return None
    near = {each.rule: each.margin for each in check(moved, witness).rules if each.verdict is RuleVerdict.PASS
            and each.margin is not None and each.right is not None and each.margin <= 0.05 * abs(each.right)}  # fmt: skip
    cost: dict[str, float] = {}
    for name, (before, to) in moves.items():
        share = float_of(abs(to - before)) / max(float_of(abs(before)), 1e-9)
        for kind, each in harness.variables[name].cost.items():
            cost[kind] = cost.get(kind, 0.0) + (float_of(each) if isinstance(each, fmpq) else 0.0) * share
    return Option(moves, margin, witness, near, {kind: float(f"{each:.6g}") for kind, each in cost.items()})


def _pair(harness: Harness, one: str, other: str) -> Mapping[str, tuple[fmpq, fmpq]] | None:
    """Return the least equal share by which both must move at once, in whichever directions."""
    best: Mapping[str, tuple[fmpq, fmpq]] | None = None
    reached: fmpq | None = None
    for signs in product((1, -1), repeat=2):
        directions = dict(zip((one, other), signs, strict=True))
        moved = _sharing(harness, directions)
        found = None if moved is None else relaxation(moved, "parameter", _SHARE, _BOXES)
        if found is not None and (reached is None or found.to < reached):
            reached = found.to
            best = {name: (value, value * (1 + sign * found.to)) for name, sign in directions.items()
                    if isinstance(value := harness.variables[name].value, fmpq)}  # fmt: skip
    return best


def _sharing(harness: Harness, directions: Mapping[str, int]) -> Harness | None:
    """Return the harness with both as one share of their values; None where one of them is 0."""
    share = Variable(_SHARE, "number", low=fmpq(0), high=fmpq(1) if -1 in directions.values() else fmpq(10) ** 6, value=fmpq(0))
    terms: dict[str, Node] = {}
    for name, sign in directions.items():
        value = harness.variables[name].value
        if not isinstance(value, fmpq) or value == 0:
            return None
        part = Call("*", (Literal(value * sign, str(value * sign)), Name(_SHARE)))
        terms[name] = Call("+", (Literal(value, str(value)), part))
    variables = {name: each for name, each in harness.variables.items() if name not in directions}
    return replace(harness, variables={**variables, _SHARE: share}, derived={**terms, **harness.derived})


def _beats(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Tell whether it costs no more in anything and less in something. What is not stated costs nothing."""
    kinds = one.keys() | other.keys()
    return (all(one.get(kind, 0) <= other.get(kind, 0) for kind in kinds)
            and any(one.get(kind, 0) < other.get(kind, 0) for kind in kinds))  # fmt: skip


def menu_json(options: tuple[Option, ...]) -> list[dict[str, Any]]:
    """Return the menu, lettered; A relaxes nothing."""
    rows: list[dict[str, Any]] = [{"option": "A", "report": True, "moves": []}]
    for number, each in enumerate(options):
        moves = [{"parameter": name, "from": shown(before), "to": shown(to)} for name, (before, to) in each.moves.items()]
        row = {"option": _letters(number + 1), "moves": moves, "margin_percent": each.margin, "closer": dict(each.closer)}
        rows.append({**row, "witness": point_json(each.witness), "cost": dict(each.cost), "pareto": each.is_pareto})
    return rows


def _letters(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else f"{_letters(number // 26 - 1)}{_letters(number % 26)}"


def evidence(harness: Harness, found: Explanation) -> Iterator[dict[str, Any]]:
    """Yield every value at a boundary that was tried: it keeps all rules of a conflict but one, and how far that is missed."""
    for conflict in found.conflicts:
        for rule, witness in conflict.witnesses.items():
            result = next(each for each in check(harness, witness).rules if each.rule == rule)
            yield {"artifact": point_json(witness), "fails": rule, "left": result.left, "operator": result.operator,
                   "right": result.right, "margin": result.margin}  # fmt: skip

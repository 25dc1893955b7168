"""Reports of a paradox, for people: what conflicts, what was tried, how far apart the limits are, and a menu of ways out with
their costs.

The report relaxes nothing: the first option is always to keep it as it is, and a person signs any other one. No other option
beats those of the Pareto set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, Final

from flint import fmpq

from sagagraph.harness.judging.check import RuleVerdict, check, shown
from sagagraph.harness.language.tree import Call, Literal, Name, Node
from sagagraph.harness.life.records import report_hash
from sagagraph.harness.proof.explain import Explanation, explain, explanation_json, point_json
from sagagraph.harness.proof.relaxations import float_of, relaxation
from sagagraph.harness.proof.system import Point
from sagagraph.harness.registry.harness import Harness, Variable

Moves = Mapping[str, tuple[fmpq, fmpq]]
"""Parameters with their old and new values."""
MARGINS: Final = (0, 5, 10)
"""Per cent beyond the least value."""
_SHARE: Final = "share_of_both"
_BOXES: Final = 1000


@dataclass(frozen=True, slots=True)
class Option:
    """Option of the menu. `closer`: rules that a witness keeps by no more than 5 % of their limit. `cost`: what the file states
    for a parameter, times the share of its value by which it moves.
    """

    moves: Moves
    margin: int
    witness: Point
    closer: Mapping[str, float]
    cost: Mapping[str, float]
    is_pareto: bool = False


def menu_of(harness: Harness, found: Explanation) -> tuple[Option, ...]:
    """Return what resolves the paradox: one negotiable parameter each, or pairs of those that do not help alone."""
    least = [{each.name: (each.before, each.to)} for each in found.relaxations if each.kind == "parameter"]
    alone = {name for each in least for name in each}
    helpless = [name for name, each in harness.variables.items() if each.is_negotiable and name not in alone]
    pairs = (_pair(harness, one, other) for one, other in combinations(helpless, 2))
    listed = (_option(harness, moves, margin) for moves in (*least, *pairs) if moves is not None for margin in MARGINS)
    options = [each for each in listed if each is not None]
    return tuple(replace(each, is_pareto=not any(_beats(other.cost, each.cost) for other in options)) for each in options)


def _option(harness: Harness, least: Moves, margin: int) -> Option | None:
    moves: dict[str, tuple[fmpq, fmpq]] = {}
    for name, (before, enough) in least.items():
        to = enough + (enough - before) * margin / 100
        is_whole = harness.variables[name].kind == "integer"
        moves[name] = (before, fmpq(to.ceil() if to > before else to.floor()) if is_whole else to)
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


def _pair(harness: Harness, one: str, other: str) -> Moves | None:
    """Return the least equal share by which both must move at once, in whichever directions; None if one of them is 0."""
    values = {name: value for name in (one, other) if isinstance(value := harness.variables[name].value, fmpq) and value}
    best: tuple[fmpq, Moves] | None = None
    for signs in product((fmpq(1), fmpq(-1)), repeat=len(values)) if len(values) == 2 else ():
        share = Variable(_SHARE, "number", low=fmpq(0), high=fmpq(1) if -1 in signs else fmpq(10) ** 6, value=fmpq(0))
        derived: dict[str, Node] = {}
        for (name, value), sign in zip(values.items(), signs, strict=True):
            moved = Call("*", (Literal(value * sign, str(value * sign)), Name(_SHARE)))
            derived[name] = Call("+", (Literal(value, str(value)), moved))
        variables = {name: each for name, each in harness.variables.items() if name not in values}
        sharing = replace(harness, variables={**variables, _SHARE: share}, derived={**derived, **harness.derived})
        found = relaxation(sharing, "parameter", _SHARE, _BOXES)
        if found is not None and (best is None or found.to < best[0]):
            best = found.to, {name: (value, value * (1 + sign * found.to))
                              for (name, value), sign in zip(values.items(), signs, strict=True)}  # fmt: skip
    return None if best is None else best[1]


def _beats(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Tell whether it costs no more in any respect and less in some. What is not stated costs nothing."""
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
    """Yield every value at a boundary that was tried: it keeps all rules of a conflict except one, and how far that one is
    missed.
    """
    for conflict in found.conflicts:
        for rule, witness in conflict.witnesses.items():
            result = next(each for each in check(harness, witness).rules if each.rule == rule)
            yield {"artifact": point_json(witness), "fails": rule, "left": result.left, "operator": result.operator,
                   "right": result.right, "margin": result.margin}  # fmt: skip


def deadlock(harness: Harness, found: Explanation) -> dict[str, Any]:
    """Return the report of a proven paradox, for JSON. Its `report` is the hash to which an override is bound."""
    return {
        **explanation_json(harness, found),
        "report": report_hash(harness, found),
        "evidence": list(evidence(harness, found)),
        "menu": menu_json(menu_of(harness, found)),
        "required": "human authorisation",
    }


def markdown(harness: Harness, said: Mapping[str, Any]) -> str:
    """Return the report as a page."""
    return "\n".join(_lines(harness, said)) + "\n"


def _lines(harness: Harness, said: Mapping[str, Any]) -> Iterator[str]:
    rules = {each.id: each for each in harness.rules}
    yield f"# {_plain(harness.title or harness.id)}: no artifact passes all rules\n"
    yield f"Version {harness.version}, harness `{said['harness_hash']}`, report `{said['report']}`."
    yield "\nHuman authorisation is required.\n"
    for number, conflict in enumerate(said["conflicts"], 1):
        yield f"## Conflict {number}\n\n| rule | says | source | severity |\n| --- | --- | --- | --- |"
        for each in conflict:
            rule = rules[each]
            yield f"| {_plain(each)} | {_plain(rule.condition or rule.assertion)} | {_plain(rule.source)} | {rule.severity} |"
        yield f"\nCertificate `{said['certificates'][number - 1]['hash']}`.\n"
    yield "## What was tried\n\n| artifact | fails | left | right |\n| --- | --- | --- | --- |"
    for each in said["evidence"]:
        artifact = ", ".join(f"{name} = {value}" for name, value in each["artifact"].items())
        yield f"| {_plain(artifact)} | {_plain(each['fails'])} | {each['left']} | {each['right']} |"
    yield "\n## How far apart\n"
    for each in said["gaps"]:
        name = each.get("parameter") or each.get("rule")
        moved = f"from {each['from']} to {each['to']} (by {each['gap']})" if each["to"] is not None else "alone it does not help"
        yield f"- {_plain(name)}: {moved}"
    yield "\n## Ways out\n\n- **A**: this report; nothing is relaxed."
    for each in said["menu"][1:]:
        moves = ", ".join(f"{_plain(move['parameter'])} from {move['from']} to {move['to']}" for move in each["moves"])
        margin = f", with a margin of {each['margin_percent']} %" if each["margin_percent"] else ""
        cost = ", ".join(f"{_plain(kind)} {value:g}" for kind, value in each["cost"].items()) or "none stated"
        near = f"; close to their limits: {_plain(', '.join(each['closer']))}" if each["closer"] else ""
        yield f"- **{each['option']}**: {moves}{margin}; costs {cost}{'' if each['pareto'] else ' (another way beats it)'}{near}"


def _plain(text: object) -> str:
    """Escape text of a file, so that it cannot end a cell, or become a link or a tag."""
    return "".join(f"\\{each}" if each in "|<>[]`*_\\" else each for each in " ".join(str(text).split()))

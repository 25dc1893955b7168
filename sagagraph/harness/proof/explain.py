"""Explanations: whether any artifact passes all rules; if none does, which rules conflict, by how much, and the proof of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from flint import fmpq

from sagagraph.errors import InvalidInputError
from sagagraph.harness.judging.check import exact, shown
from sagagraph.harness.language.tree import Call
from sagagraph.harness.proof.boxes import has_values
from sagagraph.harness.proof.checker import replay, seal, stated_domains
from sagagraph.harness.proof.conflicts import Conflict, Oracle, conflicts_of
from sagagraph.harness.proof.linear_rules import LinearRules
from sagagraph.harness.proof.relaxations import Relaxation, movable, relaxation
from sagagraph.harness.proof.search import Budget, Search, solve
from sagagraph.harness.proof.system import Point, UnreadableError, system_of
from sagagraph.harness.registry.harness import Harness, Rule, Value
from sagagraph.harness.registry.loading import load_harness

BOXES: Final = 4000
"""Seconds of one search. What that leaves open is undecided."""
_FEW: Final = 40
"""Seconds to find a constant rule."""


class Status(StrEnum):
    SATISFIABLE = "satisfiable"
    PARADOX = "paradox"
    """Proven: the certificate was replayed."""
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Explanation. `complete`: these are all minimal conflicts. `gaps`: where each limit in a conflict would have to be, if it
    alone moved; None if that does not help.
    """

    status: Status
    witness: Point | None = None
    conflicts: tuple[Conflict, ...] = ()
    relaxations: tuple[Relaxation, ...] = ()
    gaps: Mapping[tuple[str, str], Relaxation | None] | None = None
    certificates: tuple[Mapping[str, Any], ...] = ()
    complete: bool = True
    reason: str = ""
    missing: tuple[str, ...] = ()
    is_readable: bool = True
    """Whether anything can be proven about rules of this kind, over the stated domains."""


def load_checked(path: Path) -> Harness:
    """Read a file and refuse constant rules. Raises `InvalidInputError`."""
    return without_constants(load_harness(path))


def without_constants(harness: Harness) -> Harness:
    """Return it, unless every artifact within the domains passes one of its rules, or none does. A rule over negotiable
    parameters alone does not count: a person may move them. Raises `InvalidInputError`.
    """
    for rule in harness.inside.rules:
        said = _constancy(harness, rule)
        if said:
            where = f"rules.{rule.id}.assertion"
            raise InvalidInputError(f"`{rule.assertion[:80]}` is {said} over the stated domains", field=where)
    return harness


def _constancy(harness: Harness, rule: Rule) -> str:
    """Return "always true" or "always false" if that is proven quickly; otherwise nothing."""
    if any(harness.variables[name].is_negotiable for name in harness.fields_of(rule) if name in harness.variables):
        return ""
    try:
        system = system_of(harness.with_rules((rule,)))
        opposite = system_of(harness.with_rules((rule.with_tree(Call("not", (rule.tree,))),)))
    except UnreadableError:
        return ""
    if Search(system, Budget(_FEW)).run().tree is not None:
        return "always false"
    # A rule that has no value somewhere is not always true, even though its opposite is never true.
    is_total = has_values(system.rules[rule.id], system.root.floats)
    return "always true" if is_total and Search(opposite, Budget(_FEW)).run().tree is not None else ""


def explain(
    harness: Harness,
    *,
    expired: Callable[[], bool] = lambda: False,
    boxes: int = BOXES,
    relax: bool = True,
    on_conflicts: Callable[[Sequence[Conflict]], None] = lambda _: None,
) -> Explanation:
    """Decide the rules of a harness over its domains.

    `expired`: called before each box, tells whether time is up. `on_conflicts`: is told the proven conflicts before it is
    sought how far each limit would have to move, which takes longer.
    """
    others, harness = [each.id for each in harness.rules if each.uses], harness.inside
    try:
        system = system_of(harness)
    except UnreadableError as exc:
        return Explanation(Status.UNDECIDED, reason=str(exc), missing=exc.missing, is_readable=False)
    oracle = Oracle(system, boxes, expired, LinearRules.of(system))
    found = solve(system, Budget(boxes, expired))
    if found.witness is not None and others:
        said = f"the witness passes all but what is judged outside ({', '.join(others)}): check it"
        return Explanation(Status.UNDECIDED, witness=found.witness, reason=said)
    if found.witness is not None:
        return Explanation(Status.SATISFIABLE, witness=found.witness)
    if found.tree is None:
        return Explanation(Status.UNDECIDED, reason=f"no point passes and no proof was found in {boxes} boxes, or in the time")
    oracle.refuted.append((found.used_rules, found))
    return _paradox(harness, oracle, on_conflicts, relax=relax)


def _paradox(harness: Harness, oracle: Oracle, on_conflicts: Callable[[Sequence[Conflict]], None], *, relax: bool) -> Explanation:
    conflicts, complete = conflicts_of(oracle)
    domains = stated_domains(harness)
    certificates = tuple(
        seal({"harness": harness.hash, "rules": list(each.rules), "values": {}, "domains": domains, "tree": each.found.tree})
        for each in conflicts
    )
    for certificate in certificates:
        replayed = replay(harness, certificate)
        if not replayed.accepted:
            return Explanation(Status.UNDECIDED, reason=f"the proof was not accepted by the checker: {replayed.reason}")
    on_conflicts(conflicts)
    involved = frozenset(rule for each in conflicts for rule in each.rules)
    first = frozenset(conflicts[0].rules) if conflicts else frozenset()
    known: dict[tuple[str, str], Relaxation | None] = {}
    may_move = movable(harness, involved)
    for kind, name in may_move if relax else ():
        found = None if oracle.expired() else relaxation(harness, kind, name, oracle.boxes // 8, oracle.expired, first)
        if found is not None or not oracle.expired():
            known[kind, name] = found
    rows = tuple(each for key, each in known.items() if each is not None and may_move[key])
    return Explanation(
        Status.PARADOX, conflicts=tuple(conflicts), relaxations=rows, gaps=known, certificates=certificates, complete=complete
    )


def explanation_json(harness: Harness, explanation: Explanation) -> dict[str, Any]:
    """Return it for JSON, in the form of docs/formats.md."""
    return {
        "status": explanation.status.value,
        "witness": None if explanation.witness is None else point_json(explanation.witness),
        "conflicts": [list(each.rules) for each in explanation.conflicts],
        "relaxations": [
            {
                each.kind: each.name, "from": shown(each.before), "to": shown(each.to),
                "proven": each.proven, "witness": point_json(each.witness),
            }
            for each in explanation.relaxations
        ],
        "reason": explanation.reason,
        "missing_domains": list(explanation.missing),
        "complete": explanation.complete,
        "gaps": [
            {kind: name, "to": None, "gap": None, "reason": "alone it does not help"} if each is None else
            {kind: name, "from": shown(each.before), "to": shown(each.to), "gap": shown(each.to - each.before)}
            for (kind, name), each in (explanation.gaps or {}).items()
        ],
        "necessity": [
            {"rules": list(each.rules), "minimal": each.minimal,
             "witnesses": {rule: point_json(point) for rule, point in each.witnesses.items()}}
            for each in explanation.conflicts
        ],
        "certificates": [dict(each) for each in explanation.certificates],
        "harness": harness.id,
        "version": harness.version,
        "harness_hash": harness.hash,
    }  # fmt: skip


def point_json(point: Point) -> dict[str, Any]:
    return {name: value_json(value) for name, value in sorted(point.items())}


def value_json(value: Value) -> Any:
    """Return a value as JSON writes it exactly; a fraction that equals no decimal becomes text."""
    if not isinstance(value, fmpq) or value.q == 1:
        return shown(value)
    found = int(value.p) / int(value.q)
    return found if exact(found) == value else f"{value.p}/{value.q}"

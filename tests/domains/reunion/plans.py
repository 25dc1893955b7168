"""Short ways to write problems, plans and events."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from sagagraph.context.slice import DEFAULT_BUDGET_TOKENS
from sagagraph.domains.reunion.parsing import parse_events, parse_moment_of, parse_problem
from sagagraph.domains.reunion.rules.validator import validate_plan
from sagagraph.validators.verdict import Verdict
from tests.domains.reunion.oracle import judge as oracle

Json = dict[str, Any]


def shipped(name: str) -> Json:
    """A problem that is shipped with the package, as JSON."""
    text = files("sagagraph.domains.reunion").joinpath(f"problems/{name}.json").read_text(encoding="utf-8")
    problem: Json = json.loads(text)
    return problem


def travel(vehicle: str, driver: str | None, way: str, start: str, end: str, *riders: str) -> Json:
    """`way`: `"A-B"`."""
    here, there = way.split("-")
    return {
        "do": "travel",
        "vehicle": vehicle,
        "driver": driver,
        "riders": list(riders),
        "from": here,
        "to": there,
        "start": start,
        "end": end,
    }


def task(name: str, who: str, start: str, end: str, place: str | None = None) -> Json:
    """`who`: names, parted by commas."""
    work = {"do": "task", "task": name, "who": who.split(",") if who else [], "start": start, "end": end}
    return {**work, "place": place} if place else work


def plan_of(*actions: Json) -> Json:
    return {"problem": "any", "actions": list(actions)}


def judged(problem: Json, plan: Any, *events: Json, against: Any = None, executed_until: str | None = None) -> Verdict:
    known = parse_problem(problem)
    until = None if executed_until is None else parse_moment_of(known, executed_until, "executed_until")
    happened = parse_events(known, list(events))
    scoped = validate_plan(known, plan, happened, against=against, executed_until=until)
    whole = oracle.validate_plan(known, plan, happened, against=against, executed_until=until)
    assert sorted(map(str, scoped.violations)) == sorted(map(str, whole.violations))
    assert scoped.verdict is whole.verdict
    assert max((each.slice_tokens for each in scoped.certificates), default=0) <= DEFAULT_BUDGET_TOKENS
    return scoped


def found(verdict: Verdict) -> list[tuple[str, int | None]]:
    """(code, index of the action)"""
    return [(each.code, each.scope.get("action")) for each in verdict.violations]

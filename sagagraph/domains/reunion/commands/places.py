"""`sagagraph reunion where`: where everybody is at a moment of a plan."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from sagagraph.cli import render
from sagagraph.domains.reunion.parsing import parse_events, parse_moment_of, parse_plan, parse_problem
from sagagraph.domains.reunion.rules.facts.case import Case
from sagagraph.domains.reunion.rules.facts.circumstances import Circumstances
from sagagraph.domains.reunion.rules.facts.whereabouts import Whereabouts, in_words, whereabouts
from sagagraph.domains.reunion.times import text_of
from sagagraph.errors import InvalidInputError
from sagagraph.files import json_file


def where(problem: Path, plan: Path, at: str, events: list[Path], *, as_json: bool) -> int:
    known = parse_problem(json_file(problem, "PROBLEM"))
    moment = parse_moment_of(known, at, "--at")
    happened = parse_events(known, *(json_file(each, "--event") for each in events))
    parsed = parse_plan(known, json_file(plan, "PLAN"))
    if parsed.fault:
        raise InvalidInputError(parsed.fault, field="PLAN")
    for each in parsed.broken:
        render.stderr.print(f"action {each.index} is left out: it cannot be read", markup=False)
    found = list(whereabouts(Case(Circumstances(known, happened), parsed).simulation, moment))
    if as_json:
        render.print_json({"at": text_of(moment), **where_json(found)})
    for one in found if not as_json else ():
        render.stdout.print(in_words(one), markup=False)
    return 0


def where_json(found: list[Whereabouts]) -> dict[str, list[dict[str, Any]]]:
    return {
        "people": [_where_json(each) for each in found if not each.is_vehicle],
        "vehicles": [_where_json(each) for each in found if each.is_vehicle],
    }


def _where_json(found: Whereabouts) -> dict[str, Any]:
    """Return the place as JSON: `place` is null on the way, and where the plan contradicts itself (`places` has the
    candidates).
    """
    leg = None if found.leg is None else {"from" if name == "from_" else name: each for name, each in asdict(found.leg).items()}
    return {
        "name": found.name,
        "place": found.places[0] if len(found.places) == 1 else None,
        "places": found.places,
        "between": leg and [leg.pop("from"), leg.pop("to")],
        **(leg or {"elapsed": None, "minutes": None, "vehicle": None}),
        "tasks": found.tasks,
        "available": found.is_available,
    }

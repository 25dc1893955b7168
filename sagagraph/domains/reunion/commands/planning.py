"""Planning: `sagagraph reunion plan` and `repair`: the solver's answers, judged by the validator, as JSON and in words.

Only these commands load OR-Tools, and only when they run.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sagagraph.cli import render
from sagagraph.domains.reunion.parsing import parse_events, parse_plan, parse_problem
from sagagraph.domains.reunion.plan import Act, Journey, ReunionPlan
from sagagraph.domains.reunion.planning.measure import check_distances, reasons
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.rules.validator import validate_plan
from sagagraph.domains.reunion.times import text_of
from sagagraph.errors import InvalidInputError
from sagagraph.files import json_file, write_json
from sagagraph.planning.budget import Budget

if TYPE_CHECKING:
    from sagagraph.domains.reunion.planning.model.search import Unsolved
    from sagagraph.domains.reunion.planning.solving import Setting, Solved

_UNREADABLE = ("MALFORMED", "UNKNOWN_REFERENCE")


def plan_reunion(problem: Path, out: Path | None, seconds: float, others: int, *, as_json: bool) -> int:
    from sagagraph.domains.reunion.planning.model.search import Unsolved
    from sagagraph.domains.reunion.planning.planner import choices, plan
    from sagagraph.domains.reunion.planning.solving import plain

    known = _problem(problem)
    answer = plan(known, Budget.of(seconds))
    if isinstance(answer, Unsolved):
        return _tell_unsolved(known, answer, plain, seconds, {}, as_json=as_json)
    document = _solved_json(answer)
    if others:
        more = choices(known, answer.plan, others, Budget.of(seconds))
        document["alternatives"] = [{**_json(each), "reasons": reasons(known, each, answer.plan)} for each in more]
    if out is not None:
        write_json(out, _json(answer.plan), "--out")
    if not as_json:
        for action in answer.plan.actions:
            _say(_words(action))
        for each in answer.objectives:
            proof = "proven to be the least" if each.value == each.bound else f"at least {each.bound:g}"
            _say(f"{each.objective.value}: {each.value:g} ({proof})")
    render.print_json(document)
    return 0


def repair_reunion(problem: Path, plan: Path, events: list[Path], seconds: float, *, as_json: bool) -> int:
    from sagagraph.domains.reunion.planning.model.search import Unsolved
    from sagagraph.domains.reunion.planning.progress import standing
    from sagagraph.domains.reunion.planning.repair import EditRadius, repair

    known = _problem(problem)
    happened = parse_events(known, *(json_file(each, "--event") for each in events))
    if not happened:
        raise InvalidInputError("say what has happened", field="--event")
    old = _plan(known, json_file(plan, "PLAN"))
    answer = repair(known, old, happened, Budget.of(seconds))
    if isinstance(answer, Unsolved):
        stands = next(standing(known, old, happened))
        nothing: dict[str, Any] = {"plan": None, "changed": [], "edit_radius": asdict(EditRadius(0, 0, 0))}
        return _tell_unsolved(stands.problem, answer, stands.setting, seconds, nothing, as_json=as_json)
    told, radius = _json(answer.solved.plan), answer.edit_radius
    verdict = validate_plan(known, told, happened, against=_json(old))
    for each in () if as_json else answer.changed:
        was = "new" if each.before is None else _words(each.before)
        now = "dropped" if each.after is None else _words(each.after)
        _say(f"action {each.index}: {was} -> {now}")
    if not as_json:
        _say(f"{radius.actions} actions of {radius.people} people change, starts move by {radius.minutes} minutes")
    solved = _solved_json(answer.solved)
    changed = [
        {"index": each.index, "before": each.before and _json(each.before), "after": each.after and _json(each.after)}
        for each in answer.changed
    ]
    rest = {"status": solved["status"], "objectives": solved["objectives"], "verdict": verdict.verdict.value}
    document = {"plan": told, "changed": changed, "edit_radius": asdict(radius), **rest}
    if not verdict.is_valid:
        document["violations"] = [each.model_dump(mode="json") for each in verdict.violations]
    render.print_json(document)
    return 0 if verdict.is_valid else 1


def _problem(path: Path) -> ReunionProblem:
    problem = parse_problem(json_file(path, "PROBLEM"))
    check_distances(problem)
    return problem


def _plan(problem: ReunionProblem, said: Any) -> ReunionPlan:
    """Read the old plan: it may break rules, but everything in it must be known."""
    parsed = parse_plan(problem, said)
    if parsed.fault:
        raise InvalidInputError(parsed.fault, field="PLAN")
    unreadable = [each for each in validate_plan(problem, said).violations if each.code in _UNREADABLE]
    if unreadable:
        raise InvalidInputError(unreadable[0].message, field="PLAN")
    return ReunionPlan.model_construct(problem=problem.name, actions=tuple(parsed.actions[n] for n in sorted(parsed.actions)))


def _json(value: ReunionPlan | Act) -> dict[str, Any]:
    return value.model_dump(mode="json", by_alias=True)


def _solved_json(solved: Solved) -> dict[str, Any]:
    return {**_json(solved.plan), "status": solved.status.value, "objectives": [asdict(each) for each in solved.objectives]}


def _tell_unsolved(
    problem: ReunionProblem, answer: Unsolved, setting: Setting, seconds: float, rest: dict[str, Any], *, as_json: bool
) -> int:
    from sagagraph.domains.reunion.planning.conflict import Why, conflict_json

    if not answer.is_proof:
        reason = f"no plan was found in {seconds:g} s, but it is not proven that there is none: give it more --seconds"
        render.print_json({**rest, "verdict": "UNKNOWN", "reason": reason})
        return 1
    conflict = Why(problem, Budget.of(seconds), setting).conflict()
    told = conflict_json(conflict)
    if not as_json:
        _say("there is no plan: these cannot be met together")
        for each in told:
            helped = f" ({each['relax']['sentence']}, there would be one)" if each["relax"] else ""
            _say(f"  {each['sentence']}{helped}")
    render.print_json({**rest, "verdict": "INVALID", "conflict": told, "irreducible": conflict.is_irreducible})
    return 1


def _say(words: str) -> None:
    render.stderr.print(words, markup=False)


def _words(action: Act) -> str:
    when = f"{text_of(action.start)}-{text_of(action.end)}"
    who = ", ".join(action.people) or "nobody"
    what = f"{action.vehicle} {action.from_} to {action.to}" if isinstance(action, Journey) else action.task
    return f"{when} {what}: {who}"

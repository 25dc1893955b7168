"""Judging: a plan in a file, after events, and compared with the plan that was carried out until then."""

from __future__ import annotations

from sagagraph.domains.reunion.parsing import parse_events, parse_moment_of, parse_plan, parse_problem
from sagagraph.domains.reunion.rules.validator import validate_plan
from sagagraph.errors import InvalidInputError
from sagagraph.files import json_file
from sagagraph.planning.entry import Case
from sagagraph.validators.verdict import Verdict


async def judge(case: Case) -> Verdict:
    known = parse_problem(json_file(case.problem, "PROBLEM"))
    events = parse_events(known, case.read_events())
    old = case.read_against()
    until = None if case.executed_until is None else parse_moment_of(known, case.executed_until, "--executed-until")
    case.check_told()
    if case.against is not None and (fault := parse_plan(known, old).fault):
        raise InvalidInputError(fault, field="--against")
    return validate_plan(known, json_file(case.plan, "PLAN"), events, against=old, executed_until=until)

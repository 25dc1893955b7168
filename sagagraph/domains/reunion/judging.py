"""Judging: a plan in a file, after events, and beside the plan that was carried out until then."""

from __future__ import annotations

from sagagraph.domains.reunion.parsing import parse_events, parse_moment_of, parse_plan, parse_problem
from sagagraph.domains.reunion.rules.validator import ReunionValidator, shown
from sagagraph.errors import InvalidInputError
from sagagraph.files import json_file
from sagagraph.planning.entry import Case
from sagagraph.validators.protocol import judge as judge_by
from sagagraph.validators.verdict import Verdict


async def judge(case: Case) -> Verdict:
    stated = json_file(case.problem, "PROBLEM")
    known = parse_problem(stated)
    happened = case.read_events()
    parse_events(known, happened)
    old = case.read_against()
    if case.executed_until is not None:
        parse_moment_of(known, case.executed_until, "--executed-until")
    case.check_told()
    if case.against is not None and (fault := parse_plan(known, old).fault):
        raise InvalidInputError(fault, field="--against")
    context = shown(stated, happened, against=old, executed_until=case.executed_until)
    return await judge_by(ReunionValidator(), json_file(case.plan, "PLAN"), context)

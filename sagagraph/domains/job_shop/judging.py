"""Judging: a schedule in a file, after events, and beside the schedule that was carried out until then."""

from __future__ import annotations

from sagagraph.domains.job_shop.instances import FIELD, parse_problem
from sagagraph.domains.job_shop.parsing import check_legible, parse_events, parse_moment_said, parse_schedule
from sagagraph.domains.job_shop.rules.validator import validate_schedule
from sagagraph.files import json_file, text_file
from sagagraph.planning.entry import Case
from sagagraph.validators.verdict import Verdict


async def judge(case: Case) -> Verdict:
    problem = parse_problem(text_file(case.problem, FIELD))
    events = parse_events(problem, case.read_events())
    old = case.read_against()
    until = None if case.executed_until is None else parse_moment_said(case.executed_until, "--executed-until")
    case.check_told()
    if case.against is not None:
        check_legible(parse_schedule(old), "--against")
    return validate_schedule(problem, json_file(case.plan, "PLAN"), events, against=old, executed_until=until)

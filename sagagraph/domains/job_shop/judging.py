"""Judging: a schedule in a file, after events, and beside the schedule that was carried out until then."""

from __future__ import annotations

from sagagraph.domains.job_shop.instances import FIELD, parse_problem
from sagagraph.domains.job_shop.parsing import check_legible, parse_events, parse_moment_said, parse_schedule
from sagagraph.domains.job_shop.rules.validator import JobShopValidator, shown
from sagagraph.files import json_file, text_file
from sagagraph.planning.entry import Case
from sagagraph.validators.protocol import judge as judge_by
from sagagraph.validators.verdict import Verdict


async def judge(case: Case) -> Verdict:
    stated = text_file(case.problem, FIELD)
    happened = case.read_events()
    parse_events(parse_problem(stated), happened)
    old = case.read_against()
    until = None if case.executed_until is None else parse_moment_said(case.executed_until, "--executed-until")
    case.check_told()
    if case.against is not None:
        check_legible(parse_schedule(old), "--against")
    context = shown(stated, happened, against=old, executed_until=until)
    return await judge_by(JobShopValidator(), json_file(case.plan, "PLAN"), context)

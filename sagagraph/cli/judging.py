"""Judging: a plan in a file, whoever made it, by the independent validators of its domain."""

from __future__ import annotations

from sagagraph.cli import render
from sagagraph.cli.options import Options
from sagagraph.errors import InvalidInputError
from sagagraph.planning.entry import Case
from sagagraph.registry import require_entry, surroundings


async def judge(options: Options, domain: str, case: Case) -> int:
    entry = require_entry(domain)
    if case.without_time_constraints and not entry.has_time_constraints:
        raise InvalidInputError(f"{domain} has no time constraints that can be left out", field="--without-time-constraints")
    async with surroundings(options.settings) as around:
        verdict = await entry.judge(case, around)
    if options.as_json:
        render.print_json(verdict.model_dump(mode="json"))
    else:
        render.print_verdict(verdict)
    return 0 if verdict.is_valid else 1

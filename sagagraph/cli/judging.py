"""Judging: a plan in a file, whoever made it, by the independent validators of its domain."""

from __future__ import annotations

from sagagraph.cli import render
from sagagraph.cli.options import Options
from sagagraph.planning.entry import Case
from sagagraph.registry import require_entry, surroundings


async def judge(options: Options, domain: str, case: Case) -> int:
    async with surroundings(options.settings) as around:
        verdict = await require_entry(domain).judge(case, around)
    if options.as_json:
        render.print_json(verdict.model_dump(mode="json"))
    else:
        render.print_verdict(verdict)
    return 0 if verdict.is_valid else 1

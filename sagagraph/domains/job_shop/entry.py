"""Entry: job shops, as the registry knows them before they are loaded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, ClassVar

from sagagraph.extras import needing
from sagagraph.planning.entry import Case, Entry, Surroundings

if TYPE_CHECKING:
    import typer

    from sagagraph.domains.job_shop.domain import Production
    from sagagraph.planning.board import Board
    from sagagraph.planning.domain import Json
    from sagagraph.validators.verdict import Verdict


class JobShopEntry(Entry["Production"]):
    """Entry of job shops. There is no page for sentences: a shop comes from a file, or from the board."""

    name = "jobshop"
    workers = ("sagagraph.domains.job_shop.planning.planner",)
    commands: ClassVar[Mapping[str, str]] = {"jobshop": "Job shops: which step of which job is on which machine when."}

    def title(self, plan: Json) -> str:
        from sagagraph.domains.job_shop.domain import Produced

        return Produced.model_validate(plan).title

    @asynccontextmanager
    async def open(self, around: Surroundings) -> AsyncIterator[Production]:
        with needing("jobshop"):
            from sagagraph.domains.job_shop.actions import Floor
            from sagagraph.domains.job_shop.domain import Production

        yield Production(Floor(around.documents))

    async def judge(self, case: Case, around: Surroundings) -> Verdict:
        with needing("jobshop"):
            from sagagraph.domains.job_shop import parsing
            from sagagraph.domains.job_shop.instances import FIELD, parse_problem
            from sagagraph.domains.job_shop.rules.validator import validate_schedule
        from sagagraph.files import json_file, text_file

        problem = parse_problem(text_file(case.problem, FIELD))
        events = parsing.parse_events(problem, case.read_events())
        old, said = case.read_against(), case.executed_until
        until = None if said is None else parsing.parse_moment_said(said, "--executed-until")
        case.check_told()
        if case.against is not None:
            parsing.check_legible(parsing.parse_schedule(old), "--against")
        return validate_schedule(problem, json_file(case.plan, "PLAN"), events, against=old, executed_until=until)

    def board(self) -> Board:
        from sagagraph.domains.job_shop.board import JobShopBoard

        return JobShopBoard()

    def command(self, name: str) -> typer.Typer:
        with needing("jobshop"):
            from sagagraph.domains.job_shop.commands.verbs import jobshop

        return {"jobshop": jobshop}[name]


DOMAIN = JobShopEntry()

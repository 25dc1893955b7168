"""Entry: reunions, as the registry knows them before they are loaded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from sagagraph.errors import InvalidInputError
from sagagraph.extras import needing
from sagagraph.files import json_file
from sagagraph.planning.entry import Case, Entry, Surroundings

if TYPE_CHECKING:
    import typer

    from sagagraph.context.model import Model
    from sagagraph.domains.reunion.domain import Reunion
    from sagagraph.planning.domain import Json
    from sagagraph.planning.page import Page
    from sagagraph.validators.verdict import Verdict


class ReunionEntry(Entry["Reunion"]):
    """Entry of reunions. There is no account, because nobody is paid, and what was said can be taken back."""

    name = "reunion"
    commands: ClassVar[Mapping[str, str]] = {"reunion": "Who is where and when: plans of reunions, weddings, rides."}
    workers = ("sagagraph.domains.reunion.planning.solver", "sagagraph.domains.reunion.planning.repair")

    def title(self, plan: Json) -> str:
        with needing("reunion"):
            from sagagraph.domains.reunion.domain import reunion_title

        return reunion_title(plan)

    @asynccontextmanager
    async def open(self, around: Surroundings) -> AsyncIterator[Reunion]:
        with needing("reunion"):
            from sagagraph.domains.reunion.actions.delivery import open_delivery
            from sagagraph.domains.reunion.actions.outbox import Outbox
            from sagagraph.domains.reunion.domain import Reunion
            from sagagraph.domains.reunion.planning.solver import Solver

        outbox = Outbox(around.documents, around.outbox, lambda: datetime.now(UTC), around.rows_in)
        async with open_delivery(around.settings) as delivery:
            yield Reunion(Solver(), outbox, delivery=delivery)

    def page(self, domain: Reunion, model: Model | None) -> Page:
        with needing("reunion"):
            from sagagraph.domains.reunion.page.page import ReunionPage

        return ReunionPage(domain, model)

    async def judge(self, case: Case, around: Surroundings) -> Verdict:
        with needing("reunion"):
            from sagagraph.domains.reunion.parsing import parse_events, parse_moment_of, parse_plan, parse_problem
            from sagagraph.domains.reunion.rules.validator import validate_plan

        known = parse_problem(json_file(case.problem, "PROBLEM"))
        events = parse_events(known, case.read_events())
        old = case.read_against()
        until = None if case.executed_until is None else parse_moment_of(known, case.executed_until, "--executed-until")
        case.check_told()
        if case.against is not None and (fault := parse_plan(known, old).fault):
            raise InvalidInputError(fault, field="--against")
        return validate_plan(known, json_file(case.plan, "PLAN"), events, against=old, executed_until=until)

    def command(self, name: str) -> typer.Typer:
        with needing("reunion"):
            from sagagraph.domains.reunion.commands.verbs import reunion

        return {"reunion": reunion}[name]


DOMAIN = ReunionEntry()

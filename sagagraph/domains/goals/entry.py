"""Entry: goals, as the registry knows them before the library named by the settings is loaded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, ClassVar

from sagagraph.planning.entry import Case, Entry, Surroundings

if TYPE_CHECKING:
    import typer

    from sagagraph.context.model import Model
    from sagagraph.domains.goals.domain import Goals
    from sagagraph.planning.domain import Json
    from sagagraph.planning.page import Page
    from sagagraph.settings import Settings
    from sagagraph.validators.verdict import Verdict


class GoalsEntry(Entry["Goals"]):
    name = "goals"
    commands: ClassVar[Mapping[str, str]] = {"goal": "A goal over your own actions: planned, and reached, or undone."}

    def is_configured(self, settings: Settings) -> bool:
        return bool(settings.goals)

    def title(self, plan: Json) -> str:
        from sagagraph.domains.goals.domain import title_of

        return title_of(plan)

    @asynccontextmanager
    async def open(self, around: Surroundings) -> AsyncIterator[Goals]:
        from sagagraph.domains.goals.domain import Goals
        from sagagraph.domains.goals.library import library_at

        yield Goals(library_at(around.settings.goals))

    def page(self, domain: Goals, model: Model | None) -> Page:
        from sagagraph.domains.goals.page import GoalPage

        return GoalPage(domain, model)

    async def judge(self, case: Case, around: Surroundings) -> Verdict:
        from sagagraph.files import json_file

        async with self.open(around) as goals:
            return await goals.validate(json_file(case.problem, "PROBLEM"), json_file(case.plan, "PLAN"), None)

    def command(self, name: str) -> typer.Typer:
        from sagagraph.domains.goals.commands import goal

        return {"goal": goal}[name]


DOMAIN = GoalsEntry()

"""Entry: recipes, as the registry knows them before they are loaded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, ClassVar

from sagagraph.errors import InvalidInputError
from sagagraph.extras import needing
from sagagraph.files import json_file
from sagagraph.planning.entry import Case, Entry, Surroundings

if TYPE_CHECKING:
    import typer

    from sagagraph.context.model import Model
    from sagagraph.domains.recipes.domain import Cooking
    from sagagraph.planning.domain import Json
    from sagagraph.planning.page import Page
    from sagagraph.validators.verdict import Verdict


class RecipesEntry(Entry["Cooking"]):
    """Entry of recipes. There is no account, because nobody is paid."""

    name = "recipes"
    workers = ("sagagraph.domains.recipes.planning.planner",)
    has_time_constraints = True
    commands: ClassVar[Mapping[str, str]] = {"recipes": "Recipes: several dishes at once, with few hands."}

    def title(self, plan: Json) -> str:
        from sagagraph.domains.recipes.plan import Cooked

        return Cooked.model_validate(plan).title

    @asynccontextmanager
    async def open(self, around: Surroundings) -> AsyncIterator[Cooking]:
        with needing("recipes"):
            from sagagraph.domains.recipes.actions import Kitchen
            from sagagraph.domains.recipes.domain import Cooking

        yield Cooking(Kitchen(around.documents))

    def page(self, domain: Cooking, model: Model | None) -> Page:
        from sagagraph.domains.recipes.page import RecipesPage

        return RecipesPage(domain, model)

    async def judge(self, case: Case, around: Surroundings) -> Verdict:
        from sagagraph.domains.recipes.request import meal_in
        from sagagraph.domains.recipes.rules.validator import validate_plan

        for told, field in ((case.events, "--event"), (case.executed_until, "--executed-until"), (case.against, "--against")):
            if told:
                raise InvalidInputError("plans of recipes are judged from their beginning; leave it out", field=field)
        meal = meal_in(case.problem, without=case.without_time_constraints)
        return validate_plan(meal, json_file(case.plan, "PLAN"))

    def command(self, name: str) -> typer.Typer:
        from sagagraph.domains.recipes.commands import recipes

        return {"recipes": recipes}[name]


DOMAIN = RecipesEntry()

"""Entry: recipes, as the registry knows them before they are loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from sagagraph.extras import needing
from sagagraph.planning.entry import Case, Entry, Surroundings

if TYPE_CHECKING:
    import typer

    from sagagraph.validators.verdict import Verdict


class RecipesEntry(Entry[Any]):
    name = "recipes"
    runs_sagas = False
    has_time_constraints = True
    commands: ClassVar[Mapping[str, str]] = {"recipes": "Recipes: several dishes at once, with few hands."}

    async def judge(self, case: Case, around: Surroundings) -> Verdict:
        from sagagraph.domains.recipes.judging import judge

        return await judge(case)

    def command(self, name: str) -> typer.Typer:
        with needing("recipes"):
            from sagagraph.domains.recipes.commands.verbs import recipes

        return {"recipes": recipes}[name]


DOMAIN = RecipesEntry()

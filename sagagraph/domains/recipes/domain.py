"""Cooking: recipes as the planning graph knows them. Every start is an operation; it waits for what it comes after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sagagraph.context.slice import content_hash
from sagagraph.domains.recipes.actions import Kitchen, Piece, cooking
from sagagraph.domains.recipes.plan import Plan, Row, makespan
from sagagraph.domains.recipes.planning.planner import Conflict, Situation, plan_or_explain
from sagagraph.domains.recipes.request import Meal, parse_meal
from sagagraph.domains.recipes.rules.validator import validate_plan
from sagagraph.planning.background import in_background
from sagagraph.planning.budget import Budget
from sagagraph.planning.domain import Domain, Infeasible, Json, Proposal
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.views.view import Cost
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import OperationSpec

_SECONDS: Final = 20.0


class Cooking(Domain):
    name = "recipes"

    def __init__(self, kitchen: Kitchen) -> None:
        self.kitchen = kitchen
        self._cook = cooking(kitchen)

    @property
    def actions(self) -> tuple[Action, ...]:
        return (self._cook,)

    async def propose(self, request: Json) -> tuple[Proposal, ...] | Infeasible:
        found = await in_background(plan_or_explain, Situation(parse_meal(request)), Budget.of(_SECONDS))
        if isinstance(found, Conflict):
            sentences = tuple(wish.sentence for wish in found.wishes)
            return Infeasible(sentences or ("this cannot be cooked",), sentences)
        content: Json = {"meal": request, "plan": [list(row) for row in found.plan]}
        return (Proposal(content, content_hash(content), cooking_title(content), Cost(0, "USD")),)

    async def repair(self, saga: Saga) -> Proposal | Infeasible:  # noqa: ARG002 - nothing refuses, and nothing is amended
        return Infeasible(("what is cooked stays as it is: cancel it, and begin again",))

    async def validate(self, request: Json, plan: Json, shown: Json) -> Verdict:  # noqa: ARG002 - nothing is shown
        return validate_plan(parse_meal(request), plan)

    def title(self, plan: Json) -> str:
        return cooking_title(plan)

    def workflow(self, plan: Json) -> tuple[OperationSpec, ...]:
        meal, rows = meal_and_plan(plan)
        names: list[str] = []
        specs = []
        for place, row in enumerate(rows):
            earlier = sum(each.key == row.key for each in rows[:place])
            names.append(f"{row.recipe}.{row.step}" + (f".{earlier + 1}" if earlier else ""))
            text = meal.steps[row.key].text
            piece = Piece(step=row.step, recipe=row.recipe, duration_s=row.duration, start_s=row.start, text=text)
            specs.append(self._cook.spec(names[-1], piece, depends_on=[names[before] for before in _before(meal, rows, place)]))
        return tuple(specs)


def meal_and_plan(plan: Any) -> tuple[Meal, Plan]:
    return parse_meal(plan["meal"]), tuple(Row(*row) for row in plan["plan"])


def cooking_title(plan: Any) -> str:
    meal, rows = meal_and_plan(plan)
    return "; ".join([*meal.recipes, f"complete after {-(-makespan(rows) // 60)} minutes"])


def _before(meal: Meal, rows: Plan, place: int) -> Iterator[int]:
    """The rows that one waits for: what it comes after, the last work of a cook, and who had its objects last."""
    step = meal.steps[rows[place].key]
    others = [(earlier, meal.steps[row.key]) for earlier, row in enumerate(rows[:place])]
    needed = {step.key, *((step.recipe, number) for number in step.after)}
    found = {earlier for earlier, other in others if other.key in needed}
    worked = [earlier for earlier, other in others if not other.is_autonomous and rows[earlier].end <= rows[place].start]
    for last in (worked, *([earlier for earlier, other in others if name in other.uses] for name in step.uses)):
        found.update(last[-1:])
    yield from sorted(found)

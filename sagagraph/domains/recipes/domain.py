"""Cooking: recipes as the planning graph knows them. Every start is an operation; it waits for what it comes after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sagagraph.context.slice import content_hash
from sagagraph.domains.recipes.actions.kitchen import Kitchen, Piece, cooking
from sagagraph.domains.recipes.parsing import parse_meal
from sagagraph.domains.recipes.plan import Plan, Row, makespan
from sagagraph.domains.recipes.planning.conflict import explain
from sagagraph.domains.recipes.planning.planner import plan_meal
from sagagraph.domains.recipes.planning.situation import Situation
from sagagraph.domains.recipes.request import Meal
from sagagraph.domains.recipes.rules.validator import validate_plan
from sagagraph.errors import PlannerError
from sagagraph.planning.background import in_background
from sagagraph.planning.budget import Budget
from sagagraph.planning.domain import Infeasible, Json, Proposal, Revision
from sagagraph.saga.core.state import Saga
from sagagraph.saga.engine.actions import Action
from sagagraph.saga.engine.views.view import Account, Cost
from sagagraph.validators.verdict import Verdict
from sagagraph.workflow.operation import OperationSpec

_SECONDS: Final = 20.0


class Cooking:
    name = "recipes"

    def __init__(self, kitchen: Kitchen) -> None:
        self.kitchen = kitchen
        self._cook = cooking(kitchen)

    @property
    def actions(self) -> tuple[Action, ...]:
        return (self._cook,)

    async def propose(self, request: Json) -> tuple[Proposal, ...] | Infeasible:
        planned = await in_background(_planned, parse_meal(request))
        if isinstance(planned, Infeasible):
            return planned
        content: Json = {"meal": request, "plan": [list(row) for row in planned]}
        return (Proposal(content, content_hash(content), cooking_title(content), Cost(0, "USD")),)

    async def repair(self, saga: Saga) -> Proposal | Infeasible:  # noqa: ARG002 - nothing refuses, and nothing is amended
        return Infeasible(("what is cooked stays as it is: cancel it, and begin again",))

    async def evidence(self, saga: Saga) -> Json:  # noqa: ARG002 - the recipes say all
        return {}

    async def validate(self, request: Json, plan: Json, shown: Json) -> Verdict:  # noqa: ARG002 - nothing is shown
        return validate_plan(parse_meal(request), plan)

    def needs_approval(self, saga: Saga) -> bool:  # noqa: ARG002 - there is no other plan
        return False

    def title(self, plan: Json) -> str:
        return cooking_title(plan)

    def workflow(self, plan: Json) -> tuple[OperationSpec, ...]:
        meal, rows = meal_and_plan(plan)
        names = [_name(rows, place) for place in range(len(rows))]
        return tuple(
            self._cook.spec(
                names[place],
                Piece(step=row.step, recipe=row.recipe, duration_s=row.duration, start_s=row.start, text=_text(meal, row)),
                depends_on=[names[before] for before in _before(meal, rows, place)],
            )
            for place, row in enumerate(rows)
        )

    def revision(self, saga: Saga) -> Revision:  # noqa: ARG002
        return Revision(())

    def account(self, saga: Saga) -> Account:  # noqa: ARG002
        return Account()


def meal_and_plan(plan: Any) -> tuple[Meal, Plan]:
    return parse_meal(plan["meal"]), tuple(Row(*row) for row in plan["plan"])


def cooking_title(plan: Any) -> str:
    meal, rows = meal_and_plan(plan)
    return "; ".join([*meal.recipes, f"complete after {-(-makespan(rows) // 60)} minutes"])


def _planned(meal: Meal) -> Plan | Infeasible:
    budget = Budget.of(_SECONDS)
    planned = plan_meal(Situation(meal), budget)
    if planned.plan is not None:
        return planned.plan
    if not planned.is_infeasible:
        raise PlannerError(f"no plan was found in {_SECONDS:g} s")
    sentences = tuple(wish.sentence for wish in explain(Situation(meal), Budget.of(_SECONDS)).wishes)
    return Infeasible(sentences or ("this cannot be cooked",), sentences)


def _name(rows: Plan, place: int) -> str:
    row = rows[place]
    earlier = sum((each.recipe, each.step) == (row.recipe, row.step) for each in rows[:place])
    return f"{row.recipe}.{row.step}" + (f".{earlier + 1}" if earlier else "")


def _text(meal: Meal, row: Row) -> str:
    return meal.steps[row.recipe, row.step].text


def _before(meal: Meal, rows: Plan, place: int) -> Iterator[int]:
    """The rows that one waits for: what it comes after, the last work of a cook, and who had its objects last."""
    step = meal.steps[rows[place].recipe, rows[place].step]
    others = [(earlier, meal.steps[row.recipe, row.step]) for earlier, row in enumerate(rows[:place])]
    needed = {step.key, *((step.recipe, number) for number in step.after)}
    found = {earlier for earlier, other in others if other.key in needed}
    worked = [earlier for earlier, other in others if not other.is_autonomous and rows[earlier].end <= rows[place].start]
    for last in (worked, *([earlier for earlier, other in others if name in other.uses] for name in step.uses)):
        found.update(last[-1:])
    yield from sorted(found)

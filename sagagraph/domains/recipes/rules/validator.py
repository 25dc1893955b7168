"""Validator: judges a cooking plan without knowing how it was made (docs/recipes.md, "How a plan is judged")."""

from __future__ import annotations

from typing import Any, Final

from sagagraph.context.slice import ContextSlice
from sagagraph.domains.recipes.parsing import parse_meal, parse_plan
from sagagraph.domains.recipes.request import Meal
from sagagraph.domains.recipes.rules.case import Case, Check
from sagagraph.domains.recipes.rules.cook import check_hands, check_one_place, check_past
from sagagraph.domains.recipes.rules.objects import check_objects
from sagagraph.domains.recipes.rules.order import check_dependencies, check_lags, check_warm
from sagagraph.domains.recipes.rules.steps import check_missing, check_names, check_readable, check_whole
from sagagraph.validators.rulebook import judged, shown
from sagagraph.validators.verdict import Verdict

__all__ = ["CHECKS", "RecipesValidator", "shown", "validate_plan"]

CHECKS: Final[tuple[Check, ...]] = (
    check_readable,
    check_names,
    check_past,
    check_hands,
    check_one_place,
    check_objects,
    check_dependencies,
    check_lags,
    check_warm,
    check_whole,
    check_missing,
)


def validate_plan(meal: Meal, plan: object) -> Verdict:
    """`plan` is JSON, whatever it holds."""
    case = Case(meal, parse_plan(plan))
    if case.plan.fault:
        return Verdict.of(list(check_readable(case)))
    return judged(case, CHECKS, row="row", rows=len(case.plan.rows) + len(case.plan.illegible))


class RecipesValidator:
    """Judges JSON plans by the facts of `shown`: anybody who has them can judge again."""

    name = "recipes"
    version = 1

    def validate(self, artifact: Any, context: ContextSlice) -> Verdict:
        return validate_plan(parse_meal(context.facts["problem"]), artifact)

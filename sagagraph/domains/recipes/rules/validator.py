"""Validator: judges a cooking plan by concerns, without knowing how it was made (docs/recipes.md, "How a plan is judged")."""

from __future__ import annotations

from typing import Any, Final

from sagagraph.domains.recipes.plan import parse_plan
from sagagraph.domains.recipes.request import Meal
from sagagraph.domains.recipes.rules.case import Case
from sagagraph.domains.recipes.rules.kitchen import COOK, OBJECTS
from sagagraph.domains.recipes.rules.steps import BEFORE, ENTRIES, LAGS, MISSING, STEPS, WARM
from sagagraph.validators.concern import Concern, certified, in_order_of, judge_scopes
from sagagraph.validators.rows import readable_rows
from sagagraph.validators.verdict import Verdict

UNREAD: Final = readable_rows("plan")
CONCERNS: Final[tuple[Concern[Case, Any], ...]] = (UNREAD, ENTRIES, COOK, OBJECTS, BEFORE, LAGS, WARM, STEPS, MISSING)


def validate_plan(meal: Meal, plan: object) -> Verdict:
    """`plan` is JSON, whatever it holds."""
    case = Case(meal, parse_plan(plan))
    verdict = judge_scopes((UNREAD,) if case.plan.fault else CONCERNS, case)
    return certified(in_order_of(verdict, "row"), plan, "recipes")

"""Validator: judges a cooking plan by concerns, without knowing how it was made (docs/recipes.md, "How a plan is judged")."""

from __future__ import annotations

from typing import Any, Final

from sagagraph.domains.recipes.parsing import parse_plan
from sagagraph.domains.recipes.request import Meal
from sagagraph.domains.recipes.rules.case import Case
from sagagraph.domains.recipes.rules.cook import COOK
from sagagraph.domains.recipes.rules.entries import ENTRIES, UNREAD
from sagagraph.domains.recipes.rules.objects import OBJECTS
from sagagraph.domains.recipes.rules.order import BEFORE, LAGS, WARM
from sagagraph.domains.recipes.rules.steps import MISSING, STEPS
from sagagraph.validators.concern import Concern, Remembered, certified, in_order_of, judge_scopes
from sagagraph.validators.verdict import Verdict

CONCERNS: Final[tuple[Concern[Case, Any], ...]] = (UNREAD, ENTRIES, COOK, OBJECTS, BEFORE, LAGS, WARM, STEPS, MISSING)


def validate_plan(meal: Meal, plan: object, remembered: Remembered | None = None) -> Verdict:
    """`plan` is JSON, whatever it holds. `remembered`: scopes that have been judged already."""
    case = Case(meal, parse_plan(plan))
    verdict = judge_scopes((UNREAD,) if case.plan.fault else CONCERNS, case, remembered)
    return certified(in_order_of(verdict, "row"), plan, "recipes")

"""Judging: a plan in a file, whoever made it."""

from __future__ import annotations

from sagagraph.domains.recipes.files import meal_in
from sagagraph.domains.recipes.rules.validator import validate_plan
from sagagraph.errors import InvalidInputError
from sagagraph.files import json_file
from sagagraph.planning.entry import Case
from sagagraph.validators.verdict import Verdict


def judge(case: Case) -> Verdict:
    for told, field in ((case.events, "--event"), (case.executed_until, "--executed-until"), (case.against, "--against")):
        if told:
            raise InvalidInputError("plans of recipes are judged from their beginning; leave it out", field=field)
    meal = meal_in(case.problem)
    if case.without_time_constraints:
        meal = meal.without_time_constraints()
    return validate_plan(meal, json_file(case.plan, "PLAN"))

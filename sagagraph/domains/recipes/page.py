"""The page of recipes: which dishes are made and when dinner is, and a Gantt of the cook and every object."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sagagraph.domains.recipes.domain import Cooking, meal_and_plan
from sagagraph.domains.recipes.plan import makespan
from sagagraph.domains.recipes.request import SHIPPED, parse_meal, shipped
from sagagraph.errors import InvalidInputError
from sagagraph.language.clock import Clock
from sagagraph.language.forms import form
from sagagraph.language.numbers import Number
from sagagraph.language.tagging import tagged
from sagagraph.planning.page import Bar, Draft, Line, Page, PlanView, Wish

_AT: Final = form(r"\b(?:at |for )?{time}|\b(?:at|by) {n}")
_EARLIEST_DINNER: Final = 10
"""Hours before it are meant in the evening."""
_WORDS: Final = re.compile(r"[^\W\d]+")
_FILLING: Final = re.compile(
    r"\b(?:we|i|make|cook|bake|want|would|like|please|and|a|an|the|some|with|at|on|dinner|table|let|us|for|eat|could|can|add|also|too|let's|you|do|instead|by|be|ready|make|it|at|time|to)\b",
    re.IGNORECASE,
)


class RecipesPage(Page):
    domain: Cooking
    title = "A meal"
    opening = f"What shall be cooked? There are {', '.join(name.replace('-', ' ') for name in SHIPPED)}."
    examples = ("We make lentil soup and apple crumble", "Flatbread and custard, dinner at 19:00")
    outcome = "everything is cooked"

    async def read(self, text: str, known: Any) -> Draft:
        before = dict(known or {})
        recipes = {each["recipe"]: each for each in before.get("recipes", ())}
        for name in SHIPPED:
            words = rf"({name.replace('-', '[ -]')}|{name.rpartition('-')[2]})s?\b"
            text, dropped = re.subn(rf"(?i)\b(?:skip|drop|remove|without|no|leave out) (?:the )?{words}", "", text)
            if dropped and len(recipes) > 1:
                recipes.pop(name, None)
            text, said = re.subn(rf"(?i)\b{words}", "", text)
            recipes |= {name: shipped(name)} if said and name not in recipes else {}
        dinner, left = _dinner(text)
        unread = tuple(_WORDS.findall(_FILLING.sub("", left)))
        request = {**before, "recipes": list(recipes.values())} | ({"dinner": dinner} if dinner else {})
        if not recipes:
            return Draft(request, (), (self.opening,), unread, field="recipes")
        return replace(self.draft_of(request), not_understood=unread)

    async def checked(self, request: Any) -> Any:
        if isinstance(request, list):
            return parse_meal(request).document()
        parse_meal(request)
        if isinstance(request.get("dinner"), str):
            _moment(request["dinner"])
        return request

    def draft_of(self, request: Any) -> Draft:
        wishes = [Wish(f"recipe {name}", "Recipe", name.replace("-", " ")) for name in parse_meal(request).recipes]
        if dinner := request.get("dinner"):
            wishes.append(Wish("dinner", "Dinner", f"dinner at {dinner}"))
        return Draft(request, tuple(wishes), request=request)

    async def changed(self, known: Any, key: str, text: str | None) -> Draft:
        rest = {name: value for name, value in known.items() if name != key}
        rest["recipes"] = [each for each in known["recipes"] if f"recipe {each['recipe']}" != key]
        return await self.read(text or "", rest)

    def view(self, plan: Any) -> PlanView:
        meal, rows = meal_and_plan(plan)
        dinner = _moment(plan["meal"].get("dinner") or "00:00")
        begin = dinner - timedelta(seconds=makespan(rows) if plan["meal"].get("dinner") else 0)
        lines, bars = [], []
        for row in rows:
            step = meal.steps[row.key]
            begins, ends = (begin + timedelta(seconds=moment) for moment in (row.start, row.end))
            lines.append(Line(f"{row.recipe} {row.step} {row.start}", f"{row.recipe}: {step.text}", f"{begins:%H:%M}"))
            places = [*step.uses, *(() if step.is_autonomous else ("cook",))] or ["on its own"]
            bars += [Bar(place, step.text, row.recipe, begins, ends, f"{row.recipe}.{row.step}") for place in places]
        return PlanView(tuple(lines), tuple(bars))


def _dinner(text: str) -> tuple[str, str]:
    """When dinner is, as HH:MM, and the text without it. "At seven" is in the evening."""
    passage = tagged(text)
    found = passage.take(_AT)
    left = passage.said(passage.text)
    if not found:
        return "", left
    number = found[-1].get("n", Number)
    hour = int(number.value or 0) if number else 0
    clock = found[-1].get("time", Clock) or Clock(hour, is_exact=False)
    evening = 12 if clock.hour < _EARLIEST_DINNER else 0
    return f"{(clock.hour + evening) % 24:02}:{clock.minute:02}", left


def _moment(clock: str) -> datetime:
    try:
        return datetime.strptime(clock, "%H:%M").replace(year=2000, tzinfo=UTC)
    except ValueError as exc:
        raise InvalidInputError(f"must be a time such as 19:00, not {clock!r}", field="dinner") from exc

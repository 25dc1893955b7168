"""The page of recipes: which dishes are made and when dinner is, and a Gantt of the cook and every object."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sagagraph.domains.recipes.domain import Cooking, accepted, reported, served
from sagagraph.domains.recipes.events import SAYS, event_in, in_words, offered, parse_events
from sagagraph.domains.recipes.plan import Cooked
from sagagraph.domains.recipes.request import SHIPPED, document_of, parse_meal, shipped
from sagagraph.domains.recipes.text import read_recipes
from sagagraph.errors import InvalidInputError
from sagagraph.language.clock import Clock
from sagagraph.language.forms import form
from sagagraph.language.numbers import Number
from sagagraph.language.tagging import tagged
from sagagraph.planning.fields import Field, Fields, Part, Widget
from sagagraph.planning.page import Bar, Disruption, Draft, Line, Page, PlanView, Wish, showcase_of
from sagagraph.saga.core.state import Saga, Stage
from sagagraph.validators.complaints import shown

_AT: Final = form(r"(?:\b(?:at|for|by|around) )?{time}|\b(?:at|by) {n}")
_COOKS: Final = form(r"(?:\b(?:for|with|by|we are) )?{n} (?:cooks?\b|of us\b(?: (?:are )?cook(?:ing)?\b)?)")
_WARM: Final = form(
    r"(?:\b(?:both|all|everything|each|it|them)(?: of (?:it|them))?(?: dish(?:es)?)? )?(?:still |is |are )*\b(?:warm|hot)\b"
)
_STAYS_WARM: Final = "10 min"
"""How long before dinner a dish that must be warm on the table may be ready."""
_EARLIEST_DINNER: Final = 10
"""Hours before this one are taken to be in the evening."""
_WORDS: Final = re.compile(r"[^\W\d]+")
_FILLING: Final = re.compile(
    r"\b(?:we|i|make|cook|bake|want|would|like|please|and|a|an|the|some|with|at|on|dinner|table|let|us|for|eat|could|can|add|also|too|let's|you|do|instead|by|be|ready|make|it|at|time|to|must|have|has|d|ll|m|ve|us|of)\b",
    re.IGNORECASE,
)


class RecipesPage(Page):
    domain: Cooking
    title = "A meal"
    opening = f"What shall be cooked? There are {', '.join(name.replace('-', ' ') for name in SHIPPED)}."
    promise = "Every step of several dishes, for one cook or more, and all of it on the table in time."
    showcase = showcase_of(
        ("cook", (("soup", 0, 1), ("crumble", 1, 2), ("soup", 2, 2.5))),
        ("pot", (("soup", 0.5, 3.5),)),
        ("oven", (("crumble", 2, 4),)),
        ("bowl", (("crumble", 1, 2),)),
    )
    examples = ("We make lentil soup and apple crumble", "Flatbread and custard, dinner at 19:00")
    go_ahead = "Cook"
    outcome = "dinner is served"
    under_way = "It is cooking. Tell me what happens, and I repair the plan; at the end, say that dinner is served."

    async def read(self, text: str, known: Any) -> Draft:
        before = dict(known or {})
        recipes = {each["recipe"]: each for each in before.get("recipes", ())}
        if "\n" in text.strip():  # a recipe, as it is written
            meal, remarks = await read_recipes(text, self.model)
            own = {each["recipe"]: each for each in meal.document()["recipes"]}
            return replace(self.draft_of({**before, "recipes": list((recipes | own).values())}), asides=remarks)
        for name in SHIPPED:
            words = rf"({name.replace('-', '[ -]')}|{name.rpartition('-')[2]})s?\b"
            text, dropped = re.subn(rf"(?i)\b(?:skip|drop|remove|without|no|leave out) (?:the )?{words}", "", text)
            if dropped and len(recipes) > 1:
                recipes.pop(name, None)
            text, said = re.subn(rf"(?i)\b{words}", "", text)
            recipes |= {name: shipped(name)} if said and name not in recipes else {}
        told, left = _told(text)
        unread = tuple(_WORDS.findall(_FILLING.sub("", left)))
        limits = dict.fromkeys(recipes, _STAYS_WARM) if told.pop("warm", False) else before.pop("warm", {})
        warm = {name: limit for name, limit in limits.items() if name in recipes}
        request = {**before, "recipes": list(recipes.values()), **told, **({"warm": warm} if warm else {})}
        if not recipes:
            return Draft(request, (), (self.opening,), unread, field="recipes")
        return replace(self.draft_of(request), not_understood=unread)

    async def checked(self, request: Any) -> Any:
        known = document_of(request)
        if known.get("served"):
            raise InvalidInputError(
                "only a meal that is being cooked can be served: sagagraph recipes serve SAGA", field="served"
            )
        parse_events(parse_meal(known), known.get("events", ()))
        if known.get("dinner") is not None:
            _moment(known["dinner"])
        return known

    def draft_of(self, request: Any) -> Draft:
        wishes = [Wish(f"recipe {name}", "Recipe", name.replace("-", " ")) for name in parse_meal(request).recipes]
        if dinner := request.get("dinner"):
            wishes.append(Wish("dinner", "Dinner", f"dinner at {dinner}"))
        if request.get("warm"):
            wishes.append(Wish("warm", "Warm", "warm"))
        if (cooks := request.get("cooks", 1)) != 1:
            wishes.append(Wish("cooks", "Cooks", f"{cooks} cooks"))
        return Draft(request, tuple(wishes), request=request)

    def fields(self, draft: Draft) -> tuple[Part, ...]:
        known = draft.known or {}
        own = [each["recipe"] for each in known.get("recipes", ())]
        dishes = (Field(f"recipe {name}", name.replace("-", " "), "yes" if name in own else "", Widget.CHECK)
                  for name in dict.fromkeys((*SHIPPED, *own)))  # fmt: skip
        table = (
            Field("dinner", "On the table at", known.get("dinner") or "", Widget.TIME),
            Field("warm", "Everything warm", "yes" if known.get("warm") else "", Widget.CHECK),
            Field("cooks", "Cooks", str(known.get("cooks", 1)), Widget.NUMBER, least="1", most="10"),
        )
        return (Fields("Dishes", tuple(dishes)), Fields("The table and the kitchen", table))

    async def with_field(self, known: Any, name: str, value: str) -> Draft:
        kind, _, dish = name.partition(" ")
        if kind == "recipe" and value:
            return await self.read(dish.replace("-", " "), known)
        words = {"warm": "warm", "dinner": f"dinner at {value}", "cooks": f"{value} cooks"}
        if kind != "recipe" and kind not in words:
            raise InvalidInputError("there is no such field: look at the page again", field=name)
        return await self.changed({"recipes": (), **(known or {})}, name, words[kind] if value and kind in words else None)

    async def changed(self, known: Any, key: str, text: str | None) -> Draft:
        rest = {name: value for name, value in known.items() if name != key}
        rest["recipes"] = [each for each in known["recipes"] if f"recipe {each['recipe']}" != key]
        return await self.read(text or "", rest)

    def view(self, plan: Any) -> PlanView:
        cooked = Cooked.model_validate(plan)
        begin, meal = _beginning(cooked), cooked.meal
        lines: dict[str, Line] = {}
        bars: list[Bar] = []
        free = [0] * meal.cooks
        for row, name in zip(cooked.plan, cooked.names, strict=True):
            step = meal.steps[row.key]
            begins, ends = (begin + timedelta(seconds=moment) for moment in (row.start, row.end))
            what = key = f"{row.recipe}: {step.text}"
            while key in lines:  # another piece of it
                key += " (then)"
            lines[key] = Line(key, what, f"{begins:%H:%M}")
            places = list(step.uses) or ["on its own"] * step.is_autonomous
            if not step.is_autonomous:  # the first cook who has free hands
                cook = next((number for number, until in enumerate(free) if until <= row.start), 0)
                free[cook] = row.end
                places.append(f"cook {cook + 1}" if meal.cooks > 1 else "cook")
            bars += [Bar(place, step.text, row.recipe, begins, ends, name) for place in places]
        for row in cooked.waste:
            begins, ends = (begin + timedelta(seconds=moment) for moment in (row.start, row.end))
            bars.append(Bar("thrown away", meal.steps[row.key].text, row.recipe, begins, ends))
        return PlanView(tuple(lines.values()), tuple(bars))

    # -- what goes wrong ---------------------------------------------------------------------------------------------------

    def disruptions(self, saga: Saga) -> tuple[Disruption, ...]:
        if saga.stage is not Stage.RUNNING:
            return ()
        cooked, since = accepted(saga), max((each["at"] for each in saga.request.get("events", ())), default=0)
        told = [Disruption(words, words, reported(saga, event)) for words, event in offered(cooked, since)]
        return (*told, Disruption("Dinner is served", "Dinner is served", served(saga)))

    def disruption_in(self, text: str, saga: Saga) -> Disruption | None:
        if (known := super().disruption_in(text, saga)) is not None or saga.plan.accepted is None:
            return known
        if SAYS.served.search(text):
            return Disruption(text, text, served(saga))
        begin = _beginning(accepted(saga))
        event = event_in(text, accepted(saga), (begin.hour * 60 + begin.minute) * 60 + begin.second)
        return None if event is None else Disruption(text, text, reported(saga, event))

    def happened(self, request: Any) -> tuple[Wish, ...]:
        meal = parse_meal(request)
        told = (in_words(meal, each) for each in parse_events(meal, request.get("events", ())))
        return tuple(Wish(f"happened:{number}", "Happened", each, removable=False) for number, each in enumerate(told))

    def on_top(self, request: Any, saga: Saga) -> Any:
        return {**request, **{name: saga.request[name] for name in ("events", "served") if name in saga.request}}


def _beginning(cooked: Cooked) -> datetime:
    """Return when cooking begins, so that the first plan puts dinner on the table in time. Without a dinner time, at midnight."""
    dinner = cooked.request.get("dinner")
    return _moment(dinner) - timedelta(seconds=cooked.planned_s) if dinner else _moment("00:00")


def _told(text: str) -> tuple[dict[str, Any], str]:
    """Return when dinner is, as HH:MM ("at seven" is in the evening), whether all is warm then, and how many cook; and the text
    without that.
    """
    passage, told = tagged(text), dict[str, Any]()
    if passage.take(_WARM):
        told["warm"] = True
    for each in passage.take(_COOKS):
        told["cooks"] = int((number.value if (number := each.get("n", Number)) else 0) or 0)
    for each in passage.take(_AT):
        number = each.get("n", Number)
        clock = each.get("time", Clock) or Clock(int((number.value if number else 0) or 0), is_exact=False)
        evening = 12 if clock.hour < _EARLIEST_DINNER else 0
        told["dinner"] = f"{(clock.hour + evening) % 24:02}:{clock.minute:02}"
    return told, passage.said(passage.text)


def _moment(clock: Any) -> datetime:
    try:
        return datetime.strptime(clock, "%H:%M").replace(year=2000, tzinfo=UTC)
    except (TypeError, ValueError) as exc:
        raise InvalidInputError(f"must be a time such as 19:00, not {shown(clock)}", field="dinner") from exc

"""The page of recipes: which dishes are made and when dinner is, and a Gantt of the cook and every object."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from string import ascii_lowercase
from typing import Any, Final

from rapidfuzz import fuzz

from sagagraph.domains.recipes.domain import Cooking, accepted, reported, served
from sagagraph.domains.recipes.events import SAYS, event_in, in_words, offered, parse_events
from sagagraph.domains.recipes.model_reading import read_recipes
from sagagraph.domains.recipes.plan import Cooked
from sagagraph.domains.recipes.request import SHIPPED, document_of, parse_meal, shipped
from sagagraph.domains.recipes.text import TIME
from sagagraph.errors import InvalidInputError
from sagagraph.language.clock import Clock, Lasting
from sagagraph.language.forms import form
from sagagraph.language.numbers import Number
from sagagraph.language.passage import Found
from sagagraph.language.people import PEOPLE, Company
from sagagraph.language.quantities import UNITS
from sagagraph.language.tagging import tagged
from sagagraph.language.utterance.shorthand import in_full
from sagagraph.planning.fields import Field, Fields, Part, Widget
from sagagraph.planning.models.anchors import Anchor, names
from sagagraph.planning.models.reading import Slot
from sagagraph.planning.page import Bar, Disruption, Draft, Line, Page, PlanView, Wish, showcase_of
from sagagraph.saga.core.state import Saga, Stage
from sagagraph.validators.complaints import shown

_AT: Final = form(r"(?:\b(?:at|for|by|around) )?{time}|\b(?:at|by) {n}")
_COOKS: Final = form(r"(?:\b(?:for|with|by|we are) )?{n} (?:cooks?\b|of us\b(?: (?:are )?cook(?:ing)?\b)?)")
_HELPS: Final = re.compile(
    r"(?i)\b(?:(?:will|would|can|is|also) )*"
    r"(?:help(?:s|ing)?(?: (?:me|out))?|(?:gives?|lends?) me a hand|cook(?:s|ing)? with me|assists?(?: me)?)\b"
)
_HELPED_BY_NOBODY: Final = re.compile(r"(?i)\b(?:nobody|no ?one) and I cook\b")
_EATERS: Final = re.compile(r"(?i)(\bfor (?:\w+ )+(?:people|guests|persons?)),")
_WITH_ME: Final = form(
    r"\b(?:me|i)\s*(?:\+|plus|and|&)\s*{n}(?: helpers?\b)?(?: cook\w*)?|{n:helpers} helpers?\b|\bboth cook\w*"
    r"|\b(?:me|i)(?:\s*(?:,|and|&|\+)+\s*(?-i:[A-Z])\w+)+|\b(?:(?-i:[A-Z])\w+(?:\s*,\s*| and | & ))+(?:me|i)\b"
)
_NAMED: Final = re.compile(r"\b(?!I\b|Me\b|And\b)[A-Z]\w+")
_COMPANY: Final = form(r"{company}(?:(?: (?!i\b|we\b|me\b|and\b|so\b|who\b)[\w']+){0,6} (?:cook(?:s|ing)?|in the kitchen)\b)?")
_ALL_COOK: Final = re.compile(r"(?i)\b(?:(?:all|both) of us|we (?:all|both)|every(?:one|body)) cooks?\b")
_FOR: Final = re.compile(r"(?i)\bfor $")
_WHO_COOKS: Final = re.compile(r"(?i)\b(?:cook\w*|kitchen|us|we|i|me|my|alone|myself|own)\b")
_COOK_BEFORE: Final = re.compile(r"(?i)\bcook(?:ing)? $")
_MARKS: Final = tuple(f"q{letter}" for letter in ascii_lowercase)
"""Each stands for a dish; no word is written so."""
_MARKED: Final = re.compile(r"\bq[a-z]\b")
_WAITS: Final = form(
    r"(?<before>\b(q[a-z](,? (and|or|nor|&) (the )?q[a-z])*|it|they|which)\b"
    r"([ ,:(]+(?!(and|or|with|then|everything|dinner|q[a-z])\b)[\w']+){1,8}[ ,:]+"
    r"|\b(within|([\w']+ )?(older|later|longer|more|less) than|at (most|the latest)) )?"
    r"{lasting}(?! (in the|to)\b)(?<after>( (old|later|max|at (most|the latest)))?( (after|before|of|when)\b[^.,;]*)?)\)?"
)
"""How long a dish may wait: minutes that are said of it, or as a limit. Those of cooking stand in its recipe."""
_NO_WAIT: Final = re.compile(
    r"(?i)\b(bak|cook|cool|chill|simmer|boil|fr(y|ie)|roast|tak(e|ing)|needs?\b(?! to)|ready|done|start|in( about)?$)"
    r"|^(?!.*\bq[a-z]\b).*\b(everything|all|dinner|table)\b"
)
"""Minutes of cooking, or until the whole meal is there."""
_CLAUSE: Final = re.compile(r"[^.,;:!?]*$")
_LEFT_OUT: Final = re.compile(r"(?i)\b(skip|drop|remove|without|no|leave out|instead of|rather than) (the )?($|(?=q[a-z]\b))")
_LEAST_OF_A_NAME: Final = 5
_ALMOST: Final = 84
"""Of 100: how alike a misspelling is."""
_WARM: Final = form(
    r"(?:\b(?:both|all|everything|each|it|them)(?: of (?:it|them))?(?: dish(?:es)?)? )?(?:still |is |are )*\b(?:warm|hot)\b"
)
_STAYS_WARM: Final = "10 min"
"""How long before dinner a dish that must be warm on the table may be ready."""
_EARLIEST_DINNER: Final = 10
"""Hours before this one are taken to be in the evening."""
_WORDS: Final = re.compile(r"[^\W\d]+")
_READY: Final = "All of it is ready"
_LONG: Final = 60
"""Minutes from which a time is told in hours."""
_WITHOUT_MEANING = (
    "add all also and are bake can cook cooking cooks could course dear dessert dinner dish dishes don't done down eat eaten "
    "evening everyone fancy first for get good guests has have having hello here i'd i'll i'm instead it's just kitchen let "
    "let's like main make meal menu morning must only plan please plus ready second served should side simple sit some starter "
    "table that the them then there there's they they're time today together tonight too wait want we'd we'll we're when which "
    "while who will with would you"
)
_FILLING: Final = frozenset(_WITHOUT_MEANING.split())


_SLOTS: Final = (
    Slot("recipe *", Anchor.FLAG, f"yes: it is cooked; the name ends in one of {', '.join(SHIPPED)}; empty: it is not"),
    Slot("dinner", Anchor.TIME, "when all of it is on the table"),
    Slot("warm", Anchor.FLAG, "yes: everything is warm then"),
    Slot("fresh *", Anchor.MINUTES, "of a dish, by its name: within how many minutes it is eaten"),
    Slot("cooks", Anchor.PEOPLE, "how many cook"),
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
    plans_quickly = True
    outcome = "dinner is served"
    under_way = "It is cooking. Tell me what happens, and I repair the plan; at the end, say that dinner is served."

    async def hear(self, text: str, known: Any) -> Draft:
        """Read what was said; a recipe, as it is written, is read by a reader of its own."""
        return await (self.read if _is_recipe(text) else super().hear)(text, known)

    async def drafted(self, known: Any) -> Draft:
        if (known or {}).get("recipes"):
            return self.draft_of(known)
        told = {"recipes": [], **(known or {})}
        assumed = _assumed(told)
        return Draft(told, (), (self.opening,), field="recipes", missing=("recipes",), assumed=assumed, partial=told)

    def slots(self, draft: Draft) -> tuple[Slot, ...]:  # noqa: ARG002 - the same for every meal
        return _SLOTS

    def states(self, anchor: Anchor, value: str, quote: str) -> bool:
        if anchor is Anchor.NAME:
            return any(each.name == value for each in dishes_in(quote)) or names(value, quote)
        return super().states(anchor, value, quote)

    async def read(self, text: str, known: Any) -> Draft:
        before = dict(known or {})
        recipes = {each["recipe"]: each for each in before.get("recipes", ())}
        if _is_recipe(text):
            meal, remarks = await read_recipes(text, self.model)
            own = {each["recipe"]: each for each in meal.document()["recipes"]}
            return replace(self.draft_of({**before, "recipes": list((recipes | own).values())}), asides=remarks)
        named = dishes_in(text)
        for each in named:
            if _LEFT_OUT.search(text, 0, each.start):
                recipes.pop(each.name, None) if len(recipes) > 1 else None
            else:
                recipes.setdefault(each.name, shipped(each.name))
        told, unread = _told(_without_dishes(text, named), named)
        fresh = told.pop("fresh", {})
        limits = dict.fromkeys(recipes, _STAYS_WARM) if told.pop("warm", False) and not fresh else before.pop("warm", {})
        limits = {**limits, **fresh}
        warm = {name: limit for name, limit in limits.items() if name in recipes}
        request = {**before, "recipes": list(recipes.values()), **told, **({"warm": warm} if warm else {})}
        return replace(await self.drafted(request), not_understood=unread)

    async def checked(self, request: Any, before: Any = None) -> Any:  # noqa: ARG002
        """Check a request, in which a recipe of ours may stand by its name alone."""
        if isinstance(request, Mapping) and isinstance(recipes := request.get("recipes"), list):
            request = {**request, "recipes": [shipped(each) if each in SHIPPED else each for each in recipes]}
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
        return Draft(request, tuple(wishes), request=request, assumed=_assumed(request))

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
        asked = {f"recipe {SHIPPED[0]}": question for question in draft.questions}
        parts = (Fields("Dishes", tuple(dishes)), Fields("The table and the kitchen", table))
        return tuple(part.marked(lambda field: field.assumed(draft.assumed).asking(asked)) for part in parts)

    async def with_field(self, known: Any, name: str, value: str) -> Draft:
        kind, _, dish = name.partition(" ")
        own = [each["recipe"] for each in (known or {}).get("recipes", ())]
        if dish and dish not in (*SHIPPED, *own):
            raise InvalidInputError(f"there is no recipe {dish}: write down its steps", field=name)
        if kind == "recipe" and value:
            return await self.read(dish.replace("-", " "), known)
        if kind == "fresh":
            warm = {each: limit for each, limit in (known or {}).get("warm", {}).items() if each != dish}
            return await self.drafted({**(known or {}), "warm": {**warm, **({dish: f"{value} min"} if value else {})}})
        words = {"warm": "warm", "dinner": f"dinner at {value}", "cooks": f"{value} cooks"}
        if kind != "recipe" and kind not in words:
            raise InvalidInputError("there is no such field: look at the page again", field=name)
        rest = {key: each for key, each in (known or {}).items() if key != name}
        rest["recipes"] = [each for each in rest.get("recipes", ()) if f"recipe {each['recipe']}" != name]
        return await self.read(words[kind] if value and kind in words else "", rest)

    def view(self, plan: Any) -> PlanView:
        cooked = Cooked.model_validate(plan)
        begin, meal = _beginning(cooked), cooked.meal
        lines: dict[str, Line] = {}
        bars: list[Bar] = []
        free = [0] * meal.cooks
        for row, name in zip(cooked.plan, cooked.names, strict=True):
            step = meal.steps[row.key]
            begins, ends = (begin + timedelta(seconds=moment) for moment in (row.start, row.end))
            key = f"{row.recipe}: {step.text}"
            while key in lines:  # another piece of it
                key += " (continued)"
            places, who = list(step.uses) or ["on its own"] * step.is_autonomous, "on its own"
            if not step.is_autonomous:  # the first cook who has free hands
                cook = next((number for number, until in enumerate(free) if until <= row.start), 0)
                free[cook] = row.end
                who = f"cook {cook + 1}" if meal.cooks > 1 else "cook"
                places.append(who)
            span = f"{_clock(cooked, begins)}–{_clock(cooked, ends)}"
            lines[key] = Line(key, key, f"{span}, {_lasting(ends - begins)}, {who}")
            bars += [Bar(place, step.text, row.recipe, begins, ends, name) for place in places]
        for row in cooked.waste:
            begins, ends = (begin + timedelta(seconds=moment) for moment in (row.start, row.end))
            bars.append(Bar("thrown away", meal.steps[row.key].text, row.recipe, begins, ends))
        ends = max((bar.ends for bar in bars), default=begin)
        ready = f"{_clock(cooked, ends)}, {_lasting(ends - begin)} after the beginning"
        return PlanView((*lines.values(), Line(_READY, _READY, ready)), tuple(bars))

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
        return tuple(Wish(f"happened:{number}", "Happened", each) for number, each in enumerate(told))

    def on_top(self, request: Any, saga: Saga) -> Any:
        return {**request, **{name: saga.request[name] for name in ("events", "served") if name in saga.request}}


def _assumed(request: Mapping[str, Any]) -> dict[str, str]:
    return {} if "cooks" in request else {"cooks": "nobody else was mentioned"}


def _clock(cooked: Cooked, moment: datetime) -> str:
    """Return the time of day; without a dinner time, hours and minutes since the beginning."""
    return f"{moment:%H:%M}" if cooked.request.get("dinner") else f"{moment.hour}:{moment:%M}"


def _lasting(span: timedelta) -> str:
    minutes = span / timedelta(minutes=1)
    return f"{minutes:.3g} min" if minutes < _LONG else f"{minutes // _LONG:g} h {minutes % _LONG:g} min"


def _is_recipe(text: str) -> bool:
    """Tell a recipe, a step in each line, from a menu, of which the lines name more dishes than times."""
    lines = text.strip().splitlines()
    dishes = {each.name for each in dishes_in(text)}
    return len(lines) > 1 and (len(dishes) < 2 or len(TIME.findall(text)) >= len(dishes))


def _beginning(cooked: Cooked) -> datetime:
    """Return when cooking begins, so that the first plan puts dinner on the table in time. Without a dinner time, at midnight."""
    dinner = cooked.request.get("dinner")
    return _moment(dinner) - timedelta(seconds=cooked.planned_s) if dinner else _moment("00:00")


@dataclass(frozen=True, slots=True)
class Dish:
    """Shipped recipe where a text names it."""

    name: str
    start: int
    end: int


def dishes_in(text: str) -> tuple[Dish, ...]:
    """Return the dishes that a text names, by their whole names or the last words of them, misspelt or glued together."""
    words = list(_WORDS.finditer(text))
    found: list[Dish] = []
    for size in (2, 1):
        for place in range(len(words) - size + 1):
            start, end = words[place].start(), words[place + size - 1].end()
            is_taken = any(each.start < end and start < each.end for each in found)
            name = None if is_taken else _dish_called("".join(each[0] for each in words[place : place + size]))
            is_one_of_them = (
                size > 1 and name is not None and any(_is_whole(each[0], name) for each in words[place : place + size])
            )
            found += [] if name is None or is_one_of_them else [Dish(name, start, end)]  # `no custard` is no misspelt custard
    return tuple(sorted(found, key=lambda each: each.start))


def _is_whole(word: str, name: str) -> bool:
    return word.casefold().removesuffix("s") == name.casefold().removesuffix("s")


@lru_cache(maxsize=4096)
def _dish_called(said: str) -> str | None:
    word = said.casefold().removesuffix("s")
    for name in SHIPPED:
        whole, last = (each.casefold().removesuffix("s") for each in (name.replace("-", ""), name.rpartition("-")[2]))
        is_short = len(word) >= _LEAST_OF_A_NAME and whole.endswith(word)
        if word in (whole, last) or is_short or (len(word) >= _LEAST_OF_A_NAME and fuzz.ratio(word, whole) >= _ALMOST):
            return name
    return None


def _without_dishes(text: str, dishes: Sequence[Dish]) -> str:
    """Write a mark for each dish."""
    for mark, each in reversed([*zip(_MARKS * len(dishes), dishes, strict=False)]):
        text = f"{text[: each.start]}{mark}{text[each.end :]}"
    return _LEFT_OUT.sub("", text)


def _is_wait(found: Found) -> bool:
    """Tell how long a dish may wait from how long it is cooked; of a limit alone, the words before it tell."""
    lead = found.led_by(_CLAUSE) if _MARKED.search(found["before"]) is None else None
    return bool(found["before"] or found["after"]) and not _NO_WAIT.search((lead[0] if lead else "") + found["before"])


def _waits(found: Found, dishes: Sequence[Dish]) -> dict[str, str]:
    """Return for how many minutes those dishes may wait of which that is said, or else the nearest one."""
    lasting, marks = found.get("lasting", Lasting), [*_MARKED.finditer(found.match.string)]
    nearest = sorted(marks, key=lambda each: min(abs(each.start() - found.end), abs(each.end() - found.start)))
    own = [each for each in marks if found.start <= each.start() < found.end] or nearest[:1]
    names = [dishes[_MARKS.index(each[0])].name for each in own]
    return dict.fromkeys(names, f"{lasting.minutes:g} min") if lasting else {}


def _told(text: str, dishes: Sequence[Dish] = ()) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return when dinner is, as HH:MM ("at seven" is in the evening), whether all is warm then, and how many cook; and
    what else the text says.
    """
    text = _HELPED_BY_NOBODY.sub("I cook alone", _HELPS.sub("and I cook", _EATERS.sub(r"\1;", in_full(text))))
    passage, told = tagged(text, units={**UNITS, **PEOPLE}), dict[str, Any]()
    told["fresh"] = dict[str, str]()
    for each in passage.take(_WAITS, _is_wait):
        told["fresh"] |= _waits(each, dishes)
    if passage.take(_WARM):
        told["warm"] = True
    for each in passage.take(_COOKS):
        told["cooks"] = int((number.value if (number := each.get("n", Number)) else 0) or 0)
    for each in passage.take(_WITH_ME):
        number = each.get("n", Number) or each.get("helpers", Number)
        told["cooks"] = 1 + (number.count or 0 if number else len(_NAMED.findall(each.said)) or 1)
    for each in passage.take(_COMPANY, _cooks):
        company = each.get("company", Company)
        if company is not None and company.count:
            told["cooks"] = company.count
    for each in passage.take(_AT):
        number = each.get("n", Number)
        clock = each.get("time", Clock) or Clock(int((number.value if number else 0) or 0), is_exact=False)
        evening = 12 if clock.hour < _EARLIEST_DINNER else 0
        told["dinner"] = f"{(clock.hour + evening) % 24:02}:{clock.minute:02}"
    return told, passage.unread(_FILLING)


def _cooks(found: Found) -> bool:
    """Tell whether these people cook, and do not only eat: dishes `for me and my flatmates` are cooked by all if they say so."""
    who = _WHO_COOKS.search(found.said) or found.led_by(_COOK_BEFORE)
    return who is not None and (found.led_by(_FOR) is None or found.passage.has(_ALL_COOK))


def _moment(clock: Any) -> datetime:
    try:
        return datetime.strptime(clock, "%H:%M").replace(year=2000, tzinfo=UTC)
    except (TypeError, ValueError) as exc:
        raise InvalidInputError(f"must be a time such as 19:00, not {shown(clock)}", field="dinner") from exc

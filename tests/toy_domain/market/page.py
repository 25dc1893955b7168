"""How people talk to it: `3 apples and 2 pears under $5`. The same for the app and the command line."""

from __future__ import annotations

import re

from market.request import ShoppingList, parse_list
from market.stalls import PRICES

from sagagraph.planning.domain import Json, object_of
from sagagraph.planning.page import Draft, Page, Wish

_FRUIT = re.compile(rf"(\d+) ({'|'.join(PRICES)})")
_BUDGET = re.compile(r"under \$(\d+(?:\.\d\d)?)")
_WORDS = re.compile(r"[^\W\d]+")
_FILLING = {"and", "please", "some", "also"}


class MarketPage(Page):
    title = "Fruit"
    opening = "What fruit shall it be, and how many?"
    form = ShoppingList
    examples = ("3 apples and 2 pears under $5",)
    outcome = "everything is bought"

    async def read(self, text: str, known: Json) -> Draft:
        before = object_of(known or {})
        fruit = {**object_of(before.get("fruit") or {}), **{kind: int(count) for count, kind in _FRUIT.findall(text)}}
        budget = _BUDGET.search(text)
        request = {"fruit": fruit, "budget": float(budget[1]) if budget else before.get("budget")}
        left = _WORDS.findall(_BUDGET.sub("", _FRUIT.sub("", text)))
        unread = tuple(each for each in left if each not in _FILLING)
        if not fruit:
            return Draft(request, (), (self.opening,), unread, field="fruit")
        return Draft(request, self.draft_of(request).wishes, (), unread, request)

    async def checked(self, request: Json) -> Json:
        return parse_list(request).model_dump(mode="json")

    def draft_of(self, request: Json) -> Draft:
        wanted = parse_list(request)
        wishes = [Wish(kind, "Fruit", f"{count} {kind}") for kind, count in wanted.fruit.items()]
        if wanted.budget is not None:
            wishes.append(Wish("budget", "Budget", f"under ${wanted.budget:.2f}"))
        return Draft(request, tuple(wishes), request=request)

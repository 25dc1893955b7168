"""Page: how goals are described and shown. What a sentence asks for is left to the model that plans it; only the budget
is read.
"""

from __future__ import annotations

import re
from typing import Any, Final

from sagagraph.planning.page import Draft, Page, Wish

_BUDGET: Final = re.compile(
    r"\b(?:for |within )?(?:under|at most|up to|less than|a budget of)\s*\$?\s*(\d[\d,]*(?:\.\d+)?)", re.IGNORECASE
)


class GoalPage(Page):
    title = "A goal"
    opening = "What is to be achieved?"
    go_ahead = "Do it"
    outcome = "the goal is reached"

    async def read(self, text: str, known: Any) -> Draft:
        """Take whatever is said as the goal, or as a change of the known one."""
        before = known or {}
        said = _BUDGET.search(text)
        goal = " ".join(_BUDGET.sub(" ", text).split()).strip(" ,.") or before.get("goal", "")
        budget = float(said[1].replace(",", "")) if said else before.get("budget")
        if not goal:
            return Draft(before, (), (self.opening,), field="goal")
        return self.draft_of({"goal": goal} | ({} if budget is None else {"budget": budget}))

    def draft_of(self, request: Any) -> Draft:
        wishes = [Wish(name, name, f"{value}") for name, value in request.items() if name != "budget"]
        if request.get("budget") is not None:
            wishes.append(Wish("budget", "budget", f"at most {request['budget']:g}"))
        return Draft(request, tuple(wishes), request=request)

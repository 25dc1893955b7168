"""The entry: what the registry asks before it loads anything. Imports stand inside the methods, so that it costs nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, ClassVar

from sagagraph.planning.entry import Case, Entry, Surroundings

if TYPE_CHECKING:
    import typer
    from market.domain import Market
    from market.page import MarketPage

    from sagagraph.context.model import Model
    from sagagraph.planning.domain import Json
    from sagagraph.saga.core.state import Saga
    from sagagraph.saga.engine.views.view import Account
    from sagagraph.validators.verdict import Verdict


class MarketEntry(Entry["Market"]):
    name = "market"
    commands: ClassVar[Mapping[str, str]] = {"stalls": "Who sells what, and for how much."}

    def title(self, plan: Json) -> str:
        from market.domain import title

        return title(plan)

    def account(self, saga: Saga) -> Account:
        from market.domain import account

        return account(saga)

    @asynccontextmanager
    async def open(self, around: Surroundings) -> AsyncIterator[Market]:
        from market.domain import Market
        from market.stalls import Stalls

        yield Market(Stalls(around.outbox))

    def page(self, domain: Market, model: Model | None) -> MarketPage:
        from market.page import MarketPage

        return MarketPage(domain, model)

    async def judge(self, case: Case, around: Surroundings) -> Verdict:
        from market.request import Round, parse_list
        from market.rules import judge
        from market.stalls import PRICES

        from sagagraph.files import json_file

        wanted, plan = json_file(case.problem, "PROBLEM"), json_file(case.plan, "PLAN")
        return judge(parse_list(wanted), Round.model_validate(plan), PRICES)

    def command(self, name: str) -> typer.Typer:
        from market.commands import stalls

        return {"stalls": stalls}[name]


DOMAIN = MarketEntry()

"""Entry: travel, as the registry knows it before it is loaded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, ClassVar

from sagagraph.errors import InvalidInputError
from sagagraph.extras import needing
from sagagraph.planning.entry import Case, Entry, Surroundings

if TYPE_CHECKING:
    import typer

    from sagagraph.context.model import Model
    from sagagraph.domains.travel.domain import Travel
    from sagagraph.planning.domain import Json
    from sagagraph.planning.page import Page
    from sagagraph.saga.core.state import Saga
    from sagagraph.saga.engine.views.view import Account
    from sagagraph.validators.verdict import Verdict


class TravelEntry(Entry["Travel"]):
    name = "travel"
    is_first = True
    commands: ClassVar[Mapping[str, str]] = {"trip": "Plan a trip and, after approval, book it."}
    workers = ("sagagraph.domains.travel.planning.repair",)

    def title(self, plan: Json) -> str:
        with needing("travel"):
            from sagagraph.domains.travel.domain import travel_title

        return travel_title(plan)

    def account(self, saga: Saga) -> Account:
        with needing("travel"):
            from sagagraph.domains.travel.domain import account_of

        return account_of(saga)

    @asynccontextmanager
    async def open(self, around: Surroundings) -> AsyncIterator[Travel]:
        with needing("travel"):
            from sagagraph.domains.travel.actions.actions import patient
            from sagagraph.domains.travel.actions.payer import payer_of
            from sagagraph.domains.travel.domain import Travel
            from sagagraph.domains.travel.provider.provider import HttpReservationProvider
            from sagagraph.domains.travel.provider.wire import without_credentials

        async with HttpReservationProvider(around.provider()) as provider:
            address, policy = without_credentials(around.settings.provider_url), patient(around.settings.patience_s)
            payer = payer_of(around.settings, policy)
            yield await Travel.connect(provider, around.outbox, address=address, policy=policy, payer=payer)

    def page(self, domain: Travel, model: Model | None) -> Page:
        with needing("travel"):
            from sagagraph.domains.travel.page.page import TravelPage

        return TravelPage(domain, model)

    async def judge(self, case: Case, around: Surroundings) -> Verdict:
        with needing("travel"):
            from sagagraph.domains.travel.domain import judged
        from sagagraph.files import json_file

        if case.events or case.executed_until or case.against:
            raise InvalidInputError("is for reunions and job shops; a trip is judged as it is", field="--event")
        async with self.open(around) as travel:
            return await judged(json_file(case.problem, "PROBLEM"), json_file(case.plan, "PLAN"), travel)

    def command(self, name: str) -> typer.Typer:
        from sagagraph.domains.travel import commands

        return {"trip": commands.trip}[name]


DOMAIN = TravelEntry()

"""Reading of openings: what the pages of the shipped domains make of a first message, offline or with a model."""

from __future__ import annotations

from functools import cache
from typing import Any

from sagagraph.domains.recipes.page import RecipesPage
from sagagraph.domains.reunion.page.page import ReunionPage
from sagagraph.domains.travel.cities import City, Gazetteer
from sagagraph.domains.travel.page.page import TravelPage
from sagagraph.planning.page import Draft, Page
from sagagraph.sandbox.world.cities import all_cities
from tests.language.openings.judging import TODAY, Heard


@cache
def world() -> Gazetteer:
    """Return all the cities that the sandbox has."""
    return Gazetteer(
        City(
            name=city.name,
            country=city.country.name,
            airport=city.airport.code,
            timezone=city.timezone,
            latitude=city.latitude,
            longitude=city.longitude,
            population=city.population,
        )
        for city in all_cities()
    )


class _Nothing:
    """A domain of which only its cities are asked for: nothing is planned, and nothing is sent."""

    name = "trip"
    sends_mail = False
    provider = None

    @property
    def cities(self) -> Gazetteer:
        return world()


class _Trips(TravelPage):
    async def today(self) -> Any:
        self._known_day = TODAY
        return TODAY


def page_of(domain: str, model: Any = None) -> Page:
    nothing: Any = _Nothing()
    match domain:
        case "trip":
            return _Trips(nothing, model)
        case "meal":
            return RecipesPage(nothing, model)
        case _:
            return ReunionPage(nothing, model, today=lambda: TODAY)


def heard_in(draft: Draft) -> Heard:
    request: Any = draft.request if draft.request is not None else draft.partial or draft.known or {}
    request = request.get("problem", request)
    missing = tuple(dict.fromkeys(draft.missing or ((draft.field,) if draft.questions else ())))
    return Heard(request, missing, draft.assumed, draft.not_understood)


async def read_by(page: Page, text: str) -> Heard:
    return heard_in(await page.hear(text, None))

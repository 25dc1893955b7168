"""Requests as people might make them, by seed: the same seed makes the same ones, whatever the planner thinks of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import Any

from benchmarks.trips.places import CONTINENTS, Place, Places
from benchmarks.trips.rules import PRICES_IN

MOST_STOPS = 6
NEAR_KM, HOP_KM = 1_500, 600
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_CURRENCIES = ("USD", "USD", "USD", "EUR", "EUR", "GBP", "JPY", "INR", "ZAR", "BRL", "AUD", "CHF", "KRW", "MXN")
_STARS = ((1, 5), (1, 5), (3, 4), (3, 5), (2, 4), (4, 5), (1, 3))
_GENEROUS, _AMPLE, _TIGHT, _IMPOSSIBLE = 3.0, 1.7, 1.0, 0.15


@dataclass(frozen=True, slots=True)
class Asked:
    """`body`: a trip request as JSON, with every field that matters written out."""

    number: int
    continents: tuple[str, ...]
    """That of the origin first, each once."""
    body: dict[str, Any]


def requests(seed: int, count: int, places: Places, today: date, rates: Mapping[str, Decimal]) -> Iterator[Asked]:
    """`rates`: what one unit of some base is worth, by currency. Continents and numbers of stops take turns."""
    for number in range(count):
        random = Random(f"{seed} trip {number}")  # noqa: S311 - chance, not a secret
        yield _Drawing(random, places, today, rates).request(number)


class _Drawing:
    def __init__(self, random: Random, places: Places, today: date, rates: Mapping[str, Decimal]) -> None:
        self._random = random
        self._places = places
        self._today = today
        self._rates = rates

    def request(self, number: int) -> Asked:
        is_small = self._random.random() < 0.4  # so few ways to travel that each of them can be looked at
        stops = 1 + number % MOST_STOPS
        origin = self._random.choice(self._places.on(CONTINENTS[number % len(CONTINENTS)]))
        cities = self._cities(origin, stops, stays_near=is_small and stops > 2)
        back = self._return_to(origin, cities[-1])
        route = [*cities, back] if back else cities
        nights = [self._random.randint(1, 5) for _ in range(stops)]
        body = {
            "origin": origin.name,
            "stops": [{"city": city.name, "nights": stay} for city, stay in zip(cities[1:], nights, strict=True)],
            "return_to": back.name if back else None,
            **self._dates(sum(nights), stops, is_small=is_small),
            **self._party(),
            "stars": list(self._stars(stops, is_small=is_small)),
            "direct": self._direct(route, needs_few=is_small and stops > 3),
        }
        body |= self._hours() if self._random.random() < 0.2 else {}
        body |= self._not_on(body) if self._random.random() < 0.15 else {}
        body |= self._budget(route, sum(nights), body)
        return Asked(number, tuple(dict.fromkeys(place.continent for place in route)), body)

    # -- where ---------------------------------------------------------------------------------------------------------

    def _cities(self, origin: Place, stops: int, *, stays_near: bool) -> list[Place]:
        cities = [origin]
        for _ in range(stops):
            chance = 0.0 if stays_near else self._random.random()
            cities.append(self._next(cities, chance))
        return cities

    def _next(self, been: list[Place], chance: float) -> Place:
        """Mostly near by, else on the same continent, at times anywhere."""
        here = been[-1]
        near = [place for place in self._places.within(NEAR_KM, here) if place not in been]
        same = [place for place in self._places.on(here.continent) if place not in been]
        other = [place for place in self._places.every if place.continent != here.continent and place not in been]
        if chance < 0.55 and near:
            return self._random.choice(near)
        return self._random.choice(same if chance < 0.75 else other)

    def _return_to(self, origin: Place, last: Place) -> Place | None:
        shape = self._random.choices(("round", "one way", "open jaw"), (6, 2, 2))[0]
        if shape != "open jaw":
            return origin if shape == "round" else None
        near = [place for place in self._places.within(HOP_KM, origin) if place != last]
        return self._random.choice(near) if near else origin

    # -- when ----------------------------------------------------------------------------------------------------------

    def _dates(self, nights: int, stops: int, *, is_small: bool) -> dict[str, Any]:
        first = self._today + timedelta(days=self._random.randint(20, 270))
        if is_small or self._random.random() < 0.2:
            return {"depart": first.isoformat()}
        spare = self._random.choice((1, 2, 3, 3, 5, 8, 14, 20)) + stops // 2
        window = {"first": first.isoformat(), "last": (first + timedelta(days=nights + spare)).isoformat()}
        has_day = self._random.random() < 0.15
        return {"window": window} | ({"depart": first.isoformat()} if has_day else {})

    def _hours(self) -> dict[str, Any]:
        depart = {"earliest": self._random.choice(("06:00", "07:00", "08:00", "09:30"))}
        arrive = {"latest": self._random.choice(("21:00", "22:30", "23:30"))}
        return {"hours": self._random.choice(({"depart": depart}, {"arrive": arrive}, {"depart": depart, "arrive": arrive}))}

    def _not_on(self, body: Mapping[str, Any]) -> dict[str, Any]:
        taken = _WEEKDAYS[date.fromisoformat(body["depart"]).weekday()] if "depart" in body else None
        day = self._random.choice([each for each in _WEEKDAYS if each != taken])
        return {"not_on": [day]}

    # -- who, how, for how much ----------------------------------------------------------------------------------------

    def _party(self) -> dict[str, int]:
        travellers = self._random.randint(1, 4)
        return {"travellers": travellers, "rooms": self._random.choice((-(-travellers // 2), -(-travellers // 2), travellers))}

    def _stars(self, stops: int, *, is_small: bool) -> tuple[int, int]:
        if is_small and stops > 1:
            only = self._random.choice((2, 3, 4))
            return only, only
        return self._random.choice(_STARS)

    def _direct(self, route: list[Place], *, needs_few: bool) -> str:
        is_short = all(here.kilometres_to(there) <= NEAR_KM for here, there in pairwise(route))
        if is_short and (needs_few and self._random.random() < 0.4):
            return "required"
        return self._random.choices(("any", "preferred", "required"), (10, 8, 2 if is_short else 0))[0]

    def _budget(self, route: list[Place], nights: int, body: Mapping[str, Any]) -> dict[str, Any]:
        """From what such a trip might cost by its distances and nights: from plenty to far too little; or none."""
        currency = self._random.choice(_CURRENCIES)
        factor = self._random.choices((None, _GENEROUS, _AMPLE, _TIGHT, _IMPOSSIBLE), (3, 5, 5, 4, 2))[0]
        if factor is None:
            return {"currency": currency}
        flown = sum(60 + 0.075 * here.kilometres_to(there) for here, there in pairwise(route))
        slept = nights * 60 * (0.4 + 0.35 * body["stars"][0])
        dollars = Decimal(round((flown * body["travellers"] + slept * body["rooms"]) * factor))
        return {"currency": currency, "budget": max(1, int(dollars * self._rates[currency] / self._rates[PRICES_IN]))}

"""What holds for offers between any two of the world's cities, on any day."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date, datetime, timedelta
from itertools import pairwise

from hypothesis import given, settings, strategies

from sagagraph.sandbox.world.cities import City, all_airports, all_cities, find_city
from sagagraph.sandbox.world.flights import chains, has_direct
from sagagraph.sandbox.world.offers import Offer
from sagagraph.sandbox.world.prices import distance_km
from sagagraph.sandbox.world.questions import JourneyQuestion, StayQuestion, find_offer

CITIES = strategies.sampled_from(all_cities())
DAYS = strategies.dates(date(2024, 1, 1), date(2030, 12, 30))
PARTIES = strategies.integers(1, 9)
SHORTEST_CHANGE = 55


def city(name: str) -> City:
    found = find_city(name)
    assert found
    return found


def times(offer: Offer) -> tuple[datetime, datetime]:
    return datetime.fromisoformat(offer.facts["departs"]), datetime.fromisoformat(offer.facts["arrives"])


def check_journey(offer: Offer, origin: City, destination: City, day: date, party: int) -> None:
    departs, arrives = times(offer)
    assert departs.date() == day
    assert departs.utcoffset() == departs.replace(tzinfo=origin.zone).utcoffset()
    assert arrives.utcoffset() == arrives.replace(tzinfo=destination.zone).utcoffset()
    assert arrives - departs == timedelta(minutes=offer.facts["duration_minutes"])
    assert (offer.facts["origin_city"], offer.facts["destination_city"]) == (origin.name, destination.name)
    assert offer.price == offer.rate * party > 0
    assert offer.rate % 100 == 0
    assert all(0 < stock.capacity < 100 for stock in offer.stock)
    assert find_offer(offer.offer_id) == offer


@settings(max_examples=150, deadline=None)
@given(CITIES, CITIES, DAYS, PARTIES)
def test_flights_go_between_any_two_airports(origin: City, destination: City, day: date, party: int) -> None:
    offers = JourneyQuestion("flight", origin, destination, day, party).offers()
    assert bool(offers) == (origin.airport != destination.airport)
    assert len({offer.offer_id for offer in offers}) == len(offers) < 11
    for offer in offers:
        check_journey(offer, origin, destination, day, party)
        stops = [origin.airport.code, *offer.facts["via"], destination.airport.code]
        assert offer.facts["stops"] == len(offer.facts["via"]) <= 3
        assert len(set(stops)) == len(stops)
        flown = sum(distance_km(all_airports()[a], all_airports()[b]) for a, b in pairwise(stops))
        in_the_air = offer.facts["duration_minutes"] - 40 * (len(stops) - 1) - SHORTEST_CHANGE * offer.facts["stops"]
        assert flown / 14 - 10 <= in_the_air <= flown / 14 + 10 + 95 * offer.facts["stops"]


@settings(max_examples=150, deadline=None)
@given(CITIES, CITIES)
def test_flights_are_direct_in_both_directions_or_in_none_and_changes_are_made_where_both_legs_are_flown(
    origin: City, destination: City
) -> None:
    one, other = origin.airport, destination.airport
    assert has_direct(one, other) == has_direct(other, one)
    if one is other:
        return
    for chain in chains(one, other):
        stops = (one, *chain, other)
        assert all(has_direct(a, b) for a, b in pairwise(stops))
        assert all(stop.is_hub for stop in chain)


@settings(max_examples=150, deadline=None)
@given(CITIES, CITIES, DAYS, PARTIES)
def test_trains_run_in_both_directions_or_in_none(origin: City, destination: City, day: date, party: int) -> None:
    offers = JourneyQuestion("train", origin, destination, day, party).offers()
    assert bool(offers) == bool(JourneyQuestion("train", destination, origin, day, party).offers())
    for offer in offers:
        check_journey(offer, origin, destination, day, party)


@settings(max_examples=100, deadline=None)
@given(CITIES, strategies.integers(0, 30), DAYS, PARTIES)
def test_trains_between_near_cities_keep_the_same_rules(origin: City, rank: int, day: date, party: int) -> None:
    """Of two cities anywhere hardly any are near."""
    near = sorted((place for place in _compatriots(origin)), key=lambda place: distance_km(origin, place))[: rank + 2][-1]
    for offer in JourneyQuestion("train", origin, near, day, party).offers():
        check_journey(offer, origin, near, day, party)
        assert distance_km(origin, near) / (offer.facts["duration_minutes"] / 60) < 260


def _compatriots(place: City) -> list[City]:
    return [each for each in all_cities() if each.country is place.country]


@settings(max_examples=150, deadline=None)
@given(CITIES, DAYS, strategies.integers(1, 14), PARTIES)
def test_every_city_has_hotels_from_cheap_to_dear(place: City, check_in: date, nights: int, rooms: int) -> None:
    offers = StayQuestion(place, check_in, check_in + timedelta(days=nights), rooms).offers()
    stars = {offer.facts["stars"] for offer in offers}
    assert stars == ({2, 3, 4, 5} if place.original else {1, 2, 3, 4, 5})
    by_stars = [min(offer.rate for offer in offers if offer.facts["stars"] == each) for each in sorted(stars)]
    assert by_stars == sorted(by_stars)
    for offer in offers:
        assert offer.price == offer.rate * nights * rooms > 0
        assert len(offer.stock) == nights
        assert find_offer(offer.offer_id) == offer


def test_cities_of_one_airport_share_its_flights_and_their_seats() -> None:
    day = date(2025, 6, 10)
    from_cologne = JourneyQuestion("flight", city("Cologne"), city("Oslo"), day, 1).offers()
    from_bonn = JourneyQuestion("flight", city("Bonn"), city("Oslo"), day, 1).offers()
    assert [offer.stock for offer in from_bonn] == [offer.stock for offer in from_cologne]
    assert [offer.priced_as for offer in from_bonn] == [offer.priced_as for offer in from_cologne]
    assert {offer.facts["origin_city"] for offer in from_bonn} == {"Bonn"}
    assert not {offer.offer_id for offer in from_bonn} & {offer.offer_id for offer in from_cologne}


def test_the_ends_of_the_world_are_reached_with_more_changes() -> None:
    offers = JourneyQuestion("flight", city("Teresina"), city("Akita"), date(2025, 6, 10), 1).offers()
    assert offers
    assert all(offer.facts["stops"] >= 2 for offer in offers)


def test_big_cities_that_are_not_far_apart_have_direct_flights() -> None:
    for one, other in (("Sydney", "Melbourne"), ("Delhi", "Mumbai"), ("São Paulo", "Rio de Janeiro"), ("Lagos", "Accra")):
        offers = JourneyQuestion("flight", city(one), city(other), date(2025, 6, 10), 1).offers()
        assert any(offer.facts["stops"] == 0 for offer in offers), (one, other)


def test_other_processes_offer_the_same() -> None:
    question = (
        "from datetime import date; from sagagraph.sandbox.world.cities import all_cities as every;"
        "from sagagraph.sandbox.world.questions import JourneyQuestion as Q, StayQuestion as S;"
        "pairs = list(zip(every()[::400], every()[7::400]));"
        "day = date(2026, 2, 3);"
        "journeys = [o for a, b in pairs for kind in ('flight', 'train') for o in Q(kind, a, b, day, 1).offers()];"
        "stays = [o for a, _ in pairs for o in S(a, day, date(2026, 2, 5), 1).offers()];"
        "print([(o.offer_id, o.price, o.starts.isoformat()) for o in journeys + stays])"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", question], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1
    assert len(answers.pop()) > 10_000

"""All trips that there are: none is forgotten, the best of them is the best, and a planner that errs is found out."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from benchmarks.trips.comparison import Check, compare
from benchmarks.trips.edges import faults, limits
from benchmarks.trips.exhaustive import Trips
from benchmarks.trips.rules import most_cents
from benchmarks.trips.supply import Ride, Supply, fetch
from sagagraph.domains.travel.offers import HotelOffer
from sagagraph.planning.domain import Infeasible, Proposal
from sagagraph.saga.engine.views.view import Cost
from tests.domains.travel.world import NOW, flight, hotel, train

pytestmark = pytest.mark.quick

Json = dict[str, Any]

BODY: Json = {
    "origin": "Boston",
    "stops": [{"city": "London", "nights": 2}],
    "return_to": "Boston",
    "depart": "2025-06-02",
    "travellers": 1,
    "rooms": 1,
    "stars": [1, 5],
    "direct": "any",
    "currency": "USD",
}
RATES = {"EUR": Decimal(1), "USD": Decimal("1.25")}

MORNING = flight("Boston", "London", "06-02 08:00", 400, 500)  # arrives on 06-02
NIGHT = flight("Boston", "London", "06-02 21:00", 400, 300)  # arrives on 06-03
CHANGING = flight("Boston", "London", "06-02 09:00", 600, 200, stops=1, via=("JFK",))  # arrives on 06-03
GRAND = {day: hotel("London", f"06-0{day}", 2, 300, stars=5, offer_id=f"grand-{day}") for day in (2, 3)}
INN = {day: hotel("London", f"06-0{day}", 2, 100, stars=2, offer_id=f"inn-{day}") for day in (2, 3)}
BACK = {day: flight("London", "Boston", f"06-0{day} 12:00", 420, 400, offer_id=f"back-{day}") for day in (4, 5)}
EARLY = {day: flight("London", "Boston", f"06-0{day} 06:30", 420, 350, offer_id=f"early-{day}") for day in (4, 5)}


def supply(*out: Ride) -> Supply:
    days = {day: date(2025, 6, day) for day in (2, 3, 4, 5)}
    stays: dict[tuple[int, date], tuple[HotelOffer, ...]] = {(0, days[day]): (GRAND[day], INN[day]) for day in (2, 3)}
    back: dict[tuple[int, date], tuple[Ride, ...]] = {(1, days[day]): (BACK[day], EARLY[day]) for day in (4, 5)}
    return Supply(NOW, {(0, days[2]): out, **back}, stays)


ALL = supply(MORNING, NIGHT, CHANGING)


def trips(body: Json = BODY, offers: Supply = ALL, *, by_rule: bool = True) -> Trips:
    return Trips(body, offers, by_rule=by_rule)


def best(body: Json = BODY, offers: Supply = ALL) -> tuple[str, ...] | None:
    [found] = trips(body, offers).best_within([most_cents(body, RATES)])
    return found[-1] if found else None


def test_each_way_there_with_each_hotel_and_each_way_back_is_a_trip() -> None:
    assert trips().count == 3 * 2 * 2
    assert trips(BODY | {"return_to": None}).count == 3 * 2


def test_the_best_is_the_best_of_all_combinations() -> None:
    def weight(there: Ride, stay: HotelOffer, back: Ride) -> Decimal:
        odd = 60 * ((there is NIGHT and there.arrives.hour < 6) + back.offer_id.startswith("early"))
        return there.price + stay.price + back.price + Decimal(there.duration_minutes + back.duration_minutes) / 2 + odd

    ways = [
        (there, stay, back)
        for there, day in ((MORNING, 2), (NIGHT, 3), (CHANGING, 3))
        for stay, back in product((GRAND[day], INN[day]), (BACK[day + 2], EARLY[day + 2]))
    ]
    least = min(ways, key=lambda way: weight(*way))
    assert best() == tuple(offer.offer_id for offer in least)
    assert trips().best_of_any_price == trips().best_within([None])[0]


def test_for_those_who_prefer_it_a_direct_flight_goes_before_any_price() -> None:
    assert best(BODY)[0] == NIGHT.offer_id  # type: ignore[index]
    cheap = supply(MORNING, CHANGING)
    assert best(BODY, cheap)[0] == CHANGING.offer_id  # type: ignore[index]
    assert best(BODY | {"direct": "preferred"}, cheap)[0] == MORNING.offer_id  # type: ignore[index]


def test_a_minute_and_an_odd_hour_count_for_every_traveller() -> None:
    slow = flight("Boston", "London", "06-02 08:30", 400 + 110, 500 - 50, offer_id="slow")  # $55 more in time, $50 less in price
    assert best(BODY, supply(MORNING, slow))[0] == MORNING.offer_id  # type: ignore[index]
    both = [each.model_copy(update={"price": each.price * 2}) for each in (MORNING, slow)]
    assert best(BODY | {"travellers": 2}, supply(*both))[0] == MORNING.offer_id  # type: ignore[index]
    assert best(BODY | {"travellers": 1}, supply(*both))[0] == "slow"  # type: ignore[index]


@pytest.mark.parametrize(
    ("wishes", "count"),
    [
        ({"direct": "required"}, 8),
        ({"stars": [4, 5]}, 6),
        ({"hours": {"depart": {"earliest": "07:00"}}}, 6),
        ({"hours": {"arrive": {"latest": "21:00"}}}, 8),
        ({"not_on": ["thursday"]}, 4),
        ({"travellers": 10}, 0),
        ({"rooms": 6}, 0),
        ({"depart": None, "window": {"first": "2025-06-02", "last": "2025-06-04"}}, 4),
        ({"depart": "2025-06-03"}, 0),
    ],
)
def test_trips_that_break_a_wish_are_none(wishes: Json, count: int) -> None:
    assert trips(BODY | wishes).count == count


def test_what_has_left_cannot_be_taken() -> None:
    gone = Supply(MORNING.departs, ALL.rides, ALL.stays)
    assert trips(offers=gone).count == 2 * 2 * 2


def test_a_train_of_up_to_six_hours_is_taken_before_a_flight_by_the_rule_alone() -> None:
    quick = train("Boston", "London", "06-02 08:00", 360, 900)
    long = train("Boston", "London", "06-02 08:00", 361, 10)
    assert best(BODY, supply(MORNING, quick, long))[0] == quick.offer_id  # type: ignore[index]
    assert trips(BODY, supply(MORNING, long)).count == 4
    assert trips(BODY, supply(MORNING, long, quick), by_rule=False).count == 12


def test_who_comes_late_misses_what_leaves_early() -> None:
    late = flight("Boston", "London", "06-02 12:30", 385, 100)  # arrives at 23:55
    body = BODY | {"stops": [{"city": "London", "nights": 1}]}
    stays: dict[tuple[int, date], tuple[HotelOffer, ...]] = {(0, date(2025, 6, 2)): (hotel("London", "06-02", 1, 50),)}
    soon = [flight("London", "Boston", f"06-03 {at}", 420, 100, offer_id=at) for at in ("01:24", "01:25")]
    offers = Supply(NOW, {(0, date(2025, 6, 2)): (late,), (1, date(2025, 6, 3)): tuple(soon)}, stays)
    assert trips(body, offers).count == 1
    assert best(body, offers)[-1] == "01:25"  # type: ignore[index]


def test_the_budget_is_kept_to_the_cent_in_its_own_currency() -> None:
    cheapest = trips().cheapest
    assert cheapest is not None
    dollars = Decimal(cheapest[2]) / 100
    assert best(BODY | {"budget": float(dollars)}) == cheapest[-1]
    assert best(BODY | {"budget": float(dollars - Decimal("0.01"))}) is None
    euros = dollars * RATES["EUR"] / RATES["USD"]
    assert best(BODY | {"currency": "EUR", "budget": float(euros)}) == cheapest[-1]
    assert best(BODY | {"currency": "EUR", "budget": float(euros - Decimal("0.01"))}) is None


# -- the planner beside them -------------------------------------------------------------------------------------------


def checked(chosen: tuple[str, ...] | None, body: Json = BODY, offers: Supply = ALL, most: int = 1000) -> tuple[Check, bool]:
    found = compare(chosen, trips(body, offers), trips(body, offers, by_rule=False), most_cents(body, RATES), most)
    return found.check, bool(found.fault)


def test_the_best_is_told_from_the_second_best() -> None:
    right = best()
    assert right
    second = (*right[:1], "grand-3", *right[2:])
    assert checked(right) == (Check.EACH, False)
    assert checked(second) == (Check.EACH, True)
    assert checked(right, most=5) == (Check.SHORTEST, False)
    assert checked(second, most=5) == (Check.SHORTEST, True)


def test_where_the_budget_excludes_the_best_and_there_are_many_nothing_is_claimed() -> None:
    tight = BODY | {"budget": 840}
    chosen = best(tight)
    assert chosen
    assert chosen != best()
    assert checked(chosen, tight) == (Check.EACH, False)
    assert checked(chosen, tight, most=5) == (Check.NOT, False)


def test_infeasible_is_believed_only_where_there_is_no_trip() -> None:
    assert checked(None, BODY | {"budget": 100}) == (Check.NONE, False)
    assert checked(None) == (Check.NONE, True)


def test_a_trip_where_there_is_none_is_a_fault() -> None:
    assert checked(("a", "b", "c"), BODY | {"budget": 100}) == (Check.EACH, True)


def test_where_the_rule_of_trains_leaves_nothing_whatever_is_on_offer_counts() -> None:
    offers = supply(MORNING, train("Boston", "London", "06-02 08:00", 300, 5000))
    thrifty = BODY | {"budget": 1200}
    assert checked(None, thrifty, offers) == (Check.NONE, True)
    [flown] = trips(thrifty, offers, by_rule=False).best_within([120000])
    assert flown
    assert checked(flown[-1], thrifty, offers) == (Check.EACH, False)


class Planner:
    """Always of the same opinion, as long as it fits the budget."""

    def __init__(self, *ids: str, cents: int) -> None:
        self.plan = {"legs": [{"offer": {"offer_id": each}} for each in ids]}
        self.cents = cents

    async def propose(self, request: Json) -> Infeasible | tuple[Proposal, ...]:
        if self.cents > round(request["budget"] * 100):
            return Infeasible(("too dear",))
        return (Proposal(self.plan, "hash", "title", Cost()),)


async def test_a_planner_is_asked_again_at_the_edges_of_the_budget() -> None:
    cheapest, preferred = trips().cheapest, trips().best_of_any_price
    assert cheapest
    assert preferred
    assert limits(trips()) == [(cheapest[2] + preferred[2]) // 2, cheapest[2], cheapest[2] - 1]
    half_way, *_ = trips().best_within(limits(trips()))
    stubborn = Planner(*cheapest[-1], cents=cheapest[2])
    said = await faults(BODY, trips(), trips(), stubborn, 1000)  # type: ignore[arg-type]
    assert half_way not in (cheapest, None)
    assert [fault.split(" prefers ")[0] for fault in said] == [f"with {limits(trips())[0] / 100:g}"]
    too_soon_content = Planner(*cheapest[-1], cents=0)
    assert len(await faults(BODY, trips(), trips(), too_soon_content, 1000)) == 2  # type: ignore[arg-type]


class Provider:
    """Offers of every kind on every day that it is asked about; what it was asked is kept."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    async def now(self) -> Any:
        return NOW

    async def trains(self, *question: Any) -> tuple[Ride, ...]:
        self.asked.append(("trains", *question))
        return ()

    async def flights(self, here: str, there: str, day: date, travellers: int) -> tuple[Ride, ...]:
        self.asked.append(("flights", here, there, day, travellers))
        return tuple(flight(here, there, f"{day:%m-%d} {at}", 400, 100) for at in ("08:00", "21:00"))

    async def hotels(self, *question: Any) -> tuple[HotelOffer, ...]:
        self.asked.append(("hotels", *question))
        return ()


async def test_everything_within_reach_is_asked_for() -> None:
    provider = Provider()
    window = {"first": "2025-06-02", "last": "2025-06-05"}
    found = await fetch(BODY | {"depart": None, "window": window}, provider)  # type: ignore[arg-type]
    days = [date(2025, 6, day) for day in range(2, 8)]
    assert list(found.rides) == [*((0, day) for day in days[:2]), *((1, day) for day in days[2:5])]
    assert list(found.stays) == [(0, day) for day in days[:3]]
    assert ("hotels", "London", days[2], days[4], 1) in provider.asked
    assert {question[0] for question in provider.asked} == {"trains", "flights", "hotels"}

"""A repair keeps as many reservations as any trip could: random worlds, and an oracle that goes through all of their trips."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import pytest

from benchmarks.repair.oracle import Best, Held, Wreck, best_in, best_repair, look_around
from sagagraph.domains.travel.actions.bookings import Booking
from sagagraph.domains.travel.offers import Cancellation
from sagagraph.domains.travel.plan import Itinerary
from sagagraph.domains.travel.planning.planner import propose
from sagagraph.domains.travel.planning.repair import Damage, repair
from sagagraph.domains.travel.progress import Standing
from sagagraph.domains.travel.request import Direct, Stop, TripRequest, Window
from sagagraph.planning.domain import Infeasible

from .world import NOW, OfferBook, day, flight, hotel, train, trip

pytestmark = pytest.mark.quick

if TYPE_CHECKING:
    from sagagraph.domains.travel.offers import Offer

BERLIN, COLOGNE, SAN_FRANCISCO = "Berlin", "Cologne", "San Francisco"


class Shop(OfferBook):
    """An offer book in which single offers can be looked up."""

    async def offer(self, offer_id: str) -> Offer | None:
        return next((each for each in self.offers if each.offer_id == offer_id), None)


@dataclass
class Case:
    damage: Damage
    shop: Shop

    @property
    def wreck(self) -> Wreck:
        damage = self.damage
        held = {each.leg.offer.offer_id: Held(each.leg.offer, each.fee(NOW)) for each in damage.stands}
        planned = frozenset(leg.offer.offer_id for leg in damage.itinerary.legs)
        return Wreck(damage.request, held, planned, damage.refused, damage.paid)


def stands(itinerary: Itinerary, *labels: str) -> tuple[Standing, ...]:
    return tuple(
        Standing(
            leg,
            Booking(reservation_id=leg.label, price=leg.offer.price, currency="USD", cancellation=leg.offer.cancellation),
            f"trip/{leg.label}/1",
        )
        for leg in itinerary.legs
        if leg.label in labels
    )


def refused(itinerary: Itinerary, *labels: str) -> frozenset[tuple[str, Decimal]]:
    return frozenset((leg.offer.offer_id, leg.offer.price) for leg in itinerary.legs if leg.label in labels)


def got(damage: Damage, repaired: Itinerary) -> Best:
    """What a repair keeps, counted on the plan itself."""
    held = {each.leg.label for each in damage.stands}
    planned = {leg.offer.offer_id for leg in damage.itinerary.legs}
    kept = sum(leg.label in held for leg in repaired.legs)
    return Best(kept, sum(leg.offer.offer_id in planned for leg in repaired.legs))


# -- random worlds -----------------------------------------------------------------------------------------------------


def a_request(random: Random) -> TripRequest:
    stops = (Stop(city=BERLIN, nights=random.choice((1, 2))), Stop(city=COLOGNE, nights=random.choice((1, 2))))
    is_fixed = random.random() < 0.6
    return trip(
        stops=stops,
        return_to=random.choice((SAN_FRANCISCO, SAN_FRANCISCO, None, "Paris")),
        window=Window(first=day("06-10"), last=day(random.choice(("06-15", "06-17")))) if not is_fixed else None,
        depart=day("06-10") if is_fixed else None,
        budget=None,
        direct=random.choice((Direct.ANY, Direct.ANY, Direct.PREFERRED, Direct.REQUIRED)),
    )


def some_offers(random: Random, request: TripRequest) -> list[Offer]:
    """Few enough that whatever fails may leave nothing else, or only what moves dates."""
    ends = [SAN_FRANCISCO, *(stop.city for stop in request.stops)] + ([request.return_to] if request.return_to else [])
    offers: list[Offer] = []
    for here, there in pairwise(ends):
        for on in range(10, 18):
            offers += some_journeys(random, here, there, on)
    for stop in request.stops:
        for on in range(10, 18):
            offers += [
                hotel(
                    stop.city, f"06-{on}", stop.nights, 60 + 7 * n + random.randrange(100),
                    stars=random.choice((2, 3, 3, 3, 4)), left=random.choice((0, 1, 5, 5)), cancellation=terms(random),
                )
                for n in range(random.choice((1, 2, 3, 4)))
            ]  # fmt: skip
    return list({each.offer_id: each for each in offers}.values())


def some_journeys(random: Random, here: str, there: str, on: int) -> list[Offer]:
    is_far = SAN_FRANCISCO in (here, there)
    made: list[Offer] = []
    for _ in range(random.choice((0, 1, 2, 3, 4, 5))):
        leaves = f"06-{on} {random.choice((6, 9, 14, 20, 23)):02}:{random.choice((5, 40))}".replace(":5", ":05")
        price = random.randrange(40, 160) * (5 if is_far else 1)
        facts = {"left": random.choice((0, 1, 9, 9)), "cancellation": terms(random)}
        if is_far or random.random() < 0.5:
            minutes = random.choice((600, 700, 1300)) if is_far else random.choice((70, 130, 400))
            stops = random.choice((0, 1))
            made.append(flight(here, there, leaves, minutes, price, stops=stops, via=("AMS",) * stops, **facts))
        else:
            made.append(train(here, there, leaves, random.choice((240, 290, 420)), price, **facts))
    return made


def terms(random: Random) -> Cancellation:
    is_free = random.random() < 0.3
    return Cancellation(free_until=NOW + timedelta(days=9) if is_free else None, fee=Decimal(random.randrange(0, 40)))


async def a_case(random: Random) -> Case | None:
    """A plan of which something stands, something failed, and of whose world a little has gone; None where there is no plan."""
    request = a_request(random)
    shop = Shop(some_offers(random, request))
    proposed = await propose(request, shop)
    if isinstance(proposed, Infeasible):
        return None
    itinerary = random.choice(proposed)
    if random.random() < 0.7:
        budget = itinerary.total + random.choice((0, 30, 60, 150, 400))
        request = request.model_copy(update={"budget": budget})
    labels = [leg.label for leg in itinerary.legs]
    failed = random.sample(labels, random.choice((1, 1, 2)))
    booked = [each for each in labels if each not in failed and random.random() < 0.7]
    held = stands(itinerary, *booked)
    gone = {each.leg.offer.offer_id for each in held if random.random() < 0.3}  # we have taken the last of it
    shop.offers = [each for each in shop.offers if each.offer_id not in gone and random.random() < 0.95]
    shop.offers = [raised(each) if random.random() < 0.1 else each for each in shop.offers]
    paid = Decimal(random.choice((0, 0, 30)))
    return Case(Damage(request, itinerary, held, refused(itinerary, *failed), paid, 1), shop)


def raised(offer: Offer) -> Offer:
    return offer.model_copy(update={"price": offer.price * 6 / 5})


@pytest.mark.parametrize("seed", range(6))
async def test_nothing_keeps_more_than_a_repair(seed: int) -> None:
    random = Random(seed)
    ends: set[str] = set()
    for number in range(60):
        case = await a_case(random)
        if case is None:
            continue
        repaired, best = await repair(case.damage, case.shop), await best_repair(case.wreck, case.shop)
        found = None if isinstance(repaired, Infeasible) else got(case.damage, repaired)
        assert found == best, f"world {number} of seed {seed}"
        ends.add("nothing left" if best is None else "all kept" if best.kept == len(case.damage.stands) else "some kept")
    assert ends == {"nothing left", "all kept", "some kept"}


async def test_what_the_oracle_leaves_out_changes_nothing() -> None:
    random = Random("hotels")
    compared = 0
    for _ in range(40):
        case = await a_case(random)
        if case is not None:
            world = await look_around(case.wreck, case.shop)
            assert best_in(case.wreck, world) == best_in(case.wreck, world, all_hotels=True)
            compared += 1
    assert compared > 10


# -- one by one --------------------------------------------------------------------------------------------------------


def a_late_train() -> tuple[TripRequest, list[Offer], list[Offer]]:
    """A trip whose train arrives after midnight; and what there is besides: a flight of the same day, and a bed for it."""
    request = trip(stops=(Stop(city=BERLIN, nights=1), Stop(city=COLOGNE, nights=1)), return_to=None, depart=day("06-10"))
    planned = [
        flight(SAN_FRANCISCO, BERLIN, "06-10 20:25", 695, 653),
        hotel(BERLIN, "06-11", 1, 123),
        train(BERLIN, COLOGNE, "06-12 22:30", 240, 77),
        hotel(COLOGNE, "06-13", 1, 110),
    ]
    return request, planned, [flight(BERLIN, COLOGNE, "06-12 10:00", 70, 99), hotel(COLOGNE, "06-12", 1, 95)]


async def test_a_flight_is_taken_where_a_plan_would_have_preferred_the_train() -> None:
    request, planned, besides = a_late_train()
    itinerary = Itinerary.of(request, planned)
    damage = Damage(request, itinerary, stands(itinerary, "T1", "T2", "T3"), refused(itinerary, "T4"), Decimal(0), 1)
    repaired = await repair(damage, Shop([*planned, *besides]))
    assert isinstance(repaired, Itinerary)
    assert [leg.label for leg in repaired.legs] == ["T1", "T2", "T3.2", "T4.2"]
    assert repaired.fees == Decimal(25), "the train is cancelled"


async def test_a_day_that_only_a_reservation_leads_to_is_looked_at() -> None:
    """We have the last seat of the night flight: what is on offer arrives on other days."""
    request, planned, besides = a_late_train()
    itinerary = Itinerary.of(request, planned)
    night_flight, *others = planned
    day_flight = flight(SAN_FRANCISCO, BERLIN, "06-10 00:05", 695, 300)
    damage = Damage(request, itinerary, stands(itinerary, "T1"), refused(itinerary, "T2", "T4"), Decimal(0), 1)
    other_bed = hotel(BERLIN, "06-11", 1, 150)
    repaired = await repair(damage, Shop([*others, *besides, day_flight, other_bed]))
    assert isinstance(repaired, Itinerary)
    assert [leg.offer for leg in repaired.legs] == [night_flight, other_bed, *besides]


async def test_what_is_booked_counts_more_than_what_is_only_planned() -> None:
    """Another hotel in Cologne costs 60 more: saved by another flight, which is booked, or by both legs that are not yet."""
    request, (night_flight, *others), _ = a_late_train()
    planned = [night_flight.model_copy(update={"cancellation": Cancellation(free_until=None, fee=Decimal(0))}), *others]
    itinerary = Itinerary.of(request, planned)
    tight = request.model_copy(update={"budget": itinerary.total})
    damage = Damage(tight, itinerary, stands(itinerary, "T1"), refused(itinerary, "T4"), Decimal(0), 1)
    instead = [
        flight(SAN_FRANCISCO, BERLIN, "06-10 20:25", 695, 500),
        hotel(BERLIN, "06-11", 1, 80),
        train(BERLIN, COLOGNE, "06-12 22:30", 240, 50),
        hotel(COLOGNE, "06-13", 1, 170),
    ]
    repaired = await repair(damage, Shop([*planned, *instead]))
    assert isinstance(repaired, Itinerary)
    assert [leg.offer for leg in repaired.legs] == [planned[0], *instead[1:]]

"""A small world for the tests: cities, offers made by hand, and a provider that knows only those."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from sagagraph.domains.travel.cities import City, Gazetteer
from sagagraph.domains.travel.money import Rates
from sagagraph.domains.travel.offers import Cancellation, FlightOffer, HotelOffer, Offer, TrainOffer
from sagagraph.domains.travel.plan import Itinerary
from sagagraph.domains.travel.request import Direct, Stop, TripRequest, Window

if TYPE_CHECKING:
    from collections.abc import Iterable

NOW = datetime(2025, 3, 1, 9, 0, tzinfo=UTC)
TODAY = NOW.date()
JUNE = Window(first=date(2025, 6, 1), last=date(2025, 6, 30))

_PLACES = (
    ("San Francisco", "United States", "SFO", "America/Los_Angeles", 37.6, -122.4),
    ("Los Angeles", "United States", "LAX", "America/Los_Angeles", 33.9, -118.4),
    ("Seattle", "United States", "SEA", "America/Los_Angeles", 47.4, -122.3),
    ("Boston", "United States", "BOS", "America/New_York", 42.4, -71.0),
    ("New York", "United States", "JFK", "America/New_York", 40.6, -73.8),
    ("Chicago", "United States", "ORD", "America/Chicago", 42.0, -87.9),
    ("Honolulu", "United States", "HNL", "Pacific/Honolulu", 21.3, -157.9),
    ("London", "United Kingdom", "LHR", "Europe/London", 51.5, -0.5),
    ("Paris", "France", "CDG", "Europe/Paris", 49.0, 2.5),
    ("Nice", "France", "NCE", "Europe/Paris", 43.7, 7.2),
    ("Amsterdam", "Netherlands", "AMS", "Europe/Amsterdam", 52.3, 4.8),
    ("Berlin", "Germany", "BER", "Europe/Berlin", 52.4, 13.5),
    ("Cologne", "Germany", "CGN", "Europe/Berlin", 50.9, 7.1),
    ("Munich", "Germany", "MUC", "Europe/Berlin", 48.4, 11.8),
    ("Vienna", "Austria", "VIE", "Europe/Vienna", 48.1, 16.6),
    ("Prague", "Czechia", "PRG", "Europe/Prague", 50.1, 14.3),
    ("Zurich", "Switzerland", "ZRH", "Europe/Zurich", 47.5, 8.5),
    ("Rome", "Italy", "FCO", "Europe/Rome", 41.8, 12.3),
    ("Madrid", "Spain", "MAD", "Europe/Madrid", 40.5, -3.6),
    ("Lisbon", "Portugal", "LIS", "Europe/Lisbon", 38.8, -9.1),
    ("Tokyo", "Japan", "HND", "Asia/Tokyo", 35.6, 139.8),
    ("Auckland", "New Zealand", "AKL", "Pacific/Auckland", -37.0, 174.8),
)
CITIES = tuple(
    City(name=name, country=country, airport=airport, timezone=zone, latitude=latitude, longitude=longitude)
    for name, country, airport, zone, latitude, longitude in _PLACES
)
GAZETTEER = Gazetteer(CITIES)


RATES = Rates(
    base="EUR",
    on=date(2025, 2, 28),
    source="a table for tests",
    rates={"USD": Decimal("1.0411"), "GBP": Decimal("0.82608"), "JPY": Decimal("156.96")},
)


def day(text: str) -> date:
    """`06-10` is 10 June 2025."""
    return date.fromisoformat(text if len(text) > 5 else f"2025-{text}")


def flight(origin: str, destination: str, leaves: str, minutes: int, price: object, **facts: Any) -> FlightOffer:
    """`leaves`: `06-10 20:25`, local time."""
    return FlightOffer(**_journey("flight", origin, destination, leaves, minutes, price, facts))


def train(origin: str, destination: str, leaves: str, minutes: int, price: object, **facts: Any) -> TrainOffer:
    return TrainOffer(**_journey("train", origin, destination, leaves, minutes, price, facts))


def _journey(
    kind: str, origin: str, destination: str, leaves: str, minutes: int, price: object, facts: dict[str, Any]
) -> dict[str, Any]:
    here, there = GAZETTEER.require(origin, field="origin"), GAZETTEER.require(destination, field="destination")
    on, at = leaves.split()
    departs = datetime.combine(day(on), time.fromisoformat(at), ZoneInfo(here.timezone))
    arrives = (departs.astimezone(UTC) + timedelta(minutes=minutes)).astimezone(ZoneInfo(there.timezone))
    travellers = facts.pop("travellers", 1)
    return {
        "offer_id": f"{kind}.{here.airport}-{there.airport}.{departs:%m-%dT%H:%M}.{minutes}.{price}",
        "carrier": "Meridian",
        "number": "MD1",
        "origin": here.airport if kind == "flight" else here.name,
        "destination": there.airport if kind == "flight" else there.name,
        "origin_city": here.name,
        "destination_city": there.name,
        "departs": departs.isoformat(),
        "arrives": arrives.isoformat(),
        "duration_minutes": minutes,
        "stops": 0,
        "price_per_person": Decimal(str(price)),
        "price": Decimal(str(price)) * travellers,
        "currency": "USD",
        "left": 9,
        "cancellation": Cancellation(free_until=None, fee=Decimal(25)),
        **facts,
    }


def hotel(city: str, check_in: str, nights: int, price: object, **facts: Any) -> HotelOffer:
    """`price`: one room, one night."""
    first = day(check_in)
    rooms = facts.get("rooms", 1)
    return HotelOffer(
        **{
            "offer_id": f"hotel.{city}.{first}.{nights}.{price}",
            "name": f"Garden Court {city}",
            "city": city,
            "stars": 3,
            "check_in": first,
            "check_out": first + timedelta(days=nights),
            "check_in_from": time(15),
            "check_out_until": time(11),
            "nights": nights,
            "rooms": rooms,
            "price_per_night": Decimal(str(price)),
            "price": Decimal(str(price)) * nights * rooms,
            "currency": "USD",
            "left": 5,
            "cancellation": Cancellation(free_until=None, fee=Decimal(str(price))),
            **facts,
        }
    )


def trip(**changes: Any) -> TripRequest:
    """The sample trip of the paper, changed."""
    return TripRequest(
        **{
            "origin": "San Francisco",
            "stops": (Stop(city="Berlin", nights=4), Stop(city="Cologne", nights=2)),
            "window": JUNE,
            "budget": Decimal(5000),
            "stars": (3, 4),
            "direct": Direct.PREFERRED,
            **changes,
        }
    )


def sample_offers() -> list[Offer]:
    """One for each leg of the sample trip."""
    return [
        flight("San Francisco", "Berlin", "06-10 20:25", 695, 653),
        hotel("Berlin", "06-11", 4, 123),
        train("Berlin", "Cologne", "06-15 10:00", 256, 77),
        hotel("Cologne", "06-15", 2, "110.50"),
        flight("Cologne", "San Francisco", "06-17 14:40", 850, 526, stops=1, via=("AMS",)),
    ]


def sample_itinerary(**changes: Any) -> Itinerary:
    return Itinerary.of(trip(**changes), sample_offers())


@dataclass
class OfferBook:
    """The reading half of a provider, over a list of offers; it counts what it is asked."""

    offers: Iterable[Offer]
    asked: list[str] = field(default_factory=list)
    clock: datetime = NOW

    async def now(self) -> datetime:
        return self.clock

    async def cities(self) -> tuple[City, ...]:
        return CITIES

    async def rates(self) -> Rates:
        self.asked.append("rates")
        return RATES

    async def flights(self, origin: str, destination: str, on: date, travellers: int) -> tuple[FlightOffer, ...]:
        self.asked.append(f"flights {origin} {destination} {on}")
        return tuple(offer for offer in self.offers if isinstance(offer, FlightOffer) and _runs(offer, origin, destination, on))

    async def trains(self, origin: str, destination: str, on: date, travellers: int) -> tuple[TrainOffer, ...]:
        self.asked.append(f"trains {origin} {destination} {on}")
        return tuple(offer for offer in self.offers if isinstance(offer, TrainOffer) and _runs(offer, origin, destination, on))

    async def hotels(self, city: str, check_in: date, check_out: date, rooms: int) -> tuple[HotelOffer, ...]:
        self.asked.append(f"hotels {city} {check_in}")
        wanted = (city, check_in, check_out)
        return tuple(
            offer
            for offer in self.offers
            if isinstance(offer, HotelOffer) and (offer.city, offer.check_in, offer.check_out) == wanted
        )


def _runs(offer: FlightOffer | TrainOffer, origin: str, destination: str, on: date) -> bool:
    return (offer.origin_city, offer.destination_city, offer.departs.date()) == (origin, destination, on)

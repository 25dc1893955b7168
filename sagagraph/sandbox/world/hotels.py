"""Hotels: eight in every city, whose rooms are counted night by night."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

from sagagraph.sandbox.world.cities import City
from sagagraph.sandbox.world.offers import Offer, Stock
from sagagraph.sandbox.world.prices import draw, draw_between, hotel_level, season_factor

_IN_ORIGINAL_CITIES = (
    ("Station Inn", 2),
    ("Linden House", 3),
    ("Hotel Merchant", 3),
    ("Garden Court", 3),
    ("Old Town Rooms", 4),
    ("Riverside Hotel", 4),
    ("The Opera", 4),
    ("Grand Palace", 5),
)
_NAMES_AND_STARS = (
    ("Backpackers", 1),
    ("Station Inn", 2),
    ("Market Street House", 2),
    ("Linden House", 3),
    ("Garden Court", 3),
    ("Old Town Rooms", 4),
    ("The Opera", 4),
    ("Grand Palace", 5),
)
_DOLLARS_BY_STARS = {1: 45, 2: 75, 3: 115, 4: 165, 5: 520}
_WEEKEND = (4, 5)
"""The nights starting on Friday and Saturday."""
_CHECK_IN, _CHECK_OUT = time(15), time(11)
_LONGEST_STAY = 90


def hotels_in(city: City, check_in: date, check_out: date, rooms: int) -> list[Offer]:
    """Return the hotels in a fixed order; none for a stay that no hotel takes (no night, or more than 90)."""
    nights = [check_in + timedelta(days=n) for n in range(min((check_out - check_in).days, _LONGEST_STAY + 1))]
    if not 1 <= len(nights) <= _LONGEST_STAY:
        return []
    houses = _IN_ORIGINAL_CITIES if city.original else _NAMES_AND_STARS
    return [_offer(city, f"hotel.{city.key}-{n}", *house, nights, check_out, rooms) for n, house in enumerate(houses)]


def _offer(city: City, hotel_id: str, name: str, stars: int, nights: list[date], check_out: date, rooms: int) -> Offer:
    check_in = nights[0]
    level = _DOLLARS_BY_STARS[stars] * hotel_level(city)
    house = 0.85 + 0.3 * draw("rate", hotel_id)
    rates = [
        level * season_factor(night, city.latitude) * (1.15 if night.weekday() in _WEEKEND else 1.0) * house for night in nights
    ]
    capacity = draw_between(4, 20, "rooms", hotel_id)
    return Offer(
        kind="hotel",
        base_id=f"{hotel_id}.{check_in}.{check_out}",
        quantity=rooms,
        rate=round(sum(rates) / len(rates)) * 100,
        nights=len(nights),
        starts=datetime.combine(check_in, _CHECK_IN, city.zone),
        stock=tuple(
            Stock(unit=f"{hotel_id}.{night}", capacity=capacity, until=datetime.combine(night, _CHECK_IN, city.zone))
            for night in nights
        ),
        facts={
            "name": f"{name} {city.name}",
            "city": city.name,
            "stars": stars,
            "check_in": check_in.isoformat(),
            "check_out": check_out.isoformat(),
            "check_in_from": f"{_CHECK_IN:%H:%M}",
            "check_out_until": f"{_CHECK_OUT:%H:%M}",
            "nights": len(nights),
        },
    )

"""The cities that the world began with. What they offer one another stays as it was: saved trips name it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Region(StrEnum):
    AMERICA = "America"
    EUROPE = "Europe"
    ASIA = "Asia"


@dataclass(frozen=True)
class FirstCity:
    region: Region
    is_hub: bool
    """Flights to other continents start here."""
    price_level: float
    """What a hotel costs here against the average city."""


_A, _E, _J = Region.AMERICA, Region.EUROPE, Region.ASIA
FIRST_CITIES: dict[tuple[str, str], FirstCity] = {
    ("San Francisco", "US"): FirstCity(_A, True, 1.35),
    ("Los Angeles", "US"): FirstCity(_A, True, 1.25),
    ("Seattle", "US"): FirstCity(_A, False, 1.1),
    ("Chicago", "US"): FirstCity(_A, True, 1.1),
    ("Boston", "US"): FirstCity(_A, False, 1.3),
    ("New York", "US"): FirstCity(_A, True, 1.5),
    ("Washington", "US"): FirstCity(_A, False, 1.15),
    ("London", "GB"): FirstCity(_E, True, 1.4),
    ("Paris", "FR"): FirstCity(_E, True, 1.35),
    ("Amsterdam", "NL"): FirstCity(_E, True, 1.25),
    ("Brussels", "BE"): FirstCity(_E, False, 1.0),
    ("Berlin", "DE"): FirstCity(_E, False, 0.9),
    ("Cologne", "DE"): FirstCity(_E, False, 0.85),
    ("Munich", "DE"): FirstCity(_E, True, 1.1),
    ("Hamburg", "DE"): FirstCity(_E, False, 0.95),
    ("Frankfurt", "DE"): FirstCity(_E, True, 1.0),
    ("Vienna", "AT"): FirstCity(_E, False, 0.95),
    ("Zurich", "CH"): FirstCity(_E, True, 1.4),
    ("Rome", "IT"): FirstCity(_E, False, 1.05),
    ("Milan", "IT"): FirstCity(_E, False, 1.1),
    ("Madrid", "ES"): FirstCity(_E, True, 0.95),
    ("Barcelona", "ES"): FirstCity(_E, False, 1.05),
    ("Lisbon", "PT"): FirstCity(_E, False, 0.85),
    ("Prague", "CZ"): FirstCity(_E, False, 0.75),
    ("Copenhagen", "DK"): FirstCity(_E, False, 1.2),
    ("Tokyo", "JP"): FirstCity(_J, True, 1.15),
}
"""By name and country."""

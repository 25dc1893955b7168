"""Where passenger trains run, how fast, and how far a journey is on land: never across a sea but by tunnels and bridges.

General knowledge, not checked against statistics: countries with passenger trains, and with fast ones. Speeds are of a whole
journey, stops included.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from sagagraph.sandbox.cities import City, all_cities, borders
from sagagraph.sandbox.first_cities import Region
from sagagraph.sandbox.geometry import Place, Spot, distance_km


@dataclass(frozen=True)
class Service:
    """What trains are like in a group of countries. Railways: name, code, km/h, price level."""

    railways: tuple[tuple[str, str, int, float], ...]
    farthest_km: int


@dataclass(frozen=True)
class Line:
    service: Service
    kilometres: float
    """Between the two cities, by the crossing where there is one."""


EUROPEAN = Service((("EuroExpress", "EX", 170, 1.0), ("InterLink", "IL", 140, 0.8)), 900)
_BULLET = Service((("Bullet Line", "BL", 230, 1.1), ("Rapid Rail", "RR", 150, 0.7)), 1000)
_REGIONAL = Service((("Crossland", "CL", 100, 0.7), ("Valley Railways", "VR", 85, 0.55)), 800)
_SLOW = Service((("Long Mail", "LM", 65, 0.4), ("Day Express", "DE", 75, 0.55)), 800)

# Countries whose railways meet. On an island that has a crossing only that crossing leads to the others.
_CONTINENT, _GREAT_BRITAIN, _SCANDINAVIA = "Europe", "Great Britain", "Scandinavia"
_NETWORKS: dict[str, tuple[Service, str]] = {
    _CONTINENT: (EUROPEAN, "AT BE CH CZ DE DK ES FR HR HU IT LI LU MC NL PL PT SI SK"),
    "South-eastern Europe": (_REGIONAL, "BA BG GR ME MK RO RS XK"),
    "Baltic": (_REGIONAL, "EE LT LV"),
    _GREAT_BRITAIN: (EUROPEAN, "GB"),
    _SCANDINAVIA: (EUROPEAN, "NO SE"),
    "Finland": (EUROPEAN, "FI"),
    "Ireland": (_REGIONAL, "IE"),
    "Broad gauge": (_REGIONAL, "BY KG KZ MD RU TJ TM UA UZ"),
    "Caucasus": (_REGIONAL, "AM AZ GE"),
    "Turkey": (_REGIONAL, "TR"),
    "Iran": (_REGIONAL, "IR"),
    "Israel": (_REGIONAL, "IL"),
    "Arabia": (_REGIONAL, "SA"),
    "China": (_BULLET, "CN HK"),
    "Japan": (_BULLET, "JP"),
    "Korea": (_BULLET, "KR"),
    "Taiwan": (_BULLET, "TW"),
    "India": (_SLOW, "IN"),
    "Pakistan": (_SLOW, "PK"),
    "Bangladesh": (_SLOW, "BD"),
    "Sri Lanka": (_SLOW, "LK"),
    "Malay Peninsula": (_REGIONAL, "MY SG TH"),
    "Laos": (_REGIONAL, "LA"),
    "Vietnam": (_SLOW, "VN"),
    "Cambodia": (_SLOW, "KH"),
    "Myanmar": (_SLOW, "MM"),
    "Java": (_REGIONAL, "ID"),
    "Mongolia": (_SLOW, "MN"),
    "Australia": (_REGIONAL, "AU"),
    "New Zealand": (_SLOW, "NZ"),
    "North America": (_REGIONAL, "CA US"),
    "Cuba": (_SLOW, "CU"),
    "Argentina": (_SLOW, "AR"),
    "Chile": (_REGIONAL, "CL"),
    "Morocco": (_REGIONAL, "MA"),
    "Algeria": (_REGIONAL, "DZ"),
    "Tunisia": (_SLOW, "TN"),
    "Egypt": (_REGIONAL, "EG"),
    "Nigeria": (_SLOW, "NG"),
    "Ethiopia": (_SLOW, "DJ ET"),
    "Kenya": (_SLOW, "KE"),
    "Tanzania": (_SLOW, "TZ"),
    "South Africa": (_SLOW, "ZA"),
}
_MEETING = (frozenset({_CONTINENT, "South-eastern Europe"}), frozenset({_CONTINENT, "Baltic"}))
"""Networks that trains go on into; what is slower is the whole journey's."""
_CROSSINGS: dict[str, tuple[Spot, str]] = {
    _GREAT_BRITAIN: (Spot(51.1, 1.2), "FR"),  # the Channel Tunnel
    _SCANDINAVIA: (Spot(55.57, 12.85), "DK"),  # the Øresund Bridge
}

# Islands, and other parts of a country that its railways do not reach: country, south, west, north, east.
_ISLANDS: tuple[tuple[str, float, float, float, float], ...] = (
    ("ES", 27, -19, 35.95, -4), ("ES", 38, 1.2, 40.3, 4.5), ("ES", 35, -6, 35.95, -2),  # Canaries, Balearics, Ceuta and Melilla
    ("PT", 32, -32, 40, -15),  # Azores, Madeira
    ("FR", 41.3, 8.4, 43.1, 9.7),  # Corsica
    ("IT", 35, 12.2, 38.4, 15.6), ("IT", 38.8, 8, 41.4, 10),  # Sicily, Sardinia
    ("GR", 34.5, 22.9, 36, 30), ("GR", 36, 24.6, 39.6, 30), ("GR", 39, 19, 39.9, 20.15),  # Crete, the Aegean, Corfu
    ("GB", 53.9, -8.3, 55.4, -5.4), ("GB", 49, -3, 49.9, -1.9),  # Northern Ireland, the Channel
    ("DK", 54.9, 14.6, 55.4, 15.3),  # Bornholm
    ("SE", 56.8, 18, 58, 19.4),  # Gotland
    ("NO", 68.7, 10, 82, 34),  # the far north, Svalbard
    ("RU", 54, 19, 56, 23), ("RU", 45, 141.5, 75, 180), ("RU", 67, 60, 80, 180),  # Kaliningrad, the far east, the far north
    ("CN", 18, 108, 20.25, 111.3),  # Hainan
    ("JP", 24, 122, 30.9, 132),  # the southern islands
    ("KR", 33, 126, 34, 127), ("KR", 37.4, 130, 38, 132),  # Jeju, Ulleung
    ("TW", 21, 116, 27, 119.9),  # Kinmen, Matsu, Penghu
    ("IN", 5, 91.9, 15, 94.5), ("IN", 8, 71, 13, 74),  # Andamans, Lakshadweep
    ("TH", 7.6, 98.2, 8.2, 98.5), ("TH", 9.3, 99.85, 9.85, 100.2),  # Phuket, Samui
    ("MY", 0, 106, 8, 120), ("MY", 5.2, 100.15, 5.5, 100.36),  # Borneo, Penang
    ("VN", 9.8, 103.7, 10.6, 104.2),  # Phú Quốc
    ("AU", -44, 143, -39.5, 149),  # Tasmania
    ("CA", 46.5, -59.6, 52, -52), ("CA", 48, -129, 51, -123.25),  # Newfoundland, Vancouver Island
    ("US", 18, -179.9, 72, -130), ("US", 51, 170, 56, 180),  # Alaska, Hawaii
    ("CL", -56, -76, -41.9, -66), ("CL", -28, -110, -26, -109),  # the far south, Easter Island
    ("AR", -56, -74, -42, -60),  # Patagonia
    ("TZ", -6.6, 39.1, -4.8, 40),  # Zanzibar, Pemba
    ("EG", 27, 32.7, 31, 35),  # Sinai
)  # fmt: skip
_JAVA = (-9.0, 105.0, -5.8, 114.6)
_SOUTH_ISLAND = (-48.0, 166.0, -40.4, 174.4)
_NORTHERN_IRELAND = (53.9, -8.3, 55.4, -5.4)

_ALSO_JOINED = (frozenset({"MY", "SG"}), frozenset({"CN", "HK"}))
"""Countries whose border the table does not have."""
_SHORTEST_KM = 15
_DETOUR_BY_A_THIRD_COUNTRY = 1.2


@lru_cache(maxsize=10_000)
def line_between(one: City, other: City) -> Line | None:
    """The same in both directions; None where no train could run."""
    if one is other:
        return None
    if one.first and other.first:
        # Between the cities that the world began with, trains run as they always did.
        kilometres = distance_km(one, other)
        runs = one.first.region == other.first.region == Region.EUROPE and kilometres < EUROPEAN.farthest_km
        return Line(EUROPEAN, kilometres) if runs else None
    ends = network_of(one), network_of(other)
    if ends[0] is None or ends[1] is None:
        return None
    on_land = _kilometres_on_land(one, ends[0], other, ends[1])
    service = max(_service(ends[0]), _service(ends[1]), key=lambda service: -service.railways[0][2])
    return Line(service, on_land) if on_land is not None and _SHORTEST_KM <= on_land <= service.farthest_km else None


def network_of(city: City) -> str | None:
    """Whose trains call at the city; None where none do."""
    if city.country_code == "GB" and _is_within(city, _NORTHERN_IRELAND):
        return "Ireland"
    network = _network_by_country().get(city.country_code)
    if network is None or (network == "Java" and not _is_within(city, _JAVA)):
        return None
    if network == "New Zealand" and _is_within(city, _SOUTH_ISLAND):
        return "New Zealand, South Island"
    is_cut_off = any(country == city.country_code and _is_within(city, box) for country, *box in _ISLANDS)
    return None if is_cut_off else network


def _service(network: str) -> Service:
    return _NETWORKS[network.partition(",")[0]][0]


@cache
def _network_by_country() -> dict[str, str]:
    return {country: name for name, (_, countries) in _NETWORKS.items() for country in countries.split()}


def _is_within(city: City, box: tuple[float, ...] | list[float]) -> bool:
    south, west, north, east = box
    return south <= city.latitude <= north and west <= city.longitude <= east


def _kilometres_on_land(one: City, network: str, other: City, its: str) -> float | None:
    if network == its:
        return distance_km(one, other) if _is_joined(one, one.country_code, other, other.country_code) else None
    crossed = [(_CROSSINGS[each], city) for each, city in ((network, one), (its, other)) if each in _CROSSINGS]
    if not crossed:
        meets = frozenset({network, its}) in _MEETING
        return distance_km(one, other) if meets and _is_joined(one, one.country_code, other, other.country_code) else None
    return _kilometres_by_crossings(one, network, other, its)


def _kilometres_by_crossings(one: City, network: str, other: City, its: str) -> float | None:
    """From an island to the continent, or by way of it to another island."""
    start, country, kilometres = _on_the_continent(one, network)
    end, its_country, its_kilometres = _on_the_continent(other, its)
    if start is None or end is None or not _is_joined(start, country, end, its_country):
        return None
    return kilometres + distance_km(start, end) + its_kilometres


def _on_the_continent(city: City, network: str) -> tuple[Place | None, str, float]:
    """Where a journey from the city comes to the continent, in which country, and after how many kilometres."""
    if network == _CONTINENT:
        return city, city.country_code, 0.0
    if network in _CROSSINGS:
        spot, country = _CROSSINGS[network]
        return spot, country, distance_km(city, spot)
    return None, "", 0.0


def _is_joined(one: Place, country: str, other: Place, its: str) -> bool:
    """In one country, in neighbours, or by way of a third one that is no great detour: else there may be a sea between them."""
    if country == its or its in _neighbours(country) or {country, its} in _ALSO_JOINED:
        return True
    longest = _DETOUR_BY_A_THIRD_COUNTRY * distance_km(one, other)
    return any(
        distance_km(one, city) + distance_km(city, other) <= longest
        for third in sorted(_neighbours(country) & _neighbours(its))
        for city in _cities_with_trains(third)
    )


def _neighbours(country: str) -> frozenset[str]:
    return borders().get(country, frozenset())


@cache
def _cities_with_trains(country: str) -> tuple[City, ...]:
    return tuple(_by_rail(country))


def _by_rail(country: str) -> Iterator[City]:
    return (city for city in all_cities() if city.country_code == country and network_of(city))

"""Which airport serves a city. There are no passenger counts to go by: distance and name decide, and a few corrections."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache
from zoneinfo import ZoneInfo

from atlas.places import Airport, Near, Place
from sagagraph.sandbox.hubs import HUBS
from sagagraph.sandbox.names import name_key

OWN_KM, NEARBY_KM, FARTHEST_KM = 40, 110, 350
_SAMPLES = (datetime(2025, 1, 15, tzinfo=UTC), datetime(2025, 7, 15, tzinfo=UTC))
_NO_AIRLINES = re.compile(
    r"air (force )?base|\bafb\b|naval|army|heliport|seaplane|water aerodrome|airstrip|military|station|raf\b|airpark",
    re.IGNORECASE,
)
_SMALL = re.compile(r"municipal|executive|county|\bfield\b|memorial|aerodrome|downtown|city airport", re.IGNORECASE)

# Where the rule fails for a well-known city: general knowledge, of several airports the busiest; not checked against statistics.
CORRECTIONS: dict[tuple[str, str], str] = {
    ("San Francisco", "US"): "SFO", ("Los Angeles", "US"): "LAX", ("Seattle", "US"): "SEA", ("Chicago", "US"): "ORD",
    ("Boston", "US"): "BOS", ("New York", "US"): "JFK", ("Washington", "US"): "IAD", ("London", "GB"): "LHR",
    ("Paris", "FR"): "CDG", ("Amsterdam", "NL"): "AMS", ("Brussels", "BE"): "BRU", ("Berlin", "DE"): "BER",
    ("Cologne", "DE"): "CGN", ("Munich", "DE"): "MUC", ("Hamburg", "DE"): "HAM", ("Frankfurt", "DE"): "FRA",
    ("Vienna", "AT"): "VIE", ("Zurich", "CH"): "ZRH", ("Rome", "IT"): "FCO", ("Milan", "IT"): "MXP", ("Madrid", "ES"): "MAD",
    ("Barcelona", "ES"): "BCN", ("Lisbon", "PT"): "LIS", ("Prague", "CZ"): "PRG", ("Copenhagen", "DK"): "CPH",
    ("Tokyo", "JP"): "HND",
    ("Osaka", "JP"): "KIX", ("Kyoto", "JP"): "KIX", ("Nagoya", "JP"): "NGO", ("Sapporo", "JP"): "CTS", ("Seoul", "KR"): "ICN",
    ("Shanghai", "CN"): "PVG", ("Beijing", "CN"): "PEK", ("Taipei", "TW"): "TPE", ("Manila", "PH"): "MNL",
    ("Jakarta", "ID"): "CGK", ("Denpasar", "ID"): "DPS", ("Bangkok", "TH"): "BKK", ("Kuala Lumpur", "MY"): "KUL",
    ("Dubai", "AE"): "DXB", ("Doha", "QA"): "DOH", ("Istanbul", "TR"): "IST", ("Ankara", "TR"): "ESB", ("Tehran", "IR"): "IKA",
    ("Moscow", "RU"): "SVO", ("Oslo", "NO"): "OSL", ("Stockholm", "SE"): "ARN", ("Helsinki", "FI"): "HEL",
    ("Gothenburg", "SE"): "GOT", ("Warsaw", "PL"): "WAW", ("Venice", "IT"): "VCE", ("Bologna", "IT"): "BLQ",
    ("Buenos Aires", "AR"): "EZE", ("São Paulo", "BR"): "GRU", ("Rio de Janeiro", "BR"): "GIG",
    ("Belo Horizonte", "BR"): "CNF", ("Mexico City", "MX"): "MEX", ("Lima", "PE"): "LIM", ("Santiago", "CL"): "SCL",
    ("Bogotá", "CO"): "BOG", ("Medellín", "CO"): "MDE", ("Montréal", "CA"): "YUL", ("Toronto", "CA"): "YYZ",
    ("Edmonton", "CA"): "YEG", ("Houston", "US"): "IAH", ("Dallas", "US"): "DFW", ("Fort Worth", "US"): "DFW",
    ("Miami", "US"): "MIA", ("Detroit", "US"): "DTW", ("Philadelphia", "US"): "PHL", ("Orlando", "US"): "MCO",
    ("San José", "CR"): "SJO", ("Curitiba", "BR"): "CWB", ("Bonn", "DE"): "CGN", ("Oxford", "GB"): "LHR",
    ("Bucharest", "RO"): "OTP", ("Johannesburg", "ZA"): "JNB",
    ("Nairobi", "KE"): "NBO", ("Cairo", "EG"): "CAI", ("Melbourne", "AU"): "MEL",
    ("Reykjavík", "IS"): "KEF", ("Glasgow", "GB"): "GLA", ("Belfast", "GB"): "BFS", ("Kyiv", "UA"): "KBP",
}  # fmt: skip


def airport_of(place: Place, name: str, near: Near, by_code: dict[str, Airport]) -> Airport | None:
    """None: nothing that keeps the city's time is within reach."""
    if code := CORRECTIONS.get((name, place.country)):
        return by_code[code]
    for reach in (NEARBY_KM, FARTHEST_KM):
        found = [
            (_worth(far, airport, place), airport.code) for far, airport in near.within(place, reach) if _fits(airport, place)
        ]
        if found:
            return by_code[min(found)[1]]
    return None


def has_own(place: Place, near: Near) -> Airport | None:
    """The airport that names the city as its own."""
    keys = {name_key(place.name), *map(name_key, place.other_names)}
    own = [
        (far, airport.code, airport)
        for far, airport in near.within(place, OWN_KM)
        if airport.country == place.country and airport.icao and name_key(airport.city) in keys
        if not _NO_AIRLINES.search(airport.name)
    ]
    return min(own)[2] if own else None


def _fits(airport: Airport, place: Place) -> bool:
    """It keeps the city's time; of one that is the city's own the sources may disagree about that."""
    is_own = airport.country == place.country and name_key(airport.city) == name_key(place.name)
    return bool(airport.icao) and (is_own or offsets(airport.timezone) == offsets(place.timezone))


def _worth(far: float, airport: Airport, place: Place) -> float:
    """In kilometres: how far one would rather go than fly from here; the smallest is the best."""
    worth = far
    if airport.code in HUBS:
        worth -= 45
    if "nternational" in airport.name:
        worth -= 35
    if name_key(airport.city) == name_key(place.name):
        worth -= 20
    if airport.country != place.country:
        worth += 60
    if _NO_AIRLINES.search(airport.name):
        worth += 90
    elif _SMALL.search(airport.name):
        worth += 30
    return worth


@cache
def offsets(timezone: str) -> tuple[object, ...]:
    """From UTC, in winter and in summer."""
    return tuple(sample.astimezone(ZoneInfo(timezone)).utcoffset() for sample in _SAMPLES)
